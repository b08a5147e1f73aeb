"""What ``FakeTensorMode`` of a running PyTorch asks for, beside kernels and fake implementations.

Source: ``_dispatch_impl`` in ``torch/_subclasses/fake_tensor.py``.

A part of the probe, which loads it from its own directory: it needs Python 3.8 and PyTorch 2.4 or newer.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Python 3.8 knows these spellings only where it does not look at them.
    from collections.abc import Callable, Iterable, Iterator

    Data = dict[str, Any]

META = "Meta"
NAMESPACE = "dispatch_cli_fake_probe"
"""Of the operator that is made to try the mode."""
PRIMS = "prims::"
"""In the name of an operator that the mode takes for a primitive."""


def about_mode(torch: Any) -> Data:
    """What ``register_fake`` and the mode are like, as far as this PyTorch says it.

    fake_overrides: ``register_fake`` has a parameter ``allow_override``. fake_fallbacks: the namespaces of the
    operators whose own kernels the mode runs where there is nothing for fake tensors. fake_without_device: it calls a
    factory that takes no device as it is.
    """
    found: Data = {"fake_overrides": "allow_override" in inspect.signature(torch.library.register_fake).parameters}
    mode = importlib.import_module("torch._subclasses.fake_tensor").FakeTensorMode
    found["fake_without_device"] = _calls_without_device(torch, mode)
    namespaces = getattr(mode, "_can_run_unsafe_fallback_allowed_namespaces", None)
    return found if namespaces is None else {"fake_fallbacks": sorted(namespaces), **found}


def _calls_without_device(torch: Any, mode: Any) -> bool:
    """Whether the mode calls a factory that takes no device. One is made, and is gone afterwards."""
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
        found = _rules(operators, name_of)
    except (AttributeError, ImportError, TypeError):
        return False
    for name, rules in found.items():
        if name in operators:
            operators[name]["fake_tensor_mode"] = rules
    return True


def _rules(operators: Iterable[str], name_of: Callable[[Any], str]) -> dict[str, Data]:
    """What the mode has for operators, by their names."""
    ops = importlib.import_module("torch._ops")
    decompositions = importlib.import_module("torch._decomp")
    modes = importlib.import_module("torch._subclasses.fake_tensor")
    impls = importlib.import_module("torch._subclasses.fake_impls")
    found: dict[str, Data] = {}

    def rules_of(operator: Any) -> Data:
        return found.setdefault(operator.name(), {})

    for operator, function in decompositions.decomposition_table.items():
        if isinstance(operator, ops.OpOverload) and modes.torch_decomp_decompositions(operator):
            rules_of(operator)["decomposition"] = name_of(function)
    mode = modes.FakeTensorMode()
    for name in operators:
        operator = _in_python(name)
        if not isinstance(operator, ops.OpOverload):
            continue
        if operator in decompositions.meta_table or mode.cpp_meta_supports_symint(operator):
            rules_of(operator)["no_decomposition"] = True
        if PRIMS in name and hasattr(operator, "prim_meta_impl"):
            rules_of(operator)["prim_meta"] = name_of(operator.prim_meta_impl)
    for operator, function in impls.op_implementations_dict.items():
        rules = rules_of(operator)
        rules["implementation"] = name_of(function)
        if raised := _raised(function):
            rules["raises"] = raised
    return found


def _in_python(name: str) -> Any:
    """The operator of ``torch.ops``; None where it cannot be had."""
    namespace, _, rest = name.partition("::")
    short, _, overload = rest.partition(".")
    try:
        packet = getattr(getattr(importlib.import_module("torch").ops, namespace), short)
        return getattr(packet, overload or "default")
    except (AttributeError, RuntimeError):
        return None


def _raised(function: Any) -> str | None:
    """The exception that the mode's own function raises, in a mode without a ShapeEnv; None where it raises none.

    Either the function does nothing else, for the operators that it is registered for; or it, or a function of its
    module that it calls, raises where ``fake_mode.shape_env is None``.
    """
    definition = _definition(function)
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
            called += [_definition(other)] if inspect.isfunction(other) else []
    return next((found for one in called if (found := _without_shapes(one)) is not None), None)


def _definition(function: Any) -> ast.FunctionDef | None:
    try:
        found = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    return found if isinstance(found, ast.FunctionDef) else None


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
    """What a function raises where the mode has no ShapeEnv."""
    for statement in _reached(definition):
        if isinstance(statement, ast.If) and isinstance(statement.body[0], ast.Raise):
            tests = [one for one in ast.walk(statement.test) if isinstance(one, ast.Compare)]
            if any(isinstance(one.ops[0], ast.Is) and getattr(one.left, "attr", "") == "shape_env" for one in tests):
                return _name_of_exception(statement.body[0])
    return None


def _name_of_exception(statement: ast.Raise) -> str | None:
    called = getattr(statement.exc, "func", None)
    return getattr(called, "id", None) or getattr(called, "attr", None)
