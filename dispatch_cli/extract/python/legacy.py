"""``torch._custom_ops`` and ``torch._custom_op.impl``: what came before ``torch.library.custom_op``."""

from __future__ import annotations

import ast
from abc import abstractmethod

import dispatch_cli.extract.python.keys as keys
from dispatch_cli.extract.python.annotations import NoSchema
from dispatch_cli.extract.python.infer import infer_schema
from dispatch_cli.extract.python.methods import items_of
from dispatch_cli.extract.python.statements import Statements
from dispatch_cli.extract.python.values import Bound, Dotted, Opaque, OperatorHandle, Prepared, Scope, Value
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.extracted import ExtractedBlock, ExtractedDefinition, Unknown

_AUTOGRAD = Opaque(None, "autograd_kernel_indirection")


class LegacyCalls(Statements):
    """Finds what the old interface registers: a definition, a kernel at Autograd, and what is given for devices."""

    @abstractmethod
    def block_of(
        self,
        kind: LibraryKind,
        namespace: str | Unknown,
        key: str | Unknown | None,
        node: ast.AST,
        scope: Scope,
        implicit: bool = False,
    ) -> ExtractedBlock: ...

    @abstractmethod
    def kernel(
        self,
        block: ExtractedBlock,
        operator: str | Unknown,
        key: str | Unknown | None,
        function: Value,
        node: ast.AST,
        scope: Scope,
    ) -> None: ...

    def legacy_custom_ops(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        """``torch._custom_ops.custom_op(qualname, func_or_schema=None)``."""
        name = given[0] if given else keywords.get("qualname")
        second = given[1] if len(given) > 1 else keywords.get("func_or_schema")
        if second is None:
            return Prepared(Dotted("torch._custom_ops.custom_op"), (name,), {}, self.run.call_path(scope.file, node))
        self._legacy_definition(name, second, node, scope)
        return second

    def legacy_custom_op(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        """``torch._custom_op.impl.custom_op(qualname, manual_schema=None)``, a decorator."""
        by_name = dict(zip(("qualname", "manual_schema", "func"), given, strict=False)) | keywords
        if by_name.get("func") is None:
            arguments = (by_name.get("qualname"), by_name.get("manual_schema"))
            return Prepared(
                Dotted("torch._custom_op.impl.custom_op"), arguments, {}, self.run.call_path(scope.file, node)
            )
        schema = by_name.get("manual_schema")
        self._legacy_definition(by_name.get("qualname"), by_name["func"] if schema is None else schema, node, scope)
        return OperatorHandle(keys.operator_of(by_name.get("qualname"), node))

    def _legacy_definition(self, qualname: Value, given: Value, node: ast.AST, scope: Scope) -> None:
        name = keys.operator_of(qualname, node)
        why = None
        schema = given
        if not isinstance(given, str):
            try:
                schema = infer_schema(given, (), self.value)
            except NoSchema as error:
                schema, why = None, error.why
        block = self._block(name, node, scope)
        text = f"{name}{schema}" if isinstance(name, str) and isinstance(schema, str) else None
        at = self.run.at(scope.file, node)
        when = self.run.conditions(scope.file)
        self.run.emit(ExtractedDefinition(block, name, text, at, when, why_unknown=why), node)
        self.kernel(block, name, "Autograd", _AUTOGRAD, node, scope)

    def _block(self, name: str | Unknown, node: ast.AST, scope: Scope) -> ExtractedBlock:
        namespace = name.partition("::")[0] if isinstance(name, str) else name
        return self.block_of(LibraryKind.FRAGMENT, namespace, None, node, scope, implicit=True)

    def legacy_impl(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        """``torch._custom_ops.impl(qualname, *, device_types=("cpu", "cuda"), func=None)``."""
        name, function = given[0] if given else keywords.get("qualname"), keywords.get("func")
        if len(given) > 1:
            function = given[1]
        types = keywords.get("device_types", ("cpu", "cuda"))
        if function is None:
            return Prepared(
                Dotted("torch._custom_ops.impl"), (name,), {"device_types": types}, self.run.call_path(scope.file, node)
            )
        operator = keys.operator_of(name, node)
        block = self._block(operator, node, scope)
        for device_type in [types] if isinstance(types, str) else items_of(types) or [types]:
            self.kernel(block, operator, keys.key_or_device(device_type), function, node, scope)
        return function

    def legacy_impl_abstract(
        self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        """``torch._custom_ops.impl_abstract(qualname, *, func=None)``: a kernel at Meta."""
        name, function = given[0] if given else keywords.get("qualname"), keywords.get("func")
        if len(given) > 1:
            function = given[1]
        if function is None:
            return Prepared(
                Dotted("torch._custom_ops.impl_abstract"), (name,), {}, self.run.call_path(scope.file, node)
            )
        operator = keys.operator_of(name, node)
        self.kernel(self._block(operator, node, scope), operator, "Meta", function, node, scope)
        return function

    def legacy_method(
        self, bound: Bound, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        """``@op.impl(device_types)``, ``@op.impl_abstract()`` of what the old ``custom_op`` returns."""
        operator = bound.owner.name
        if bound.name == "impl":
            types = given[0] if given else keywords.get("device_types", ("cpu", "cuda"))
            return Prepared(
                Dotted("torch._custom_ops.impl"),
                (operator,),
                {"device_types": types},
                self.run.call_path(scope.file, node),
            )
        if bound.name == "impl_abstract":
            return Prepared(
                Dotted("torch._custom_ops.impl_abstract"), (operator,), {}, self.run.call_path(scope.file, node)
            )
        self.run.account(scope.file, node)
        return Opaque(node)
