"""``torch.library.register_fake`` and the like, as functions and as methods of what ``custom_op`` returns."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

import dispatch_cli.extract.python.keys as keys
from dispatch_cli.extract.python.bodies import body_of
from dispatch_cli.extract.python.evaluation.evaluator import Call
from dispatch_cli.extract.python.evaluation.lookups import Classes
from dispatch_cli.extract.python.evaluation.values import (
    ClassValue,
    Dotted,
    HigherOrderHandle,
    Opaque,
    OperatorHandle,
    Prepared,
    Scope,
    Value,
    function_name,
    source_text,
)
from dispatch_cli.extract.python.names import every_node
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.model.sources.extracted import FunctionRole, HigherOrderFunction, OperatorFunction, Unknown

_PASSED_OPERATOR = re.compile(r"\w\(torch\.ops\.(\w+)\.(\w+)(?:\.default)?\)")
_CLASS = "torch._ops.HigherOrderOperator"
_FIELDS = {"py_autograd_impl": "autograd", "py_functionalize_impl": "functionalize"}
METHODS = (*_FIELDS, "py_impl", "fallthrough")
"""Methods that register something for a higher-order operator."""
_OF_VARIABLES = {"hop_print": "print", "_foreach_map": "foreach_map"}
"""Variables of ``torch._higher_order_ops`` that are not called as their operators, nor as these with ``_op`` behind."""
_FIELD_OF_KEY = {".DispatchKey.": "dispatch", ".TransformType.": "transforms"}


class OperatorFunctions:
    """Finds the Python functions that are registered for operators."""

    def __init__(self, run: PythonRun) -> None:
        self._run = run

    def add(
        self,
        role: FunctionRole,
        operator: str | Unknown,
        function: Value,
        call: Call,
        devices: tuple[str | Unknown, ...] = (),
        dtype: str | None = None,
    ) -> None:
        """A Python function for an operator, found."""
        override = call.keywords.get("allow_override")
        setup = call.keywords.get("setup_context")
        self._run.emit(
            OperatorFunction(
                role,
                operator,
                function_name(function),
                self._run.at(call.file, call.node),
                self._run.conditions(call.file),
                devices,
                None if setup is None else function_name(setup),
                dtype,
                override if isinstance(override, bool) else None,
                body_of(function, self._run),
                body_of(setup, self._run),
            ),
            call.node,
        )

    def _later(self, name: str, call: Call, *given: Value) -> Prepared:
        """The decorator that a call without a function returns."""
        keywords = {field: value for field, value in call.keywords.items() if field in ("lib", "allow_override")}
        return Prepared(Dotted(f"torch.library.{name}"), given, keywords, self._run.call_path(call.file, call.node))

    def register_fake(self, call: Call) -> Value:
        """``register_fake(op, func)``, and ``impl_abstract``, its name before."""
        return self._function(FunctionRole.FAKE, "register_fake", call)

    def register_vmap(self, call: Call) -> Value:
        """``register_vmap(op, func)``."""
        return self._function(FunctionRole.VMAP, "register_vmap", call)

    def _function(self, role: FunctionRole, name: str, call: Call) -> Value:
        arguments = call.arguments("op func")
        operator, function = arguments.get("op", arguments.get("qualname")), arguments.get("func")
        if function is None:
            return self._later(name, call, operator)
        self.add(role, keys.operator_of(operator, call.node), function, call)
        return function

    def register_kernel(self, call: Call) -> Value:
        """``register_kernel(op, device_types, func)``."""
        arguments = call.arguments("op device_types func")
        operator, types, function = (arguments.get(name) for name in ("op", "device_types", "func"))
        if function is None:
            return self._later("register_kernel", call, operator, types)
        devices = keys.devices_of(types)
        operator = keys.operator_of(operator, call.node)
        self.add(FunctionRole.KERNEL, operator, function, call, ("default",) if devices is None else devices)
        return function

    def register_autograd(self, call: Call) -> Value:
        """``register_autograd(op, backward)``."""
        arguments = call.arguments("op backward")
        operator = keys.operator_of(arguments.get("op"), call.node)
        self.add(FunctionRole.AUTOGRAD, operator, arguments.get("backward"), call)
        return None

    def register_autocast(self, call: Call) -> Value:
        """``register_autocast(op, device_type, cast_inputs)``."""
        arguments = call.arguments("op device_type cast_inputs")
        operator = keys.operator_of(arguments.get("op"), call.node)
        devices = keys.devices_of(arguments.get("device_type")) or ()
        dtype = arguments.get("cast_inputs")
        name = dtype.name.removeprefix("torch.") if isinstance(dtype, Dotted) else None
        self.add(FunctionRole.AUTOCAST, operator, Dotted("autocast"), call, devices, name)
        return None

    def register_effect(self, call: Call) -> Value:
        """``has_side_effect(op)``, ``op.register_effect(effect)``: its calls are kept, unless the effect is None.

        The parameter of a helper stands for all operators that the file passes to functions.
        """
        arguments = call.arguments("op effect")
        operator = keys.operator_of(arguments.get("op"), call.node)
        self._run.account(call.file, call.node)
        operators = [operator] if isinstance(operator, str) else []
        if not operators and isinstance(arguments.get("op"), Opaque):
            passed = _PASSED_OPERATOR.findall(self._run.index.text(call.file))
            operators = [f"{namespace}::{name}" for namespace, name in dict.fromkeys(passed)]
        for operator in operators if arguments.get("effect", True) is not None else ():
            self.add(FunctionRole.EFFECT, operator, Dotted("effect"), call)
        return arguments.get("op")

    def py_impl(self, owner: OperatorHandle | Dotted, call: Call) -> Value:
        """``op.py_impl(key)(function)``."""
        key, function = keys.key_of(call.given[0]), call.given[1]
        operator = keys.operator_of(owner, call.node)
        if (operator, key) in self._run.removed_python_kernels:
            why = "it takes the place of a kernel that `py_kernels` had before"
            self._run.not_known(call.file, call.node, why)
        else:
            self.add(FunctionRole.PY_IMPL, operator, function, call.of(), (key,) if key else ())
        return function


class HigherOrderOperators:
    """Finds what is registered for higher-order operators."""

    def __init__(self, run: PythonRun, classes: Classes, evaluate: Callable[[ast.expr, Scope], Value]) -> None:
        self._run = run
        self._classes = classes
        self._evaluate = evaluate

    def operator(self, call: Call) -> Value:
        """``HigherOrderOperator("name")``."""
        return HigherOrderHandle(keys.text_of(call.arguments("name").get("name"), call.node), own=True)

    def instance(self, cls: ClassValue) -> HigherOrderHandle | None:
        """An object of a class of higher-order operators, whose ``__init__`` says the name; None for other classes."""
        name = self._higher_order_name(cls)
        return None if name is None else HigherOrderHandle(name, own=True)

    def _higher_order_name(self, cls: ClassValue) -> str | Unknown | None:
        ancestors = self._classes.ancestors(cls)
        first = next((ancestor for ancestor in ancestors if Dotted(_CLASS) in self._classes.bases(ancestor)), None)
        if first is None:
            return None
        names = (self._name_in_init(ancestor) for ancestor in ancestors[: ancestors.index(first) + 1])
        return next((name for name in names if name is not None), Unknown(f"{first.name}()"))

    def _name_in_init(self, cls: ClassValue) -> str | Unknown | None:
        """The name of the operator that a class gives to the ``__init__`` of its base; None where it calls none."""
        for part in every_node(cls.node):
            self._run.spend(1)
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "__init__":
                given = part.args if isinstance(part.func.value, ast.Call) else part.args[1:]  # without ``self``
                names = [*given[:1], *(keyword.value for keyword in part.keywords if keyword.arg == "name")]
                if names:
                    return keys.text_of(self._evaluate(names[0], cls.scope), names[0])
        return None

    def method(self, operator: HigherOrderHandle, name: str, call: Call) -> Value:
        """Call one of `METHODS`."""
        given = call.given
        self._run.account(call.file, call.node)
        if name == "fallthrough":
            self._implementation(operator, "dispatch", given[0] if given else None, None, call)
            return None
        if name in _FIELDS:
            if given:
                self._implementation(operator, _FIELDS[name], None, _short_name(given[0]), call)
            return given[0] if given else Opaque(call.node)
        if len(given) < 2:
            path = self._run.call_path(call.file, call.node)
            return Prepared(Dotted("higher_order.py_impl"), (operator, *given), {}, path)
        key = given[0]
        text = key.name if isinstance(key, Dotted | ClassValue) else ""
        field = next(
            (field for part, field in _FIELD_OF_KEY.items() if part in text),
            "modes" if text.endswith("Mode") else "subclasses" if text else "",
        )
        self._implementation(operator, field, key, _short_name(given[1]), call)
        return given[1]

    def fake(self, call: Call) -> Value:
        """``torch._higher_order_ops.utils.register_fake(operator)``."""
        if len(call.given) < 2:
            register = Dotted("torch._higher_order_ops.utils.register_fake")
            return Prepared(register, tuple(call.given), {}, self._run.call_path(call.file, call.node))
        first, function = call.given[:2]
        operator = first if isinstance(first, HigherOrderHandle) else imported(first)
        if operator is not None:
            mode = Dotted("torch._subclasses.fake_tensor.FakeTensorMode")
            self._implementation(operator, "modes", mode, _short_name(function), call)
        return function

    def _implementation(
        self, operator: HigherOrderHandle, field: str, key: Value, function: str | None, call: Call
    ) -> None:
        """function: None where the key falls through."""
        if not field:
            self._run.not_known(call.file, call.node, f"it is not known what `{function_name(key)}` is")
        elif self._run.conditions(call.file):
            self._run.not_known(call.file, call.node, "a higher-order operator has it only under a condition")
        else:
            name = key.name.rpartition(".")[2] if isinstance(key, Dotted | ClassValue) else None
            at = self._run.at(call.file, call.node)
            self._run.emit(HigherOrderFunction(operator.name, operator.own, field, name, function, at), call.node)


def imported(value: Value) -> HigherOrderHandle | None:
    """A higher-order operator of PyTorch that is imported by its name; None for other values."""
    if isinstance(value, Dotted) and value.name.startswith("torch."):
        variable = value.name.rpartition(".")[2]
        return HigherOrderHandle(_OF_VARIABLES.get(variable, variable.removesuffix("_op")))
    return None


def _short_name(function: Value) -> str:
    """The name of a function; of a call that makes one, the name of what is called."""
    if isinstance(function, Opaque) and isinstance(function.node, ast.Call):
        return source_text(function.node.func)
    return function_name(function)
