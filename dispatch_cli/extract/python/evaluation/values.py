"""Values of Python's expressions, as far as the text says them, and those that hold under conditions.

Constants, tuples, lists and dictionaries are Python's own. Others are one of the classes here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from dispatch_cli.extract.python.evaluation.versions import ByVersion
from dispatch_cli.model.conditions.condition import And, Atom, Condition, Or, atoms, negated
from dispatch_cli.model.conditions.simplify import simplified
from dispatch_cli.model.conditions.worlds import TORCH_VERSION
from dispatch_cli.model.sources.extracted import ExtractedBlock, Unknown

Value = Any
"""A constant, a tuple, list or dictionary of values, or one of the classes below."""

MAX_TEXT = 200
"""Characters of an expression that are kept."""

MAX_NAME = 1_000
"""Characters of a dotted name, and of a question for an operator."""
MAX_BITS = 256
"""Bits of a number that is known. Python does not print numbers with more than 4,300 digits."""
MAX_PARTS = 20_000
"""Parts of a value that is compared, hashed, printed or copied, shared ones counted each time; items of a loop."""
MAX_TYPE_PARTS = 1_000
"""Parts of a type: types are gone through one by one."""
CHARACTERS = 64
"""So many characters of a text count as a part."""
PARTS = 16
"""So many parts are visited in C in the time of one unit of work."""
MAX_ATOMS = 16
"""Atoms of a condition that is made of others."""
MAX_OPTIONS, MAX_WHEN = 8, 32
"""Values that one name may have under different conditions, and the conditions of each."""
_JOINED = re.compile(r"\b(?:and|or)\b|^not\b")


@lru_cache(maxsize=20_000)
def source_text(node: ast.AST) -> str:
    """The expression as Python prints it, shortened."""
    try:
        text = " ".join(ast.unparse(node).split())
    except (RecursionError, ValueError, AttributeError):
        return "..."
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 3] + "..."


class Items(tuple[Value, ...]):
    """Items of a set, of an iterator or of a view of a dictionary: they are gone through, and are no sequence."""

    __slots__ = ()


class NoResult(Exception):
    """The value of an expression is not known."""


@dataclass(eq=False)
class Opaque:
    """A value that the sources do not decide. node: the expression. of: number of the values that it depends on."""

    node: ast.AST | None = None
    known_text: str | None = None
    of: int = 0

    @property
    def text(self) -> str:
        if self.known_text is None:
            self.known_text = source_text(self.node) if self.node is not None else "..."
        return self.known_text


class ValueOption(NamedTuple):
    """One of the values that something may have. when: under which conditions."""

    when: tuple[Condition, ...]
    value: Value


@dataclass(eq=False)
class Alternatives:
    """Values under conditions that exclude each other."""

    options: tuple[ValueOption, ...]


@dataclass(frozen=True)
class Dotted:
    """Something that is not in the sources, by its full name, such as ``torch.library.Library``."""

    name: str


@dataclass(frozen=True)
class TypeArguments:
    """A generic type with its arguments: ``List[int]``."""

    origin: Value
    arguments: tuple[Value, ...]


@dataclass(eq=False)
class ModuleValue:
    """A module of the project. file: its path."""

    file: str


@dataclass(frozen=True)
class ImportedName:
    """A name that an import binds; the module is read when the name is used. file: the importing one."""

    node: ast.ImportFrom
    file: str
    name: str


@dataclass(eq=False)
class Scope:
    """The names of a module, class or function.

    parent: where other names are looked up. returns, yielded: the results of a function. code: the function, of its
    own scope.
    """

    file: str
    parent: Scope | None = None
    is_class: bool = False
    names: dict[str, Value] = field(default_factory=dict)
    globals: set[str] = field(default_factory=set)
    returns: list[ValueOption] = field(default_factory=list)
    yielded: list[ValueOption] = field(default_factory=list)
    code: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None = None

    @property
    def module(self) -> Scope:
        """The scope of the module that it is in."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope


