"""The schema that ``torch.library.infer_schema`` makes of a function's annotations (torch/_library/infer_schema.py)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from dispatch_cli.extract.python.methods import items_of
from dispatch_cli.extract.python.values import (
    DeviceText,
    Dotted,
    EnumMember,
    FunctionValue,
    ImportedName,
    Opaque,
    Scope,
    TypeArguments,
    Value,
    source_text,
)

_SPELLINGS = {
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
_NUMBER = frozenset(("int", "float", "bool"))

_BASES: dict[object, tuple[str, bool, bool, bool]] = {
    "torch.Tensor": ("Tensor", True, True, True),
    "int": ("SymInt", True, False, True),
    "float": ("float", True, False, True),
    "bool": ("bool", True, False, True),
    "str": ("str", False, False, False),
    _NUMBER: ("Scalar", True, False, False),
    "torch.dtype": ("ScalarType", False, False, False),
    "torch.device": ("Device", False, False, False),
}
"""Type → its name in schemas, and whether there are lists of it, of optional ones, and optional lists."""

_RETURNS: dict[object, str] = {
    "torch.Tensor": "Tensor",
    "int": "SymInt",
    "float": "float",
    "bool": "bool",
    _NUMBER: "Scalar",
}
_DTYPES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "chalf": "complex32",
}
DTYPES = frozenset(
    (
        *_DTYPES.values(),
        *[
            "bfloat16",
            "bool",
            "uint8",
            "int8",
            "uint16",
            "uint32",
            "uint64",
            "quint8",
            "qint8",
            "qint32",
            "float8_e4m3fn",
            "float8_e5m2",
            "float8_e4m3fnuz",
            "float8_e5m2fnuz",
        ],
    )
)


class NoSchema(Exception):
    """The schema cannot be inferred. why: as a sentence without a full stop."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class _Parameter(NamedTuple):
    name: str
    annotation: ast.expr | None
    default: Value
    has_default: bool
    keyword_only: bool


def infer_schema(
    function: Value, mutates: Value, evaluate: Callable[[ast.expr, Scope], Value], tags: tuple[str, ...] = ()
) -> str:
    """The schema without a name. mutates: ``mutates_args``. evaluate: the value of an annotation.

    Errors: `NoSchema`, where PyTorch refuses the function, or where the sources do not say what its annotations are.
    """
    while isinstance(function, FunctionValue) and function.wrapped not in (None, function):
        function = function.wrapped
    if not isinstance(function, FunctionValue) or isinstance(function.node, ast.Lambda):
        raise NoSchema("the function is not a function of these sources")
    writes = _written(mutates)
    scope = function.scope
    params: list[str] = []
    keyword_only = False
    outs: list[str] = []
    first: tuple[str, str, str] | None = None
    parameters = _parameters(function)
    for index, one in enumerate(parameters):
        if one.keyword_only and not keyword_only:
            params.append("*")
            keyword_only = True
        kind = _parameter_type(one, evaluate, scope)
        if first is None and not one.keyword_only:
            first = one.name, kind, f"a{index}"
        if (writes is None and kind.startswith("Tensor")) or (writes is not None and one.name in writes):
            if not kind.startswith("Tensor"):
                raise NoSchema(f"parameter {one.name} is in mutates_args, but it is not a tensor")
            kind = f"Tensor(a{index}!){kind[len('Tensor') :]}"
            if "out" in tags:
                if not one.keyword_only or kind != f"Tensor(a{index}!)":
                    raise NoSchema("torch.Tag.out needs each argument that is written to to be a keyword-only Tensor")
                outs.append(f"a{index}")
        params.append(f"{kind} {one.name}" + (f"={_default(one)}" if one.has_default else ""))
    unknown = sorted(set(writes or ()) - {one.name for one in parameters})
    if unknown:
        raise NoSchema(f"{', '.join(unknown)} in mutates_args is no parameter of the function")
    returned = _return_type(function, evaluate, scope, outs if "out" in tags else None)
    if "inplace" in tags:
        if first is None or first[1] != "Tensor" or returned != "Tensor" or writes != (first[0],):
            raise NoSchema("torch.Tag.inplace needs a function that writes to its first Tensor and returns it")
        returned = f"Tensor({first[2]}!)"
    return f"({', '.join(params)}) -> {returned}"


def _written(mutates: Value) -> tuple[str, ...] | None:
    """The names in ``mutates_args``; None for ``unknown``."""
    if mutates == "unknown":
        return None
    items = None if isinstance(mutates, str) else items_of(mutates)
    if items is None or not all(isinstance(one, str) for one in items):
        raise NoSchema("mutates_args is neither 'unknown' nor names that are written out")
    return tuple(dict.fromkeys(items))


def _parameters(function: FunctionValue) -> list[_Parameter]:
    arguments = function.node.args
    if arguments.posonlyargs or arguments.vararg or arguments.kwarg:
        raise NoSchema("positional-only parameters, *args and **kwargs are not supported")
    found: list[_Parameter] = []
    bound = arguments.args[1:] if function.bound else arguments.args
    first_default = len(bound) - len(function.defaults)
    for place, one in enumerate(bound):
        has = place >= first_default
        found.append(
            _Parameter(one.arg, one.annotation, function.defaults[place - first_default] if has else None, has, False)
        )
    for one in arguments.kwonlyargs:
        has = one.arg in function.keyword_defaults
        found.append(_Parameter(one.arg, one.annotation, function.keyword_defaults.get(one.arg), has, True))
    return found


