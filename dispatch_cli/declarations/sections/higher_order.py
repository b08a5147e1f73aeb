"""Higher-order operators, and the types of modes."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.declarations.fields import Values, pairs_of, read_named, read_record, read_records, text_of, word_of
from dispatch_cli.declarations.formats.format_types import (
    AT,
    BARE_NAME,
    BOOLEAN,
    BOOLEANS,
    FALLTHROUGH,
    KEYS,
    NAME,
    TEXT,
    Field,
    Record,
    Type,
    choice,
    either,
    map_of,
    text_or,
)
from dispatch_cli.declarations.sections.context import FileContext
from dispatch_cli.declarations.tree import Mapping, Node, Scalar
from dispatch_cli.model.declarations import Registrant
from dispatch_cli.model.higher_order import (
    AUTOGRAD_NOT_IMPLEMENTED,
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

_RULE = text_or("a kernel name", "higher_order_impl")
_RULES = map_of(NAME, _RULE, "names to implementations")
HIGHER_ORDER_OPERATOR = Record(
    "higher_order_operator",
    "a higher-order operator",
    "An operator that has only Python implementations, registered in the order in which they are written. The "
    "universe says which keys fall through by default; a key with an implementation does not fall through.",
    (
        AT,
        Field("name", BARE_NAME, "Its name, without a namespace.", required=True),
        Field(
            "add",
            BOOLEAN,
            "Add the implementations to an existing operator with this name, from an earlier declaration or the "
            "embedded state; otherwise this operator replaces it.",
            default="false",
        ),
        Field(
            "dispatch",
            map_of(KEYS, _RULE, "dispatch keys to implementations"),
            "Its implementations by dispatch key (`py_impl`); several keys are separated by commas. `fallthrough` "
            "makes the key fall through.",
        ),
        Field(
            "autograd",
            _RULE,
            "Its autograd implementation (`py_autograd_impl`), registered at Autograd. It runs when a gradient is "
            "needed; otherwise the operator is called again below autograd.",
        ),
        Field("modes", _RULES, "Its implementations by mode type, such as `FakeTensorMode`."),
        Field("subclasses", _RULES, "Its implementations by tensor subclass."),
        Field(
            "transforms",
            map_of({"enum": list(TRANSFORMS)}, _RULE, "functorch transforms to implementations"),
            f"Its implementations by functorch transform (`TransformType`): {', '.join(TRANSFORMS)}.",
        ),
        Field(
            "functionalize",
            _RULE,
            "Its implementation for functionalization (`py_functionalize_impl`), registered at the dispatch key "
            "Functionalize, for FunctionalTensorMode, and at the transform Functionalize.",
        ),
        Field("side_effect", BOOLEAN, "It has a side effect, so that graphs must not drop its calls.", default="false"),
        Field("mutates", BOOLEAN, "It writes to its arguments, according to its `gen_schema`.", default="false"),
    ),
)
HIGHER_ORDER_RULE = Record(
    "higher_order_impl",
    "an implementation",
    "An implementation of a higher-order operator, when more than the name of its function is given. `fallthrough` "
    "instead of a name is short for `{fallthrough: true}`; in quotes, as in JSON, it is a name.",
    (
        Field("kernel", TEXT, "The name of its Python function.", excludes=("fallthrough",)),
        Field("fallthrough", BOOLEAN, "The dispatch key falls through; then there is no kernel.", default="false"),
        Field(
            "redispatches",
            Type("true, false or raises", (Scalar,), {"enum": [True, False, RAISES]}, (*BOOLEANS, RAISES)),
            "Whether it calls the operator again: at an autograd key, below autograd; at another key, without that "
            "key; in a mode, without that mode; in a transform, below that transform. `raises`: it always raises an "
            "error.",
            default=f"not known, but true for PyTorch's helper `{AUTOGRAD_NOT_IMPLEMENTED}`",
        ),
        Field(
            "error",
            either(TEXT, map_of({"enum": [*ERROR_PLACES.values()]}, TEXT, "places to strings")),
            "The error that an implementation with `redispatches: raises` raises, such as `ValueError: the text`. "
            f"For an implementation for functionalization: the errors by place ({', '.join(ERROR_PLACES.values())}); "
            "it raises only at the places that are named.",
        ),
        Field(
            "returns", choice("NotImplemented"), "It returns NotImplemented, so that the next implementation is tried."
        ),
        Field(
            "deferred_error",
            BOOLEAN,
            f"For `{AUTOGRAD_NOT_IMPLEMENTED}`: whether a call that needs a gradient fails only in the backward pass.",
            default="not known",
        ),
    ),
    ("kernel", "fallthrough"),
)
MODE = Record(
    "mode",
    "a mode type",
    "A subclass of `TorchDispatchMode`.",
    (
        Field(
            "supports_higher_order_operators",
            BOOLEAN,
            "Its `__torch_dispatch__` handles the higher-order operators that have no implementation for it.",
            default="false",
        ),
    ),
)
_BY_NAME = {"modes": ImplKind.MODE, "subclasses": ImplKind.SUBCLASS, "transforms": ImplKind.TRANSFORM}
_ALONE = {"autograd": ImplKind.AUTOGRAD, "functionalize": ImplKind.FUNCTIONALIZE}


def read_higher_order_operators(context: FileContext, section: Node) -> None:
    for values in read_records(context.problems, section, HIGHER_ORDER_OPERATOR):
        with context.placed(values.node):
            _read_operator(context, values)


def read_modes(context: FileContext, section: Node) -> None:
    for key, node in pairs_of(section):
        name = word_of(context.problems, key)
        values = read_record(context.problems, node, MODE)
        if name is not None and values is not None:
            supports = values.flag("supports_higher_order_operators") is True
            context.contents.modes.append(ModeType(name, supports, context.problems.span(key)))


def _read_operator(context: FileContext, values: Values) -> None:
    impls: list[HigherOrderImpl] = []
    for field, value in values.items():
        if field == "dispatch":
            for key_node, key, impl in context.keys.pairs(context.problems, value):
                impls += _impl(context, impl, ImplKind.DISPATCH, key or "", key_node)
        elif field in _BY_NAME:
            impls += _by_name(context, value, _BY_NAME[field])
        elif field in _ALONE and value is not None:
            impls += _impl(context, value, _ALONE[field], "", value)
    operator = HigherOrderOperator(
        _name(values),
        tuple(impls),
        side_effect=values.flag("side_effect") is True,
        adds=values.flag("add") is True,
        span=context.problems.span(values.node),
        mutates=values.flag("mutates") is True,
        is_own=context.by is Registrant.USER and not context.extended,
        of_pytorch=context.by is Registrant.PYTORCH,
        of_unknown=context.by is Registrant.UNKNOWN,
    )
    context.contents.higher_order_operators.append(operator)


def _name(values: Values) -> str:
    """The name, which has no namespace: they all are in PyTorch's ``higher_order``."""
    name, node = values.text("name") or "", values.get("name")
    if node is not None and "::" in name:
        message = f"the name of a higher-order operator cannot have a namespace: {quoted(name)}"
        values.problems.add("bad-name", message, node, f"write only {name.rpartition('::')[2] or 'its name'}")
    return name