def default_nodes(arguments: ast.arguments) -> dict[str, ast.expr]:
    """The expressions of the defaults, by the names of parameters."""
    positional = [*arguments.posonlyargs, *arguments.args]
    last = zip(positional[::-1], arguments.defaults[::-1], strict=False)
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return {parameter.arg: node for parameter, node in (*last, *named) if node is not None}


@dataclass(eq=False)
class FunctionValue:
    """A function of the project.

    binds: what its first parameter is. kind: ``staticmethod`` and the like. defaults: by the names of parameters.
    wrapped: the function that ``functools.wraps`` names; `Opaque` where it is not known.
    may_be_replaced: a decorator may put another one in its place. results: what its calls gave, by their arguments, and
    under which conditions; None of a function that ``functools.cache`` does not decorate.
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    binds: Value = None
    bound: bool = False
    kind: str = ""
    defaults: dict[str, Value] = field(default_factory=dict)
    wrapped: FunctionValue | Opaque | None = None
    attributes: dict[str, Value] = field(default_factory=dict)
    may_be_replaced: bool = False
    results: dict[tuple[Value, ...], tuple[tuple[Condition, ...], Value]] | None = None

    @property
    def name(self) -> str:
        if isinstance(self.wrapped, FunctionValue) and self.wrapped is not self:
            return self.wrapped.name
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name


@dataclass(eq=False)
class ClassValue:
    """A class of the project."""

    node: ast.ClassDef
    scope: Scope

    @property
    def name(self) -> str:
        return self.node.name


@dataclass(eq=False)
class InstanceValue:
    """An object. of: its class; None for a signature of Python's, and for a member of an enumeration."""

    of: ClassValue | None
    attributes: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class SuperValue:
    """``super()``. of: the object or class; home: the names of the class behind which attributes are looked up."""

    of: Value
    home: Scope


@dataclass(eq=False)
class LibraryValue:
    """A ``torch.library.Library``."""

    block: ExtractedBlock


@dataclass(frozen=True)
class OperatorHandle:
    """The result of ``custom_op``, or an operator that is not known by a name."""

    name: str | Unknown


@dataclass(eq=False)
class Bound:
    """A method of a value that is not the project's: a library's, a list's."""

    owner: Value
    name: str


@dataclass(eq=False)
class Prepared:
    """A call with some of its arguments given: ``functools.partial``, and the decorators of ``torch.library``."""

    function: Value
    arguments: tuple[Value, ...] = ()
    keywords: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """A call. given: the arguments without a name. node, scope: where it is."""

    given: list[Value]
    keywords: dict[str, Value]
    node: ast.AST
    scope: Scope

    @property
    def file(self) -> str:
        return self.scope.file

    def arguments(self, order: str) -> dict[str, Value]:
        """The arguments by name. order: the names of the parameters."""
        return {**dict(zip(order.split(), self.given, strict=False)), **self.keywords}

    def of(self, /, *given: Value, **keywords: Value) -> Call:
        """A call with other arguments at the same place."""
        return replace(self, given=list(given), keywords=keywords)

    def with_argument(self, slot: int | str, value: Value) -> Call:
        """A call with another value of one argument."""
        given, keywords = [*self.given], {**self.keywords}
        if isinstance(slot, int):
            given[slot] = value
        else:
            keywords[slot] = value
        return replace(self, given=given, keywords=keywords)


def constant(value: Value) -> bool:
    """True if the value is one of Python's own constants."""
    return value is None or isinstance(value, str | int | float | bool | bytes | complex | type(Ellipsis))


@dataclass(frozen=True)
class NamedSchema:
    """A schema that is not known, of an operator whose name is. why: why it is not. refused: as of `NoSchema`."""

    name: str
    why: str
    refused: str | None = None


def decided(value: Value) -> bool:
    """True if the truth of the value is known."""
    return not isinstance(
        value,
        Opaque | Alternatives | ByVersion | Dotted | Bound | InstanceValue | SuperValue | TypeArguments | NamedSchema,
    )


def function_name(value: Value) -> str:
    """The name of a function, as the source has it."""
    match value:
        case FunctionValue() | ClassValue():
            return value.name
        case Dotted(name):
            return name
        case Opaque():
            return value.text
        case OperatorHandle(name):
            return name if isinstance(name, str) else name.expression
        case Prepared():
            return function_name(value.function)
        case InstanceValue(cls):
            return str(value.attributes.get("name", "object")) if cls is None else cls.name
    return "function"


