"""``torch.library.register_fake`` and the like, as functions and as methods of what ``custom_op`` returns."""

from __future__ import annotations

import ast
import re

import dispatch_cli.extract.python.keys as keys
from dispatch_cli.extract.python.arguments import Arguments
from dispatch_cli.extract.python.bodies import body_of
from dispatch_cli.extract.python.library_calls import LibraryCalls
from dispatch_cli.extract.python.values import (
    Bound,
    Dotted,
    LibraryValue,
    Opaque,
    Prepared,
    Scope,
    Value,
    function_name,
)
from dispatch_cli.model.extracted import (
    FunctionRole,
    OperatorFunction,
    Unknown,
)

_PASSED_OPERATOR = re.compile(r"\w\(torch\.ops\.(\w+)\.(\w+)(?:\.default)?\)")


class OperatorCalls(LibraryCalls):
    """Finds the Python functions that are registered for operators."""

    # torch.library.register_…, and the same as methods

    def function(
        self,
        role: FunctionRole,
        operator: str | Unknown,
        function: Value,
        node: ast.AST,
        scope: Scope,
        parsed: Arguments,
        devices: tuple[str | Unknown, ...] = (),
        dtype: str | None = None,
    ) -> None:
        """A Python function for an operator, found."""
        lib = parsed.get("lib")
        if isinstance(lib, LibraryValue) and lib.scoped:
            self.run.account(scope.file, node)
            return
        override = parsed.get("allow_override")
        setup = parsed.get("setup_context")
        self.run.emit(
            OperatorFunction(
                role,
                operator,
                function_name(function),
                self.run.at(scope.file, node),
                self.run.conditions(scope.file),
                devices,
                None if setup is None else function_name(setup),
                dtype,
                override if isinstance(override, bool) else None,
                body_of(function, self.run),
                body_of(setup, self.run),
            ),
            node,
        )

    def _later(
        self, name: str, arguments: tuple[Value, ...], parsed: Arguments, node: ast.AST, scope: Scope
    ) -> Prepared:
        keywords = {field: parsed.get(field) for field in ("lib", "allow_override") if parsed.has(field)}
        return Prepared(Dotted(f"torch.library.{name}"), arguments, keywords, self.run.call_path(scope.file, node))

    def _register_fake(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        arguments = Arguments("op func", given, {("op" if k == "qualname" else k): v for k, v in keywords.items()})
        if arguments.get("func") is None:
            return self._later("register_fake", (arguments.get("op"),), arguments, node, scope)
        operator = keys.operator_of(arguments.get("op"), node)
        self.function(FunctionRole.FAKE, operator, arguments.get("func"), node, scope, arguments)
        return arguments.get("func")

    def _register_vmap(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        arguments = Arguments("op func", given, keywords)
        if arguments.get("func") is None:
            return self._later("register_vmap", (arguments.get("op"),), arguments, node, scope)
        operator = keys.operator_of(arguments.get("op"), node)
        self.function(FunctionRole.VMAP, operator, arguments.get("func"), node, scope, arguments)
        return arguments.get("func")

    def _register_kernel(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        arguments = Arguments("op device_types func", given, keywords)
        if arguments.get("func") is None:
            return self._later(
                "register_kernel", (arguments.get("op"), arguments.get("device_types")), arguments, node, scope
            )
        operator = keys.operator_of(arguments.get("op"), node)
        devices = keys.devices_of(arguments.get("device_types"))
        self.function(
            FunctionRole.KERNEL,
            operator,
            arguments.get("func"),
            node,
            scope,
            arguments,
            ("default",) if devices is None else devices,
        )
        return arguments.get("func")

    def _register_autograd(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        arguments = Arguments("op backward", given, keywords)
        operator = keys.operator_of(arguments.get("op"), node)
        self.function(FunctionRole.AUTOGRAD, operator, arguments.get("backward"), node, scope, arguments)
        return None

    def _register_autocast(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        arguments = Arguments("op device_type cast_inputs", given, keywords)
        operator = keys.operator_of(arguments.get("op"), node)
        devices = keys.devices_of(arguments.get("device_type")) or ()
        dtype = arguments.get("cast_inputs")
        name = dtype.name.removeprefix("torch.") if isinstance(dtype, Dotted) else None
        self.function(FunctionRole.AUTOCAST, operator, Dotted("autocast"), node, scope, arguments, devices, name)
        return None

    def _register_effect(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        """``has_side_effect(op)``, ``op.register_effect(effect)``: its calls are kept, unless the effect is None.

        The parameter of a helper stands for all operators that the file passes to functions.
        """
        arguments = Arguments("op effect", given, keywords)
        operator = keys.operator_of(arguments.get("op"), node)
        self.run.account(scope.file, node)
        operators = [operator] if isinstance(operator, str) else []
        if not operators and isinstance(arguments.get("op"), Opaque):
            passed = _PASSED_OPERATOR.findall(self.run.index.text(scope.file))
            operators = [f"{namespace}::{name}" for namespace, name in dict.fromkeys(passed)]
        for operator in operators if not arguments.has("effect") or arguments.get("effect") is not None else ():
            self.function(FunctionRole.EFFECT, operator, Dotted("effect"), node, scope, arguments)
        return arguments.get("op")

    def removed_python_kernel(self, kernels: Dotted, key: Value, node: ast.AST) -> None:
        """``del op.py_kernels[key]``: what was registered by ``py_impl`` is removed."""
        operator = keys.operator_of(Dotted(kernels.name.rpartition(".")[0]), node)
        dispatch_key = keys.key_of(key)
        devices = (dispatch_key,) if dispatch_key else ()
        self.run.spend(len(self.run.found))
        own = [
            (file, thing)
            for file, thing in self.run.found
            if isinstance(thing, OperatorFunction)
            and (thing.role, thing.operator, thing.devices) == (FunctionRole.PY_IMPL, operator, devices)
            and all(condition in thing.when for condition in self.run.when)
        ]
        if own:
            gone = {thing for _, thing in own}
            self.run.found = [entry for entry in self.run.found if entry[1] not in gone]
        else:
            self.run.removed_python_kernels.add((operator, dispatch_key))

    def _of_operator_method(
        self, bound: Bound, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        name = bound.name
        if name == "py_impl":
            if len(given) < 2:
                return Prepared(bound, tuple(given), keywords, self.run.call_path(scope.file, node))
            key = keys.key_of(given[0])
            operator = keys.operator_of(bound.owner, node)
            if (operator, key) in self.run.removed_python_kernels:
                self.run.not_known(scope.file, node, "it takes the place of a kernel that `py_kernels` had before")
                return given[1]
            self.function(
                FunctionRole.PY_IMPL, operator, given[1], node, scope, Arguments("", [], {}), (key,) if key else ()
            )
            return given[1]
        if isinstance(bound.owner, Dotted):
            self.run.account(scope.file, node)
            return Opaque(node)
        if name in ("register_fake", "register_kernel", "register_vmap", "register_autograd", "register_autocast"):
            return self.torch_call(f"torch.library.{name}", [bound.owner, *given], keywords, node, scope)
        if name == "register_effect":
            return self._register_effect([bound.owner, *given], keywords, node, scope)
        self.run.account(scope.file, node)
        return Opaque(node)
