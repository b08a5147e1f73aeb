"""State that every reader of a section needs and adds to; schemas, signatures and operator names, which most of them
read, with their errors placed inside the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from dispatch_cli.declarations.fields import AT, WHEN, read_conditions, read_place, word_of
from dispatch_cli.declarations.header import NO_HEADER, Header
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.sections.keys import KeyReader
from dispatch_cli.declarations.tree import Mapping, Node, Scalar
from dispatch_cli.model.declarations import (
    Block,
    Define,
    Fallback,
    Implement,
    LibraryKind,
    NotUnderstood,
    OpenBlock,
    PythonKernel,
    RegisteringFunction,
    Registrant,
    Step,
    Undecided,
)
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.cursor import SchemaError
from dispatch_cli.model.schema.model import FunctionSchema
from dispatch_cli.model.schema.parser import parse_operator_name, parse_printed_schema, parse_schema, parse_signature
from dispatch_cli.model.span import Span
from dispatch_cli.model.text.quoting import printable

if TYPE_CHECKING:
    from dispatch_cli.model.calls.fake_tensor import DeclaredFakeRules
    from dispatch_cli.model.calls.guard import Guard
    from dispatch_cli.model.calls.support import Promise
    from dispatch_cli.model.changes.change import HistoryChange
    from dispatch_cli.model.conditions.condition import Condition
    from dispatch_cli.model.higher_order import HigherOrderOperator, ModeType
    from dispatch_cli.model.settings import Suppression


_Read = TypeVar("_Read")


class DefinedOperator(NamedTuple):
    """An operator that a file defines. custom: by ``torch.library.custom_op``."""

    schema: FunctionSchema
    tags: tuple[str, ...]
    custom: bool


@dataclass
class Contents:
    """Content of all files beside the history; each list is a field of `Declarations`."""

    python_kernels: list[PythonKernel] = field(default_factory=list)
    higher_order_operators: list[HigherOrderOperator] = field(default_factory=list)
    modes: list[ModeType] = field(default_factory=list)
    fake_rules: list[DeclaredFakeRules] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    promises: list[Promise] = field(default_factory=list)
    suppressions: list[Suppression] = field(default_factory=list)
    functions: list[RegisteringFunction] = field(default_factory=list)
    undecided: list[Undecided] = field(default_factory=list)
    unread: list[NotUnderstood] = field(default_factory=list)


@dataclass(slots=True)
class ReadSoFar:
    """Content of all files that are read so far.

    core_fallbacks: PyTorch's own backend fallbacks are registered.
    operators: those that are defined.
    python_keys: the operators and keys with a kernel that was registered from Python, and the conditions of each.
    conditions: by their texts.
    """

    contents: Contents = field(default_factory=Contents)
    core_fallbacks: bool = True
    operators: dict[OperatorName, DefinedOperator] = field(default_factory=dict)
    python_keys: dict[tuple[OperatorName, str], list[tuple[Condition, ...]]] = field(default_factory=dict)
    conditions: dict[str, Condition] = field(default_factory=dict)


@dataclass(slots=True)
class FileContext:
    """One file that is being read, and what it has said so far.

    identity: the same text for every name of it. known: shared by all files. header: NO_HEADER when it cannot be
    understood. through: the entries of ``extends`` that led to it, the user's own file first. only_guards: it may
    register nothing. project: the folder that what it names has to be in; None for any. by: who registered what is
    being read. inherited: others extend it, and the user did not name it. extended: it is before all files that the
    user named. when: the conditions of what is being read. changes: each with its place.
    """

    name: str
    identity: str
    problems: Problems
    known: ReadSoFar
    header: Header = NO_HEADER
    through: tuple[Span, ...] = ()
    only_guards: bool = False
    project: str | None = None
    keys: KeyReader = field(default_factory=lambda: KeyReader(None))
    by: Registrant = Registrant.USER
    inherited: bool = False
    extended: bool = False
    when: tuple[Condition, ...] = ()
    steps: list[Step] = field(default_factory=list)
    changes: list[tuple[HistoryChange, Node]] = field(default_factory=list)

    @property
    def contents(self) -> Contents:
        return self.known.contents

    @property
    def extracted(self) -> bool:
        """True if ``extract`` wrote it."""
        return self.header.extracted

    def placed(self, node: Node) -> AbstractContextManager[None]:
        """Context for reading an entry: its place, and its conditions, added to those around it, where it has them."""
        if type(node) is Mapping:
            for key, _ in node.pairs:
                if key.text in (AT, WHEN):
                    return self._placed({key.text: value for key, value in node.pairs})
        return _AS_IT_IS

    def at_call(self, function: Node) -> AbstractContextManager[None]:
        """Context for a refusal of the call that registers a function: in sources, its place is that of the call."""
        return self.placed(function) if self.extracted else _AS_IT_IS

    @contextmanager
    def _placed(self, fields: dict[str, Node]) -> Iterator[None]:
        at, when = self.problems.at, self.when
        self.problems.at = read_place(self.problems, fields.get(AT)) or at
        self.when = (*when, *read_conditions(self.problems, self.known.conditions, fields.get(WHEN)))
        try:
            yield
        finally:
            self.problems.at, self.when = at, when

    def open(self, block: Block) -> None:
        self.steps.append(OpenBlock(block, self.when))

    def block(
        self, kind: LibraryKind, namespace: str, dispatch_key: str | None, at: Node, *, implicit: bool = False
    ) -> Block:
        """The registration block that begins at *at*."""
        span = self.problems.span(at)
        return Block(
            kind, namespace, dispatch_key, printable(span.file), span.line, span, implicit, self.by, self.extracted
        )

    def define(self, definition: Define | None, *, custom: bool = False) -> None:
        """Define an operator; None where a mistake in it was noted. custom: by ``torch.library.custom_op``."""
        if definition is not None:
            self.steps.append(definition._replace(when=self.when) if self.when else definition)
            self.known.operators[definition.schema.name] = DefinedOperator(definition.schema, definition.tags, custom)

    def implement(self, block: Block, name: OperatorName, key: str | None, kernel: Kernel, span: Span | None) -> None:
        """Register a kernel. key: None for the catch-all."""
        self.steps.append(Implement(block, name, key, self._conditional(kernel), span, self.when))
        if kernel.python and key is not None:
            self.known.python_keys.setdefault((name, key), []).append(self.when)

    def fall_back(self, block: Block, key: str, kernel: Kernel, span: Span) -> None:
        self.steps.append(Fallback(block, key, self._conditional(kernel), span, self.when))

    def _conditional(self, kernel: Kernel) -> Kernel:
        """A kernel with the conditions of what is being read."""
        if not self.when:
            return kernel
        from dispatch_cli.model.conditions.condition import all_text

        return kernel._replace(when=all_text(self.when))

    def has_python_kernel(self, name: OperatorName, key: str) -> bool:
        """True if a kernel was registered from Python, under conditions that can hold together with those of now."""
        from dispatch_cli.model.conditions.worlds import exclude_each_other

        registered = self.known.python_keys.get((name, key), ())
        return any(not exclude_each_other(self.when, conditions) for conditions in registered)


_AS_IT_IS = nullcontext()
_QUALIFIED = re.compile(r"\w+::\w+(?:\.\w+)?")
"""Name of an operator before what is wrong with its schema."""


def read_schema(context: FileContext, node: Node | None) -> FunctionSchema | None:
    """The schema in a text, which is not known where we do not understand it; None, noting it, when it is not one."""
    parse = parse_printed_schema if context.header.is_snapshot else parse_schema

    def read(text: str) -> FunctionSchema:
        try:
            return parse(text)
        except SchemaError as error:
            if not error.is_ours:
                raise
            return unknown_schema(parse_operator_name(text.partition("(")[0]), error.message)

    return _read(context.problems, node, read, "bad-schema") if type(node) is Scalar else None


def unknown_schema(name: OperatorName, why: str) -> FunctionSchema:
    """A schema that is not known."""
    return FunctionSchema(name, (), (), is_vararg=True, is_varret=True, unknown=why)


def read_signature(problems: Problems, node: Node | None) -> FunctionSchema | None:
    """The inferred signature in a text; None, noting it, when it is not one."""
    return _read(problems, node, parse_signature, "bad-signature") if type(node) is Scalar else None


def read_operator_name(problems: Problems, node: Node | None) -> OperatorName | None:
    """The operator name in a text; None, noting it, when it is not one."""
    if word_of(problems, node) is None or type(node) is not Scalar:
        return None
    return _read(problems, node, parse_operator_name, "bad-operator-name")


def _read(problems: Problems, node: Scalar, parse: Callable[[str], _Read], code: str) -> _Read | None:
    try:
        return parse(node.text)
    except SchemaError as error:
        name = node.text.partition("(")[0].strip()
        operator = name if _QUALIFIED.fullmatch(name) else None
        problems.add(code, error.message, problems.inside(node, error.offset), error.hint, operator=operator)
        return None
