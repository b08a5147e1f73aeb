"""``torch.library.Library`` and its methods, and the functions that stand for them or register for operators."""

from __future__ import annotations

import re

import dispatch_cli.extract.python.keys as keys
from dispatch_cli.extract.python.bodies import body_of
from dispatch_cli.extract.python.evaluation.evaluator import Call
from dispatch_cli.extract.python.evaluation.methods import items_of
from dispatch_cli.extract.python.evaluation.values import (
    Bound,
    Dotted,
    LibraryValue,
    NamedSchema,
    Opaque,
    OperatorHandle,
    Prepared,
    Value,
    function_name,
)
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.sources.extracted import (
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    FunctionRole,
    OperatorFunction,
    Unknown,
)

_PASSED_OPERATOR = re.compile(r"\w\(torch\.ops\.(\w+)\.(\w+)(?:\.default)?\)")

PARAMETERS = {
    FunctionRole.FAKE: "op func",
    FunctionRole.VMAP: "op func",
    FunctionRole.KERNEL: "op device_types func",
    FunctionRole.AUTOGRAD: "op backward",
    FunctionRole.AUTOCAST: "op device_type cast_inputs",
}
"""Parameters of the functions that register for an operator."""
_MISSING = Opaque(None, "nothing")


def _is_library_of_torch(given: list[Value]) -> bool:
    """True if the arguments of `torch.library.impl` are a library that PyTorch makes, an operator and a key."""
    match given:
        case [Dotted(name), str(), key]:
            return name.startswith("torch.") and not name.startswith("torch.ops.") and isinstance(keys.key_of(key), str)
    return False


def _kind(value: Value) -> LibraryKind | None:
    return LibraryKind.__members__.get(value) if isinstance(value, str) else None