def _by_name(context: FileContext, node: Node | None, kind: ImplKind) -> Iterator[HigherOrderImpl]:
    for key, value in pairs_of(node):
        name = word_of(context.problems, key)
        if kind is ImplKind.TRANSFORM and name is not None and not (name in TRANSFORMS or context.keys.constants):
            message = f"there is no functorch transform {quoted(name)}"
            hint = suggestion(name, TRANSFORMS) or f"the transforms are {', '.join(TRANSFORMS)}"
            context.problems.add("unknown-transform", message, key, hint)
        elif name is not None:
            yield from _impl(context, value, kind, name, key)


def _impl(context: FileContext, node: Node, kind: ImplKind, name: str, at: Node) -> Iterator[HigherOrderImpl]:
    """The implementation that *node* declares; none, noting why, when it declares none.

    at: what stands for it in answers.
    """
    problems = context.problems
    span = problems.span(at)
    values = read_named(problems, node, HIGHER_ORDER_RULE)
    if values is None or _contradicts(values, kind):
        return
    if values.flag(FALLTHROUGH):
        yield HigherOrderImpl(kind, name, FALLTHROUGH, fallthrough=True, span=span)
        return
    kernel = values.text("kernel")
    if kernel is None:
        if "kernel" not in values and FALLTHROUGH in values:
            problems.add("missing-field", "an implementation that does not fall through needs the field 'kernel'", node)
        return
    raises = _says_raises(values)
    yield HigherOrderImpl(
        kind,
        name,
        kernel,
        redispatches=None if raises else values.flag("redispatches"),
        not_implemented=values.get("returns") is not None,
        deferred_error=values.flag("deferred_error"),
        raises=raises,
        errors=tuple(_errors(values)),
        span=span,
    )


def _says_raises(values: Values) -> bool:
    node = values.get("redispatches")
    return type(node) is Scalar and node.text == RAISES


def _errors(values: Values) -> Iterator[tuple[str, str]]:
    """The texts of an implementation's errors, by the places where it raises them."""
    problems, node = values.problems, values.get("error")
    if type(node) is Scalar and (whole := text_of(problems, node)) is not None:
        yield "", whole
    for key, value in pairs_of(node):
        place, text = word_of(problems, key), text_of(problems, value)
        if place is not None and place not in ERROR_PLACES.values():
            message = f"an implementation for functionalization has no place {quoted(place)}"
            problems.add("bad-value", message, key, f"the places are {', '.join(ERROR_PLACES.values())}")
        elif place is not None and text is not None:
            yield place, text


def _contradicts(values: Values, kind: ImplKind) -> bool:
    """Note fields that say nothing of this implementation; True if there are any."""
    error = values.get("error")
    notes: list[tuple[Node | None, str]] = []
    if values.flag(FALLTHROUGH) and kind is not ImplKind.DISPATCH:
        notes.append((values[FALLTHROUGH], "only a dispatch key can fall through"))
    if values.get("returns") is not None and kind in (ImplKind.DISPATCH, ImplKind.AUTOGRAD, ImplKind.TRANSFORM):
        only = "only implementations for modes, subclasses and functionalization can return NotImplemented"
        notes.append((values["returns"], only))
    if type(error) is Mapping and kind is not ImplKind.FUNCTIONALIZE:
        notes.append((error, "only an implementation for functionalization can have errors by place"))
    if type(error) is Scalar and not _says_raises(values):
        notes.append((error, "the field 'error' needs an implementation with redispatches: raises"))
    for node, message in notes:
        values.problems.add("bad-value", message, node or values.node)
    return bool(notes)
