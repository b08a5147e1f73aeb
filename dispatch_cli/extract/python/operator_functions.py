"""``torch.library.register_fake`` and the like, as functions and as methods of what ``custom_op`` returns."""

from __future__ import annotations

import re

import dispatch_cli.extract.python.keys as keys
from dispatch_cli.extract.python.bodies import body_of
from dispatch_cli.extract.python.evaluation.evaluator import Call
from dispatch_cli.extract.python.evaluation.values import (
    Dotted,
    Opaque,
    OperatorHandle,
    Prepared,
    Value,
    function_name,
)
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.model.sources.extracted import FunctionRole, OperatorFunction, Unknown

_PASSED_OPERATOR = re.compile(r"\w\(torch\.ops\.(\w+)\.(\w+)(?:\.default)?\)")


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
