"""Content of declaration files, once read: one history of registrations, and what is declared beside it.

The history is flat and in order: PyTorch runs static initialisers one after the other, and so does the engine.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Inherited, Span
from dispatch_cli.model.universe import Universe

if TYPE_CHECKING:
    from dispatch_cli.model.calls.fake_tensor import DeclaredFakeRules
    from dispatch_cli.model.calls.guard import Guard
    from dispatch_cli.model.calls.support import Promise
    from dispatch_cli.model.conditions.condition import Condition
    from dispatch_cli.model.higher_order import HigherOrderOperator, ModeType
    from dispatch_cli.model.kernel import AliasAnalysisKind
    from dispatch_cli.model.problem import Problem
    from dispatch_cli.model.schema.model import FunctionSchema
    from dispatch_cli.model.settings import Suppression


class LibraryKind(Enum):
    """The three kinds of registration block; the value is the C++ macro that PyTorch's messages name."""

    DEF = "TORCH_LIBRARY"
    FRAGMENT = "TORCH_LIBRARY_FRAGMENT"
    IMPL = "TORCH_LIBRARY_IMPL"


class Registrant(Enum):
    """Party that registered something.

    USER: the author of the files, or the modules that a capture imported. PYTORCH: PyTorch itself, as a capture noted.
    UNKNOWN: a capture that does not say.
    """

    USER = "user"
    PYTORCH = "pytorch"
    UNKNOWN = "unknown"


WILDCARD = "_"
"""The namespace of blocks of fallbacks; no operator can be in it."""


class Block(NamedTuple):
    """A registration block: ``TORCH_LIBRARY(ns, m)`` and its siblings.

    namespace: ``_`` in blocks of fallbacks.
    dispatch_key: the block's key, or None.
    file, line: what the C++ macro would have seen; they go into debug texts and error messages.
    implicit: the block was not written down; it carries the short form's entries.
    by: who registers what is in it.
    extracted: it was found in sources, so that what PyTorch refuses of it is a finding.
    """

    kind: LibraryKind
    namespace: str
    dispatch_key: str | None
    file: str
    line: int
    span: Span | None = None
    implicit: bool = False
    by: Registrant = Registrant.USER
    extracted: bool = False

    @property
    def where(self) -> str:
        """End of PyTorch's messages about the block."""
        return f"(Error occurred while processing {self.kind.value} block at {self.file}:{self.line})"

    def qualified(self, name: OperatorName) -> OperatorName | None:
        """The name in the block's namespace; None when it names another."""
        if name.namespace is None:
            return name._replace(name=f"{self.namespace}::{name.name}")
        return name if name.namespace == self.namespace else None

    def misplaced(self, name: OperatorName, in_schema: bool, written: str | None = None) -> str:
        """The refusal of a name of another namespace, in a schema that is defined or of a kernel's operator.

        written: the name as it was given.
        """
        macro = self.kind.value
        namespace = "std::nullopt" if self.namespace == WILDCARD else self.namespace
        prelude, what, goal = (
            ("", "schema string", "(unique) TORCH_LIBRARY")
            if in_schema
            else (f'impl("{written or name}", ...): ', "operator name", macro)
        )
        return (
            f"{prelude}Explicitly provided namespace ({name.namespace}) in {what} does not match namespace of "
            f"enclosing {macro} block ({namespace}).  Move this definition to the {goal} block corresponding to "
            f"this namespace (and consider deleting the namespace from your schema string.)  {self.where}"
        )


class Define(NamedTuple):
    """``m.def(schema)``.

    alias_analysis: None for a legacy definition, which leaves the kind at its default.
    debug: text of the dump's ``debug:`` line; None for ``registered at FILE:LINE`` of the block.
    when: what must all hold for it to take place, here as in the other steps.
    python_module: the module and the context of ``m.set_python_module``.
    """

    block: Block
    schema: FunctionSchema
    alias_analysis: AliasAnalysisKind | None
    tags: tuple[str, ...] = ()
    debug: str | None = None
    span: Span | None = None
    when: tuple[Condition, ...] = ()
    python_module: tuple[str, str] | None = None


class Implement(NamedTuple):
    """``m.impl(name, dispatch_key, kernel)``; dispatch_key None is the catch-all."""

    block: Block
    operator: OperatorName
    dispatch_key: str | None
    kernel: Kernel
    span: Span | None = None
    when: tuple[Condition, ...] = ()


class Fallback(NamedTuple):
    """``m.fallback(kernel)`` in a block of namespace ``_``."""

    block: Block
    dispatch_key: str
    kernel: Kernel
    span: Span | None = None
    when: tuple[Condition, ...] = ()


class OpenBlock(NamedTuple):
    """The block begins; a second DEF block of one namespace is refused here."""

    block: Block
    when: tuple[Condition, ...] = ()


class Settle(NamedTuple):
    """The end of a snapshot: the live tables of these operators are in order, whatever the order they came in."""

    operators: tuple[OperatorName, ...]


Step = OpenBlock | Define | Implement | Fallback | Settle


class PythonKernel(NamedTuple):
    """A kernel of the Python dispatcher (``py_impl``) for one operator and dispatch key.

    replaces: it takes the place of an earlier one there, as that of ``torch.library.register_autocast`` does.
    """

    operator: OperatorName
    dispatch_key: str
    kernel: str
    span: Span | None = None
    by: Registrant = Registrant.USER
    replaces: bool = False
    when: tuple[Condition, ...] = ()
    extracted: bool = False


