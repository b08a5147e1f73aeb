"""Types of annotations, each in one spelling, and the schemas that ``torch.library.infer_schema`` makes of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from dispatch_cli.extract.python.evaluation.values import (
    ClassValue,
    Dotted,
    FunctionValue,
    ImportedName,
    InstanceValue,
    Opaque,
    Scope,
    TypeArguments,
    Value,
    constant,
    function_name,
    items_of,
    source_text,
)
from dispatch_cli.model.schema.types import DTYPES, OTHER_NAMES

SPELLINGS = {
    **{
        f"{module}{name}": name for module in ("builtins.", "torch.types._") for name in ("int", "float", "bool", "str")
    },
    **{f"{module}{name}": f"torch.{name}" for module in ("torch.types._", "torch._C.") for name in ("dtype", "device")},
    **dict.fromkeys(("torch._tensor.Tensor", "torch.types.Tensor"), "torch.Tensor"),
    **dict.fromkeys(("builtins.list", "typing.List", "typing_extensions.List"), "list"),
    **dict.fromkeys(("builtins.tuple", "typing.Tuple"), "tuple"),
    **dict.fromkeys(("typing.Sequence", "collections.abc.Sequence"), "Sequence"),
    "typing.Dict": "builtins.dict",
    "torch.types.Device": "torch.types.Device",
    "torch.distributed.distributed_c10d.GroupName": "str",
    "inspect.Signature.empty": "inspect.Parameter.empty",
}
"""Names of types, each with the name that stands for all of its kind."""
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


def _optional(kind: object) -> object:
    """A type that may also be None."""
    return frozenset(("None", *(kind if isinstance(kind, frozenset) else (kind,))))


def _parameter_types() -> Iterator[tuple[object, str]]:
    """Types of parameters, with their names in schemas, as the newest known PyTorch has them."""
    for base, (name, in_lists, optional_in_lists, optional_lists) in _BASES.items():
        yield base, name
        yield _optional(base), f"{name}?"
        items: list[tuple[object, str]] = []
        if in_lists:
            items.append((base, name))
        if optional_in_lists:
            items.append((_optional(base), f"{name}?"))
        for item, item_name in items:
            for kind in (("list", (item,)), ("Sequence", (item,))):
                yield kind, f"{item_name}[]"
                if optional_lists:
                    yield _optional(kind), f"{item_name}[]?"


PARAMETER_TYPES = dict(_parameter_types())
SIGNATURE = "__signature__"
"""The attribute in which a function has another signature than its own."""
RETURN_TYPES: dict[object, str] = {
    **{kind: _BASES[kind][0] for kind in ("torch.Tensor", "int", "float", "bool", NUMBER)},
    ("list", ("torch.Tensor",)): "Tensor[]",
}
"""Types of results and of parts of them, with their names in schemas."""
EMPTY = Dotted("inspect.Parameter.empty")
"""Stands for an annotation or a default that is not there."""
_KNOWN = frozenset((*SPELLINGS.values(), "None", "NoneType", "builtins.dict", "typing.Any"))
_COMPARED = _KNOWN | {
    *("builtins.complex", "torch.SymInt", "torch.SymFloat", "torch.SymBool", "torch.layout"),
    *("torch.memory_format", "torch.nn.Parameter", "typing.Union", "types.UnionType", "typing.Optional", EMPTY.name),
}


def is_known_type(kind: object, known: frozenset[object] = _KNOWN) -> bool:
    """True if all parts of a type are known, so that no class of a project is among them."""
    if isinstance(kind, tuple | frozenset):
        return all(is_known_type(part, known) for part in kind)
    return kind in known


class NoSchema(Exception):
    """The schema cannot be inferred. why: as PyTorch begins to say it. refused: PyTorch surely refuses the function."""

    def __init__(self, why: str, refused: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.refused = f"infer_schema(func): {why}" if refused else None


def annotated_type(node: ast.expr, evaluate: Callable[[ast.expr, Scope], Value], scope: Scope) -> object:
    """The type of an annotation, in one spelling.

    ``from __future__ import annotations`` makes texts of annotations; PyTorch evaluates such a text once.
    """
    value = evaluate(node, scope)
    if isinstance(value, str) and not has_future_annotations(scope):
        value = _parsed(value, evaluate, scope)
    is_written = isinstance(node, ast.Constant | ast.Name | ast.Attribute)
    return "NoneType" if value is None and not is_written else _type(value)


def has_future_annotations(scope: Scope) -> bool:
    """True if annotations are texts at run time."""
    imported = scope.module.names.get("annotations")
    return isinstance(imported, ImportedName) and imported.node.module == "__future__"


def _type(value: Value, depth: int = 0) -> object:
    """A type in one spelling: a name, a frozenset for a union, or (``list``, its arguments) and the like."""
    match value:
        case None | Dotted("builtins.None"):
            return "None"
        case Dotted("torch.types.Number"):
            return NUMBER
        case Dotted(name):
            return SPELLINGS.get(name, name)
        case TypeArguments(Dotted(name), arguments) if depth <= 20:
            inner = [_type(argument, depth + 1) for argument in arguments]
            if name in ("typing.Optional", "typing.Union", "types.UnionType"):
                return _union([*inner, *(["None"] if name == "typing.Optional" else [])])
            return SPELLINGS.get(name, name), () if arguments == ((),) else tuple(inner)
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


def unwrapped(function: FunctionValue) -> FunctionValue | Opaque:
    """The function whose signature ``inspect.signature`` takes."""
    while function.wrapped not in (None, function) and SIGNATURE not in function.attributes:
        if not isinstance(function.wrapped, FunctionValue):
            return function.wrapped
        function = function.wrapped
    return function


def signature_of(wrapper: FunctionValue, evaluate: Callable[..., Value]) -> Value:
    """The result of ``inspect.signature``. evaluate: the value of an expression in a scope."""
    function = unwrapped(wrapper)
    if not isinstance(function, FunctionValue):
        return function
    if SIGNATURE in function.attributes:
        return function.attributes[SIGNATURE]
    arguments = function.node.args
    texts = has_future_annotations(function.scope)

    def annotation(node: object) -> Value:
        if node is None:
            return EMPTY
        return source_text(node) if texts else evaluate(node, function.scope)

    positional = [*arguments.posonlyargs, *arguments.args][1 if function.bound else 0 :]
    nodes = [*positional, *arguments.kwonlyargs, *filter(None, (arguments.vararg, arguments.kwarg))]
    parameters = {
        name: InstanceValue(
            None,
            {"name": name, "annotation": annotation(node.annotation), "default": function.defaults.get(name, EMPTY)},
        )
        for name, node in {node.arg: node for node in nodes}.items()
    }
    returned = annotation(getattr(function.node, "returns", None))
    return InstanceValue(None, {"parameters": parameters, "return_annotation": returned})


def same_type(left: Value, right: Value) -> bool | None:
    """True if two values are the same type; None where one of them is not known to be a type."""
    kinds = [_compared(side) for side in (left, right)]
    if kinds == [None, None] or any(
        kind is None and not constant(side) for kind, side in zip(kinds, (left, right), strict=True)
    ):
        return None
    return kinds[0] == kinds[1]


def _compared(value: Value) -> object:
    """The spelling of a type, or a class of the project; None for other values."""
    if isinstance(value, ClassValue):
        return value
    kind = _type(value) if isinstance(value, Dotted | TypeArguments) else None
    return kind if is_known_type(kind, _COMPARED) else None


def one_of_types(value: Value, types: Sequence[Value]) -> bool | None:
    """True if a type is among others; None where that is not known."""
    answers = [same_type(value, type_) for type_ in types]
    if True in answers:
        return True
    return None if None in answers or not answers else False


# infer_schema


def infer_schema(
    function: Value, mutates: Value, evaluate: Callable[[ast.expr, Scope], Value], tags: tuple[str, ...] = ()
) -> str:
    """The schema without a name. mutates: ``mutates_args``. evaluate: the value of an annotation.

    Errors: `NoSchema`, where PyTorch refuses the function, or where the sources do not say what its annotations are.
    """
    function = unwrapped(function) if isinstance(function, FunctionValue) else function
    if not isinstance(function, FunctionValue) or isinstance(function.node, ast.Lambda):
        raise NoSchema("the function is not a function of these sources")
    if SIGNATURE in function.attributes or "__annotations__" in function.attributes:
        raise NoSchema("the signature of the function is set by hand")
    if "out" in tags or "inplace" in tags:
        raise NoSchema("which results are the arguments that torch.Tag.out and inplace are about is not followed")
    writes = _written(mutates)
    scope = function.scope
    params: list[str] = []
    parameters = function.node.args
    if parameters.posonlyargs or parameters.vararg or parameters.kwarg:
        raise NoSchema("We do not support positional-only args, varargs, or varkwargs.", refused=True)
    positional, by_name = parameters.args[1 if function.bound else 0 :], parameters.kwonlyargs
    for index, node in enumerate((*positional, *by_name)):
        if by_name and node is by_name[0]:
            params.append("*")
        kind = _parameter_type(node, evaluate, scope)
        if (writes is None and kind.startswith("Tensor")) or (writes is not None and node.arg in writes):
            if not kind.startswith("Tensor"):
                words = "is in mutable_args but only Tensors or collections of Tensors can be mutated"
                raise NoSchema(f"Parameter {node.arg} {words}", refused=True)
            kind = f"Tensor(a{index}!){kind[len('Tensor') :]}"
        default = f"={_default(node.arg, function.defaults[node.arg])}" if node.arg in function.defaults else ""
        params.append(f"{kind} {node.arg}{default}")
    unknown = sorted(set(writes or ()) - {node.arg for node in (*positional, *by_name)})
    if unknown:
        shown = f"{{{', '.join(map(repr, unknown))}}}"
        raise NoSchema(f"{shown} in mutates_args were not found in the custom op's signature.", refused=True)
    return f"({', '.join(params)}) -> {_return_type(function, evaluate, scope)}"


def _written(mutates: Value) -> tuple[str, ...] | None:
    """The names in ``mutates_args``; None for ``unknown``."""
    if mutates == "unknown":
        return None
    items = None if isinstance(mutates, str) else items_of(mutates)
    if items is None or not all(isinstance(item, str) for item in items):
        words = "mutates_args must either be a sequence of the names of the arguments that are mutated or 'unknown'"
        raise NoSchema(words, refused=isinstance(mutates, str))
    return tuple(dict.fromkeys(items))


def _parameter_type(node: ast.arg, evaluate: Callable[[ast.expr, Scope], Value], scope: Scope) -> str:
    if node.annotation is None:
        raise NoSchema(f"Parameter {node.arg} must have a type annotation.", refused=True)
    kind = annotated_type(node.annotation, evaluate, scope)
    spelling = PARAMETER_TYPES.get(kind)
    if spelling is None:
        words = f"Parameter {node.arg} has unsupported type {source_text(node.annotation)}."
        raise NoSchema(words, refused=is_known_type(kind))
    return spelling


def _default(name: str, default: Value) -> str:
    match default:
        case None | bool() | int() | float():
            return str(default)
        case str():
            return f'"{default}"'
        case Dotted(full) if (dtype := _dtype(full)) in DTYPES:
            return dtype
        case Opaque() | Dotted() | InstanceValue():
            raise NoSchema(f"the default of parameter {name}, {function_name(default)}, is not known")
    refused = isinstance(default, list | tuple | set | dict)
    raise NoSchema(f"Parameter {name} has an unsupported default value", refused)


def _dtype(name: str) -> str:
    """The name of a dtype in schemas."""
    last = name.removeprefix("torch.")
    return OTHER_NAMES.get(last, last) if name.startswith("torch.") else ""


def _return_type(function: FunctionValue, evaluate: Callable[[ast.expr, Scope], Value], scope: Scope) -> str:
    assert not isinstance(function.node, ast.Lambda)
    node = function.node.returns
    if node is None:
        raise NoSchema("No return type annotation was provided. Please add one.", refused=True)
    kind = annotated_type(node, evaluate, scope)
    if kind == "None":
        return "()"
    if isinstance(kind, tuple) and kind[0] == "tuple":
        parts = [RETURN_TYPES.get(part) for part in kind[1]]
        if None not in parts:
            inside = ", ".join(str(part) for part in parts)
            return f"(({inside}))" if len(parts) == 1 else f"({inside})"
    elif (spelling := RETURN_TYPES.get(kind)) is not None:
        return spelling
    elif kind == "tuple" and str(getattr(evaluate(node, scope), "name", "")).startswith("typing."):  # a bare Tuple
        return "()"
    raise NoSchema(f"Return has unsupported type {source_text(node)}.", refused=is_known_type(kind))
