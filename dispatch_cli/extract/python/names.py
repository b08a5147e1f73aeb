"""Names of Python and PyTorch that mean something to the reader of Python sources, in values and in trees."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from dispatch_cli.extract.python.evaluation.values import (
    Bound,
    ClassValue,
    Dotted,
    FunctionValue,
    InstanceValue,
    Items,
    LibraryValue,
    NoResult,
    Opaque,
    OperatorHandle,
    Prepared,
    Value,
    function_name,
    items_of,
    source_text,
)
from dispatch_cli.model.sources.extracted import Unknown

FUNCTIONS = frozenset(
    {"Library", "_impl", "custom_op", "define", "impl", "impl_abstract", "register_autocast"}
    | {"register_autograd", "register_fake", "register_kernel", "register_vmap", "triton_op"}
)
"""Names of ``torch.library`` that register something with the dispatcher."""
HARMLESS = frozenset(
    {"_register_effectful_op", "_register_torch_dispatch_rule", "capture_triton", "fallthrough_kernel", "get_ctx"}
    | {"get_kernel", "infer_schema", "opcheck", "register_decomposition", "register_effect"}
    | {"register_opaque_type", "register_torch_dispatch", "wrap_triton"}
)
"""Names of functions and methods that do not, although it looks so."""
_MODULES = (
    *("library", "_library", "_library.custom_ops", "_library.triton", "_library.infer_schema", "_custom_op.impl"),
    *("_decomp", "_inductor.decomposition", "_higher_order_ops.effects", "fx", "fx.node"),
)
"""Modules of PyTorch that have such functions."""
TORCH_FUNCTIONS = {
    f"torch.{module}.{name}": name for module in _MODULES for name in (*FUNCTIONS, *HARMLESS, "has_side_effect")
}
"""Functions of PyTorch by full name, with what they do: a name of `TorchCalls`."""

DIRECT_REGISTER = "direct_register_custom_op"
"""vLLM's helper, whose effect is known where it is not among the sources."""

FIND_SCHEMA = "torch._C._dispatch_find_schema_or_throw"
"""The function that raises for an operator that is not defined."""
ROOTS = ("torch.ops", "torch.library", "torch._C", "torch.Tag", "torch.DispatchKey")
"""Modules whose names are PyTorch's own, also where PyTorch is among the sources."""

METHODS = FUNCTIONS - {"Library", "_impl"} | {
    *("_destroy", "_impl_with_aoti_compile", "_register_fake", "fallback", "fallthrough", "impl_backward"),
    *("impl_save_for_backward", "py_autograd_impl", "py_functionalize_impl", "py_impl", "register_effect"),
    "register_torch_dispatch",
}
"""Names of methods and functions that register something with the dispatcher, or undo that."""

CALLED = frozenset((*METHODS, *FUNCTIONS, DIRECT_REGISTER, "has_side_effect")) - HARMLESS
"""Names whose calls are looked at: they register something."""

COMMON = frozenset(("Library", "_impl", "define", "fallback", "fallthrough", "impl"))
"""Names of these functions that others have, too."""

_DEVICE_KEYS = {
    "cpu": "CPU", "cuda": "CUDA", "hip": "HIP", "xla": "XLA", "mps": "MPS", "ipu": "IPU", "xpu": "XPU", "hpu": "HPU",
    "ve": "VE", "lazy": "Lazy", "mtia": "MTIA", "maia": "MAIA", "meta": "Meta", "fpga": "FPGA", "vulkan": "Vulkan",
    "metal": "Metal", "privateuseone": "PrivateUse1", "mkldnn": "MkldnnCPU", "default": "CompositeExplicitAutograd",
}  # fmt: skip

