"""Types of annotations, each in one spelling, and their names in schemas."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from dispatch_cli.extract.python.evaluation.values import (
    ClassValue,
    Dotted,
    FunctionValue,
    ImportedName,
    ObjectValue,
    Opaque,
    Scope,
    TypeArguments,
    Value,
    constant,
    source_text,
)

SPELLINGS = {
    "torch._tensor.Tensor": "torch.Tensor",
    "torch.types.Tensor": "torch.Tensor",
    "builtins.int": "int",
    "builtins.float": "float",
    "builtins.bool": "bool",
    "builtins.str": "str",
    "torch.types._int": "int",
    "torch.types._float": "float",
    "torch.types._bool": "bool",
    "torch.types._dtype": "torch.dtype",
    "torch.types._device": "torch.device",
    "torch._C.dtype": "torch.dtype",
    "torch._C.device": "torch.device",
    "torch.types.Device": "torch.types.Device",
    "torch.distributed.distributed_c10d.GroupName": "str",
    "builtins.list": "list",
    "typing.List": "list",
    "typing.Sequence": "Sequence",
    "collections.abc.Sequence": "Sequence",
    "builtins.tuple": "tuple",
    "typing.Tuple": "tuple",
    "typing_extensions.List": "list",
}
NUMBER = frozenset(("int", "float", "bool"))


_BASES: dict[object, tuple[str, bool, bool, bool]] = {
    "torch.Tensor": ("Tensor", True, True, True),
    "int": ("SymInt", True, False, True),
    "float": ("float", True, False, True),
    "bool": ("bool", True, False, True),
    "str": ("str", False, False, False),
    NUMBER: ("Scalar", True, False, False),
    "torch.dtype": ("ScalarType", False, False, False),
    "torch.device": ("Device", False, False, False),
}
"""Type → its name in schemas, and whether there are lists of it, of optional ones, and optional lists."""

_RETURNS: dict[object, str] = {
    "torch.Tensor": "Tensor",
    "int": "SymInt",
    "float": "float",
    "bool": "bool",
    NUMBER: "Scalar",
}


_OTHERS = ("None", "NoneType", "builtins.dict", "typing.Any", "typing.Dict", "torch.Generator")
_KNOWN = frozenset((*SPELLINGS.values(), *_OTHERS))
EMPTY = Dotted("inspect._empty")
"""Stands for an annotation or a default that is not there."""
_TYPES = frozenset(
    (
        *(*SPELLINGS, *SPELLINGS.values(), EMPTY.name, "builtins.NoneType", "builtins.complex", "builtins.dict"),
        *("torch.Generator", "torch.SymInt", "torch.SymFloat", "torch.SymBool", "torch.Tensor", "torch.dtype"),
        *("torch.device", "torch.layout", "torch.memory_format", "torch.nn.Parameter", "typing.Any", "typing.Union"),
        *("typing.Optional", "types.UnionType"),
    )
)
_ORIGINS = {"typing.Optional": "typing.Union", "typing.List": "builtins.list", "typing.Tuple": "builtins.tuple"}


def is_known_type(kind: object) -> bool:
    """True if all parts of a type are known, so that no class of a project is among them."""
    if isinstance(kind, tuple | frozenset):
        return all(map(is_known_type, kind))
    return kind in _KNOWN


class NoSchema(Exception):
    """The schema cannot be inferred.

    why: as a sentence without a full stop. refused: the beginning of PyTorch's words, where it surely refuses it.
    """

    def __init__(self, why: str, refused: str | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.refused = None if refused is None else f"infer_schema(func): {refused}"


def schema_type(kind: object) -> str | None:
    """The schema type of a parameter, as the newest known PyTorch has it; None where it has none."""
    if kind in _BASES:
        return _BASES[kind][0]
    if (inner := _optional(kind)) is not None:
        if inner in _BASES:
            return _BASES[inner][0] + "?"
        list_type = _list_type(inner)
        item = item_of(inner)
        entry = _BASES.get(item) or _BASES.get(_optional(item))
        return f"{list_type}?" if list_type is not None and entry is not None and entry[3] else None
    return _list_type(kind)


def _list_type(kind: object) -> str | None:
    item = item_of(kind)
    if item in _BASES:
        return f"{_BASES[item][0]}[]" if _BASES[item][1] else None
    inner = _optional(item)
    return f"{_BASES[inner][0]}?[]" if inner in _BASES and _BASES[inner][2] else None


def _optional(kind: object) -> object:
    """Type without its None, for a type that may also be None; None for others."""
    if not isinstance(kind, frozenset) or "None" not in kind:
        return None
    inner = kind - {"None"}
    return next(iter(inner)) if len(inner) == 1 else inner


def item_of(kind: object) -> object:
    """Type of the items of a list type; None for other types."""
    if isinstance(kind, tuple) and kind[0] in ("list", "Sequence") and len(kind[1]) == 1:
        return kind[1][0]
    return None


def annotated_type(node: ast.expr, evaluate: Callable[[ast.expr, Scope], Value], scope: Scope) -> object:
    """The type of an annotation, in one spelling.

    ``from __future__ import annotations`` makes texts of annotations; PyTorch evaluates such a text once.
    """
    value = evaluate(node, scope)
    texts = not has_future_annotations(scope)
    if isinstance(value, str) and texts:
        value, texts = _parsed(value, evaluate, scope), False
    return "NoneType" if value is None and not _is_none(node) else _type(value, evaluate, scope, texts)


def has_future_annotations(scope: Scope) -> bool:
    """True if annotations are texts at run time."""
    imported = scope.module.names.get("annotations")
    return isinstance(imported, ImportedName) and imported.node.module == "__future__"


def spelled_type(value: Value) -> object:
    """A type in one spelling; None where a part of it is not known."""
    kind = _type(value, lambda node, _: Opaque(node), Scope(""), texts=False)
    pending, count = [kind], 0
    while pending:
        part = pending.pop()
        count += 1
        if part == "?" or count > 100:
            return None
        pending += part if isinstance(part, tuple | frozenset) else ()
    return kind


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant | ast.Name | ast.Attribute)


def _type(
    value: Value, evaluate: Callable[[ast.expr, Scope], Value], scope: Scope, texts: bool, depth: int = 0
) -> object:
    """A type in one spelling: a name, a frozenset for a union, or (``list``, its arguments) and the like.

    texts: a text among the arguments of a built-in type is evaluated.
    """
    if depth > 20:
        return "?"
    match value:
        case None | Dotted("builtins.None"):
            return "None"
        case str() if texts and depth:
            return _type(_parsed(value, evaluate, scope), evaluate, scope, False, depth + 1)
        case Dotted("torch.types.Number"):
            return NUMBER
        case Dotted(name):
            return SPELLINGS.get(name, name)
        case TypeArguments(origin, arguments):
            name = origin.name if isinstance(origin, Dotted) else "?"
            inside = texts and not name.startswith("typing")
            inner = [_type(argument, evaluate, scope, inside, depth + 1) for argument in arguments]
            if name in ("typing.Optional", "typing.Union", "types.UnionType"):
                return _union([*inner, *(["None"] if name == "typing.Optional" else [])])
            spelled = SPELLINGS.get(name, name)
            return spelled, () if arguments == ((),) else tuple(inner)
    return "?"


def _union(members: list[object]) -> object:
    flat: set[object] = set()
    for member in members:
        flat |= member if isinstance(member, frozenset) else {member}
    if len(flat) == 1:
        only = next(iter(flat))
        return "NoneType" if only == "None" else only
    return frozenset(flat)


def _parsed(text: str, evaluate: Callable[[ast.expr, Scope], Value], scope: Scope) -> Value:
    if len(text) > 500:
        return Opaque(None, text[:50])
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NoSchema(f"the annotation {text!r} is not a type") from None
    return evaluate(tree.body, scope)


def return_type(kind: object) -> str | None:
    """The schema type of a result, or of a part of it; None where it has none."""
    if kind in _RETURNS:
        return _RETURNS[kind]
    return "Tensor[]" if kind == ("list", ("torch.Tensor",)) else None


def signature_of(function: FunctionValue, evaluate: Callable[..., Value]) -> Value:
    """The result of ``inspect.signature``. evaluate: the value of an expression in a scope."""
    while function.wrapped is not None and function.wrapped is not function:
        function = function.wrapped
    arguments = function.node.args
    texts = has_future_annotations(function.scope)

    def annotation(node: object) -> Value:
        if node is None:
            return EMPTY
        return source_text(node) if texts else evaluate(node, function.scope)

    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [EMPTY] * (len(positional) - len(function.defaults)) + list(function.defaults)
    rows = list(zip(positional, defaults, strict=False))[1 if function.bound else 0 :]
    rows += [(argument, function.keyword_defaults.get(argument.arg, EMPTY)) for argument in arguments.kwonlyargs]
    rows += [(argument, EMPTY) for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    parameters = {
        node.arg: ObjectValue({"name": node.arg, "annotation": annotation(node.annotation), "default": default})
        for node, default in rows
    }
    returned = annotation(getattr(function.node, "returns", None))
    return ObjectValue({"parameters": parameters, "return_annotation": returned})


def type_origin(value: Value) -> Value:
    """The result of ``typing.get_origin``."""
    if not isinstance(value, TypeArguments):
        return None
    name = value.origin.name if isinstance(value.origin, Dotted) else ""
    return Dotted(_ORIGINS[name]) if name in _ORIGINS else value.origin


def type_arguments(value: Value) -> tuple[Value, ...]:
    """The result of ``typing.get_args``."""
    if not isinstance(value, TypeArguments):
        return ()
    optional = value.origin == Dotted("typing.Optional")
    return (*value.arguments, Dotted("builtins.NoneType")) if optional else value.arguments


def same_type(left: Value, right: Value, equal: bool = True) -> bool | None:
    """True if two values are the same type; None where one of them is not known to be a type.

    equal: types of two spellings are the same.
    """
    types = [_is_known_type(side) for side in (left, right)]
    if not any(types) or not all(known or constant(side) for known, side in zip(types, (left, right), strict=True)):
        return None
    if isinstance(left, TypeArguments) and isinstance(right, TypeArguments):
        spellings = [spelled_type(side) for side in (left, right)]
        return spellings[0] == spellings[1] if equal and None not in spellings else None
    if isinstance(left, Dotted) and isinstance(right, Dotted):
        return SPELLINGS.get(left.name, left.name) == SPELLINGS.get(right.name, right.name)
    return left is right


def one_of_types(value: Value, types: Sequence[Value]) -> bool | None:
    """True if a type is among others; None where that is not known."""
    answers = [same_type(value, type_) for type_ in types]
    return True if True in answers else None if None in answers or not answers else False


def _is_known_type(value: Value) -> bool:
    if isinstance(value, Dotted):
        return value.name in _TYPES
    return isinstance(value, TypeArguments | ClassValue)
