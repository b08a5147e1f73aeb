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
    Value,
    function_name,
)
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.model.sources.extracted import FunctionRole, OperatorFunction, Unknown

_PASSED_OPERATOR = re.compile(r"\w\(torch\.ops\.(\w+)\.(\w+)(?:\.default)?\)")

PARAMETERS = {
    FunctionRole.FAKE: "op func",
    FunctionRole.VMAP: "op func",
    FunctionRole.KERNEL: "op device_types func",
    FunctionRole.AUTOGRAD: "op backward",
    FunctionRole.AUTOCAST: "op device_type cast_inputs",
}
"""Parameters of the functions that register for an operator."""


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

    def register(self, role: FunctionRole, call: Call) -> Value:
        """``register_fake(op, func)``, ``register_kernel(op, device_types, func)`` and the like."""
        arguments = call.arguments(PARAMETERS[role])
        operator = keys.operator_of(arguments.get("op", arguments.get("qualname")), call.node)
        function = arguments.get("func", arguments.get("backward"))
        devices = keys.devices_of(arguments.get("device_types", arguments.get("device_type")))
        dtype = arguments.get("cast_inputs")
        if role is FunctionRole.AUTOCAST:
            function = Dotted("autocast")
        elif role is FunctionRole.KERNEL and devices is None:
            devices = ("default",)
        name = dtype.name.removeprefix("torch.") if isinstance(dtype, Dotted) else None
        self.add(role, operator, function, call, devices or (), name)
        return function

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
