"""``torch.library.custom_op``, ``triton_op`` and ``infer_schema``, and vLLM's helper."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

import dispatch_cli.extract.python.keys as keys
from dispatch_cli.extract.python.annotations import NoSchema
from dispatch_cli.extract.python.bodies import body_of, is_as_written
from dispatch_cli.extract.python.call import Call
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
from dispatch_cli.model.extracted import CustomOperator, Unknown


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
