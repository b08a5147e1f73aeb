"""Registrations by functions and methods of ``torch.library``."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import prod

import dispatch_cli.extract.python.names as names
from dispatch_cli.extract.python.annotations import NoSchema, infer_schema
from dispatch_cli.extract.python.bodies import body_of, is_as_written
from dispatch_cli.extract.python.evaluation.values import (
    Alternatives,
    Bound,
    Call,
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
    items_of,
)
from dispatch_cli.extract.python.names import DIRECT_REGISTER, TORCH_FUNCTIONS
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.sources.extracted import (
    CustomOperator,
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    FunctionRole,
    OperatorFunction,
    Unknown,
)

_PASSED_OPERATOR = re.compile(r"\w\(torch\.ops\.(\w+)\.(\w+)(?:\.default)?\)")
_PARAMETERS = {
    **dict.fromkeys(("custom_op", "triton_op"), "name fn"),
    **dict.fromkeys(("register_fake", "impl_abstract", "register_vmap"), "op func"),
    "register_kernel": "op device_types func",
    "register_autograd": "op backward",
    "register_autocast": "op device_type cast_inputs",
}
"""Parameters of functions; those that end with a function return a decorator where it is not given."""
_ALIAS_ANALYSES = ("", "FROM_SCHEMA", "CONSERVATIVE")
"""The values of `alias_analysis` that ``Library.define`` takes."""
MAX_CHOICES = 32
"""Combinations of the values that the arguments of one call may have."""


class TorchCalls:
    """Finds what calls of PyTorch's interface register. evaluate: the value of an annotation."""

    def __init__(self, run: PythonRun, evaluate: Callable[[ast.expr, Scope], Value]) -> None:
        self._run = run
        self._evaluate = evaluate
        self._acts: dict[str, Callable[[Call], Value]] = {
            "Library": self._library,
            "define": self._define_function,
            "impl": self._impl_function,
            "_impl": self._impl_function,
            "custom_op": self._custom_op,
            "triton_op": partial(self._custom_op, triton=True),
            "infer_schema": self._infer_schema,
            **{role.value: partial(self._register, role) for role in FunctionRole if role.value in _PARAMETERS},
            "impl_abstract": partial(self._register, FunctionRole.FAKE),
            "register_effect": self._register_effect,
            "_register_effectful_op": self._register_effect,
            "has_side_effect": self._register_effect,
        }

    def call(self, name: str, call: Call) -> Value:
        """Call a function of PyTorch, or of another package, by its full name."""
        what = TORCH_FUNCTIONS.get(name)
        if what == "custom_op" and name.startswith("torch._custom_op."):
            return self._run.not_known(call, "the deprecated module torch._custom_op is not followed")
        if what in self._acts:
            return self._function(what, call)
        if name == "torch.device" and call.given and all(isinstance(part, str | int) for part in call.given):
            return ":".join(map(str, call.given))  # as it prints itself
        if name.rpartition(".")[2] == DIRECT_REGISTER:
            return self._choices(call, self._direct_register)
        return Opaque(call.node)

    def _function(self, what: str, call: Call) -> Value:
        """Call a function of `_acts`; without the function that it registers, it returns a decorator."""
        order = _PARAMETERS.get(what, "")
        arguments = call.arguments(order)
        *before, last = order.split(" ")
        if last in ("fn", "func") and arguments.get(last) is None:
            given = tuple(arguments.get(parameter, arguments.get("qualname")) for parameter in before)
            return Prepared(Dotted(f"torch.library.{what}"), given, call.keywords)
        return self._choices(call, self._acts[what])

    def method(self, bound: Bound, call: Call) -> Value:
        """Call a method of a library, an operator or of something that is not known."""
        owner = bound.owner
        if isinstance(owner, LibraryValue):
            return self._choices(call, lambda chosen: self._of_library(bound, chosen))
        is_dotted = isinstance(owner, Dotted)
        if isinstance(owner, OperatorHandle) or (is_dotted and owner.name.startswith("torch.ops.")):
            return self._choices(call, lambda chosen: self._of_operator(bound, chosen))
        node = call.node
        if is_dotted or not isinstance(node, ast.Call) or names.plausible(node, self._run.index.text(call.file)):
            self._run.not_known(call, f"it is not known what `{function_name(owner)}` is")
        return Opaque(call.node)

    def _of_operator(self, bound: Bound, call: Call) -> Value:
        """Call a method of an operator."""
        if bound.name == "py_impl":
            if len(call.given) < 2:
                return Prepared(bound, tuple(call.given), call.keywords)
            return self._py_impl(bound.owner, call)
        if bound.name.startswith("register_") and isinstance(bound.owner, OperatorHandle) and bound.name in self._acts:
            return self._function(bound.name, call.of(bound.owner, *call.given, **call.keywords))
        return Opaque(call.node)

    def _choices(self, call: Call, act: Callable[[Call], Value]) -> Value:
        """Call once for each of the values that an argument may have."""
        arguments: list[tuple[int | str, Value]] = [*enumerate(call.given), *call.keywords.items()]
        several = [(slot, value) for slot, value in arguments if isinstance(value, Alternatives)]
        if not several:
            return act(call)
        if prod(len(value.options) for _, value in several) > MAX_CHOICES:
            return self._run.not_known(call, "its arguments may have too many values")
        slot, value = several[0]
        return self._run.each(value, lambda chosen: self._choices(call.with_argument(slot, chosen), act))

    # custom operators

    def _schema_of(self, function: Value, mutates: Value, tags: tuple[str, ...]) -> str | NamedSchema:
        """The schema without a name that PyTorch infers of a function, or why it is not known."""
        try:
            return infer_schema(function, mutates, self._evaluate, tags)
        except NoSchema as error:
            return NamedSchema("", error.why, error.refused if is_as_written(function) else None)

    def _infer_schema(self, call: Call) -> Value:
        """``infer_schema(prototype_function, mutates_args, op_name)``."""
        arguments = call.arguments("prototype_function mutates_args op_name")
        tags = names.tags_of(arguments.get("tags"))
        name = arguments.get("op_name")
        schema = self._schema_of(arguments.get("prototype_function"), arguments.get("mutates_args", ()), tags)
        return _named(name or "", schema, call) if isinstance(name, str | None) else Opaque(call.node)

    def _custom_op(self, call: Call, triton: bool = False) -> Value:
        """``custom_op(name, fn)``."""
        arguments = call.arguments("name fn")
        function, types = arguments.get("fn"), arguments.get("device_types")
        name = names.operator_of(arguments.get("name"), call.node)
        tags = names.tags_of(arguments.get("tags"))
        schema, mutates = arguments.get("schema"), arguments.get("mutates_args", ())
        is_written_out = all(word.arg for word in getattr(call.node, "keywords", ()))
        if "mutates_args" not in arguments and is_written_out and not self._run.now.refusals_allowed:
            why = f"{'triton_op' if triton else 'custom_op'}() missing 1 required keyword-only argument: 'mutates_args'"
            schema = NamedSchema("", why, why)
        elif schema is None:
            schema = self._schema_of(function, mutates, tags)
        whole = _named(name if isinstance(name, str) else "", schema, call)
        unknown = whole if isinstance(whole, NamedSchema) else None
        devices = names.devices_of(types)
        if devices is not None and any(isinstance(device, Unknown) for device in devices):
            self._run.not_known(call, f"its device types are `{names.shown(types, call.node)}`")
        operator = CustomOperator(
            name,
            whole if isinstance(whole, str) and isinstance(name, str) else None,
            function_name(function) if isinstance(function, FunctionValue | ClassValue) else "function",
            *self._run.where(call),
            device_types=None if devices is None else tuple(device for device in devices if isinstance(device, str)),
            mutates_args=names.mutates_of(mutates),
            tags=tags,
            triton=triton,
            why_unknown=None if unknown is None else unknown.why,
            refused=None if unknown is None else unknown.refused,
            body=body_of(function, self._run),
        )
        self._run.found(operator, call)
        return OperatorHandle(name)

    def _direct_register(self, call: Call) -> Value:
        """vLLM's helper, where its source is not there: a definition, a kernel and a fake implementation."""
        arguments = call.arguments("op_name op_func mutates_args fake_impl target_lib dispatch_key tags")
        lib, name, function = (arguments.get(parameter) for parameter in ("target_lib", "op_name", "op_func"))
        lib = lib if isinstance(lib, LibraryValue) else self._implicit("vllm", call)
        schema = self._schema_of(function, arguments.get("mutates_args") or (), ())
        self._define_function(call.of(name, schema, lib=lib, tags=arguments.get("tags")))
        key = arguments.get("dispatch_key") or Opaque(None, "current_platform.dispatch_key")
        self._impl(lib, call.of(name, function, key))
        if (fake := arguments.get("fake_impl")) is not None:
            self._fake(lib, call.of(name, fake))
        return None

    # libraries

    def _library(self, call: Call) -> Value:
        """``Library(ns, kind, dispatch_key)``."""
        arguments = call.arguments("ns kind dispatch_key")
        named = arguments.get("kind")
        kind = LibraryKind.__members__.get(named) if isinstance(named, str) else None
        if kind is None:
            return self._run.not_known(call, "the kind of the library is not known")
        key = names.key_of(arguments.get("dispatch_key", ""))
        namespace = names.text_of(arguments.get("ns"), call.node)
        at, when = self._run.span(call.file, call.node), self._run.conditions(call.file)
        code = call.scope.code
        dropped = code.name if isinstance(code, ast.FunctionDef) and call.node in names.dropped_in(code) else None
        block = ExtractedBlock(kind, namespace, key, at, when, python=True, dropped=dropped)
        self._run.found(block, call)
        return LibraryValue(block)

    def _implicit(self, namespace: str | Unknown, call: Call) -> LibraryValue:
        """The library that a function makes where none is given."""
        block = ExtractedBlock(
            LibraryKind.FRAGMENT, namespace, None, *self._run.where(call), python=True, implicit=True
        )
        self._run.found(block, call)
        return LibraryValue(block)

    def _library_of(self, operator: str | Unknown, lib: Value, call: Call) -> LibraryValue:
        """The library that is given, or that of an operator's namespace."""
        if isinstance(lib, LibraryValue):
            return lib
        return self._implicit(operator.partition("::")[0] if isinstance(operator, str) else operator, call)

    # definitions

    def _define_function(self, call: Call) -> Value:
        """``torch.library.define(qualname, schema)``; ``define(lib, schema)`` is a decorator."""
        if call.given and isinstance(given := call.given[0], LibraryValue):
            return Prepared(Bound(given, "define and impl"), tuple(call.given[1:]), call.keywords)
        arguments = call.arguments("qualname schema")
        name, schema = names.operator_of(arguments.get("qualname"), call.node), arguments.get("schema")
        lib = self._library_of(name, arguments.get("lib"), call)
        if isinstance(name, str) and "::" not in name and arguments.get("lib") is None:
            schema = NamedSchema("", "", f'Expected `qualname` to be of the form "namespace::name", but got {name}')
        elif isinstance(schema, str) and not re.fullmatch(r"\(.*\) -> .*", schema):
            given = schema.replace("\n", "\\n")
            schema = NamedSchema("", "", f'expected schema to look like e.g. "(Tensor x) -> Tensor" but got "{given}"')
        whole = Opaque(call.node, name.expression) if isinstance(name, Unknown) else _named(name, schema, call)
        self._define(lib, call.of(whole, tags=arguments.get("tags")))
        return None

    def _define(self, lib: LibraryValue, call: Call) -> Value:
        """``lib.define(schema, alias_analysis)``; its value is the name, without the overload."""
        arguments = call.arguments("schema alias_analysis")
        schema, alias = arguments.get("schema"), arguments.get("alias_analysis", "")
        text = why = refused = None
        if (
            isinstance(schema, str)
            and isinstance(alias, str | None)
            and alias not in _ALIAS_ANALYSES
            and not self._run.now.refusals_allowed
        ):
            schema = NamedSchema(schema.partition("(")[0], "", f"Invalid alias_analysis type {alias}")
        if isinstance(schema, str):
            name: str | Unknown = names.qualified(lib.block.namespace, schema.partition("(")[0].strip())
            text = f"{name}({schema.partition('(')[2]}" if isinstance(name, str) else None
        elif isinstance(schema, NamedSchema):
            name, why, refused = names.qualified(lib.block.namespace, schema.name), schema.why, schema.refused
        else:
            name = Unknown(names.shown(schema, call.node))
        definition = ExtractedDefinition(
            lib.block,
            name,
            text,
            *self._run.where(call),
            tags=names.tags_of(arguments.get("tags")),
            alias_analysis=alias if alias == "CONSERVATIVE" else None,
            why_unknown=why or (None if text else f"the schema is `{names.shown(schema, call.node)}`"),
            refused=refused,
        )
        self._run.found(definition, call)
        return schema.partition("(")[0].partition(".")[0] if isinstance(schema, str) else Opaque(call.node)

    # kernels

    def _impl_function(self, call: Call) -> Value:
        """``torch.library.impl(qualname, types, func)``; ``impl(lib, name, dispatch_key)`` is a decorator."""
        first = call.given[0] if call.given else call.keywords.get("lib", call.keywords.get("qualname"))
        if call.given and isinstance(first, LibraryValue):
            parsed = call.arguments("lib name dispatch_key")
            keyset = {name: value for name, value in call.keywords.items() if name == "with_keyset"}
            return Prepared(Bound(first, "impl of"), (parsed.get("name"), parsed.get("dispatch_key", "")), keyset)
        other = isinstance(first, Dotted) and not first.name.startswith("torch.ops.")
        if other or (isinstance(first, Opaque) and len(call.given) >= 2 and "lib" not in call.keywords):
            return self._run.not_known(call, f"it is not known what `{function_name(first)}` is")
        parsed = call.arguments("qualname types func")
        qualname, types, function = (parsed.get(name) for name in ("qualname", "types", "func"))
        if function is None:
            return Prepared(Dotted("torch.library.impl"), (qualname, types), {"lib": parsed.get("lib")})
        operator = names.operator_of(qualname, call.node)
        lib = self._library_of(operator, parsed.get("lib"), call)
        for device_type in [types] if isinstance(types, str) else items_of(types) or [types]:
            self._kernel(lib, operator, names.key_or_device(device_type), function, call)
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
        falls = names.is_fallthrough(function)
        kernel = ExtractedKernel(
            lib.block,
            operator,
            key or "CompositeImplicitAutograd",
            "fallthrough" if falls else function_name(function),
            *self._run.where(call),
            fallthrough=falls,
            python=True,
            body=None if with_keyset else body_of(function, self._run),
        )
        self._run.found(kernel, call)

    def _impl(self, lib: LibraryValue, call: Call) -> None:
        """``lib.impl(op_name, fn, dispatch_key)``."""
        arguments = call.arguments("op_name fn dispatch_key")
        operator = names.operator_in(lib.block.namespace, arguments.get("op_name"), call.node)
        key = names.key_of(arguments.get("dispatch_key", "")) or lib.block.dispatch_key
        keyset = arguments.get("with_keyset", False) is not False
        self._kernel(lib, operator, key, arguments.get("fn", Opaque(None, "nothing")), call, keyset)

    def _fake(self, lib: LibraryValue, call: Call) -> None:
        """``lib._register_fake(op_name, fn)``."""
        arguments = call.arguments("op_name fn")
        operator = names.operator_in(lib.block.namespace, arguments.get("op_name"), call.node)
        self._add(FunctionRole.FAKE, operator, arguments.get("fn"), call.of(lib=lib))

    def _fallback(self, lib: LibraryValue, call: Call) -> None:
        """``lib.fallback(fn, dispatch_key)``."""
        arguments = call.arguments("fn dispatch_key")
        key = names.key_of(arguments.get("dispatch_key", "")) or lib.block.dispatch_key or Unknown("dispatch_key")
        function = arguments.get("fn")
        falls = names.is_fallthrough(function)
        shown = "fallthrough" if falls else function_name(function)
        where = self._run.where(call)
        self._run.found(ExtractedFallback(lib.block, key, shown, *where, fallthrough=falls, python=True), call)

    def _of_library(self, bound: Bound, call: Call) -> Value:
        """Call a method of a library."""
        lib: LibraryValue = bound.owner
        match bound.name:
            case "define":
                return self._define(lib, call)
            case "impl":
                self._impl(lib, call)
            case "impl of" if len(call.given) > 2:  # the decorator `torch.library.impl`
                name, key, *_, function = call.given
                self._impl(lib, call.of(name, function, key, **call.keywords))
                return function
            case "define and impl" if call.given:  # the decorator `torch.library.define`
                *given, function = call.given
                self._impl(lib, call.of(self._define(lib, call.of(*given, **call.keywords)), function))
                return function
            case "_register_fake":
                self._fake(lib, call)
            case "fallback":
                self._fallback(lib, call)
            case "_destroy" | "_impl_with_aoti_compile":
                self._run.not_known(call, f"what `{bound.name}` does to the library is not followed")
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
        """A Python function for an operator, found; PyTorch removes it with the library that is given."""
        override = call.keywords.get("allow_override")
        setup = call.keywords.get("setup_context")
        operator_function = OperatorFunction(
            role,
            operator,
            function_name(function),
            *self._run.where(call),
            devices,
            setup_context=None if setup is None else function_name(setup),
            dtype=dtype,
            allow_override=override if isinstance(override, bool) else None,
            body=body_of(function, self._run),
            setup_body=body_of(setup, self._run),
        )
        lib = call.keywords.get("lib")
        if not isinstance(lib, LibraryValue) or lib.block.dropped is None:
            self._run.found(operator_function, call)

    def _register(self, role: FunctionRole, call: Call) -> Value:
        """``register_fake(op, func)``, ``register_kernel(op, device_types, func)`` and the like."""
        arguments = call.arguments(_PARAMETERS[role.value])
        operator = names.operator_of(arguments.get("op", arguments.get("qualname")), call.node)
        function = arguments.get("func", arguments.get("backward"))
        devices = names.devices_of(arguments.get("device_types", arguments.get("device_type")))
        dtype = arguments.get("cast_inputs")
        if role is FunctionRole.AUTOCAST:
            function = Dotted("autocast")
        elif role is FunctionRole.KERNEL and devices is None:
            devices = ("default",)
        name = dtype.name.removeprefix("torch.") if isinstance(dtype, Dotted) else None
        self._add(role, operator, function, call, devices=devices or (), dtype=name)
        return function

    def _register_effect(self, call: Call) -> Value:
        """``has_side_effect(op)``, ``op.register_effect(effect)``: its calls are kept, unless the effect is None.

        The parameter of a helper stands for all operators that the file passes to functions.
        """
        arguments = call.arguments("op effect")
        operator = names.operator_of(arguments.get("op"), call.node)
        operators = [operator] if isinstance(operator, str) else []
        if not operators and isinstance(arguments.get("op"), Opaque):
            passed = _PASSED_OPERATOR.findall(self._run.index.text(call.file))
            operators = [f"{namespace}::{name}" for namespace, name in dict.fromkeys(passed)]
        for name in operators if arguments.get("effect", True) is not None else ():
            self._add(FunctionRole.EFFECT, name, Dotted("effect"), call)
        return arguments.get("op")

    def _py_impl(self, owner: OperatorHandle | Dotted, call: Call) -> Value:
        """``op.py_impl(key)(function)``."""
        key, function = names.key_of(call.given[0]), call.given[1]
        operator = names.operator_of(owner, call.node)
        if (operator, key) in self._run.removed_python_kernels:
            self._run.not_known(call, "it takes the place of a kernel that `py_kernels` had before")
        else:
            self._add(FunctionRole.PY_IMPL, operator, function, call.of(), devices=(key,) if key else ())
        return function


def _named(name: str, schema: Value, call: Call) -> str | NamedSchema:
    """A schema with the name of its operator."""
    if isinstance(schema, str):
        return f"{name}{schema.strip()}"
    if isinstance(schema, NamedSchema):
        return replace(schema, name=name)
    return NamedSchema(name, f"the schema is `{names.shown(schema, call.node)}`")