_NAMING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
_PLAIN = frozenset(("ctx", "names", "op", "ops"))
"""Fields of nodes that have nodes, but no expressions or statements."""
_OF_LIBRARY = re.compile(r"\btorch\._?library\b|\bimport library\b|\bLibrary\b")
"""Text of a source that speaks of ``torch.library``."""
BUILTIN_NAMES = frozenset(dir(builtins))
_CERTAIN = frozenset(
    ("torch", "numpy", "typing_extensions", "packaging", "builtins", "setuptools", *sys.stdlib_module_names)
)
_KINDS: dict[str, type | tuple[type, ...]] = {
    **{f"builtins.{kind.__name__}": kind for kind in (str, int, float, bool, list, tuple, dict)},
    **dict.fromkeys(("collections.abc.Sequence", "typing.Sequence"), (str, list, tuple)),
    **dict.fromkeys(("collections.abc.Iterable", "typing.Iterable"), (str, list, tuple, dict)),
    "torch.library.Library": LibraryValue,
    "types.FunctionType": FunctionValue,
}
_OF_KNOWN_KIND = (type(None), str, int, float, list, tuple, dict, LibraryValue, FunctionValue)
_Body = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.For | ast.AsyncFor | ast.Module
_OUTLIVES = (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.ClassDef)
"""Statements and expressions of a function whose variables may outlive its call."""
_CALLING_NO_OPERATOR = ("print", "str", "len", "range", "enumerate", "zip", "items", "keys", "values", "format")
"""Names of functions and methods that call no operator."""


class TreeFacts(NamedTuple):
    """calls: with the last name of what is called. torch_names: under which ``torch.library`` is imported.

    called: the last names of what functions and classes of the module call, by their names.
    """

    calls: list[tuple[str, ast.Call]]
    torch_names: frozenset[str]
    called: dict[str, set[str]]


def tree_facts(tree: ast.Module) -> TreeFacts:
    """Facts about a tree."""
    nodes: list[ast.AST] = []
    called: dict[str, set[str]] = {}
    for part in tree.body:
        inside = list(every_node(part))
        nodes += inside
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):  # without decorators
            own = (node for node in inside if isinstance(node, ast.Call) and node.lineno >= part.lineno)
            called.setdefault(part.name, set()).update(map(called_name, own))
    imports = (node for node in nodes if isinstance(node, ast.ImportFrom))
    library = (node for node in imports if node.module in ("torch.library", "torch._library"))
    imported = frozenset(alias.asname or alias.name for node in library for alias in node.names)
    known = CALLED | HARMLESS | imported
    calls = [(called_name(node), node) for node in nodes if isinstance(node, ast.Call) and called_name(node) in known]
    calls.sort(key=lambda call: (call[1].lineno, call[1].col_offset))
    return TreeFacts(calls, imported, called)


def every_node(root: ast.AST) -> Iterator[ast.AST]:
    """The expressions, statements and their parts in a tree, in no order; faster than `ast.walk`."""
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.AST):
            yield node
            for name in node._fields:
                value = None if name in _PLAIN else getattr(node, name, None)
                if isinstance(value, list):
                    pending += value
                elif value is not None:
                    pending.append(value)


def own_nodes(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterator[ast.AST]:
    """The nodes of a function's body, in their order; of nested functions and classes, their decorators."""
    pending: list[ast.AST] = [function.body] if isinstance(function, ast.Lambda) else [*function.body[::-1]]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            pending += getattr(node, "decorator_list", [])
        else:
            yield node
            pending += list(ast.iter_child_nodes(node))[::-1]


def bound_names(node: ast.AST) -> Iterator[str]:
    """The names that a function or statement binds, anywhere in it; ``x += 1`` writes to a tensor and keeps it."""
    nodes = list(ast.walk(node))
    augmented = {id(part.target) for part in nodes if isinstance(part, ast.AugAssign)}
    for part in nodes:
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load) and id(part) not in augmented:
            yield part.id
        elif isinstance(part, _NAMING) and part is not node and part.name is not None:
            yield part.name
        elif isinstance(part, ast.MatchMapping) and part.rest is not None:
            yield part.rest
        elif isinstance(part, ast.alias):
            yield part.asname or part.name


def called_name(node: ast.Call) -> str:
    """The last name of what is called."""
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def certain(name: str) -> bool:
    """True if a module that is not of the project is assumed to be there."""
    return name.partition(".")[0] in _CERTAIN


