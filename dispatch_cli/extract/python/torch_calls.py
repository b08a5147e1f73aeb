"""Registrations by functions and methods of ``torch.library``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from math import prod

import dispatch_cli.extract.python.keys as keys
import dispatch_cli.extract.python.names as names
from dispatch_cli.extract.python.annotations import NoSchema
from dispatch_cli.extract.python.bodies import body_of, is_as_written
from dispatch_cli.extract.python.evaluation.evaluator import Call
from dispatch_cli.extract.python.evaluation.values import (
    Alternatives,
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
from dispatch_cli.extract.python.infer import infer_schema
from dispatch_cli.extract.python.keys import DIRECT_REGISTER, TORCH_FUNCTIONS
from dispatch_cli.extract.python.libraries import PARAMETERS, Libraries
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.sources.extracted import CustomOperator, FunctionRole, Unknown

_DECORATORS = {
    **dict.fromkeys(("custom_op", "triton_op"), "name fn"),
    **dict.fromkeys(("register_fake", "impl_abstract", "register_vmap"), "op func"),
    "register_kernel": "op device_types func",
}
"""Parameters of functions that return a decorator where the last one is not given."""
MAX_CHOICES = 32
"""Combinations of the values that the arguments of one call may have."""


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

    def custom_op(self, call: Call, triton: bool = False) -> Value:
        """``custom_op(name, fn)``."""
        arguments = call.arguments("name fn")
        function = arguments.get("fn")
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
        self._libraries.define_function(call.of(name, schema, lib=lib, tags=arguments.get("tags")))
        key = arguments.get("dispatch_key") or Opaque(None, "current_platform.dispatch_key")
        self._libraries.impl(lib, call.of(name, function, key))
        if (fake := arguments.get("fake_impl")) is not None:
            self._libraries.fake(lib, call.of(name, fake))
        return None


class TorchCalls:
    """Finds what calls of PyTorch's interface register."""

    def __init__(self, run: PythonRun, evaluate: Callable[[ast.expr, Scope], Value]) -> None:
        self._run = run
        libraries = self._libraries = Libraries(run)
        custom = CustomOperators(run, libraries, evaluate)
        self._direct_register = custom.direct_register
        self._acts: dict[str, Callable[[Call], Value]] = {
            "Library": libraries.library,
            "_scoped_library": libraries.scoped,
            "define": libraries.define_function,
            "impl": libraries.impl_function,
            "_impl": libraries.impl_function,
            "custom_op": custom.custom_op,
            "triton_op": partial(custom.custom_op, triton=True),
            "infer_schema": custom.infer_schema,
            **{role.value: partial(libraries.register, role) for role in PARAMETERS},
            "impl_abstract": partial(libraries.register, FunctionRole.FAKE),
            "register_effect": libraries.register_effect,
            "_register_effectful_op": libraries.register_effect,
            "has_side_effect": libraries.register_effect,
        }

    def call(self, name: str, call: Call) -> Value:
        """Call a function of PyTorch, or of another package, by its full name."""
        what = TORCH_FUNCTIONS.get(name)
        if what is None:
            return self._other(name, call)
        if what in self._acts:
            return self._function(what, call)
        self._run.account(call.file, call.node)
        return Dotted("torch._decomp.decorator") if what == "register_decomposition" else Opaque(call.node)

    def _function(self, what: str, call: Call) -> Value:
        """Call a function of `_acts`; without the function that it registers, it returns a decorator."""
        if (order := _DECORATORS.get(what)) is not None:
            arguments = call.arguments(order)
            *before, last = order.split()
            if arguments.get(last) is None:
                given = tuple(arguments.get(parameter, arguments.get("qualname")) for parameter in before)
                path = self._run.call_path(call.file, call.node)
                return Prepared(Dotted(f"torch.library.{what}"), given, call.keywords, path)
        return self._choices(call, self._acts[what])

    def _other(self, name: str, call: Call) -> Value:
        """Call a function that registers nothing, or of which that is not known."""
        if name == "torch.device" and call.given and all(isinstance(part, str | int) for part in call.given):
            return ":".join(map(str, call.given))  # as it prints itself
        if name.rpartition(".")[2] == DIRECT_REGISTER:
            return self._choices(call, self._direct_register)
        return Opaque(call.node)

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
            self._run.not_known(call.file, node, f"it is not known what `{function_name(owner)}` is")
        return Opaque(call.node)

    def _of_operator(self, bound: Bound, call: Call) -> Value:
        """Call a method of an operator."""
        if bound.name == "py_impl":
            if len(call.given) < 2:
                return Prepared(bound, tuple(call.given), call.keywords, self._run.call_path(call.file, call.node))
            return self._libraries.py_impl(bound.owner, call)
        if bound.name.startswith("register_") and isinstance(bound.owner, OperatorHandle) and bound.name in self._acts:
            return self._function(bound.name, call.of(bound.owner, *call.given, **call.keywords))
        self._run.account(call.file, call.node)
        return Opaque(call.node)

    def removed_python_kernel(self, kernels: Dotted, key: Value, node: ast.AST) -> None:
        """``del op.py_kernels[key]``: the kernel that `py_impl` registers there takes the place of another one."""
        operator = keys.operator_of(Dotted(kernels.name.rpartition(".")[0]), node)
        self._run.removed_python_kernels.add((operator, keys.key_of(key)))

    def _choices(self, call: Call, act: Callable[[Call], Value]) -> Value:
        """Call once for each of the values that an argument may have."""
        arguments: list[tuple[int | str, Value]] = [*enumerate(call.given), *call.keywords.items()]
        several = [(slot, value) for slot, value in arguments if isinstance(value, Alternatives)]
        if not several:
            return act(call)
        if prod(len(value.options) for _, value in several) > MAX_CHOICES:
            self._run.not_known(call.file, call.node, "its arguments may have too many values")
            return Opaque(call.node)
        slot, value = several[0]
        return self._run.each(value, lambda chosen: self._choices(call.with_argument(slot, chosen), act))
