"""Rules that ``FakeTensorMode`` of a running PyTorch has, beside kernels and fake implementations.

Source: ``_dispatch_impl`` in ``torch/_subclasses/fake_tensor.py``. Tensors of different devices: nothing is called on a
device, but ``FakeTensor._find_common_device``, which the mode asks, is given fake tensors. Conditions under which the
mode's own functions raise are read from their source.

A part of the probe, which loads it from its own directory: it needs Python 3.8 and PyTorch 2.4 or newer.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Python 3.8 knows these spellings only where it does not look at them.
    from collections.abc import Callable, Iterable, Iterator

    Data = dict[str, Any]
    Make = Callable[[str, tuple[int, ...]], Any]
    """Makes a fake tensor of a device and a size."""

META = "Meta"
NAMESPACE = "dispatch_cli_fake_probe"
"""Namespace of the operator that is made to try the mode."""
PRIMS = "prims::"
"""Part of the name of an operator that the mode takes for a primitive."""
CPU, META_DEVICE, OTHER = "cpu", "meta", "cuda"
"""OTHER stands for every device that is neither of the first two; none of its tensors is really there."""
SIZE: tuple[int, ...] = (2, 2)
CHANGED = (AttributeError, ImportError, TypeError, ValueError)
"""Errors that are raised where this PyTorch keeps it in another way."""
NOT_IMPLEMENTED = "NotImplementedError"


def about_mode(torch: Any) -> Data:
    """Facts about ``register_fake`` and the mode, as far as this PyTorch says them.

    fake_overrides: ``register_fake`` has a parameter ``allow_override`` that is true by default. fake_fallbacks: the
    namespaces of the operators whose own kernels the mode runs where there is nothing for fake tensors.
    fake_without_device: it calls a factory that takes no device as it is.
    """
    override = inspect.signature(torch.library.register_fake).parameters.get("allow_override")
    data: Data = {"fake_overrides": override is not None and override.default is True}
    mode = importlib.import_module("torch._subclasses.fake_tensor").FakeTensorMode
    data["fake_without_device"] = _calls_without_device(torch, mode)
    namespaces = getattr(mode, "_can_run_unsafe_fallback_allowed_namespaces", None)
    return data if namespaces is None else {"fake_fallbacks": sorted(namespaces), **data}


def _calls_without_device(torch: Any, mode: Any) -> bool:
    """True if the mode calls a factory that takes no device. One is made, and is gone afterwards."""
    library = torch.library.Library(NAMESPACE, "FRAGMENT")
    try:
        library.define("factory() -> Tensor")
        library.impl("factory", lambda: torch.empty(2, device="meta"), META)
        with mode():
            getattr(torch.ops, NAMESPACE).factory.default()
    except (AssertionError, AttributeError, RuntimeError, TypeError):
        return False
    finally:
        library._destroy()
    return True


def note_rules(operators: dict[str, Data], name_of: Callable[[Any], str]) -> bool:
    """Note in dumped operators, by name, what the mode has for them (the field ``fake_tensor_mode``).

    False where this PyTorch keeps it in another way; nothing is noted then.
    """
    try:
        rules_by_name = _rules(operators, name_of)
    except (AttributeError, ImportError, TypeError):
        return False
    for name, rules in rules_by_name.items():
        if name in operators:
            operators[name]["fake_tensor_mode"] = rules
    return True


def _rules(operators: Iterable[str], name_of: Callable[[Any], str]) -> dict[str, Data]:
    """Rules of the mode for operators, by their names."""
    ops = importlib.import_module("torch._ops")
    decompositions = importlib.import_module("torch._decomp")
    modes = importlib.import_module("torch._subclasses.fake_tensor")
    impls = importlib.import_module("torch._subclasses.fake_impls")
    by_operator: dict[str, Data] = {}

    def rules_of(operator: Any) -> Data:
        return by_operator.setdefault(operator.name(), {})

    for operator, function in decompositions.decomposition_table.items():
        if isinstance(operator, ops.OpOverload) and modes.torch_decomp_decompositions(operator):
            rules_of(operator)["decomposition"] = name_of(function)
    mode = modes.FakeTensorMode()
    known = {name: in_python(name) for name in operators}
    overloads = {name: operator for name, operator in known.items() if isinstance(operator, ops.OpOverload)}
    for name, operator in overloads.items():
        if operator in decompositions.meta_table or mode.cpp_meta_supports_symint(operator):
            rules_of(operator)["no_decomposition"] = True
        if arguments := refused(decompositions.meta_table.get(operator)):
            rules_of(operator)["meta_refuses"] = arguments
        if PRIMS in name and hasattr(operator, "prim_meta_impl"):
            rules_of(operator)["prim_meta"] = name_of(operator.prim_meta_impl)
    for operator, function in impls.op_implementations_dict.items():
        rules = rules_of(operator)
        rules["implementation"] = name_of(function)
        if error := raised(function, operator):
            rules["raises"] = error
    _note_device_rules(overloads, lambda name: by_operator.setdefault(name, {}))
    return by_operator


def in_python(name: str) -> Any:
    """The operator of ``torch.ops``; None where it cannot be had."""
    namespace, _, rest = name.partition("::")
    short, _, overload = rest.partition(".")
    try:
        packet = getattr(getattr(importlib.import_module("torch").ops, namespace), short)
        return getattr(packet, overload or "default")
    except (AttributeError, RuntimeError):
        return None


def about_devices(devices: Iterable[str]) -> Data:
    """Facts about the mode, as far as this PyTorch says them.

    fake_numbered: the device types of which every fake tensor has a number, as ``cuda:0``. fake_device_error: the error
    for two devices, as ``TYPE: TEXT`` with ``{operator}``, ``{first}`` and ``{second}`` in their places.
    """
    try:
        make, common = _parts()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of old device types
            numbered = [device for device in devices if _is_numbered(make, device)]
        operator = importlib.import_module("torch").ops.aten.mul.Tensor
        first, second = make(CPU, SIZE), make(OTHER, SIZE)
        error = _error(common, operator, first, second)
    except CHANGED:
        return {}
    if error is None:
        return {"fake_numbered": numbered}
    text = str(error)
    for name, value in (("operator", operator), ("second", second.device), ("first", first.device)):
        text = text.replace(str(value), "{" + name + "}")
    return {"fake_numbered": numbered, "fake_device_error": f"{type(error).__name__}: {text}"}


def _note_device_rules(operators: dict[str, Any], rules_of: Callable[[str], Data]) -> None:
    """Note of which operators the mode takes tensors of different devices in another way than of the others.

    operators: those of ``torch.ops``, by name. rules_of: what is noted of an operator of that name.
    """
    try:
        make, common = _parts()
        tensors = {device: make(device, SIZE) for device in (CPU, META_DEVICE, OTHER)}
        without_dimensions = make(CPU, ())
    except CHANGED:
        return
    for name, operator in operators.items():
        for device, others in ((CPU, (META_DEVICE, OTHER)), (META_DEVICE, (CPU, OTHER))):
            if all(_error(common, operator, tensors[device], tensors[other]) is None for other in others):
                rules_of(name)["mixes"] = device
        if _error(common, operator, without_dimensions, tensors[OTHER]) is not None:
            rules_of(name)["zero_dim_counts"] = True


def _parts() -> tuple[Make, Callable[..., Any]]:
    torch = importlib.import_module("torch")
    module = importlib.import_module("torch._subclasses.fake_tensor")
    mode = module.FakeTensorMode()

    def make(device: str, size: tuple[int, ...]) -> Any:
        return module.FakeTensor(mode, torch.empty(size, device=META_DEVICE), torch.device(device))

    return make, module.FakeTensor._find_common_device


def _is_numbered(make: Make, device: str) -> bool:
    """A backend that is not there cannot be asked for its current device, which has a number."""
    try:
        return make(device, SIZE).device.index is not None
    except AttributeError:
        return True
    except RuntimeError:
        return False


def _error(common: Callable[..., Any], operator: Any, *tensors: Any) -> RuntimeError | None:
    try:
        common(operator, list(tensors))
    except RuntimeError as error:
        return error
    return None


def raised(function: Any, operator: Any) -> str | None:
    """The exception that the mode's own function raises for an operator, in a mode without a ShapeEnv."""
    return _raised_always(function) or _raised_without(function, operator)