def is_torch_api(name: str, *, exact: bool = False) -> bool:
    """True if a name belongs to PyTorch's interface for operators, which is known without its source."""
    if name in TORCH_FUNCTIONS:
        return True
    if exact:
        return name in ("torch.library", "torch.ops", "torch.compile", "torch._library")
    return any(name == root or name.startswith(root + ".") for root in ROOTS)


def is_instance(value: Value, kinds: Value) -> bool:
    """``isinstance`` of a value that is known. Errors: `NoResult`."""
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    replaced = isinstance(value, FunctionValue) and value.may_be_replaced
    if isinstance(value, InstanceValue):
        if value.of in kinds:
            return True
    elif isinstance(value, _OF_KNOWN_KIND) and not replaced and not isinstance(value, Items):
        known = [_KINDS.get(kind.name) if isinstance(kind, Dotted) else None for kind in kinds]
        if any(kind is not None and isinstance(value, kind) for kind in known):
            return True
        if all(kind is not None or isinstance(of, ClassValue) for kind, of in zip(known, kinds, strict=True)):
            return False
    raise NoResult


def may_register(function: Value) -> bool:
    """True if calling the value may register something with the dispatcher."""
    match function:
        case Dotted(name):
            return name in TORCH_FUNCTIONS or name.rpartition(".")[2] == DIRECT_REGISTER
        case Bound():
            return not isinstance(function.owner, str | list | dict | tuple) and function.name in METHODS
    return isinstance(function, Prepared) and may_register(function.function)


class FunctionFacts(NamedTuple):
    """Facts of the text of a function. size: statements and expressions. called: last names of what it calls."""

    size: int
    called: frozenset[str]


@lru_cache(maxsize=50_000)
def function_facts(code: _Body) -> FunctionFacts:
    """Facts from the text of a function, class or loop."""
    called: set[str] = set()
    size = 0
    for statement in code.body:
        for node in every_node(statement):
            size += 1
            if isinstance(node, ast.Call):
                called.add(called_name(node))
    return FunctionFacts(size, frozenset(called))


@lru_cache(maxsize=50_000)
def dropped_in(code: ast.FunctionDef) -> frozenset[ast.AST]:
    """The calls in a function that make libraries which end with it: one local variable has them, and nothing else.

    PyTorch removes what a ``torch.library.Library`` has registered when nothing refers to it any more. A function that
    calls anything else may want that: the operators are there while it runs.
    """
    own, nodes = list(own_nodes(code)), list(ast.walk(code))
    if any(isinstance(node, _OUTLIVES) or getattr(node, "attr", "") == "ops" for node in nodes):
        return frozenset()
    passing: set[ast.AST] = set()
    for call in (node for node in own if isinstance(node, ast.Call) and not isinstance(node.func, ast.Call)):
        module, _, name = source_text(call.func).rpartition(".")
        if name in _CALLING_NO_OPERATOR:
            continue
        if name != "Library" and (not isinstance(call.func, ast.Attribute) or name not in METHODS):
            return frozenset()
        if module == "torch.library":
            passing.update((*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "lib")))
        elif isinstance(call.func, ast.Attribute):
            passing.add(call.func.value)
    uses = Counter(node.id for node in nodes if isinstance(node, ast.Name) and node not in passing)
    assigned = (node for node in own if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name))
    return frozenset(node.value for node in assigned if uses[source_text(node.targets[0])] == 1 == len(node.targets))


def may_register_in(code: _Body, helpers: frozenset[str]) -> bool:
    """True if a function, loop or module calls what may register something. helpers: functions of a project that do."""
    called = function_facts(code).called
    return bool(called & CALLED or called & helpers)