class Libraries:
    """Finds libraries, what they register, and the Python functions that are registered for operators."""

    def __init__(self, run: PythonRun) -> None:
        self._run = run

    # libraries

    def library(self, call: Call) -> Value:
        """``Library(ns, kind, dispatch_key)``."""
        arguments = call.arguments("ns kind dispatch_key")
        kind = _kind(arguments.get("kind"))
        if kind is None:
            self._run.not_known(call.file, call.node, "the kind of the library is not known")
            return Opaque(call.node)
        key = keys.key_of(arguments.get("dispatch_key", ""))
        return LibraryValue(self.block(kind, keys.text_of(arguments.get("ns"), call.node), key, call))

    def block(
        self,
        kind: LibraryKind,
        namespace: str | Unknown,
        key: str | Unknown | None,
        call: Call,
        implicit: bool = False,
    ) -> ExtractedBlock:
        """A library, found."""
        at = self._run.at(call.file, call.node)
        if not implicit:
            at = self._run.span(call.file, call.node)
        block = ExtractedBlock(kind, namespace, key, at, self._run.conditions(call.file), True, implicit)
        self._run.emit(block, call.node)
        return block

    def scoped(self, call: Call) -> Value:
        """A library that is destroyed where its ``with`` statement ends, and everything it registered with it."""
        self._run.not_known(call.file, call.node, "what it registers ends with the `with` statement")
        return Opaque(call.node)

    def _implicit(self, operator: str | Unknown, lib: Value, call: Call) -> ExtractedBlock:
        """The library that a function of ``torch.library`` makes for an operator, where none is given."""
        if isinstance(lib, LibraryValue):
            return lib.block
        namespace = operator.partition("::")[0] if isinstance(operator, str) else operator
        return self.block(LibraryKind.FRAGMENT, namespace, None, call, implicit=True)

    # definitions

    def define_function(self, call: Call) -> Value:
        """``torch.library.define(qualname, schema)``; ``define(lib, schema)`` is a decorator."""
        if call.given and isinstance(lib := call.given[0], LibraryValue):
            path = self._run.call_path(call.file, call.node)
            return Prepared(Bound(lib, "define and impl"), tuple(call.given[1:]), call.keywords, path)
        arguments = call.arguments("qualname schema")
        name, schema = keys.operator_of(arguments.get("qualname"), call.node), arguments.get("schema")
        lib = LibraryValue(self._implicit(name, arguments.get("lib"), call))
        whole: Value = schema
        if isinstance(name, Unknown):
            whole = Opaque(call.node, name.expression)
        elif isinstance(schema, str):
            whole = f"{name}{schema}"
        else:
            why = getattr(schema, "why", None) or f"the schema is `{keys.shown(schema, call.node)}`"
            whole = NamedSchema(name, why, getattr(schema, "refused", None))
        self.define(lib, call.of(whole, tags=arguments.get("tags")))
        return None

    def define(self, lib: LibraryValue, call: Call) -> Value:
        """``lib.define(schema, alias_analysis)``; its value is the name."""
        arguments = call.arguments("schema alias_analysis")
        schema, alias = arguments.get("schema"), arguments.get("alias_analysis", "")
        text = why = refused = None
        if isinstance(schema, str):
            name: str | Unknown = keys.qualified(lib.block.namespace, schema.partition("(")[0].strip())
            text = f"{name}({schema.partition('(')[2]}" if isinstance(name, str) else None
        elif isinstance(schema, NamedSchema):
            name, why, refused = keys.qualified(lib.block.namespace, schema.name), schema.why, schema.refused
        else:
            name = Unknown(keys.shown(schema, call.node))
        if text is None and why is None:
            why = f"the schema is `{keys.shown(schema, call.node)}`"
        self._run.emit(
            ExtractedDefinition(
                lib.block,
                name,
                text,
                self._run.at(call.file, call.node),
                self._run.conditions(call.file),
                keys.tags_of(arguments.get("tags")),
                alias if isinstance(alias, str) and alias not in ("", "FROM_SCHEMA") else None,
                why,
                refused=refused,
            ),
            call.node,
        )
        return schema.partition("(")[0] if isinstance(schema, str) else Opaque(call.node)

    # kernels

    def impl_function(self, call: Call) -> Value:
        """``torch.library.impl(qualname, types, func)``; ``impl(lib, name, dispatch_key)`` is a decorator."""
        path = self._run.call_path(call.file, call.node)
        first = call.given[0] if call.given else call.keywords.get("lib", call.keywords.get("qualname"))
        if call.given and isinstance(first, LibraryValue):
            parsed = call.arguments("lib name dispatch_key")
            keyset = {name: value for name, value in call.keywords.items() if name == "with_keyset"}
            return Prepared(Bound(first, "impl of"), (parsed.get("name"), parsed.get("dispatch_key", "")), keyset, path)
        unknown = isinstance(first, Opaque) and len(call.given) >= 2 and "lib" not in call.keywords
        if unknown or _is_library_of_torch(call.given):
            self._run.not_known(call.file, call.node, f"it is not known what `{function_name(first)}` is")
            return Prepared(Dotted("torch._decomp.decorator"))
        parsed = call.arguments("qualname types func")
        qualname, types, function = (parsed.get(name) for name in ("qualname", "types", "func"))
        if function is None:
            return Prepared(Dotted("torch.library.impl"), (qualname, types), {"lib": parsed.get("lib")}, path)
        operator = keys.operator_of(qualname, call.node)
        block = self._implicit(operator, parsed.get("lib"), call)
        for device_type in [types] if isinstance(types, str) else items_of(types) or [types]:
            self._kernel(block, operator, keys.key_or_device(device_type), function, call)
        return None

    def _kernel(
        self,
        block: ExtractedBlock,
        operator: str | Unknown,
        key: str | Unknown | None,
        function: Value,
        call: Call,
        with_keyset: bool = False,
    ) -> None:
        """A kernel, found. with_keyset: it is passed the key set, or may be, before the operator's arguments."""
        at = self._run.at(call.file, call.node)
        falls = keys.is_fallthrough(function)
        self._run.emit(
            ExtractedKernel(
                block,
                operator,
                key or "CompositeImplicitAutograd",
                "fallthrough" if falls else function_name(function),
                at,
                self._run.conditions(call.file),
                falls,
                python=True,
                body=None if with_keyset else body_of(function, self._run),
            ),
            call.node,
        )

    def impl(self, lib: LibraryValue, call: Call) -> None:
        """``lib.impl(op_name, fn, dispatch_key)``."""
        arguments = call.arguments("op_name fn dispatch_key")
        operator = keys.operator_in(lib.block.namespace, arguments.get("op_name"), call.node)
        key = keys.key_of(arguments.get("dispatch_key", "")) or lib.block.dispatch_key
        keyset = arguments.get("with_keyset", False) is not False
        self._kernel(lib.block, operator, key, arguments.get("fn", _MISSING), call, keyset)

    def fake(self, lib: LibraryValue, call: Call) -> None:
        """``lib._register_fake(op_name, fn)``."""
        arguments = call.arguments("op_name fn")
        operator = keys.operator_in(lib.block.namespace, arguments.get("op_name"), call.node)
        self._add(FunctionRole.FAKE, operator, arguments.get("fn"), call)

    def _fallback(self, lib: LibraryValue, call: Call) -> None:
        """``lib.fallback(fn, dispatch_key)``."""
        arguments = call.arguments("fn dispatch_key")
        key = keys.key_of(arguments.get("dispatch_key", "")) or lib.block.dispatch_key or Unknown("dispatch_key")
        function = arguments.get("fn")
        falls = keys.is_fallthrough(function)
        shown = "fallthrough" if falls else function_name(function)
        at, when = self._run.at(call.file, call.node), self._run.conditions(call.file)
        self._run.emit(ExtractedFallback(lib.block, key, shown, at, when, falls, True), call.node)

    def method(self, bound: Bound, call: Call) -> Value:
        """Call a method of a library."""
        lib: LibraryValue = bound.owner
        match bound.name:
            case "define":
                return self.define(lib, call)
            case "impl":
                self.impl(lib, call)
            case "impl of":  # the decorator `torch.library.impl`
                self.impl(lib, call.of(call.given[0], call.given[-1], call.given[1], **call.keywords))
                return call.given[-1]
            case "define and impl":  # the decorator `torch.library.define`
                name = self.define(lib, call.of(*call.given[:-1], **call.keywords))
                self.impl(lib, call.of(name, call.given[-1]))
                return call.given[-1]
            case "_register_fake":
                self.fake(lib, call)
            case "_impl_with_aoti_compile":
                self._run.not_known(call.file, call.node, "its kernels are compiled")
            case "fallback":
                self._fallback(lib, call)
            case "_destroy":
                self._run.not_known(call.file, call.node, "it removes what the library has registered")
            case _:
                self._run.account(call.file, call.node)
        return None

    # functions for operators

    def _add(
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
        self._add(role, operator, function, call, devices or (), name)
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
            self._add(FunctionRole.EFFECT, operator, Dotted("effect"), call)
        return arguments.get("op")

    def py_impl(self, owner: OperatorHandle | Dotted, call: Call) -> Value:
        """``op.py_impl(key)(function)``."""
        key, function = keys.key_of(call.given[0]), call.given[1]
        operator = keys.operator_of(owner, call.node)
        if (operator, key) in self._run.removed_python_kernels:
            why = "it takes the place of a kernel that `py_kernels` had before"
            self._run.not_known(call.file, call.node, why)
        else:
            self._add(FunctionRole.PY_IMPL, operator, function, call.of(), (key,) if key else ())
        return function