def size_of(value: Value) -> int:
    """Parts of a value as a tree; more than `MAX_PARTS` for a larger one, and for a value that contains itself.

    It is what it costs to compare, hash, print or copy the value. Python does all of these in C, where no signal
    arrives, and visits a part that is shared as often as it is referred to: ``x = [x, x]`` sixty times makes a list
    that is compared in 2⁶⁰ steps. So each of them is paid for beforehand.
    """
    size, waiting = 0, [value]
    while waiting and size + len(waiting) <= MAX_PARTS:
        part = waiting.pop()
        size += 1 + (len(part) // CHARACTERS if isinstance(part, str | bytes) else 0)
        waiting += _parts(part)
    return size + len(waiting)


def _parts(value: Value) -> Collection[Value]:
    """The parts of a value."""
    match value:
        case tuple() | list():
            return value
        case dict():
            return [*value, *value.values()]
        case TypeArguments(origin, arguments):
            return (origin, *arguments)
    return ()


def items_of(value: Value) -> list[Value] | None:
    """The items that a loop goes through; None where they are not known."""
    if isinstance(value, str | list | tuple | dict | range):
        return list(value) if len(value) <= MAX_PARTS else None
    return None


def joined(parts: Sequence[bool | Condition], conjunction: bool) -> bool | Condition | None:
    """Condition under which all parts hold, or any of them, in a short form; None where it has too many atoms."""
    conditions = (part for part in parts if not isinstance(part, bool))
    kind = And if conjunction else Or
    left = [own for part in conditions for own in (part.operands if isinstance(part, kind) else (part,))]
    if (not conjunction) in parts or any(negated(part) in left for part in left):
        return not conjunction
    if not left:
        return conjunction
    whole = left[0] if len(left) == 1 else kind(tuple(left))
    names = [*islice(atoms(whole), MAX_ATOMS + 1)]
    if len(names) > MAX_ATOMS:
        return None
    of_version = sum(name.startswith(TORCH_VERSION) for name in names)
    return whole if len(set(names)) == len(names) and of_version < 2 else simplified(whole) or True


def atom(text: str) -> Atom:
    """The atom of a test."""
    return Atom(f"bool({text})" if _JOINED.search(text) else text)


def conditional(when: Sequence[Condition], first: Value, second: Value) -> Value:
    """The value where all conditions hold, and otherwise."""
    if not when:
        return first
    rest = negated(when[0] if len(when) == 1 else And(tuple(when)))
    return merged([ValueOption(tuple(when), first), ValueOption((rest,), second)])


def exclusive(options: list[ValueOption]) -> list[ValueOption]:
    """Results of a function, where one without a condition holds only if those of the later ones do not."""
    result: list[ValueOption] = []
    later: list[Condition] = []
    for option in reversed(options):
        result.append(option if option.when else ValueOption(tuple(map(negated, reversed(later))), option.value))
        if len(option.when) == 1 and len(later) < MAX_ATOMS:
            later.append(option.when[0])
    return result[::-1]


def merged(options: list[ValueOption]) -> Value:
    """Merge several values into one: the only one, or alternatives."""
    flat: list[ValueOption] = []
    for option in options:
        if isinstance(option.value, Alternatives):
            flat += [ValueOption((*option.when, *inner.when), inner.value) for inner in option.value.options]
        else:
            flat.append(option)
    if not flat:
        return Opaque(None)
    first = flat[0].value
    if all(
        option.value is first or (constant(first) and type(option.value) is type(first) and option.value == first)
        for option in flat
    ):
        return first
    if len(flat) > MAX_OPTIONS or max(len(option.when) for option in flat) > MAX_WHEN:
        return Opaque(None, "a value under many conditions")
    return Alternatives(tuple(flat))


def is_type(value: Value) -> bool:
    """True if a value may be a type."""
    return isinstance(value, Dotted | TypeArguments | ClassValue)
