"""Registrations by functions of Python's ``torch.library`` for an operator: ``register_kernel`` and its like.

Sources: torch/library.py. Differences of operators of ``custom_op`` are in `custom_ops`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dispatch_cli.declarations.fields import Values, parts, text_of
from dispatch_cli.declarations.formats.operator_format import FUNCTIONS
from dispatch_cli.declarations.problems import Place
from dispatch_cli.declarations.sections.context import FileContext
from dispatch_cli.declarations.sections.custom_op_rules import (
    refused_autocast,
    refused_autograd,
    refused_device,
    refused_vmap,
)
from dispatch_cli.declarations.sections.python_functions import PythonFunction, read_function, read_functions
from dispatch_cli.declarations.tree import Mapping, Node, Sequence
from dispatch_cli.model.declarations import Block, PythonKernel
from dispatch_cli.model.kernel import Kernel, Redispatch, RedispatchKind, WrapKind, Wrapped
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import FunctionSchema
from dispatch_cli.model.sources.function_body import FunctionBody
from dispatch_cli.model.span import Span
from dispatch_cli.model.text.suggest import suggestion
from dispatch_cli.model.universe import AUTOGRAD, EXPLICIT, TorchLibrary, Universe

CODE = "torch-library"
"""The code of a problem with what ``torch.library`` is asked to register."""
BATCHED = "FuncTorchBatched"
DEFAULT = "default"
"""Word for all device types in ``torch.library.impl``."""
_DEVICE_HINT = "name a device type such as cpu, cuda or xpu; out-of-tree backends: write privateuseone"
_AUTOCAST_KERNEL = "torch.library.register_autocast.<locals>._autocast_py_impl"
"""The Python dispatcher's kernel that ``torch.library.register_autocast`` registers as well."""


class LibraryOperator(NamedTuple):
    """An operator whose registrations are read.

    schema: None where it is not known here. custom: ``torch.library.custom_op`` makes it.
    """

    context: FileContext
    block: Block
    name: OperatorName
    schema: FunctionSchema | None
    tags: tuple[str, ...]
    universe: Universe
    custom: bool = False

    @property
    def library(self) -> TorchLibrary:
        """Behaviour of this PyTorch's ``torch.library``."""
        return self.universe.torch_library

    def refuse(self, message: str | None, at: Node | Place, hint: str | None = None) -> bool:
        """Note PyTorch's refusal, if there is one; True if there is."""
        if message is not None:
            self.context.problems.add(CODE, message, at, hint)
        return message is not None

    def register(
        self,
        key: str,
        debug: str,
        wraps: Wrapped | None,
        span: Span,
        redispatches: Redispatch | None = None,
        body: FunctionBody | None = None,
        setup: FunctionBody | None = None,
    ) -> None:
        """Register a kernel, where PyTorch does not refuse a second one. wraps: None for one of PyTorch's in C++."""
        if not self.library.overrides and self.context.has_python_kernel(self.name, key):
            message = (
                "This is not allowed since there's already a kernel registered from python overriding "
                f"{str(self.name).rpartition('::')[2]}'s behavior for {key} dispatch key and {self.name.namespace} "
                "namespace."
            )
            self.context.problems.add_at(CODE, message, span)
            return
        kernel = Kernel(debug, python=wraps is not None, span=span, redispatches=redispatches, wraps=wraps)
        kernel = kernel._replace(body=body, setup_body=setup)
        self.context.implement(self.block, self.name, key, kernel, span)

    def debug(self, function: str) -> str:
        """Debug text, in a dump, of the kernels that a function registers."""
        default = f"registered at {self.block.file}:{self.block.line}"
        return self.library.custom_op if self.custom else self.library.functions.get(function) or default

    def has(self, field: str, node: Node) -> bool:
        """True if this PyTorch has the function that registers a field; noted where not."""
        function = FUNCTIONS.get(field, field)
        version = self.universe.torch.partition("+")[0]
        message = f"PyTorch {version} has no torch.library.{function}"
        return not self.refuse(None if function in self.library.functions else message, node, "remove the field")


def read_registrations(context: FileContext, at: Node, values: Values, block: Block, name: OperatorName) -> None:
    """Read registrations by ``torch.library`` for an operator that is not of ``custom_op``; mistakes are noted."""
    if (universe := context.keys.universe) is None:
        return
    defined = context.known.operators.get(name)
    if defined is not None and defined.custom:
        message = f"{name} is defined as a custom operator; declare what torch.library registers for it there"
        context.problems.add("bad-value", message, at, "add the fields to its definition")
        return
    schema, tags = (None, ()) if defined is None else (defined.schema, defined.tags)
    operator = LibraryOperator(context, block, name, schema, tags, universe)
    for field, node in values.items():
        reader = _READERS.get(field)
        if reader is not None and node is not None and operator.has(field, node):
            reader(operator, node, values)


def _read_kernels(operator: LibraryOperator, node: Node, _: Values) -> None:
    for devices, functions in read_kernels(operator, node):
        for function in functions:
            redispatch = function.redispatches or Redispatch(RedispatchKind.NO)
            for key in dict.fromkeys(_key(operator, device) for device in devices):
                wraps = function.wrapped(WrapKind.FUNCTION)
                debug = operator.debug("register_kernel")
                operator.register(key, debug, wraps, function.span, redispatch, function.body)


