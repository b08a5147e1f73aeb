"""Higher-order operators, and the types of modes."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.declarations.fields import Values, is_true, read_named, read_record, read_records, text_of, word_of
from dispatch_cli.declarations.formats.higher_order_format import HIGHER_ORDER_OPERATOR, HIGHER_ORDER_RULE, MODE
from dispatch_cli.declarations.formats.kernel_format import FALLTHROUGH
from dispatch_cli.declarations.sections.context import FileContext
from dispatch_cli.declarations.tree import Mapping, Node, Scalar
from dispatch_cli.model.declarations import Registrant
from dispatch_cli.model.higher_order import (
    ERROR_PLACES,
    RAISES,
    TRANSFORMS,
    HigherOrderImpl,
    HigherOrderOperator,
    ImplKind,
    ModeType,
)
from dispatch_cli.model.text.quoting import quoted
from dispatch_cli.model.text.suggest import suggestion

_BY_NAME = {"modes": ImplKind.MODE, "subclasses": ImplKind.SUBCLASS, "transforms": ImplKind.TRANSFORM}
_NAME_OF_AN_IMPL = ("the name of a kernel", "remove the key if it has no implementation")
_ALONE = {"autograd": ImplKind.AUTOGRAD, "functionalize": ImplKind.FUNCTIONALIZE}


def read_higher_order_operators(context: FileContext, section: Node) -> None:
    """Read the section ``higher_order_operators``."""
    for node, values in read_records(context.problems, section, HIGHER_ORDER_OPERATOR):
        with context.placed(node):
            _read_operator(context, node, values)


def read_modes(context: FileContext, section: Node) -> None:
    """Read the section ``modes``."""
    if type(section) is not Mapping:
        return
    for key, node in section.pairs:
        name = word_of(context.problems, key)
        values = read_record(context.problems, node, MODE)
        if name is not None and values is not None:
            supports = is_true(values.get("supports_higher_order_operators")) is True
            context.modes.append(ModeType(name, supports, context.problems.span(key)))


def _read_operator(context: FileContext, node: Node, values: Values) -> None:
    impls: list[HigherOrderImpl] = []
    for field, value in values.items():
        if field == "dispatch":
            impls += _dispatch(context, value)
        elif field in _BY_NAME:
            impls += _by_name(context, value, _BY_NAME[field])
        elif field in _ALONE and value is not None:
            impls += _impl(context, value, _ALONE[field], "", value)
    operator = HigherOrderOperator(
        _name(context, values.get("name")),
        tuple(impls),
        is_true(values.get("side_effect")) is True,
        is_true(values.get("add")) is True,
        context.problems.span(node),
        is_true(values.get("mutates")) is True,
        context.by is Registrant.USER,
        context.by is Registrant.PYTORCH,
        context.by is Registrant.UNKNOWN,
    )
    context.higher_order_operators.append(operator)


def _name(context: FileContext, node: Node | None) -> str:
    """The name, which has no namespace: they all are in PyTorch's ``higher_order``."""
    name = text_of(context.problems, node) or ""
    if node is not None and "::" in name:
        message = f"the name of a higher-order operator cannot have a namespace: {quoted(name)}"
        context.problems.add("bad-name", message, node, f"write only {name.rpartition('::')[2] or 'its name'}")
    return name


def _dispatch(context: FileContext, node: Node | None) -> Iterator[HigherOrderImpl]:
    if type(node) is not Mapping:
        return
    for key_node, key, value in context.keys.pairs(context.problems, node):
        if key is not None:
            yield from _impl(context, value, ImplKind.DISPATCH, key, key_node)


def _by_name(context: FileContext, node: Node | None, kind: ImplKind) -> Iterator[HigherOrderImpl]:
    if type(node) is not Mapping:
        return
    problems = context.problems
    for key, value in node.pairs:
        name = word_of(problems, key)
        if kind is ImplKind.TRANSFORM and name is not None and not (name in TRANSFORMS or context.keys.constants):
            message = f"there is no functorch transform {quoted(name)}"
            hint = suggestion(name, TRANSFORMS) or f"the transforms are {', '.join(TRANSFORMS)}"
            problems.add("unknown-transform", message, key, hint)
        elif name is not None:
            yield from _impl(context, value, kind, name, key)


def _impl(context: FileContext, node: Node, kind: ImplKind, name: str, at: Node) -> Iterator[HigherOrderImpl]:
    """The implementation that *node* declares; none, noting why, when it declares none.

    at: what stands for it in answers.
    """
    problems = context.problems
    span = problems.span(at)
    values = read_named(problems, node, HIGHER_ORDER_RULE, _NAME_OF_AN_IMPL[0])
    if values is None or _contradicts(context, values, kind):
        return
    if is_true(values.get(FALLTHROUGH)):
        yield HigherOrderImpl(kind, name, FALLTHROUGH, fallthrough=True, span=span)
        return
    kernel = text_of(problems, values.get("kernel"), *_NAME_OF_AN_IMPL)
    if kernel is None:
        if "kernel" not in values and FALLTHROUGH in values:
            problems.add("missing-field", "an implementation that does not fall through needs the field 'kernel'", node)
        return
    raises = _says_raises(values)
    yield HigherOrderImpl(
        kind,
        name,
        kernel,
        redispatches=None if raises else is_true(values.get("redispatches")),
        not_implemented=values.get("returns") is not None,
        deferred_error=is_true(values.get("deferred_error")),
        raises=raises,
        errors=tuple(_errors(context, values.get("error"))),
        span=span,
    )


def _says_raises(values: Values) -> bool:
    node = values.get("redispatches")
    return type(node) is Scalar and node.text == RAISES


def _errors(context: FileContext, node: Node | None) -> Iterator[tuple[str, str]]:
    """The texts of an implementation's errors, by the places where it raises them."""
    problems = context.problems
    if type(node) is not Mapping:
        text = text_of(problems, node)
        if text is not None:
            yield "", text
        return
    for key, value in node.pairs:
        place, text = word_of(problems, key), text_of(problems, value)
        if place is not None and place not in ERROR_PLACES.values():
            message = f"an implementation for functionalization has no place {quoted(place)}"
            problems.add("bad-value", message, key, f"the places are {', '.join(ERROR_PLACES.values())}")
        elif place is not None and text is not None:
            yield place, text


def _contradicts(context: FileContext, values: Values, kind: ImplKind) -> bool:
    """Note fields that say nothing of this implementation; True if there are any."""
    error = values.get("error")
    messages: list[tuple[str, str]] = []
    if is_true(values.get(FALLTHROUGH)) and kind is not ImplKind.DISPATCH:
        messages.append((FALLTHROUGH, "only a dispatch key can fall through"))
    if kind in (ImplKind.DISPATCH, ImplKind.AUTOGRAD, ImplKind.TRANSFORM):
        only = "only implementations for modes, subclasses and functionalization can return NotImplemented"
        messages.append(("returns", only))
    if type(error) is Mapping and kind is not ImplKind.FUNCTIONALIZE:
        messages.append(("error", "only an implementation for functionalization can have errors by place"))
    if type(error) is Scalar and not _says_raises(values):
        messages.append(("error", "the field 'error' needs an implementation with redispatches: raises"))
    notes = [(node, message) for field, message in messages if (node := values.get(field)) is not None]
    for node, message in notes:
        context.problems.add("bad-value", message, node)
    return bool(notes)