def _parameter_type(one: _Parameter, evaluate: Callable[[ast.expr, Scope], Value], scope: Scope) -> str:
    if one.annotation is None:
        raise NoSchema(f"parameter {one.name} has no annotation")
    kind = annotated_type(one.annotation, evaluate, scope)
    found = _schema_type(kind)
    if found is None:
        raise NoSchema(f"parameter {one.name} has the type {source_text(one.annotation)}, which has no schema type")
    return found


def _schema_type(kind: object) -> str | None:
    """The schema type of a parameter, as the newest known PyTorch has it; None where it has none."""
    if kind in _BASES:
        return _BASES[kind][0]
    if (inner := _optional(kind)) is not None:
        if inner in _BASES:
            return _BASES[inner][0] + "?"
        found = _list_type(inner)
        item = _item_of(inner)
        entry = _BASES.get(item) or _BASES.get(_optional(item))
        return f"{found}?" if found is not None and entry is not None and entry[3] else None
    return _list_type(kind)


def _list_type(kind: object) -> str | None:
    item = _item_of(kind)
    if item in _BASES:
        return f"{_BASES[item][0]}[]" if _BASES[item][1] else None
    inner = _optional(item)
    return f"{_BASES[inner][0]}?[]" if inner in _BASES and _BASES[inner][2] else None


def _optional(kind: object) -> object:
    """What a type is that may also be None; None for others."""
    if not isinstance(kind, frozenset) or "None" not in kind:
        return None
    inner = kind - {"None"}
    return next(iter(inner)) if len(inner) == 1 else inner


def _item_of(kind: object) -> object:
    """What a list is of; None for what is no list."""
    if isinstance(kind, tuple) and kind[0] in ("list", "Sequence") and len(kind[1]) == 1:
        return kind[1][0]
    return None


def annotated_type(node: ast.expr, evaluate: Callable[[ast.expr, Scope], Value], scope: Scope) -> object:
    """The type of an annotation, in one spelling.

    ``from __future__ import annotations`` makes texts of annotations; PyTorch evaluates such a text once.
    """
    value = evaluate(node, scope)
    texts = not _future(scope)
    if isinstance(value, str) and texts:
        value, texts = _parsed(value, evaluate, scope), False
    return "NoneType" if value is None and not _is_none(node) else _type(value, evaluate, scope, texts)


def _future(scope: Scope) -> bool:
    while scope.parent is not None:
        scope = scope.parent
    return isinstance(scope.names.get("annotations"), ImportedName) and scope.names["annotations"].node.module == (
        "__future__"
    )


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
            return _NUMBER
        case Dotted(name):
            return _SPELLINGS.get(name, name)
        case TypeArguments(origin, arguments):
            name = origin.name if isinstance(origin, Dotted) else "?"
            inside = texts and not name.startswith("typing")
            inner = [_type(one, evaluate, scope, inside, depth + 1) for one in arguments]
            if name in ("typing.Optional", "typing.Union", "types.UnionType"):
                return _union([*inner, *(["None"] if name == "typing.Optional" else [])])
            spelled = _SPELLINGS.get(name, name)
            return spelled, () if arguments == ((),) else tuple(inner)
    return "?"


def _union(members: list[object]) -> object:
    flat: set[object] = set()
    for one in members:
        flat |= one if isinstance(one, frozenset) else {one}
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


def _default(one: _Parameter) -> str:
    match one.default:
        case None | bool() | int() | float():
            return str(one.default)
        case str():
            return f'"{one.default}"'
        case Dotted(name) if name.startswith("torch.") and _dtype(name) is not None:
            return str(_dtype(name))
        case DeviceText(text):
            return f'"{text}"'
        case Opaque() | Dotted() | EnumMember():
            shown = one.default.text if isinstance(one.default, Opaque) else one.default.name
            raise NoSchema(f"the default of parameter {one.name}, {shown}, is not known")
    raise NoSchema(f"the default of parameter {one.name} has a type that schemas do not have")


def _dtype(name: str) -> str | None:
    last = name.removeprefix("torch.")
    last = _DTYPES.get(last, last)
    return last if last in DTYPES else None


def _return_type(
    function: FunctionValue, evaluate: Callable[[ast.expr, Scope], Value], scope: Scope, outs: list[str] | None
) -> str:
    assert not isinstance(function.node, ast.Lambda)
    node = function.node.returns
    if node is None:
        raise NoSchema("the function has no annotation of what it returns")
    kind = annotated_type(node, evaluate, scope)
    if outs is not None:
        expected = ("tuple", ("torch.Tensor",) * len(outs)) if len(outs) > 1 else "torch.Tensor"
        if not outs or kind != expected:
            raise NoSchema("torch.Tag.out needs a function that returns the tensors that it writes to")
        aliases = [f"Tensor({one}!)" for one in outs]
        return aliases[0] if len(aliases) == 1 else f"({', '.join(aliases)})"
    if kind == "None":
        return "()"
    if isinstance(kind, tuple) and kind[0] == "tuple":
        parts = [_return_item(one) for one in kind[1]]
        if None not in parts:
            inside = ", ".join(str(one) for one in parts)
            return f"(({inside}))" if len(parts) == 1 else f"({inside})"
    elif (found := _return_item(kind)) is not None:
        return found
    elif kind == "tuple" and _bare_typing_tuple(evaluate(node, scope)):
        return "()"
    raise NoSchema(f"the function returns {source_text(node)}, which has no schema type")


def _bare_typing_tuple(value: Value) -> bool:
    return isinstance(value, Dotted) and value.name.startswith("typing.")


def _return_item(kind: object) -> str | None:
    if kind in _RETURNS:
        return _RETURNS[kind]
    return "Tensor[]" if kind == ("list", ("torch.Tensor",)) else None
