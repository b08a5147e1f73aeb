"""``torch.library.Library`` and its methods, and the functions that stand for them or register for operators."""

from __future__ import annotations

import re

import dispatch_cli.extract.python.keys as keys
from dispatch_cli.extract.python.bodies import body_of
from dispatch_cli.extract.python.evaluation.values import (
    Bound,
    Call,
    Dotted,
    LibraryValue,
    NamedSchema,
    Opaque,
    OperatorHandle,
    Prepared,
    Value,
    function_name,
    items_of,
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


class Libraries:
    """Finds libraries, what they register, and the Python functions that are registered for operators."""

    def __init__(self, run: PythonRun) -> None:
        self._run = run

    # libraries

    def library(self, call: Call) -> Value:
        """``Library(ns, kind, dispatch_key)``."""
        arguments = call.arguments("ns kind dispatch_key")
        named = arguments.get("kind")
        kind = LibraryKind.__members__.get(named) if isinstance(named, str) else None
        if kind is None:
            return self._run.not_known(call, "the kind of the library is not known")
        key = keys.key_of(arguments.get("dispatch_key", ""))
        at = self._run.span(call.file, call.node)
        return LibraryValue(self._block(call, kind, keys.text_of(arguments.get("ns"), call.node), key, at=at))

    def _block(self, call: Call, *about: object, **more: object) -> ExtractedBlock:
        return self._run.found(call, ExtractedBlock, *about, python=True, **more)

    def implicit(self, namespace: str | Unknown, call: Call) -> LibraryValue:
        """The library that a function makes where none is given."""
        return LibraryValue(self._block(call, LibraryKind.FRAGMENT, namespace, None, implicit=True))

    def scoped(self, call: Call) -> Value:
        """A library that is destroyed where its ``with`` statement ends, and everything it registered with it."""
        return self._run.not_known(call, "what it registers ends with the `with` statement")

    def _library_of(self, operator: str | Unknown, lib: Value, call: Call) -> LibraryValue:
        """The library that is given, or that of an operator's namespace."""
        if isinstance(lib, LibraryValue):
            return lib
        return self.implicit(operator.partition("::")[0] if isinstance(operator, str) else operator, call)

    # definitions

    def define_function(self, call: Call) -> Value:
        """``torch.library.define(qualname, schema)``; ``define(lib, schema)`` is a decorator."""
        if call.given and isinstance(given := call.given[0], LibraryValue):
            return Prepared(Bound(given, "define and impl"), tuple(call.given[1:]), call.keywords)
        arguments = call.arguments("qualname schema")
        name, schema = keys.operator_of(arguments.get("qualname"), call.node), arguments.get("schema")
        lib = self._library_of(name, arguments.get("lib"), call)
        whole: Value = schema
        if isinstance(name, Unknown):
            whole = Opaque(call.node, name.expression)
        elif isinstance(schema, str):
            whole = f"{name}{schema}"
        elif isinstance(schema, NamedSchema):
            whole = NamedSchema(name, schema.why, schema.refused)
        else:
            whole = NamedSchema(name, f"the schema is `{keys.shown(schema, call.node)}`")
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
        self._run.found(
            call,
            ExtractedDefinition,
            lib.block,
            name,
            text,
            tags=keys.tags_of(arguments.get("tags")),
            alias_analysis=alias if isinstance(alias, str) and alias not in ("", "FROM_SCHEMA") else None,
            why_unknown=why or (None if text else f"the schema is `{keys.shown(schema, call.node)}`"),
            refused=refused,
        )
        return schema.partition("(")[0] if isinstance(schema, str) else Opaque(call.node)

    # kernels

    def impl_function(self, call: Call) -> Value:
        """``torch.library.impl(qualname, types, func)``; ``impl(lib, name, dispatch_key)`` is a decorator."""
        first = call.given[0] if call.given else call.keywords.get("lib", call.keywords.get("qualname"))
        if call.given and isinstance(first, LibraryValue):
            parsed = call.arguments("lib name dispatch_key")
            keyset = {name: value for name, value in call.keywords.items() if name == "with_keyset"}
            return Prepared(Bound(first, "impl of"), (parsed.get("name"), parsed.get("dispatch_key", "")), keyset)
        other = isinstance(first, Dotted) and not first.name.startswith("torch.ops.")
        if other or (isinstance(first, Opaque) and len(call.given) >= 2 and "lib" not in call.keywords):
            self._run.not_known(call, f"it is not known what `{function_name(first)}` is")
            return Prepared(Dotted("torch._decomp.decorator"))
        parsed = call.arguments("qualname types func")
        qualname, types, function = (parsed.get(name) for name in ("qualname", "types", "func"))
        if function is None:
            return Prepared(Dotted("torch.library.impl"), (qualname, types), {"lib": parsed.get("lib")})
        operator = keys.operator_of(qualname, call.node)
        lib = self._library_of(operator, parsed.get("lib"), call)
        for device_type in [types] if isinstance(types, str) else items_of(types) or [types]:
            self._kernel(lib, operator, keys.key_or_device(device_type), function, call)
        return None

    def _kernel(
        self,
        lib: LibraryValue,
        operator: str | Unknown,
        key: str | Unknown | None,
        function: Value,
        call: Call,
        with_keyset: bool = False,
    ) -> None:
        """A kernel, found. with_keyset: it is passed the key set, or may be, before the operator's arguments."""
        key, falls = key or "CompositeImplicitAutograd", keys.is_fallthrough(function)
        shown = "fallthrough" if falls else function_name(function)
        body = None if with_keyset else body_of(function, self._run)
        about = lib.block, operator, key, shown
        self._run.found(call, ExtractedKernel, *about, fallthrough=falls, python=True, body=body)

    def impl(self, lib: LibraryValue, call: Call) -> None:
        """``lib.impl(op_name, fn, dispatch_key)``."""
        arguments = call.arguments("op_name fn dispatch_key")
        operator = keys.operator_in(lib.block.namespace, arguments.get("op_name"), call.node)
        key = keys.key_of(arguments.get("dispatch_key", "")) or lib.block.dispatch_key
        keyset = arguments.get("with_keyset", False) is not False
        self._kernel(lib, operator, key, arguments.get("fn", Opaque(None, "nothing")), call, keyset)

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
        self._run.found(call, ExtractedFallback, lib.block, key, shown, fallthrough=falls, python=True)

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
                self.impl(lib, call.of(self.define(lib, call.of(*call.given[:-1], **call.keywords)), call.given[-1]))
                return call.given[-1]
            case "_register_fake":
                self.fake(lib, call)
            case "_impl_with_aoti_compile":
                self._run.not_known(call, "its kernels are compiled")
            case "fallback":
                self._fallback(lib, call)
            case "_destroy":
                self._run.not_known(call, "it removes what the library has registered")
            case _:
                self._run.account(call.file, call.node)
        return None

    # functions for operators

    def _add(self, role: FunctionRole, operator: str | Unknown, function: Value, call: Call, **more: object) -> None:
        """A Python function for an operator, found."""
        override = call.keywords.get("allow_override")
        setup = call.keywords.get("setup_context")
        self._run.found(
            call,
            OperatorFunction,
            role,
            operator,
            function_name(function),
            setup_context=None if setup is None else function_name(setup),
            allow_override=override if isinstance(override, bool) else None,
            body=body_of(function, self._run),
            setup_body=body_of(setup, self._run),
            **more,
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
        self._add(role, operator, function, call, devices=devices or (), dtype=name)
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
            self._run.not_known(call, "it takes the place of a kernel that `py_kernels` had before")
        else:
            self._add(FunctionRole.PY_IMPL, operator, function, call.of(), devices=(key,) if key else ())
        return function
