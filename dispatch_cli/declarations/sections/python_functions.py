"""Python functions in declarations, what captured kernels are made of, and how kernels go on with a call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli.declarations.fields import (
    is_true,
    parse_place,
    read_named,
    read_place,
    read_record,
    read_records,
    scalars,
    text_of,
)
from dispatch_cli.declarations.formats.format_types import BOOLEANS
from dispatch_cli.declarations.formats.kernel_format import (
    ARGUMENT_USE,
    BODY,
    GOES_ON,
    GOES_ON_TYPE,
    PYTHON_FUNCTION,
    REDISPATCHES,
    WRAPS,
)
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.sections.keys import KeyReader
from dispatch_cli.declarations.tree import Mapping, Node, Scalar, Sequence, kind_of
from dispatch_cli.model.kernel import Redispatch, RedispatchKind, WrapKind, Wrapped
from dispatch_cli.model.span import Span
from dispatch_cli.model.text.suggest import suggestion

if TYPE_CHECKING:
    from dispatch_cli.model.sources.function_body import ArgumentUse, FunctionBody

_BY_WORD = {kind.value: kind for kind in RedispatchKind} | {"true": RedispatchKind.BELOW_KEY}
_NAME = ("the name of a Python function", "remove the field if there is no function")


def read_redispatches(problems: Problems, keys: KeyReader, node: Node | None) -> Redispatch | None:
    """Value of the field; None, noting why, when it says nothing that can be understood."""
    if type(node) is Scalar:
        return _of_word(problems, node)
    return _of_mapping(problems, keys, node) if type(node) is Mapping else None


def _of_word(problems: Problems, node: Scalar) -> Redispatch | None:
    text = node.text
    if text in GOES_ON and (node.plain or text not in BOOLEANS):
        return Redispatch(_BY_WORD[text], span=problems.span(node))
    hint = "remove the quotes" if text in GOES_ON else suggestion(text, GOES_ON)
    problems.add("bad-value", f"expected {GOES_ON_TYPE.words}, found {kind_of(node)}", node, hint)
    return None


def _of_mapping(problems: Problems, keys: KeyReader, node: Mapping) -> Redispatch | None:
    values = read_record(problems, node, REDISPATCHES)
    if values is None:
        return None
    target, excluded = values.get("to"), values.get("exclude")
    if type(target) is Scalar:
        if text_of(problems, target, "a dispatch key") is None:
            return None
        key = keys.slot(problems, target)
        return Redispatch(RedispatchKind.TO, (key,), problems.span(node)) if key is not None else None
    names: list[str] = []
    for item in scalars(problems, excluded, "a dispatch key"):
        if text_of(problems, item, "a dispatch key") is not None:
            names += keys.in_sets(problems, item)
    return Redispatch(RedispatchKind.EXCLUDE, tuple(dict.fromkeys(names)), problems.span(node)) if names else None


class PythonFunction(NamedTuple):
    """A user's function. place: where it is defined. redispatches: how it goes on, where that is said."""

    name: str
    place: str | None
    redispatches: Redispatch | None
    span: Span
    body: FunctionBody | None = None

    def wrapped(self, kind: WrapKind) -> Wrapped:
        """This function with the wrapper that PyTorch puts around it to make a kernel."""
        return Wrapped(kind, self.name, self.place)


def read_function(problems: Problems, keys: KeyReader, node: Node | None) -> PythonFunction | None:
    """A function; None, noting why, when there is none."""
    if node is None:
        return None
    values = read_named(problems, node, PYTHON_FUNCTION, _NAME[0])
    if values is None:
        return None
    name, place, span = text_of(problems, values.get("kernel"), *_NAME), text_of(problems, values.get("at")), None
    if place is not None and (place_span := parse_place(place)) is not None:
        problems.source_of(place_span.file)
        place, span = f"{place_span.file}:{place_span.line}", place_span
    redispatches = read_redispatches(problems, keys, values.get("redispatches"))
    body = read_body(problems, values.get("body"))
    return PythonFunction(name, place, redispatches, span or problems.span(node), body) if name else None


def read_body(problems: Problems, node: Node | None) -> FunctionBody | None:
    """The body of a function; None, noting why, where nothing is said of it."""
    values = None if node is None else read_record(problems, node, BODY)
    if node is None or values is None or values.get("parameters") is None:
        return None
    from dispatch_cli.model.sources.function_body import FunctionBody

    parameters = tuple(filter(None, (text_of(problems, scalar) for scalar in scalars(problems, values["parameters"]))))
    writes, returns = (tuple(_read_uses(problems, values.get(field))) for field in ("writes", "returns"))
    fewest, _, most = (text_of(problems, values.get("values")) or "").partition("..")
    body = FunctionBody(parameters, writes, returns)
    try:
        body.signature  # noqa: B018  # a cached property, which raises
        return body._replace(values=(int(fewest), int(most))) if fewest else body
    except ValueError:
        problems.add("bad-value", "Python has no such function", node, "extract writes it: extract again")
        return None


def _read_uses(problems: Problems, node: Node | None) -> Iterator[ArgumentUse]:
    from dispatch_cli.model.sources.function_body import ArgumentUse

    for at, values in read_records(problems, node, ARGUMENT_USE) if node is not None else ():
        argument, text = (text_of(problems, values.get(field)) for field in ("argument", "text"))
        place = read_place(problems, values.get("at")) or problems.span(at)
        if argument is not None and text is not None:
            yield ArgumentUse(argument, text, place, is_true(values.get("sometimes")) is True)


def read_functions(problems: Problems, keys: KeyReader, node: Node | None) -> list[PythonFunction]:
    """The functions of a list, or the one that is not in a list, in the order of registration."""
    nodes = node.items if type(node) is Sequence else (node,)
    functions = [read_function(problems, keys, node) for node in nodes]
    return [function for function in functions if function is not None]


def read_wraps(problems: Problems, node: Node | None) -> Wrapped | None:
    """The field ``wraps`` of a kernel; None where there is none, or it is not understood."""
    values = None if node is None else read_record(problems, node, WRAPS)
    by = None if values is None else values.get("by")
    if values is None or type(by) is not Scalar:
        return None
    texts = (text_of(problems, values.get(field)) for field in ("kernel", "at", "setup_context", "dtype"))
    return Wrapped(WrapKind(by.text), *texts)