def plausible(node: ast.Call, source: str) -> bool:
    """True if it may be a registration: a call of a method of something that is not known.

    The arguments are those of a registration, and they, the owner or the *source* that it is in speak of operators.
    """
    name, given = called_name(node), len(node.args) + len(node.keywords)
    constants = [part.value for part in node.args[:1] if isinstance(part, ast.Constant)]
    is_unknown, first = not constants, constants[0] if constants else None
    match name:
        case "define":
            fits = given > 0 and (is_unknown or (isinstance(first, str) and ("(" in first or "::" in first)))
        case "impl":
            fits = given >= 2 and (is_unknown or isinstance(first, str))
        case "fallback":
            fits = len(node.args) in (1, 2) and is_unknown
        case _:
            return given > 0 and name != "_destroy"
    return fits and (
        _OF_LIBRARY.search(source) is not None
        or "lib" in source_text(node.func).lower()
        or any(isinstance(part, ast.JoinedStr) or isinstance(getattr(part, "value", None), str) for part in node.args)
        or any(keyword.arg == "dispatch_key" for keyword in node.keywords)
    )


# values


def shown(value: Value, node: ast.AST) -> str:
    """An expression that is not decided, as the source has it."""
    return function_name(value) if isinstance(value, Opaque | Dotted) else source_text(node)


def text_of(value: Value, node: ast.AST) -> str | Unknown:
    """A text, or what decides it."""
    return value if isinstance(value, str) else Unknown(shown(value, node))


def key_of(value: Value) -> str | Unknown | None:
    """A dispatch key; None where none is given."""
    if isinstance(value, str | None):
        return value or None
    if isinstance(value, Dotted) and ".DispatchKey." in value.name:
        return value.name.partition(".DispatchKey.")[2].removesuffix(".name")
    return Unknown(function_name(value))


def key_or_device(value: Value) -> str | Unknown | None:
    """A dispatch key, or the one of a device type (``torch.library._device_type_to_key``)."""
    key = key_of(value)
    if isinstance(key, str) and (key in _DEVICE_KEYS or key.islower()):
        return _DEVICE_KEYS.get(key.partition(":")[0], "PrivateUse1")
    return key


def devices_of(value: Value) -> tuple[str | Unknown, ...] | None:
    """Device types; None for all."""
    if value is None:
        return None
    items = None if isinstance(value, str) else items_of(value)
    given = [value] if items is None else items
    return tuple(item if isinstance(item, str) else Unknown(function_name(item)) for item in given)


def operator_of(value: Value, node: ast.AST) -> str | Unknown:
    """The full name of an operator: a text, an ``OpOverload`` or what ``custom_op`` returns."""
    match value:
        case str():
            return value
        case OperatorHandle(name):
            return name
        case Dotted(name) if name.startswith("torch.ops."):
            parts = name.split(".")[2:]
            if len(parts) in (2, 3):
                overload = "" if len(parts) == 2 or parts[2] == "default" else f".{parts[2]}"
                return f"{parts[0]}::{parts[1]}{overload}"
    return Unknown(shown(value, node))


def qualified(namespace: str | Unknown, name: str) -> str | Unknown:
    """A name with its namespace."""
    if "::" in name:
        return name
    return f"{namespace}::{name}" if isinstance(namespace, str) else Unknown(f"{namespace.expression}::{name}")


def operator_in(namespace: str | Unknown, value: Value, node: ast.AST) -> str | Unknown:
    """The full name of an operator in a library."""
    operator = operator_of(value, node)
    return qualified(namespace, operator) if isinstance(operator, str) else operator


def tags_of(value: Value) -> tuple[str, ...]:
    """The names of ``torch.Tag``."""
    items = [value] if isinstance(value, Dotted) else items_of(value) or ()
    return tuple(item.name.rpartition(".")[2] for item in items if isinstance(item, Dotted))


def mutates_of(value: Value) -> tuple[str, ...] | str | None:
    """``mutates_args``."""
    if isinstance(value, str):
        return value
    items = items_of(value)
    return tuple(item for item in items if isinstance(item, str)) if items is not None else None


def is_fallthrough(value: Value) -> bool:
    """True if it is ``torch.library.fallthrough_kernel``."""
    return isinstance(value, Dotted) and value.name.rpartition(".")[2] == "fallthrough_kernel"
