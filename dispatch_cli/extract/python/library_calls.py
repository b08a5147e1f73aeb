"""``torch.library.Library`` and its methods, and the functions that stand for them."""

from __future__ import annotations

import ast
from abc import abstractmethod

import dispatch_cli.extract.python.keys as keys
from dispatch_cli.extract.python.arguments import Arguments
from dispatch_cli.extract.python.bodies import body_of
from dispatch_cli.extract.python.libraries import Libraries
from dispatch_cli.extract.python.methods import items_of
from dispatch_cli.extract.python.values import (
    Bound,
    Dotted,
    LibraryValue,
    NamedSchema,
    Opaque,
    Prepared,
    Scope,
    Value,
    function_name,
)
from dispatch_cli.model.extracted import (
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    FunctionRole,
    Unknown,
)

_MISSING = Opaque(None, "nothing")


def _is_library_of_torch(given: list[Value]) -> bool:
    """True if the arguments of `torch.library.impl` are a library that PyTorch makes, an operator and a key."""
    match given:
        case [Dotted(name), str(), key]:
            return name.startswith("torch.") and not name.startswith("torch.ops.") and isinstance(keys.key_of(key), str)
    return False


class LibraryCalls(Libraries):
    """Finds what libraries register."""

    @abstractmethod
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
    ) -> None: ...

    # definitions

    def _define_function(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        if given and isinstance(given[0], LibraryValue):
            return Prepared(
                Bound(given[0], "define and impl"), tuple(given[1:]), keywords, self.run.call_path(scope.file, node)
            )
        arguments = Arguments("qualname schema", given, keywords)
        name, schema = keys.operator_of(arguments.get("qualname"), node), arguments.get("schema")
        block = self.implicit(name, arguments.get("lib"), node, scope)
        if block is not None:
            text = f"{name}{schema}" if isinstance(name, str) and isinstance(schema, str) else None
            self._definition(block, name, text, schema, arguments.get("tags"), "", node, scope)
        return None

    def _definition(
        self,
        block: ExtractedBlock,
        name: str | Unknown,
        text: str | None,
        schema: Value,
        tags: Value,
        alias: Value,
        node: ast.AST,
        scope: Scope,
    ) -> None:
        why = None
        if text is None:
            why = getattr(schema, "why", None) or f"the schema is `{keys.shown(schema, node)}`"
        at = self.run.at(scope.file, node)
        self.run.emit(
            ExtractedDefinition(
                block,
                name,
                text,
                at,
                self.run.conditions(scope.file),
                keys.tags_of(tags),
                alias if isinstance(alias, str) and alias not in ("", "FROM_SCHEMA") else None,
                why,
                refused=getattr(schema, "refused", None),
            ),
            node,
        )

    def _lib_define(
        self, lib: LibraryValue, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        arguments = Arguments("schema alias_analysis", given, keywords)
        schema = arguments.get("schema")
        text = schema if isinstance(schema, str) else None
        if text is None and isinstance(schema, NamedSchema):
            name: str | Unknown = keys.qualified(lib.block.namespace, schema.name)
        elif text is None:
            name = Unknown(keys.shown(schema, node))
        else:
            name = keys.qualified(lib.block.namespace, text.partition("(")[0].strip())
        whole = f"{name}({text.partition('(')[2]}" if isinstance(name, str) and text is not None else None
        self._definition(
            lib.block, name, whole, schema, arguments.get("tags"), arguments.get("alias_analysis", ""), node, scope
        )
        return text.partition("(")[0] if text is not None else Opaque(node)

    # kernels

    def _impl_function(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        first = given[0] if given else keywords.get("lib", keywords.get("qualname"))
        if given and isinstance(first, LibraryValue):
            parsed = Arguments("lib name dispatch_key", given, keywords)
            arguments = (parsed.get("name"), parsed.get("dispatch_key", ""))
            keyset = {name: value for name, value in keywords.items() if name == "with_keyset"}
            return Prepared(Bound(first, "impl of"), arguments, keyset, self.run.call_path(scope.file, node))
        unknown = isinstance(first, Opaque) and len(given) >= 2 and "lib" not in keywords
        if unknown or _is_library_of_torch(given):
            self.run.not_known(scope.file, node, f"it is not known what `{function_name(first)}` is")
            return Prepared(Dotted("torch._decomp.decorator"))
        parsed = Arguments("qualname types func", given, keywords)
        if parsed.get("func") is None:
            return Prepared(
                Dotted("torch.library.impl"),
                (parsed.get("qualname"), parsed.get("types")),
                {"lib": parsed.get("lib")},
                self.run.call_path(scope.file, node),
            )
        operator = keys.operator_of(parsed.get("qualname"), node)
        block = self.implicit(operator, parsed.get("lib"), node, scope)
        types = parsed.get("types")
        for device_type in [types] if isinstance(types, str) else items_of(types) or [types]:
            if block is not None:
                self.kernel(block, operator, keys.key_or_device(device_type), parsed.get("func"), node, scope)
        return None

    def kernel(
        self,
        block: ExtractedBlock,
        operator: str | Unknown,
        key: str | Unknown | None,
        function: Value,
        node: ast.AST,
        scope: Scope,
        with_keyset: bool = False,
    ) -> None:
        """A kernel, found. with_keyset: it is passed the key set, or may be, before the operator's arguments."""
        self.run.keep(function)
        at = self.run.at(scope.file, node)
        falls = keys.is_fallthrough(function)
        self.run.emit(
            ExtractedKernel(
                block,
                operator,
                key or "CompositeImplicitAutograd",
                "fallthrough" if falls else function_name(function),
                at,
                self.run.conditions(scope.file),
                falls,
                python=True,
                body=None if with_keyset else body_of(function, self.run),
            ),
            node,
        )

    def _lib_impl(
        self, lib: LibraryValue, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        arguments = Arguments("op_name fn dispatch_key", given, keywords)
        operator = keys.operator_in(lib.block.namespace, arguments.get("op_name"), node)
        own = keys.key_of(arguments.get("dispatch_key", ""))
        function, keyset = arguments.get("fn", _MISSING), arguments.get("with_keyset", False) is not False
        self.kernel(lib.block, operator, own or lib.block.dispatch_key, function, node, scope, keyset)
        return None

    def _of_library(
        self, bound: Bound, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        lib: LibraryValue = bound.owner
        block = lib.block
        match bound.name:
            case "define":
                return self._lib_define(lib, given, keywords, node, scope)
            case "impl":
                return self._lib_impl(lib, given, keywords, node, scope)
            case "impl of":
                self._lib_impl(lib, [given[0], given[-1], given[1]], keywords, node, scope)
                return given[-1]
            case "define and impl":
                function = given[-1]
                name = self._lib_define(lib, given[:-1], keywords, node, scope)
                self._lib_impl(lib, [name, function], {}, node, scope)
                return function
            case "_register_fake":
                arguments = Arguments("op_name fn", given, keywords)
                operator = keys.operator_in(block.namespace, arguments.get("op_name"), node)
                self.function(FunctionRole.FAKE, operator, arguments.get("fn"), node, scope, arguments)
            case "_impl_with_aoti_compile":
                self.run.not_known(scope.file, node, "its kernels are compiled")
            case "fallback":
                arguments = Arguments("fn dispatch_key", given, keywords)
                fallback_key = keys.key_of(arguments.get("dispatch_key", "")) or block.dispatch_key
                function = arguments.get("fn")
                at = self.run.at(scope.file, node)
                falls = keys.is_fallthrough(function)
                shown = "fallthrough" if falls else function_name(function)
                when = self.run.conditions(scope.file)
                key_text = fallback_key or Unknown("dispatch_key")
                self.run.emit(ExtractedFallback(block, key_text, shown, at, when, falls, True), node)
            case "_destroy":
                self.run.account(scope.file, node)
                if all(condition in block.when for condition in self.run.conditions(scope.file)):
                    lib.ended = True
                    self.run.destroyed.add(lib)
                else:
                    self.run.not_known(scope.file, node, "it removes what the library has registered")
            case _:
                self.run.account(scope.file, node)
        return None