def _raised_always(function: Any) -> str | None:
    """The exception that the mode's own function raises, in a mode without a ShapeEnv; None where it raises none.

    Either the function does nothing else, for the operators that it is registered for; or it, or a function of its
    module that it calls, raises where ``fake_mode.shape_env is None``.
    """
    definition = definition_of(function)
    body = [] if definition is None else definition.body
    while len(body) == 1 and isinstance(body[0], ast.If) and not body[0].orelse:  # it asks whether it is one of them
        body = body[0].body
    if len(body) == 1 and isinstance(body[0], ast.Raise):
        return _name_of_exception(body[0])
    module = getattr(inspect.unwrap(function), "__globals__", {})
    called = [definition]
    for statement in _reached(definition):
        value = getattr(statement, "value", None)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            other = module.get(value.func.id)
            called += [definition_of(other)] if inspect.isfunction(other) else []
    return next((exception for callee in called if (exception := _without_shapes(callee)) is not None), None)


def _raised_without(function: Any, operator: Any) -> str | None:
    """The exception that the function raises for an operator that lacks an argument: ``"size" not in given``."""
    definition = definition_of(function)
    names = {argument.name for argument in operator._schema.arguments}
    for statement in () if definition is None else definition.body:
        test = getattr(statement, "test", None)
        if isinstance(statement, ast.If) and isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotIn):
            first, name = statement.body[0], getattr(test.left, "value", None)
            if isinstance(first, ast.Raise) and isinstance(name, str) and name not in names:
                return _name_of_exception(first)
    return None