class RegisteringFunction(NamedTuple):
    """A Python function that registers something when it is called, which nothing does while modules are imported.

    at: where it is. places: of what it registers.
    """

    name: str
    at: Span
    places: tuple[Span, ...]


class Undecided(NamedTuple):
    """A registration that is in the sources, and of which something is not known; it is listed, and not run.

    registers: what it is, such as ``kernel``. unknown: what is not known, by field, and the expression that decides it.
    The other texts are those that are known.
    """

    registers: str
    at: Span
    unknown: tuple[tuple[str, str], ...]
    name: str | None = None
    namespace: str | None = None
    dispatch_key: str | None = None
    kernel: str | None = None
    schema: str | None = None
    when: tuple[Condition, ...] = ()


class NotUnderstood(NamedTuple):
    """A statement in sources that may register something, and is not understood.

    text: the statement, shortened. why: a sentence. bound: a bound of ours was reached, so that part of the file is
    not read, or not in every case. unread: nothing of the file could be read, and it may register something.
    """

    at: Span
    text: str
    why: str
    when: tuple[Condition, ...] = ()
    bound: bool = False
    unread: bool = False


class CapturedRegistration(NamedTuple):
    """A registration that was there before the history: of a captured state, or one of PyTorch's own fallbacks.

    operator: None for a backend fallback. number: the first, second, … at its key, oldest first.
    python: it is a kernel of the Python dispatcher.
    """

    operator: str | None
    key: str
    number: int = 1
    python: bool = False


class OwnChange(NamedTuple):
    """A registration that a section ``changes`` leaves out or moves.

    operator: None for a backend fallback. key: where it is registered. span: where the file says so.
    """

    operator: OperatorName | None
    key: str
    span: Span


class OwnChanges(NamedTuple):
    """Effects of the sections ``changes``, which are the user's own.

    made: the registrations that they concern. steps, inherited_steps, python_kernels: what the declarations would have
    in these fields without the changes; nothing would be left out of the captured state.
    """

    made: tuple[OwnChange, ...]
    steps: tuple[Step, ...]
    inherited_steps: tuple[Step, ...]
    python_kernels: tuple[PythonKernel, ...]


class Declarations(NamedTuple):
    """Everything that one run's files say.

    universe: the key layout they all share. universe_file: the file that has it, which can be one of declarations; None
    for an embedded one.
    core_fallbacks: whether the universe's own backend fallbacks stand before the history begins.
    bases: names of the embedded states that the history continues, in order.
    steps: the history. inherited_steps: those of them, in order, that are not in the files that the user named, or are
        PyTorch's own registrations in a capture.
    suppressions: findings that are meant to be so.
    files: every file read, in order of reading.
    functions: that register something of the steps when they are called. undecided, unread: what sources register
    beside that, as far as it was found. refused: what PyTorch refuses of what sources say.
    notes: for the user. without: what the captured state has registered, and is to be left out, as if it
    had never been registered. changes: how the files change what was registered; None where they do not.
    """

    universe: Universe
    core_fallbacks: bool = True
    bases: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    inherited_steps: tuple[Step, ...] = ()
    python_kernels: tuple[PythonKernel, ...] = ()
    higher_order_operators: tuple[HigherOrderOperator, ...] = ()
    modes: tuple[ModeType, ...] = ()
    fake_rules: tuple[DeclaredFakeRules, ...] = ()
    guards: tuple[Guard, ...] = ()
    promises: tuple[Promise, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    files: tuple[str, ...] = ()
    inherited: tuple[Inherited, ...] = ()
    functions: tuple[RegisteringFunction, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    unread: tuple[NotUnderstood, ...] = ()
    refused: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    without: tuple[CapturedRegistration, ...] = ()
    universe_file: str | None = None
    changes: OwnChanges | None = None

    @property
    def steps_before(self) -> tuple[Step, ...]:
        """The history before the files that the user named, and before all changes of it."""
        return (self.changes or self).inherited_steps

    @property
    def own_steps(self) -> tuple[Step, ...]:
        inherited = frozenset(map(id, self.inherited_steps))
        return tuple(step for step in self.steps if id(step) not in inherited) if inherited else self.steps

    @property
    def own_python_kernels(self) -> tuple[PythonKernel, ...]:
        """The kernels of the Python dispatcher that the files register that the user named, in order."""
        extended = frozenset(entry.name for entry in self.inherited if not entry.is_state)
        return tuple(
            kernel
            for kernel in self.python_kernels
            if kernel.by is not Registrant.PYTORCH and (kernel.span is None or kernel.span.file not in extended)
        )

    def through(self, span: Span | None) -> tuple[Span, ...]:
        """The entries of ``extends`` that led to the file of a place, that of the user's own file first.

        Empty where the user named the file, and for no place.
        """
        file = None if span is None else span.file
        return next((entry.through for entry in self.inherited if entry.name == file and not entry.is_state), ())


def has_conditions(declarations: Declarations) -> bool:
    if any(not isinstance(step, Settle) and step.when for step in declarations.steps):
        return True
    return any(kernel.when for kernel in declarations.python_kernels)
