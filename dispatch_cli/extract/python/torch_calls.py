"""Registrations by functions and methods of ``torch.library``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from math import prod

import dispatch_cli.extract.python.keys as keys
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
)
from dispatch_cli.extract.python.keys import DIRECT_REGISTER, TORCH_FUNCTIONS
from dispatch_cli.extract.python.libraries import PARAMETERS, Libraries
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.model.sources.extracted import CustomOperator, FunctionRole, Unknown

_DECORATORS = {
    **dict.fromkeys(("custom_op", "triton_op"), "name fn"),
    **dict.fromkeys(("register_fake", "impl_abstract", "register_vmap"), "op func"),
    "register_kernel": "op device_types func",
}
"""Parameters of functions that return a decorator where the last one is not given."""
MAX_CHOICES = 32
"""Combinations of the values that the arguments of one call may have."""


class TorchCalls:
    """Finds what calls of PyTorch's interface register. evaluate: the value of an annotation."""

    def __init__(self, run: PythonRun, evaluate: Callable[[ast.expr, Scope], Value]) -> None:
        self._run = run
        self._evaluate = evaluate
        libraries = self._libraries = Libraries(run)
        self._acts: dict[str, Callable[[Call], Value]] = {
            "Library": libraries.library,
            "_scoped_library": libraries.scoped,
            "define": libraries.define_function,
            "impl": libraries.impl_function,
            "_impl": libraries.impl_function,
            "custom_op": self._custom_op,
            "triton_op": partial(self._custom_op, triton=True),
            "infer_schema": self._infer_schema,
            **{role.value: partial(libraries.register, role) for role in PARAMETERS},
            "impl_abstract": partial(libraries.register, FunctionRole.FAKE),
            "register_effect": libraries.register_effect,
            "_register_effectful_op": libraries.register_effect,
            "has_side_effect": libraries.register_effect,
        }

    def call(self, name: str, call: Call) -> Value:
        """Call a function of PyTorch, or of another package, by its full name."""
        what = TORCH_FUNCTIONS.get(name)
        if what in self._acts:
            return self._function(what, call)
        if what is not None:
            self._run.account(call.file, call.node)
            return Dotted("torch._decomp.decorator") if what == "register_decomposition" else Opaque(call.node)
        if name == "torch.device" and call.given and all(isinstance(part, str | int) for part in call.given):
            return ":".join(map(str, call.given))  # as it prints itself
        if name.rpartition(".")[2] == DIRECT_REGISTER:
            return self._choices(call, self._direct_register)
        return Opaque(call.node)

    def _function(self, what: str, call: Call) -> Value:
        """Call a function of `_acts`; without the function that it registers, it returns a decorator."""
        if (order := _DECORATORS.get(what)) is not None:
            arguments = call.arguments(order)
            *before, last = order.split()
            if arguments.get(last) is None:
                given = tuple(arguments.get(parameter, arguments.get("qualname")) for parameter in before)
                return Prepared(Dotted(f"torch.library.{what}"), given, call.keywords)
        return self._choices(call, self._acts[what])

    def method(self, bound: Bound, call: Call) -> Value:
        """Call a method of a library, an operator or of something that is not known."""
        owner = bound.owner
        if isinstance(owner, LibraryValue):
            return self._choices(call, lambda chosen: self._libraries.method(bound, chosen))
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
            return self._libraries.py_impl(bound.owner, call)
        if bound.name.startswith("register_") and isinstance(bound.owner, OperatorHandle) and bound.name in self._acts:
            return self._function(bound.name, call.of(bound.owner, *call.given, **call.keywords))
        self._run.account(call.file, call.node)
        return Opaque(call.node)

    def removed_python_kernel(self, kernels: str, key: Value, node: ast.AST) -> None:
        """``del op.py_kernels[key]``: the kernel that `py_impl` registers there takes the place of another one."""
        operator = keys.operator_of(Dotted(kernels.rpartition(".")[0]), node)
        self._run.removed_python_kernels.add((operator, keys.key_of(key)))

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
        tags = keys.tags_of(arguments.get("tags"))
        self._run.account(call.file, call.node)
        name = arguments.get("op_name")
        schema = self._schema_of(arguments.get("prototype_function"), arguments.get("mutates_args", ()), tags)
        if isinstance(schema, NamedSchema):
            return NamedSchema(name if isinstance(name, str) else "", schema.why, schema.refused)
        return schema if name is None else f"{name}{schema}" if isinstance(name, str) else Opaque(call.node)

    def _custom_op(self, call: Call, triton: bool = False) -> Value:
        """``custom_op(name, fn)``."""
        arguments = call.arguments("name fn")
        function, types = arguments.get("fn"), arguments.get("device_types")
        name = keys.operator_of(arguments.get("name"), call.node)
        tags = keys.tags_of(arguments.get("tags"))
        schema, mutates = arguments.get("schema"), arguments.get("mutates_args", ())
        if schema is None:
            schema = self._schema_of(function, mutates, tags)
        if not isinstance(schema, str | NamedSchema):
            schema = NamedSchema("", f"the schema is `{keys.shown(schema, call.node)}`")
        unknown = schema if isinstance(schema, NamedSchema) else None
        devices = keys.devices_of(types)
        if devices is not None and any(isinstance(device, Unknown) for device in devices):
            self._run.not_known(call, f"its device types are `{keys.shown(types, call.node)}`")
        self._run.found(
            call,
            CustomOperator,
            name,
            f"{name}{schema.strip()}" if isinstance(schema, str) and isinstance(name, str) else None,
            function_name(function) if isinstance(function, FunctionValue | ClassValue) else "function",
            device_types=None if devices is None else tuple(device for device in devices if isinstance(device, str)),
            mutates_args=keys.mutates_of(mutates),
            tags=tags,
            triton=triton,
            why_unknown=None if unknown is None else unknown.why,
            refused=None if unknown is None else unknown.refused,
            body=body_of(function, self._run),
        )
        return OperatorHandle(name)

    def _direct_register(self, call: Call) -> Value:
        """vLLM's helper, where its source is not there: a definition, a kernel and a fake implementation."""
        arguments = call.arguments("op_name op_func mutates_args fake_impl target_lib dispatch_key tags")
        lib, name, function = (arguments.get(parameter) for parameter in ("target_lib", "op_name", "op_func"))
        lib = lib if isinstance(lib, LibraryValue) else self._libraries.implicit("vllm", call)
        schema = self._schema_of(function, arguments.get("mutates_args") or (), ())
        self._libraries.define_function(call.of(name, schema, lib=lib, tags=arguments.get("tags")))
        key = arguments.get("dispatch_key") or Opaque(None, "current_platform.dispatch_key")
        self._libraries.impl(lib, call.of(name, function, key))
        if (fake := arguments.get("fake_impl")) is not None:
            self._libraries.fake(lib, call.of(name, fake))
        return None
