"""What the functions and methods of ``torch.library`` register."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import dispatch_cli.extract.python.keys as keys
import dispatch_cli.extract.python.names as names
from dispatch_cli.extract.python.infer import NoSchema, infer_schema
from dispatch_cli.extract.python.legacy import LegacyCalls
from dispatch_cli.extract.python.methods import items_of
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.extract.python.values import (
    Alternatives,
    Bound,
    ClassValue,
    DeviceText,
    Dotted,
    FunctionValue,
    LibraryValue,
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
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    FunctionRole,
    OperatorFunction,
    Unknown,
)

_MISSING = Opaque(None, "nothing")
_ROLES = {role.value: role for role in FunctionRole} | {"impl_abstract": FunctionRole.FAKE}


class Arguments:
    """The arguments of a call by name."""

    def __init__(self, order: str, given: Sequence[Value], keywords: dict[str, Value]) -> None:
        self._found = {**dict(zip(order.split(), given, strict=False)), **keywords}

    def get(self, name: str, default: Value = None) -> Value:
        return self._found.get(name, default)

    def has(self, name: str) -> bool:
        return name in self._found


class TorchCalls(LegacyCalls):
    """Finds what calls of PyTorch's interface register."""

    def torch_call(
        self, name: str, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        """Call a function of PyTorch, or of another package, by its full name."""
        what = names.TORCH_FUNCTIONS.get(name)
        if what is None:
            if name == "torch.device" and given and all(isinstance(one, str | int) for one in given):
                return DeviceText(":".join(map(str, given)))
            if name.rpartition(".")[2] == names.DIRECT_REGISTER:
                return self.choices(given, keywords, node, scope, self._direct_register)
            return Opaque(node)
        act: Callable[..., Value] | None = {
            "Library": self._library,
            "_scoped_library": self._scoped,
            "define": self._define_function,
            "impl": self._impl_function,
            "_impl": self._impl_function,
            "custom_op": self._custom_op,
            "triton_op": self._triton_op,
            "infer_schema": self._infer,
            "register_kernel": self._register_kernel,
            "register_autograd": self._register_autograd,
            "register_autocast": self._register_autocast,
            "register_fake": self._register_fake,
            "impl_abstract": self._register_fake,
            "register_vmap": self._register_vmap,
            "legacy_custom_op": self.legacy_custom_op,
            "legacy_custom_ops": self.legacy_custom_ops,
            "legacy_impl": self.legacy_impl,
            "legacy_impl_abstract": self.legacy_impl_abstract,
        }.get(what)
        if act is not None:
            return self.choices(given, keywords, node, scope, act)
        self.run.account(scope.file, node)
        if what == "register_decomposition":
            return Dotted("torch._decomp.decorator")
        return Opaque(node)

    def choices(
        self,
        given: list[Value],
        keywords: dict[str, Value],
        node: ast.AST,
        scope: Scope,
        act: Callable[[list[Value], dict[str, Value], ast.AST, Scope], Value],
    ) -> Value:
        """Call once for each of the values that an argument may have."""
        for place, one in enumerate(given):
            if isinstance(one, Alternatives):
                return self.each(
                    one,
                    lambda v, p=place: self.choices([*given[:p], v, *given[p + 1 :]], keywords, node, scope, act),  # type: ignore[misc]
                )
        for name, one in keywords.items():
            if isinstance(one, Alternatives):
                return self.each(
                    one,
                    lambda v, n=name: self.choices(given, {**keywords, n: v}, node, scope, act),  # type: ignore[misc]
                )
        return act(given, keywords, node, scope)

    # libraries

    def _library(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        given_names = Arguments("ns kind dispatch_key", given, keywords)
        kind = given_names.get("kind")
        if kind not in LibraryKind.__members__:
            self.run.not_known(scope.file, node, "the kind of the library is not known")
            return Opaque(node)
        return LibraryValue(
            self.block_of(
                LibraryKind[kind],
                keys.text_of(given_names.get("ns"), node),
                keys.key_of(given_names.get("dispatch_key", "")),
                node,
                scope,
            )
        )

    def block_of(
        self,
        kind: LibraryKind,
        namespace: str | Unknown,
        key: str | Unknown | None,
        node: ast.AST,
        scope: Scope,
        implicit: bool = False,
    ) -> ExtractedBlock:
        """A library, found."""
        at = self.run.at(scope.file, node)
        if not implicit:
            at = self.run.span(scope.file, node)
        block = ExtractedBlock(kind, namespace, key, at, self.run.conditions(scope.file), True, implicit)
        self.run.emit(block, node)
        return block

    def _scoped(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        """A library that is destroyed where its ``with`` statement ends, and everything it registered with it."""
        found = Arguments("ns kind dispatch_key", given, keywords)
        self.run.account(scope.file, node)
        kind = found.get("kind")
        block = ExtractedBlock(
            LibraryKind[kind] if kind in LibraryKind.__members__ else LibraryKind.FRAGMENT,
            keys.text_of(found.get("ns"), node),
            keys.key_of(found.get("dispatch_key", "")),
            self.run.span(scope.file, node),
            python=True,
        )
        return LibraryValue(block, scoped=True)

    def implicit(self, operator: str | Unknown, lib: Value, node: ast.AST, scope: Scope) -> ExtractedBlock | None:
        """The library that a function of ``torch.library`` makes for an operator; None for one that is scoped."""
        if isinstance(lib, LibraryValue):
            return None if lib.scoped else lib.block
        namespace = operator.partition("::")[0] if isinstance(operator, str) else operator
        return self.block_of(LibraryKind.FRAGMENT, namespace, None, node, scope, implicit=True)

    # definitions

    def _define_function(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        if given and isinstance(given[0], LibraryValue):
            return Prepared(Bound(given[0], "define and impl"), tuple(given[1:]), keywords, node, True)
        found = Arguments("qualname schema", given, keywords)
        name, schema = keys.operator_of(found.get("qualname"), node), found.get("schema")
        block = self.implicit(name, found.get("lib"), node, scope)
        if block is not None:
            text = f"{name}{schema}" if isinstance(name, str) and isinstance(schema, str) else None
            self._definition(block, name, text, schema, found.get("tags"), "", node, scope)
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
            ),
            node,
        )

    def _lib_define(
        self, lib: LibraryValue, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        found = Arguments("schema alias_analysis", given, keywords)
        schema = found.get("schema")
        text = schema if isinstance(schema, str) else None
        if text is None and isinstance(schema, keys.NamedSchema):
            name: str | Unknown = keys.qualified(lib.block.namespace, schema.name)
        elif text is None:
            name = Unknown(keys.shown(schema, node))
        else:
            name = keys.qualified(lib.block.namespace, text.partition("(")[0].strip())
        whole = f"{name}({text.partition('(')[2]}" if isinstance(name, str) and text is not None else None
        self._definition(
            lib.block, name, whole, schema, found.get("tags"), found.get("alias_analysis", ""), node, scope
        )
        return text.partition("(")[0] if text is not None else Opaque(node)

    # kernels

    def _impl_function(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        first = given[0] if given else keywords.get("lib", keywords.get("qualname"))
        if given and isinstance(first, LibraryValue):
            found = Arguments("lib name dispatch_key", given, keywords)
            arguments = (first, found.get("name"), found.get("dispatch_key", ""))
            return Prepared(Bound(first, "impl of"), arguments[1:], {}, node, True)
        if isinstance(first, Opaque) and len(given) >= 2 and "lib" not in keywords:
            self.run.not_known(scope.file, node, f"it is not known what `{first.text}` is")
            return Prepared(Dotted("torch._decomp.decorator"))
        found = Arguments("qualname types func", given, keywords)
        if found.get("func") is None:
            return Prepared(
                Dotted("torch.library.impl"),
                (found.get("qualname"), found.get("types")),
                {"lib": found.get("lib")},
                node,
                True,
            )
        operator = keys.operator_of(found.get("qualname"), node)
        block = self.implicit(operator, found.get("lib"), node, scope)
        types = found.get("types")
        for one in [types] if isinstance(types, str) else items_of(types) or [types]:
            if block is not None:
                self.kernel(block, operator, keys.key_or_device(one), found.get("func"), node, scope)
        return None

    def kernel(
        self,
        block: ExtractedBlock,
        operator: str | Unknown,
        key: str | Unknown | None,
        function: Value,
        node: ast.AST,
        scope: Scope,
    ) -> None:
        """A kernel, found."""
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
            ),
            node,
        )

    def _lib_impl(
        self, lib: LibraryValue, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        found = Arguments("op_name fn dispatch_key", given, keywords)
        operator = keys.operator_in(lib.block.namespace, found.get("op_name"), node)
        own = keys.key_of(found.get("dispatch_key", ""))
        self.kernel(lib.block, operator, own or lib.block.dispatch_key, found.get("fn", _MISSING), node, scope)
        return None

    def torch_method(
        self, bound: Bound, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        """Call a method of a library, an operator or of something that is not known."""
        match bound.owner:
            case LibraryValue(scoped=True):
                self.run.account(scope.file, node)
                return Opaque(node)
            case LibraryValue():
                return self.choices(
                    given, keywords, node, scope, lambda g, k, n, s: self._of_library(bound, g, k, n, s)
                )
            case OperatorHandle() | Dotted():
                return self.choices(
                    given, keywords, node, scope, lambda g, k, n, s: self._of_operator_method(bound, g, k, n, s)
                )
        if not isinstance(node, ast.Call) or names.plausible(node):
            self.run.not_known(scope.file, node, f"it is not known what `{function_name(bound.owner)}` is")
        return Opaque(node)

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
                found = Arguments("op_name fn", given, keywords)
                operator = keys.operator_in(block.namespace, found.get("op_name"), node)
                self.function(FunctionRole.FAKE, operator, found.get("fn"), node, scope, found)
            case "_impl_with_aoti_compile":
                found = Arguments("op_name dispatch_key", given, keywords)
                operator = keys.operator_in(block.namespace, found.get("op_name"), node)
                key = keys.key_of(found.get("dispatch_key", "")) or block.dispatch_key
                self.kernel(block, operator, key, Opaque(None, "AOTI compiled kernel"), node, scope)
            case "fallback":
                found = Arguments("fn dispatch_key", given, keywords)
                fallback_key = keys.key_of(found.get("dispatch_key", "")) or block.dispatch_key
                function = found.get("fn")
                at = self.run.at(scope.file, node)
                falls = keys.is_fallthrough(function)
                shown = "fallthrough" if falls else function_name(function)
                when = self.run.conditions(scope.file)
                key_text = fallback_key or Unknown("dispatch_key")
                self.run.emit(ExtractedFallback(block, key_text, shown, at, when, falls, True), node)
            case "_destroy":
                self.run.not_known(scope.file, node, "it removes what the library has registered")
            case _:
                self.run.account(scope.file, node)
        return None

    # torch.library.register_…, and the same as methods

    def function(
        self,
        role: FunctionRole,
        operator: str | Unknown,
        function: Value,
        node: ast.AST,
        scope: Scope,
        found: Arguments,
        devices: tuple[str | Unknown, ...] = (),
        dtype: str | None = None,
    ) -> None:
        """A Python function for an operator, found."""
        lib = found.get("lib")
        if isinstance(lib, LibraryValue) and lib.scoped:
            self.run.account(scope.file, node)
            return
        override = found.get("allow_override")
        setup = found.get("setup_context")
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
            ),
            node,
        )

    def _later(self, name: str, arguments: tuple[Value, ...], found: Arguments, node: ast.AST) -> Prepared:
        keywords = {one: found.get(one) for one in ("lib", "allow_override") if found.has(one)}
        return Prepared(Dotted(f"torch.library.{name}"), arguments, keywords, node, True)

    def _register_fake(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        found = Arguments("op func", given, {("op" if k == "qualname" else k): v for k, v in keywords.items()})
        if found.get("func") is None:
            return self._later("register_fake", (found.get("op"),), found, node)
        operator = keys.operator_of(found.get("op"), node)
        self.function(FunctionRole.FAKE, operator, found.get("func"), node, scope, found)
        return found.get("func")

    def _register_vmap(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        found = Arguments("op func", given, keywords)
        if found.get("func") is None:
            return self._later("register_vmap", (found.get("op"),), found, node)
        operator = keys.operator_of(found.get("op"), node)
        self.function(FunctionRole.VMAP, operator, found.get("func"), node, scope, found)
        return found.get("func")

    def _register_kernel(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        found = Arguments("op device_types func", given, keywords)
        if found.get("func") is None:
            return self._later("register_kernel", (found.get("op"), found.get("device_types")), found, node)
        operator = keys.operator_of(found.get("op"), node)
        devices = keys.devices_of(found.get("device_types"))
        self.function(
            FunctionRole.KERNEL,
            operator,
            found.get("func"),
            node,
            scope,
            found,
            ("default",) if devices is None else devices,
        )
        return found.get("func")

    def _register_autograd(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        found = Arguments("op backward", given, keywords)
        operator = keys.operator_of(found.get("op"), node)
        self.function(FunctionRole.AUTOGRAD, operator, found.get("backward"), node, scope, found)
        return None

    def _register_autocast(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        found = Arguments("op device_type cast_inputs", given, keywords)
        operator = keys.operator_of(found.get("op"), node)
        devices = keys.devices_of(found.get("device_type")) or ()
        dtype = found.get("cast_inputs")
        name = dtype.name.removeprefix("torch.") if isinstance(dtype, Dotted) else None
        self.function(FunctionRole.AUTOCAST, operator, Dotted("autocast"), node, scope, found, devices, name)
        return None

    def _of_operator_method(
        self, bound: Bound, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        name = bound.name
        if name == "py_impl":
            if len(given) < 2:
                return Prepared(bound, tuple(given), keywords, node, True)
            key = keys.key_of(given[0])
            operator = keys.operator_of(bound.owner, node)
            self.function(
                FunctionRole.PY_IMPL, operator, given[1], node, scope, Arguments("", [], {}), (key,) if key else ()
            )
            return given[1]
        if isinstance(bound.owner, Dotted):
            self.run.account(scope.file, node)
            return Opaque(node)
        if name in ("register_fake", "register_kernel", "register_vmap", "register_autograd", "register_autocast"):
            return self.torch_call(f"torch.library.{name}", [bound.owner, *given], keywords, node, scope)
        if name in ("impl", "impl_abstract", "impl_save_for_backward", "impl_backward"):
            return self.legacy_method(bound, given, keywords, node, scope)
        self.run.account(scope.file, node)
        return Opaque(node)

    # custom operators

    def _infer(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        found = Arguments("prototype_function mutates_args op_name", given, keywords)
        tags = keys.tags_of(found.get("tags"))
        self.run.account(scope.file, node)
        try:
            text = infer_schema(found.get("prototype_function"), found.get("mutates_args", ()), self.value, tags)
        except NoSchema as error:
            name = found.get("op_name")
            return keys.NamedSchema(name if isinstance(name, str) else "", error.why)
        name = found.get("op_name")
        return text if name is None else f"{name}{text}" if isinstance(name, str) else Opaque(node)

    def _triton_op(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        return self._custom_op(given, keywords, node, scope, triton=True)

    def _custom_op(
        self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope, triton: bool = False
    ) -> Value:
        found = Arguments("name fn", given, keywords)
        function = found.get("fn")
        if function is None:
            which = Dotted("torch.library.triton_op" if triton else "torch.library.custom_op")
            return Prepared(which, (found.get("name"),), keywords, node, True)
        name = keys.operator_of(found.get("name"), node)
        tags = keys.tags_of(found.get("tags"))
        schema, why = found.get("schema"), None
        mutates = found.get("mutates_args", ())
        if schema is None:
            try:
                schema = infer_schema(function, mutates, self.value, tags)
            except NoSchema as error:
                why = error.why
        elif not isinstance(schema, str):
            why = f"the schema is `{keys.shown(schema, node)}`"
        text = f"{name}{schema.strip()}" if isinstance(schema, str) and isinstance(name, str) else None
        devices = keys.devices_of(found.get("device_types"))
        shown = function_name(function) if isinstance(function, FunctionValue | ClassValue) else "function"
        if devices is not None and any(isinstance(one, Unknown) for one in devices):
            self.run.not_known(
                scope.file, node, f"its device types are `{keys.shown(found.get('device_types'), node)}`"
            )
        self.run.emit(
            CustomOperator(
                name,
                text,
                shown,
                self.run.at(scope.file, node),
                self.run.conditions(scope.file),
                None if devices is None else tuple(one for one in devices if isinstance(one, str)),
                keys.mutates_of(mutates),
                tags,
                triton,
                why,
            ),
            node,
        )
        if isinstance(name, str):
            self.run.custom_operators.add(name)
        return OperatorHandle(name)

    def _direct_register(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        """vLLM's helper, where its source is not there: a definition, a kernel and a fake implementation."""
        found = Arguments("op_name op_func mutates_args fake_impl target_lib dispatch_key tags", given, keywords)
        lib = found.get("target_lib")
        name = found.get("op_name")
        if not isinstance(lib, LibraryValue):
            block = self.block_of(LibraryKind.FRAGMENT, "vllm", None, node, scope, implicit=True)
            lib = LibraryValue(block)
        schema = self._infer([found.get("op_func")], {"mutates_args": found.get("mutates_args") or ()}, node, scope)
        whole: Value
        if isinstance(name, str):
            whole = f"{name}{schema}" if isinstance(schema, str) else keys.NamedSchema(name, getattr(schema, "why", ""))
        else:
            whole = Opaque(node)
        self._lib_define(lib, [whole], {"tags": found.get("tags")}, node, scope)
        key = found.get("dispatch_key") or Opaque(None, "current_platform.dispatch_key")
        self._lib_impl(lib, [name, found.get("op_func"), key], {}, node, scope)
        if found.get("fake_impl") is not None:
            self._of_library(Bound(lib, "_register_fake"), [name, found.get("fake_impl")], {}, node, scope)
        return None


__all__ = ["PythonRun", "TorchCalls"]