def _key(operator: LibraryOperator, device: str) -> str:
    """Dispatch key at which ``torch.library.impl`` registers for a device type; it takes a key for a type, too."""
    if device in operator.universe.parseable:
        return device
    return EXPLICIT if device == DEFAULT else operator.universe.devices[device]


def _read_backward(operator: LibraryOperator, _: Node, values: Values) -> None:
    function, wraps, setup = read_backward(operator, values)
    if function is not None:
        redispatch = Redispatch(RedispatchKind.BELOW_AUTOGRAD)
        debug = operator.debug("register_autograd")
        operator.register(AUTOGRAD, debug, wraps, function.span, redispatch, function.body, setup)


def read_vmap(operator: LibraryOperator, node: Node, _: Values) -> None:
    """The field ``vmap``: the batching rule. That of ``custom_op`` is registered once, for the last function."""
    refused = None if operator.schema is None else refused_vmap(operator.schema, operator.custom)
    with operator.context.at_call(first_of(node)):
        if operator.refuse(refused, node):
            return
    functions = read_functions(operator.context.problems, operator.context.keys, node)
    for function in functions[-1:] if operator.custom else functions:
        wraps = function.wrapped(WrapKind.VMAP)
        debug = operator.debug("register_vmap")
        operator.register(BATCHED, debug, wraps, function.span, function.redispatches, function.body)


def read_autocast(operator: LibraryOperator, node: Node, _: Values) -> None:
    """The field ``autocast``: kernels that cast and call the operator anew without autocast."""
    context = operator.context
    for key, dtype, span in _autocast(operator, node):
        redispatch = Redispatch(RedispatchKind.EXCLUDE, (key,))
        wraps = Wrapped(WrapKind.AUTOCAST, dtype=dtype)
        operator.register(key, operator.debug("register_autocast"), wraps, span, redispatch)
        if operator.name.name and not operator.custom:
            kernel = PythonKernel(
                operator.name, key, _AUTOCAST_KERNEL, span, context.by, True, context.when, context.extracted
            )
            context.python_kernels.append(kernel)


_READERS = {
    "kernels": _read_kernels,
    "backward": _read_backward,
    "vmap": read_vmap,
    "autocast": read_autocast,
}


def read_kernels(operator: LibraryOperator, node: Node | None) -> Iterator[tuple[list[str], list[PythonFunction]]]:
    """The field ``kernels``: device types, separated by commas, and their functions; unknown types are noted."""
    context = operator.context
    for key, value in node.pairs if type(node) is Mapping else ():
        named = [(text, context.problems.inside(key, offset)) for text, offset in parts(key.text)]
        with context.at_call(first_of(value)):
            devices = [text for text, place in named if is_device(operator, text, place, kernels=True)]
        functions = read_functions(context.problems, context.keys, value)
        if devices and functions:
            yield devices, functions


def first_of(node: Node) -> Node:
    """The first of a list of functions, or the function that is not in a list."""
    return node.items[0] if type(node) is Sequence and node.items else node


def is_device(operator: LibraryOperator, device: str, at: Place, kernels: bool = False) -> bool:
    """True if PyTorch knows the device type, and has a dispatch key for it; noted where not. kernels: of `kernels`."""
    known, parseable = operator.universe.devices, operator.universe.parseable
    if device in known or (not operator.custom and kernels and (device == DEFAULT or device in parseable)):
        return True
    message = refused_device(device, operator.library)
    if device in operator.library.device_types:
        message = f"This is a grandfathered Caffe2 device type {device}, it shouldn't ever convert to a DispatchKey."
    operator.refuse(message, at, suggestion(device, tuple(known)) or _DEVICE_HINT)
    return False


def read_backward(
    operator: LibraryOperator, values: Values
) -> tuple[PythonFunction | None, Wrapped, FunctionBody | None]:
    """The backward, what the autograd kernel is made of, and the body of ``setup_context``; refusals are noted."""
    problems, keys = operator.context.problems, operator.context.keys
    node, setup_node = values.get("backward"), values.get("setup_context")
    function, setup = read_function(problems, keys, node), read_function(problems, keys, setup_node)
    if function is None or node is None:
        return None, Wrapped(WrapKind.AUTOGRAD), None
    if operator.schema is not None:
        message = refused_autograd(operator.schema, operator.tags, operator.custom, operator.library)
        with operator.context.at_call(node):
            if operator.refuse(message, node):
                return None, Wrapped(WrapKind.AUTOGRAD), None
    name, body = (None, None) if setup is None else (setup.name, setup.body)
    return function, function.wrapped(WrapKind.AUTOGRAD)._replace(setup_context=name), body


def _autocast(operator: LibraryOperator, node: Node) -> Iterator[tuple[str, str, Span]]:
    """The field ``autocast``: the key of each device type, and what is cast to; what PyTorch refuses is noted."""
    problems = operator.context.problems
    for at, value in node.pairs if type(node) is Mapping else ():
        dtype = text_of(problems, value, "the name of a dtype")
        if dtype is None or not is_device(operator, at.text, problems.inside(at, 0)):
            continue
        key = f"Autocast{operator.universe.devices[at.text]}"
        if not operator.refuse(refused_autocast(at.text, operator.library), at) and key in operator.universe.slot:
            yield key, dtype, problems.span(at)