def refused(function: Any) -> list[str]:
    """The arguments of a Python meta function for which it raises NotImplementedError as soon as they are given."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if NOT_IMPLEMENTED not in getattr(code, "co_names", ()):  # most functions; to find their sources takes long
        return []
    definition = definition_of(function)
    names = []
    for statement in () if definition is None else definition.body:
        test = getattr(statement, "test", None)
        if isinstance(statement, ast.If) and isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot):
            first = statement.body[0]
            is_none = isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value is None
            if isinstance(test.left, ast.Name) and is_none and isinstance(first, ast.Raise):
                names += [test.left.id] if _name_of_exception(first) == NOT_IMPLEMENTED else []
    return names


def definition_of(function: Any) -> ast.FunctionDef | None:
    """The source of a function; None where it is not known."""
    try:
        statement = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    return statement if isinstance(statement, ast.FunctionDef) else None


def _reached(definition: ast.FunctionDef | None) -> Iterator[ast.stmt]:
    """The statements that a call comes to which is given only what it needs, as far as no other test decides."""
    if definition is None:
        return
    given = {argument.arg for argument in [*definition.args.args, *definition.args.kwonlyargs]}
    waiting = list(reversed(definition.body))
    while waiting:
        statement = waiting.pop()
        yield statement
        test = getattr(statement, "test", None)
        if isinstance(statement, ast.If) and isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is):
            subject = test.left.value if isinstance(test.left, ast.NamedExpr) else test.left
            subject = subject.value if isinstance(subject, ast.Attribute) else subject
            if isinstance(subject, ast.Name) and subject.id in given:
                waiting += reversed(statement.body)


def _without_shapes(definition: ast.FunctionDef | None) -> str | None:
    """Name of the exception that a function raises where the mode has no ShapeEnv."""
    for statement in _reached(definition):
        if isinstance(statement, ast.If) and isinstance(statement.body[0], ast.Raise):
            tests = [node for node in ast.walk(statement.test) if isinstance(node, ast.Compare)]
            if any(isinstance(test.ops[0], ast.Is) and getattr(test.left, "attr", "") == "shape_env" for test in tests):
                return _name_of_exception(statement.body[0])
    return None


def _name_of_exception(statement: ast.Raise) -> str | None:
    called = getattr(statement.exc, "func", None)
    return getattr(called, "id", None) or getattr(called, "attr", None)
