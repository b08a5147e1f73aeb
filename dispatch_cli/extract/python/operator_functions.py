"""``torch.library.register_fake`` and the like, as functions and as methods of what ``custom_op`` returns."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace

import dispatch_cli.extract.python.keys as keys
from dispatch_cli.extract.python.annotations import NoSchema
from dispatch_cli.extract.python.bodies import body_of, is_as_written
from dispatch_cli.extract.python.evaluator import Call
from dispatch_cli.extract.python.infer import infer_schema
from dispatch_cli.extract.python.libraries import Libraries
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.extract.python.values import (
    ClassValue,
    Dotted,
    FunctionValue,
    LibraryValue,
    NamedSchema,
    Opaque,
    OperatorHandle,
    Prepared,
    Scope,
    Value,
    function_name,
)
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.extracted import CustomOperator, FunctionRole, OperatorFunction, Unknown

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
        arguments = call.arguments("op func")
        operator, function = arguments.get("op", arguments.get("qualname")), arguments.get("func")
        if function is None:
            return self._later("register_fake", call, operator)
        self.add(FunctionRole.FAKE, keys.operator_of(operator, call.node), function, call)
        return function

    def register_vmap(self, call: Call) -> Value:
        """``register_vmap(op, func)``."""
        arguments = call.arguments("op func")
        operator, function = arguments.get("op"), arguments.get("func")
        if function is None:
            return self._later("register_vmap", call, operator)
        self.add(FunctionRole.VMAP, keys.operator_of(operator, call.node), function, call)
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

    def removed_python_kernel(self, kernels: Dotted, key: Value, node: ast.AST) -> None:
        """``del op.py_kernels[key]``: what was registered by ``py_impl`` is removed."""
        operator = keys.operator_of(Dotted(kernels.name.rpartition(".")[0]), node)
        dispatch_key = keys.key_of(key)
        devices = (dispatch_key,) if dispatch_key else ()
        self._run.spend(len(self._run.found))
        own = {
            thing
            for _, thing in self._run.found
            if isinstance(thing, OperatorFunction)
            and (thing.role, thing.operator, thing.devices) == (FunctionRole.PY_IMPL, operator, devices)
            and all(condition in thing.when for condition in self._run.when)
        }
        if own:
            self._run.found = [entry for entry in self._run.found if entry[1] not in own]
        else:
            self._run.removed_python_kernels.add((operator, dispatch_key))

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


class CustomOperators:
    """Finds custom operators. evaluate: the value of an annotation."""

    def __init__(self, run: PythonRun, libraries: Libraries, evaluate: Callable[[ast.expr, Scope], Value]) -> None:
        self._run = run
        self._libraries = libraries
        self._evaluate = evaluate

    def infer_schema(self, call: Call) -> Value:
        """``infer_schema(prototype_function, mutates_args, op_name)``."""
        arguments = call.arguments("prototype_function mutates_args op_name")
        tags = keys.tags_of(arguments.get("tags"))
        self._run.account(call.file, call.node)
        function, name = arguments.get("prototype_function"), arguments.get("op_name")
        try:
            text = infer_schema(function, arguments.get("mutates_args", ()), self._evaluate, tags)
        except NoSchema as error:
            refused = error.refused if is_as_written(function) else None
            return NamedSchema(name if isinstance(name, str) else "", error.why, refused)
        return text if name is None else f"{name}{text}" if isinstance(name, str) else Opaque(call.node)

    def triton_op(self, call: Call) -> Value:
        """``triton_op(name, fn)``."""
        return self.custom_op(call, triton=True)

    def custom_op(self, call: Call, triton: bool = False) -> Value:
        """``custom_op(name, fn)``."""
        arguments = call.arguments("name fn")
        function = arguments.get("fn")
        if function is None:
            which = Dotted("torch.library.triton_op" if triton else "torch.library.custom_op")
            path = self._run.call_path(call.file, call.node)
            return Prepared(which, (arguments.get("name"),), call.keywords, path)
        name = keys.operator_of(arguments.get("name"), call.node)
        tags = keys.tags_of(arguments.get("tags"))
        schema, why, refused = arguments.get("schema"), None, None
        mutates = arguments.get("mutates_args", ())
        if schema is None:
            try:
                schema = infer_schema(function, mutates, self._evaluate, tags)
            except NoSchema as error:
                why, refused = error.why, error.refused if is_as_written(function) else None
        elif not isinstance(schema, str):
            why = f"the schema is `{keys.shown(schema, call.node)}`"
        text = f"{name}{schema.strip()}" if isinstance(schema, str) and isinstance(name, str) else None
        types = arguments.get("device_types")
        devices = keys.devices_of(types)
        shown = function_name(function) if isinstance(function, FunctionValue | ClassValue) else "function"
        if devices is not None and any(isinstance(device, Unknown) for device in devices):
            self._run.not_known(call.file, call.node, f"its device types are `{keys.shown(types, call.node)}`")
        self._run.emit(
            CustomOperator(
                name,
                text,
                shown,
                self._run.at(call.file, call.node),
                self._run.conditions(call.file),
                None if devices is None else tuple(device for device in devices if isinstance(device, str)),
                keys.mutates_of(mutates),
                tags,
                triton,
                why,
                refused,
                body_of(function, self._run),
            ),
            call.node,
        )
        return OperatorHandle(name)

    def direct_register(self, call: Call) -> Value:
        """vLLM's helper, where its source is not there: a definition, a kernel and a fake implementation."""
        arguments = call.arguments("op_name op_func mutates_args fake_impl target_lib dispatch_key tags")
        lib, name, function = (arguments.get(parameter) for parameter in ("target_lib", "op_name", "op_func"))
        if not isinstance(lib, LibraryValue):
            lib = LibraryValue(self._libraries.block(LibraryKind.FRAGMENT, "vllm", None, call, implicit=True))
        schema = self.infer_schema(call.of(function, mutates_args=arguments.get("mutates_args") or ()))
        whole: Value = Opaque(call.node)
        if isinstance(name, str):
            whole = f"{name}{schema}" if isinstance(schema, str) else replace(schema, name=name)
        self._libraries.define(lib, call.of(whole, tags=arguments.get("tags")))
        key = arguments.get("dispatch_key") or Opaque(None, "current_platform.dispatch_key")
        self._libraries.impl(lib, call.of(name, function, key))
        if (fake := arguments.get("fake_impl")) is not None:
            self._libraries.fake(lib, call.of(name, fake))
        return None
