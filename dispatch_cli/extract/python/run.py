"""State that all modules of a run share: bounds, conditions, and findings."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from dispatch_cli.extract.given_names import PYTORCH_NAMESPACES, ExtensionNames
from dispatch_cli.extract.python.evaluation.values import (
    CHARACTERS,
    MAX_BITS,
    MAX_PARTS,
    MAX_TEXT,
    PARTS,
    Alternatives,
    Call,
    FunctionValue,
    NoResult,
    Opaque,
    Value,
    ValueOption,
    conditional,
    items_of,
    merged,
    size_of,
    source_text,
)
from dispatch_cli.extract.python.evaluation.versions import ByVersion, Version
from dispatch_cli.extract.python.modules import ModuleIndex
from dispatch_cli.extract.python.names import every_node
from dispatch_cli.extract.readable import is_decided
from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.work import OverWork
from dispatch_cli.model.conditions.condition import Atom, Condition, Not, negated
from dispatch_cli.model.conditions.worlds import TORCH_VERSION, exclude_each_other
from dispatch_cli.model.declarations import NotUnderstood
from dispatch_cli.model.sources.extracted import (
    CustomOperator,
    Extracted,
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedKernel,
    Unknown,
)
from dispatch_cli.model.sources.source_conditions import question_text
from dispatch_cli.model.span import Span

STEP = 3
"""Units of work of an expression or statement."""
FINDING = 50
"""Units of a registration, or of a statement that is not understood: what is made of it takes longer."""
MAX_CONDITIONS = 12
"""Conditions of one registration."""


@dataclass
class Reading:
    """State of a module, or of a function that nothing calls, that is being read.

    when: the conditions of what is being read. calls: the calls of the project's functions that are being followed,
    the outermost first, and whether another call of the function may register something else; active: the functions
    that are. assumed: the function that is looked at although nothing that is read calls it. uncertain: why it is not
    known what is registered. refusals_allowed: ``try`` statements that are being read and that catch the error by which
    PyTorch refuses a registration. depth: of statements and expressions. value_calls: calls that are followed only for
    their values.
    """

    when: list[Condition] = field(default_factory=list)
    calls: list[tuple[str, ast.AST, bool]] = field(default_factory=list)
    active: list[int] = field(default_factory=list)
    assumed: FunctionValue | None = None
    uncertain: str | None = None
    refusals_allowed: int = 0
    depth: int = 0
    value_calls: int = 0


class PythonRun:
    """State that the modules of a run share.

    called: the places of what functions register that nothing calls. excluded: the statements that a decided condition
    excludes.

    questions: tests for what is registered, with the operators.
    removed_python_kernels: operators and keys of kernels that ``py_kernels`` had.
    """

    def __init__(self, sources: Sources, index: ModuleIndex) -> None:
        self.sources = sources
        self.work = sources.work
        self.extension_names = ExtensionNames(sources)
        self.index = index
        self.now = Reading()
        self.called: dict[FunctionValue, dict[Span, None]] = {}
        self.modules: set[str] = set()
        self.helpers: frozenset[str] = frozenset()
        self.registered: dict[Extracted, None] = {}
        self.not_understood: dict[tuple[Span | str, str], NotUnderstood] = {}
        self.accounted: set[tuple[str, int]] = set()
        self.seen_calls: set[int] = set()
        self.questions: dict[str, str] = {}
        self.removed_python_kernels: set[tuple[str | Unknown, str | Unknown | None]] = set()
        self.excluded: set[int] = set()
        self.functions: dict[str, list[FunctionValue]] = {}
        self.entered: set[int] = set()
        self._defined: dict[str, list[tuple[Condition, ...]]] = {}
        self._holders: dict[tuple[object, ...], tuple[FunctionValue | None, tuple[Condition, ...]]] = {}
        self._values: dict[str, Mapping[str, tuple[Value]]] = {}

    @contextmanager
    def anew(self) -> Iterator[None]:
        """Read a module, or a function that nothing calls: under no condition, and called by nothing that is read."""
        before, self.now = self.now, Reading()
        try:
            yield
        finally:
            self.now = before

    def spend(self, units: int = STEP) -> None:
        """Count work. Errors: `OverWork`."""
        self.work.spend(units)

    def affords(self, *values: Value) -> bool:
        """Pay for comparing, hashing, printing or copying values; False where they are too large for that."""
        size = size_of(values)
        self.spend(size // 4)
        return size <= MAX_PARTS

    def items(self, value: Value) -> list[Value] | None:
        """The items that a loop goes through; None where they are not known."""
        parts = items_of(value)
        if parts:
            self.spend(len(parts) // PARTS)
        return parts

    def text(self, node: ast.AST) -> str:
        """The text of an expression, shortened."""
        lines = (getattr(node, "end_lineno", 0) or 0) - getattr(node, "lineno", 0)
        columns = (getattr(node, "end_col_offset", 0) or 0) - getattr(node, "col_offset", 0)
        self.spend(1 + (max(columns, 0) if lines == 0 else lines * 40) // 8)
        return source_text(node)

    def values(self, file: str) -> Mapping[str, tuple[Value]]:
        """Values that ``--set`` gives, by expression."""
        if file not in self._values:
            given = self.sources.settings(file).values
            self._values[file] = {
                name: (Version(text.strip("'\"")) if name == TORCH_VERSION else _literal(text),) for name, text in given
            }
        return self._values[file]

    @contextmanager
    def under(self, conditions: Sequence[Condition]) -> Iterator[bool]:
        """Go on under more conditions. It gives False where they contradict each other."""
        size = len(self.now.when)
        self.spend(len(conditions) * size // 4)
        possible = True
        for condition in conditions:
            if negated(condition) in self.now.when:
                possible = False
            elif condition not in self.now.when:
                self.now.when.append(condition)
        try:
            yield possible
        finally:
            del self.now.when[size:]

    def each(self, value: Value, act: Callable[[Value], Value], node: ast.AST | None = None) -> Value:
        """Do something for each of the values that there may be, under its conditions. node: what is not known then."""
        if not isinstance(value, ByVersion | Alternatives):
            return act(value)

        def attempt(chosen: Value) -> Value:
            try:
                return act(chosen)
            except NoResult:
                return Opaque(node)

        if isinstance(value, ByVersion):
            self.spend(len(value.values))
            return ByVersion(tuple(map(attempt, value.values)))
        options = []
        for option in value.options:
            with self.under(option.when) as possible:
                if possible:
                    options.append(ValueOption(option.when, attempt(option.value)))
        return merged(options)

    def pairs(
        self, left: Value, right: Value, act: Callable[[Value, Value], Value], node: ast.AST | None = None
    ) -> Value:
        """Do something for each pair of values that there may be."""
        return self.each(left, lambda first: self.each(right, lambda second: act(first, second), node), node)

    def here(self, value: Value) -> Value:
        """The value as it is put into a list: under the conditions of the statement."""
        return Alternatives((ValueOption(tuple(self.now.when), value),)) if self.now.when else value

    def holding(self, value: Value) -> Value:
        """Select the possible value whose conditions hold here, if it is known."""
        options = value.options if isinstance(value, Alternatives) else ()
        self.spend(len(options) * (1 + len(self.now.when) // 4))
        return next((option.value for option in options if set(option.when) <= set(self.now.when)), value)

    def question(self, text: str, operator: str, file: str) -> Value:
        """A test that asks whether something is registered for an operator already."""
        if (setting := self.values(file).get(text)) is not None:
            return setting[0]
        self.questions[text] = operator
        return conditional([Atom(text)], True, False)

    def span(self, file: str, node: ast.AST) -> Span:
        """The place of an expression or statement."""
        line = getattr(node, "lineno", 1)
        column = getattr(node, "col_offset", 0)
        text = self.index.line(file, line)
        if not text.isascii():
            self.spend(len(text) // CHARACTERS)
            column = len(text.encode()[:column].decode("utf-8", "ignore"))
        return Span(file, line, column + 1)

    def place(self, file: str, node: ast.AST) -> tuple[str, ast.AST]:
        """Place to show for something: the outermost call that leads to it, and alone decides what it is."""
        return next(((file, node) for file, node, decides in self.now.calls if decides), (file, node))

    def account(self, file: str, node: ast.AST) -> None:
        """The lines of a call are understood, or said."""
        first = getattr(node, "lineno", 0)
        last = min(getattr(node, "end_lineno", first) or first, first + 1000)
        self.accounted.update((file, line) for line in range(first, last + 1))

    def conditions(self, file: str) -> tuple[Condition, ...]:
        """The conditions of what is found now in a file."""
        given = self.sources.settings(self.now.calls[0][0] if self.now.calls else file).when
        self.work.spend(len(self.now.when) // 4)
        return tuple(dict.fromkeys((*given, *self.now.when)))[:MAX_CONDITIONS]

    def dead(self, body: Sequence[ast.AST]) -> None:
        """Statements that are never reached: what they register is understood."""
        for statement in body:
            if id(statement) not in self.excluded:
                self.excluded.add(id(statement))
                self.seen_calls.update(id(node) for node in every_node(statement) if isinstance(node, ast.Call))

    def is_defined(self, operator: str) -> bool:
        """True if a definition that was found holds whenever the statement that is being read does.

        operator: its name without an overload, or the start of its schema, up to the ``(``.
        """
        known = self._defined.get(operator, ())
        self.spend(len(known) * (1 + len(self.now.when) // 4))
        return any(all(condition in self.now.when for condition in when) for when in known)

    def _without_question(self, thing: Extracted) -> Extracted:
        """A registration without the condition that its operator is not there yet: nothing else is known of it.

        A definition of an operator that PyTorch may have itself keeps the condition, or gets it where a refusal is
        caught.
        """
        name = getattr(thing, "operator", None) or getattr(thing, "name", None)
        if not isinstance(name, str):
            return thing
        when = tuple(condition for condition in thing.when if not self._asks_for(name, condition))
        namespace, _, base = _base(name).partition("::")
        asked = self.now.refusals_allowed or when != thing.when
        if asked and namespace in PYTORCH_NAMESPACES and isinstance(thing, ExtractedDefinition):
            when = (*when, Not(Atom(question_text(namespace, base))))
        return thing if when == thing.when else thing._replace(when=when)

    def _asks_for(self, operator: str, condition: Condition) -> bool:
        absent = condition.operand if isinstance(condition, Not) else None
        return isinstance(absent, Atom) and _base(self.questions.get(absent.text, "")) == _base(operator)

    def where(self, call: Call) -> tuple[Span, tuple[Condition, ...]]:
        """The place of what a call registers, whose lines are read now, and its conditions."""
        self.account(call.file, call.node)
        return self.span(*self.place(call.file, call.node)), self.conditions(call.file)

    def found(self, thing: Extracted, call: Call) -> None:
        """A registration is found at a call."""
        texts = sum(len(part) for part in thing if isinstance(part, str))
        parts = sum(len(part) for part in thing if isinstance(part, tuple))
        self.spend(FINDING + texts // 16 + parts)
        thing = self._without_question(thing)
        if isinstance(thing, ExtractedDefinition | CustomOperator) and isinstance(thing.name, str):
            exact = f"{thing.name}("
            if self.now.refusals_allowed and isinstance(thing, ExtractedDefinition) and self.is_defined(exact):
                return
            for known in (_base(thing.name), exact):
                self._defined.setdefault(known, []).append(thing.when)
        if (why := self._why_not(thing)) is not None:
            self._refuse(thing.at, call.node, why, thing.when)
            if why is not self.now.uncertain or not _defines_unknown(thing):
                return
        if thing not in self.registered and self.now.assumed is not None:
            self.called.setdefault(self.now.assumed, {})[thing.at] = None
        self.registered[thing] = None

    def _why_not(self, thing: Extracted) -> str | None:
        """Reason for which a registration is not certain."""
        if isinstance(thing, ExtractedBlock):
            return None
        if self.now.uncertain is not None:
            return self.now.uncertain
        assumed = self.now.assumed
        if assumed is not None and not is_decided(thing):
            return f"`{assumed.name}` registers it when it is called, and no call of it is reached"
        if not self._has_rival(thing) or assumed is None:
            return None
        return f"`{assumed.name}` registers it when it is called, and the file registers it elsewhere, too"

    def _has_rival(self, thing: Extracted) -> bool:
        """True if a function that nothing calls registers what its file registers elsewhere: only one can be called."""
        match thing:
            case ExtractedDefinition() | CustomOperator():
                slot: tuple[object, ...] = (thing.at.file, thing.name)
            case ExtractedKernel():
                slot = (thing.at.file, thing.operator, thing.key)
            case _:
                return False
        function, when = self._holders.setdefault(slot, (self.now.assumed, thing.when))
        return self.now.assumed is not function and not exclude_each_other(when, thing.when)

    def _refuse(self, at: Span, node: ast.AST, why: str, when: tuple[Condition, ...] = ()) -> None:
        """A statement is not understood."""
        self.not_understood.setdefault((at, why), NotUnderstood(at, source_text(node), why, when))

    def not_known(self, call: Call, why: str) -> Opaque:
        """A registration is not understood; its value is not known."""
        self.spend(FINDING)
        self.text(call.node)
        at, when = self.where(call)
        self._refuse(at, call.node, why, when)
        return Opaque(call.node)

    def bounded(self, error: OverWork | RecursionError, file: str, node: ast.AST | None = None) -> None:
        """The reading of a file, or of a function of it, ended at a bound. node: the function."""
        at = error.at if isinstance(error, OverWork) and error.at is not None else None
        if at is None or at.file != file:
            at = Span(file, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)
        why = error.why if isinstance(error, OverWork) else "its calls, statements or expressions nest too deeply"
        if node is not None:
            self.account(file, node)
        text = self.index.line(at.file, at.line).strip()[:MAX_TEXT]
        self.not_understood.setdefault((file, why), NotUnderstood(at, text, why, bound=True))


def _defines_unknown(thing: Extracted) -> bool:
    """True for a definition of which only the namespace is known: it may be that of any operator there."""
    if not isinstance(thing, ExtractedDefinition):
        return False
    return isinstance(thing.name, Unknown) and isinstance(thing.block.namespace, str)


def _base(operator: str) -> str:
    """The name of an operator without its overload."""
    return operator.partition(".")[0]


def _literal(text: str) -> Value:
    try:
        value = ast.literal_eval(text)
        return text if isinstance(value, int) and value.bit_length() > MAX_BITS else value
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return {"true": True, "false": False}.get(text, text)
