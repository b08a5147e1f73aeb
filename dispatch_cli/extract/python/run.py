"""State that all modules of a run share: bounds, conditions, and findings."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from dispatch_cli.extract.given_names import PYTORCH_NAMESPACES, ExtensionNames
from dispatch_cli.extract.python.evaluation.values import (
    MAX_BITS,
    MAX_NAME,
    MAX_PARTS,
    MAX_TEXT,
    PARTS,
    Alternatives,
    Call,
    FunctionValue,
    NoResult,
    Opaque,
    RegistrationQuestion,
    Value,
    ValueOption,
    items_of,
    merged,
    size_of,
    source_text,
)
from dispatch_cli.extract.python.evaluation.versions import ByVersion, Version
from dispatch_cli.extract.python.modules import ModuleIndex
from dispatch_cli.extract.python.names import called_name, every_node
from dispatch_cli.extract.readable import is_decided
from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.work import OverWork
from dispatch_cli.model.conditions.condition import Atom, Condition, Not, negated
from dispatch_cli.model.conditions.worlds import TORCH_VERSION, exclude_each_other
from dispatch_cli.model.sources.extracted import (
    CustomOperator,
    Extracted,
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedKernel,
    NotUnderstood,
    Unknown,
)
from dispatch_cli.model.sources.source_conditions import question_text
from dispatch_cli.model.span import Span

_Extracted = TypeVar("_Extracted", bound=Extracted)
STEP = 3
"""Units of work of an expression or statement."""
FINDING = 50
"""Units of a registration, or of a statement that is not understood: what is made of it takes longer."""
VALUE_UNITS = 60_000
"""Units of a function that registers nothing, and that is followed for values only."""
VALUES_UNITS = 600_000
"""Units of all such functions of a module: the others are for what registers something."""
MAX_COLUMN = 5_000
"""Characters of a line that are looked at to find a column in it."""
MAX_CONDITIONS = 12
"""Conditions of one registration."""


class TooMuchForValue(Exception):
    """A value needs more work than it may."""


class PythonRun:
    """State that the modules of a run share.

    when: the conditions of what is being read. calls: the calls of the project's functions that are being followed,
    the outermost first. assumed: the function that is looked at although nothing that is read calls it. called: the
    places of what such functions register. too_long: functions that took too many steps for their values. excluded:
    the statements that a decided condition excludes. trying: ``try`` statements that are being read.
    refusals_allowed: those of them that catch the error by which PyTorch refuses a registration.

    questions: tests for what is registered, with the operators. if_absent: as in `Extraction`.
    removed_python_kernels: operators and keys of kernels that ``py_kernels`` had.
    """

    def __init__(self, sources: Sources, index: ModuleIndex) -> None:
        self.sources = sources
        self.work = sources.work
        self.extension_names = ExtensionNames(sources)
        self.index = index
        self.when: list[Condition] = []
        self.calls: list[tuple[str, ast.AST]] = []
        self.assumed: FunctionValue | None = None
        self.called: dict[FunctionValue, dict[Span, None]] = {}
        self.uncertain: str | None = None
        self.modules: set[str] = set()
        self.helpers: frozenset[str] = frozenset()
        self.registered: dict[Extracted, None] = {}
        self.not_understood: list[NotUnderstood] = []
        self.accounted: set[tuple[str, int]] = set()
        self.seen_calls: set[int] = set()
        self.questions: dict[str, str] = {}
        self.if_absent: set[Span] = set()
        self.removed_python_kernels: set[tuple[str | Unknown, str | Unknown | None]] = set()
        self.excluded: set[int] = set()
        self.called_in_excluded: set[str] = set()
        self.trying = 0
        self.refusals_allowed = 0
        self.depth = 0
        self.functions: dict[str, list[FunctionValue]] = {}
        self.entered: set[int] = set()
        self.too_long: set[int] = set()
        self.active: list[int] = []
        self._defined: dict[str, list[tuple[Condition, ...]]] = {}
        self._holders: dict[tuple[object, ...], tuple[FunctionValue | None, tuple[Condition, ...]]] = {}
        self._said: set[tuple[Span, str]] = set()
        self._ended: set[tuple[str, str]] = set()
        self._value_left: int | None = None
        self._values_left = VALUES_UNITS
        self._values: dict[str, Mapping[str, tuple[Value]]] = {}
        self._lines: dict[str, list[str]] = {}

    @contextmanager
    def anew(self) -> Iterator[None]:
        """Read a module, or a function that nothing calls: under no condition, and called by nothing that is read."""
        before = self.when, self.calls, self.uncertain, self.assumed, self.active
        counts = self.trying, self.refusals_allowed, self.depth, self._value_left, self._values_left
        self.when, self.calls, self.uncertain, self.assumed, self.active = [], [], None, None, []
        self.trying, self.refusals_allowed, self.depth = 0, 0, 0
        self._value_left, self._values_left = None, VALUES_UNITS
        try:
            yield
        finally:
            self.when, self.calls, self.uncertain, self.assumed, self.active = before
            self.trying, self.refusals_allowed, self.depth, self._value_left, self._values_left = counts

    def spend(self, units: int = STEP) -> None:
        """Count work. Errors: `OverWork`; `TooMuchForValue`."""
        self.work.spend(units)
        if self._value_left is not None:
            self._value_left -= units
            if self._value_left < 0:
                raise TooMuchForValue

    def for_value(self, act: Callable[[], object]) -> bool:
        """Follow something only for its value; False where that takes more than `VALUE_UNITS`, or too much together."""
        if self._value_left is not None:
            act()
            return True
        limit = self._value_left = min(VALUE_UNITS, self._values_left)
        size, trying, refusals_allowed = len(self.when), self.trying, self.refusals_allowed
        try:
            act()
        except TooMuchForValue:
            del self.when[size:]
            self.trying, self.refusals_allowed = trying, refusals_allowed
            return False
        finally:
            self._values_left -= limit - self._value_left
            self._value_left = None
        return True

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
        size = len(self.when)
        self.spend(len(conditions) * size // 4)
        possible = True
        for condition in conditions:
            if negated(condition) in self.when:
                possible = False
            elif condition not in self.when:
                self.when.append(condition)
        try:
            yield possible
        finally:
            del self.when[size:]

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
        if isinstance(left, ByVersion) and isinstance(right, ByVersion):
            both = ByVersion(tuple(zip(left.values, right.values, strict=True)))
            return self.each(both, lambda pair: act(*pair), node)
        return self.each(left, lambda first: self.each(right, lambda second: act(first, second), node), node)

    def here(self, value: Value) -> Value:
        """The value as it is put into a list: under the conditions of the statement."""
        return Alternatives((ValueOption(tuple(self.when), value),)) if self.when else value

    def holding(self, value: Value) -> Value:
        """Select the possible value whose conditions hold here, if it is known."""
        options = value.options if isinstance(value, Alternatives) else ()
        self.spend(len(options) * (1 + len(self.when) // 4))
        return next((option.value for option in options if set(option.when) <= set(self.when)), value)

    def question(self, text: str, operator: str, node: ast.AST, file: str) -> Value:
        """A test that asks whether something is registered for an operator already."""
        if (setting := self.values(file).get(text)) is not None:
            return setting[0]
        if len(text) > MAX_NAME:
            return Opaque(node)
        self.questions[text] = operator
        return RegistrationQuestion(node, text)

    def span(self, file: str, node: ast.AST) -> Span:
        """The place of an expression or statement."""
        line = getattr(node, "lineno", 1)
        column = getattr(node, "col_offset", 0)
        if file not in self._lines:
            self._lines[file] = self.index.text(file).split("\n")
        lines = self._lines[file]
        text = lines[line - 1] if line <= len(lines) else ""
        if not text.isascii():
            start = text[: min(column, MAX_COLUMN)].encode()
            column = len(start[:column].decode("utf-8", "ignore")) + max(0, column - len(start))
        return Span(file, line, column + 1)

    def place(self, file: str, node: ast.AST) -> tuple[str, ast.AST]:
        """Place to show for something: the outermost call that leads to it."""
        return self.calls[0] if self.calls else (file, node)

    def call_path(self, file: str, node: ast.AST) -> tuple[tuple[str, ast.AST], ...]:
        """The calls that lead to a call, the outermost first, and the call itself."""
        return (*self.calls, (file, node))

    @contextmanager
    def following(self, calls: Sequence[tuple[str, ast.AST]]) -> Iterator[None]:
        """Go on as if these calls were being followed, where none is."""
        before = self.calls
        self.calls = self.calls or list(calls)
        try:
            yield
        finally:
            self.calls = before

    def at(self, file: str, node: ast.AST) -> Span:
        """The place of a registration, and mark its lines as read."""
        self.account(file, node)
        where, outer = self.place(file, node)
        self.spend(((getattr(outer, "end_lineno", 0) or 0) - getattr(outer, "lineno", 0)) // 4)
        self.account(where, outer)
        return self.span(where, outer)

    def account(self, file: str, node: ast.AST) -> None:
        """The lines of a call are understood, or said."""
        first = getattr(node, "lineno", 0)
        last = min(getattr(node, "end_lineno", first) or first, first + 1000)
        self.accounted.update((file, line) for line in range(first, last + 1))

    def conditions(self, file: str) -> tuple[Condition, ...]:
        """The conditions of what is found now in a file."""
        given = self.sources.settings(self.calls[0][0] if self.calls else file).when
        self.work.spend(len(self.when) // 4)
        return tuple(dict.fromkeys((*given, *self.when)))[:MAX_CONDITIONS]

    def dead(self, body: Sequence[ast.AST], file: str) -> None:
        """Statements that are never reached: what they register is understood."""
        for statement in body:
            if id(statement) in self.excluded:
                continue
            self.excluded.add(id(statement))
            for node in every_node(statement):
                if isinstance(node, ast.Call):
                    self.account(file, node)
                    self.called_in_excluded.add(called_name(node))

    def is_defined(self, operator: str) -> bool:
        """True if a definition that was found holds whenever the statement that is being read does."""
        known = self._defined.get(operator, ())
        self.spend(len(known) * (1 + len(self.when) // 4))
        return any(all(condition in self.when for condition in when) for when in known)

    def _without_question(self, thing: Extracted) -> Extracted:
        """A registration without the condition that its operator is not there yet: nothing else is known of it.

        A definition of an operator that PyTorch may have itself keeps the condition, or gets it where a refusal is
        caught.
        """
        name = getattr(thing, "operator", None) or getattr(thing, "name", None)
        if not isinstance(name, str):
            return thing
        when = tuple(condition for condition in thing.when if not self._asks_for(name, condition))
        if when != thing.when:
            self.if_absent.add(thing.at)
        may_be_there = name.partition("::")[0] in PYTORCH_NAMESPACES
        if may_be_there and isinstance(thing, ExtractedDefinition) and (self.refusals_allowed or when != thing.when):
            namespace, _, base = _base(name).partition("::")
            when = (*when, Not(Atom(question_text(namespace, base))))
        return thing if when == thing.when else thing._replace(when=when)

    def _asks_for(self, operator: str, condition: Condition) -> bool:
        absent = condition.operand if isinstance(condition, Not) else None
        return isinstance(absent, Atom) and _base(self.questions.get(absent.text, "")) == _base(operator)

    def found(self, call: Call, kind: Callable[..., _Extracted], *about: object, **more: object) -> _Extracted:
        """A registration is found at a call. about, more: its fields."""
        more.setdefault("at", self.at(call.file, call.node))
        thing = kind(*about, when=self.conditions(call.file), **more)
        self._emit(thing, call.node)
        return thing

    def _emit(self, thing: Extracted, node: ast.AST) -> None:
        texts = sum(len(part) for part in thing if isinstance(part, str))
        parts = sum(len(part) for part in thing if isinstance(part, tuple))
        self.spend(FINDING + texts // 16 + parts)
        thing = self._without_question(thing)
        if isinstance(thing, ExtractedDefinition | CustomOperator) and isinstance(thing.name, str):
            self._defined.setdefault(_base(thing.name), []).append(thing.when)
        if self.uncertain is not None and not (isinstance(thing, ExtractedBlock) or _defines_unknown(thing)):
            self._refuse(thing.at, node, self.uncertain, thing.when)
            return
        if self.assumed is not None and not (isinstance(thing, ExtractedBlock) or is_decided(thing)):
            why = f"`{self.assumed.name}` registers it when it is called, and no call of it was found"
            self._refuse(thing.at, node, why, thing.when)
            return
        if self._has_rival(thing) and self.assumed is not None:
            why = f"`{self.assumed.name}` registers it when it is called, and the file registers it elsewhere, too"
            self._refuse(thing.at, node, why, thing.when)
            return
        if thing not in self.registered and self.assumed is not None:
            self.called.setdefault(self.assumed, {})[thing.at] = None
        self.registered[thing] = None

    def _has_rival(self, thing: Extracted) -> bool:
        """True if a function that nothing calls registers what its file registers elsewhere: only one can be called."""
        match thing:
            case ExtractedDefinition() | CustomOperator():
                slot: tuple[object, ...] = (thing.at.file, thing.name)
            case ExtractedKernel():
                slot = (thing.at.file, thing.operator, thing.key)
            case _:
                return False
        function, when = self._holders.setdefault(slot, (self.assumed, thing.when))
        return self.assumed is not function and not exclude_each_other(when, thing.when)

    def _refuse(self, at: Span, node: ast.AST, why: str, when: tuple[Condition, ...] = ()) -> None:
        """A statement is not understood."""
        if (at, why) not in self._said:
            self._said.add((at, why))
            self.not_understood.append(NotUnderstood(at, source_text(node), why, when))

    def not_known(self, call: Call, why: str) -> Opaque:
        """A registration is not understood; its value is not known."""
        self.spend(FINDING)
        self.text(call.node)
        self._refuse(self.at(call.file, call.node), call.node, why, self.conditions(call.file))
        return Opaque(call.node)

    def bounded(self, error: OverWork | RecursionError, file: str, node: ast.AST | None = None) -> None:
        """The reading of a file, or of a function of it, ended at a bound. node: the function."""
        at = error.at if isinstance(error, OverWork) and error.at is not None else None
        if at is None or at.file != file:
            at = Span(file, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)
        why = error.why if isinstance(error, OverWork) else "its calls, statements or expressions nest too deeply"
        if node is not None:
            self.account(file, node)
        if (file, why) not in self._ended:
            self._ended.add((file, why))
            self.not_understood.append(NotUnderstood(at, self.index.line(at).strip()[:MAX_TEXT], why, bound=True))


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
