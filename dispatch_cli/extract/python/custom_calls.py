"""``torch.library.custom_op``, ``triton_op`` and ``infer_schema``."""

from __future__ import annotations

import ast
from dataclasses import replace

import dispatch_cli.extract.python.keys as keys
from dispatch_cli.extract.python.annotations import NoSchema
from dispatch_cli.extract.python.arguments import Arguments
from dispatch_cli.extract.python.bodies import body_of, is_as_written
from dispatch_cli.extract.python.higher_order import HigherOrderRegistrations
from dispatch_cli.extract.python.infer import infer_schema
from dispatch_cli.extract.python.values import (
    Bound,
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
from dispatch_cli.model.extracted import (
    CustomOperator,
    Unknown,
)


class CustomCalls(HigherOrderRegistrations):
    """Finds custom operators."""

    # custom operators

    def _infer(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        arguments = Arguments("prototype_function mutates_args op_name", given, keywords)
        tags = keys.tags_of(arguments.get("tags"))
        self.run.account(scope.file, node)
        function = arguments.get("prototype_function")
        try:
            text = infer_schema(function, arguments.get("mutates_args", ()), self.value, tags)
        except NoSchema as error:
            name = arguments.get("op_name")
            refused = error.refused if is_as_written(function) else None
            return NamedSchema(name if isinstance(name, str) else "", error.why, refused)
        name = arguments.get("op_name")
        return text if name is None else f"{name}{text}" if isinstance(name, str) else Opaque(node)

    def _triton_op(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        return self._custom_op(given, keywords, node, scope, triton=True)

    def _custom_op(
        self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope, triton: bool = False
    ) -> Value:
        arguments = Arguments("name fn", given, keywords)
        function = arguments.get("fn")
        if function is None:
            which = Dotted("torch.library.triton_op" if triton else "torch.library.custom_op")
            return Prepared(which, (arguments.get("name"),), keywords, self.run.call_path(scope.file, node))
        name = keys.operator_of(arguments.get("name"), node)
        tags = keys.tags_of(arguments.get("tags"))
        schema, why, refused = arguments.get("schema"), None, None
        mutates = arguments.get("mutates_args", ())
        if schema is None:
            try:
                schema = infer_schema(function, mutates, self.value, tags)
            except NoSchema as error:
                why, refused = error.why, error.refused if is_as_written(function) else None
        elif not isinstance(schema, str):
            why = f"the schema is `{keys.shown(schema, node)}`"
        text = f"{name}{schema.strip()}" if isinstance(schema, str) and isinstance(name, str) else None
        devices = keys.devices_of(arguments.get("device_types"))
        shown = function_name(function) if isinstance(function, FunctionValue | ClassValue) else "function"
        if devices is not None and any(isinstance(device, Unknown) for device in devices):
            self.run.not_known(
                scope.file, node, f"its device types are `{keys.shown(arguments.get('device_types'), node)}`"
            )
        self.run.emit(
            CustomOperator(
                name,
                text,
                shown,
                self.run.at(scope.file, node),
                self.run.conditions(scope.file),
                None if devices is None else tuple(device for device in devices if isinstance(device, str)),
                keys.mutates_of(mutates),
                tags,
                triton,
                why,
                refused,
                body_of(function, self.run),
            ),
            node,
        )
        if isinstance(name, str):
            self.run.custom_operators.add(name)
        return OperatorHandle(name)

    def _direct_register(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        """vLLM's helper, where its source is not there: a definition, a kernel and a fake implementation."""
        arguments = Arguments("op_name op_func mutates_args fake_impl target_lib dispatch_key tags", given, keywords)
        lib = arguments.get("target_lib")
        name = arguments.get("op_name")
        if not isinstance(lib, LibraryValue):
            block = self.block_of(LibraryKind.FRAGMENT, "vllm", None, node, scope, implicit=True)
            lib = LibraryValue(block)
        schema = self._infer(
            [arguments.get("op_func")], {"mutates_args": arguments.get("mutates_args") or ()}, node, scope
        )
        whole: Value
        if isinstance(name, str):
            whole = f"{name}{schema}" if isinstance(schema, str) else replace(schema, name=name)
        else:
            whole = Opaque(node)
        self._lib_define(lib, [whole], {"tags": arguments.get("tags")}, node, scope)
        key = arguments.get("dispatch_key") or Opaque(None, "current_platform.dispatch_key")
        self._lib_impl(lib, [name, arguments.get("op_func"), key], {}, node, scope)
        if arguments.get("fake_impl") is not None:
            self._of_library(Bound(lib, "_register_fake"), [name, arguments.get("fake_impl")], {}, node, scope)
        return None
