"""Registrations by functions of Python's ``torch.library``: ``custom_op`` and ``triton_op``, with all that these
register, and ``register_kernel`` and its like for any operator.

Sources: torch/library.py, torch/_library/custom_ops.py, torch/_library/triton.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dispatch_cli.declarations.fields import Values, items_of, pairs_of, parts, text_of
from dispatch_cli.declarations.formats.format_types import FUNCTIONS, MAKERS, TRITON_OP, UNKNOWN
from dispatch_cli.declarations.sections import custom_op_rules as rules
from dispatch_cli.declarations.sections.context import FileContext
from dispatch_cli.declarations.sections.kernels import read_fake
from dispatch_cli.declarations.sections.python_functions import PythonFunction, read_function, read_functions
from dispatch_cli.declarations.source import Place
from dispatch_cli.declarations.tree import Node
from dispatch_cli.model.declarations import Block, Define, PythonKernel
from dispatch_cli.model.kernel import AliasAnalysisKind, FakeImpl, Kernel, Redispatch, RedispatchKind, WrapKind, Wrapped
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import FunctionSchema, has_tensors, is_mutable, takes_tensors
from dispatch_cli.model.span import Span
from dispatch_cli.model.text.suggest import suggestion
from dispatch_cli.model.universe import (
    AD_INPLACE_OR_VIEW,
    AUTOGRAD,
    BACKEND_SELECT,
    BATCHED,
    EXPLICIT,
    META,
    TorchLibrary,
    Universe,
)

_CODE = "torch-library"
"""The code of a problem with what ``torch.library`` is asked to register."""
_DEFAULT = "default"
"""Word for all device types in ``torch.library.impl``."""
_DEVICE_HINT = "name a device type such as cpu, cuda or xpu; out-of-tree backends: write privateuseone"
_AUTOCAST_KERNEL = "torch.library.register_autocast.<locals>._autocast_py_impl"
"""The Python dispatcher's kernel that ``torch.library.register_autocast`` registers as well."""
_COMPUTES = Redispatch(RedispatchKind.NO)
_BELOW_KEY = Redispatch(RedispatchKind.BELOW_KEY)
_BELOW_AUTOGRAD = Redispatch(RedispatchKind.BELOW_AUTOGRAD)


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
            self.context.problems.add(_CODE, message, at, hint)
        return message is not None

    def register(self, key: str, kernel: Kernel) -> None:
        """Register a kernel, where PyTorch does not refuse a second one."""
        if kernel.span is not None and not self.library.overrides and self.context.has_python_kernel(self.name, key):
            message = (
                "This is not allowed since there's already a kernel registered from python overriding "
                f"{str(self.name).rpartition('::')[2]}'s behavior for {key} dispatch key and {self.name.namespace} "
                "namespace."
            )
            self.context.problems.add(_CODE, message, kernel.span)
        else:
            self.context.implement(self.block, self.name, key, kernel, kernel.span)

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


def read_registrations(context: FileContext, values: Values, block: Block, name: OperatorName) -> None:
    """Read registrations by ``torch.library`` for an operator that is not of ``custom_op``; mistakes are noted."""
    if (universe := context.keys.universe) is None:
        return
    defined = context.known.operators.get(name)
    if defined is not None and defined.custom:
        message = f"{name} is defined as a custom operator; declare what torch.library registers for it there"
        context.problems.add("bad-value", message, values.node, "add the fields to its definition")
        return
    schema, tags = (None, ()) if defined is None else (defined.schema, defined.tags)
    operator = LibraryOperator(context, block, name, schema, tags, universe)
    for field, node in values.items():
        reader = _READERS.get(field)
        if reader is not None and node is not None and operator.has(field, node):
            reader(operator, node, values)


def _read_kernels(operator: LibraryOperator, node: Node, _: Values) -> None:
    debug, keys = operator.debug("register_kernel"), {**operator.universe.devices, _DEFAULT: EXPLICIT}
    for devices, functions in _functions_of_devices(operator, node):
        for function in functions:
            kernel = function.kernel(debug, WrapKind.FUNCTION, function.redispatches or _COMPUTES)
            # torch.library.impl takes a dispatch key for a device type, too
            for key in dict.fromkeys(keys.get(device, device) for device in devices):
                operator.register(key, kernel)


def _read_backward(operator: LibraryOperator, _: Node, values: Values) -> None:
    if (kernel := _backward(operator, values)) is not None:
        operator.register(AUTOGRAD, kernel)


def _read_vmap(operator: LibraryOperator, node: Node, _: Values) -> None:
    """The field ``vmap``: the batching rule. That of ``custom_op`` is registered once, for the last function."""
    refused = None if operator.schema is None else rules.refused_vmap(operator.schema, operator.custom)
    with operator.context.at_call(_first_of(node)):
        if operator.refuse(refused, node):
            return
    functions = read_functions(operator.context, node)
    for function in functions[-1:] if operator.custom else functions:
        operator.register(
            BATCHED, function.kernel(operator.debug("register_vmap"), WrapKind.VMAP, function.redispatches)
        )


def _read_autocast(operator: LibraryOperator, node: Node, _: Values) -> None:
    """The field ``autocast``: kernels that cast and call the operator anew without autocast."""
    context = operator.context
    problems, name = context.problems, operator.name
    for at, value in pairs_of(node):
        dtype = text_of(problems, value)
        device = operator.universe.device_type(at.text)
        if dtype is None or not _is_device(operator, device, problems.inside(at, 0)):
            continue
        key, span = f"Autocast{operator.universe.devices[device]}", problems.span(at)
        if operator.refuse(rules.refused_autocast(at.text, operator.library), at) or key not in operator.universe.slot:
            continue
        redispatches, wraps = Redispatch(RedispatchKind.EXCLUDE, (key,)), Wrapped(WrapKind.AUTOCAST, dtype=dtype)
        debug = operator.debug("register_autocast")
        operator.register(key, Kernel(debug, python=True, span=span, redispatches=redispatches, wraps=wraps))
        if not operator.custom:
            kernel = PythonKernel(name, key, _AUTOCAST_KERNEL, span, context.by, True, context.when, context.extracted)
            context.contents.python_kernels.append(kernel)


_READERS = {"kernels": _read_kernels, "backward": _read_backward, "vmap": _read_vmap, "autocast": _read_autocast}


def _functions_of_devices(
    operator: LibraryOperator, node: Node | None
) -> Iterator[tuple[list[str], list[PythonFunction]]]:
    """The field ``kernels``: device types, separated by commas, and their functions; unknown types are noted."""
    context = operator.context
    for key, value in pairs_of(node):
        of = operator.universe.device_type
        named = [(of(text), context.problems.inside(key, offset)) for text, offset in parts(key.text)]
        with context.at_call(_first_of(value)):
            devices = [text for text, place in named if _is_device(operator, text, place, kernels=True)]
        functions = read_functions(context, value)
        if devices and functions:
            yield devices, functions


def _first_of(node: Node) -> Node:
    return next(iter(items_of(node)), node)


def _is_device(operator: LibraryOperator, device: str, at: Place, kernels: bool = False) -> bool:
    """True if PyTorch knows the device type, and has a dispatch key for it; noted where not. kernels: of `kernels`."""
    known, parseable = operator.universe.devices, operator.universe.parseable
    if device in known or (not operator.custom and kernels and (device == _DEFAULT or device in parseable)):
        return True
    message = rules.refused_device(device, operator.library)
    if device in operator.library.device_types:
        message = f"This is a grandfathered Caffe2 device type {device}, it shouldn't ever convert to a DispatchKey."
    operator.refuse(message, at, suggestion(device, tuple(known)) or _DEVICE_HINT)
    return False


def _backward(operator: LibraryOperator, values: Values) -> Kernel | None:
    """The autograd kernel with the user's backward; None where there is none, or PyTorch refuses it, which is noted."""
    node = values.get("backward")
    function = read_function(operator.context, node)
    setup = read_function(operator.context, values.get("setup_context"))
    if function is None or node is None:
        return None
    if operator.schema is not None:
        message = rules.refused_autograd(operator.schema, operator.tags, operator.custom, operator.library)
        with operator.context.at_call(node):
            if operator.refuse(message, node):
                return None
    kernel = function.kernel(operator.debug("register_autograd"), WrapKind.AUTOGRAD, _BELOW_AUTOGRAD)
    if setup is None or kernel.wraps is None:
        return kernel
    return kernel._replace(wraps=kernel.wraps._replace(setup_context=setup.name), setup_body=setup.body)


def read_custom_op(context: FileContext, values: Values, block: Block, schema: FunctionSchema | None) -> None:
    """Read an operator with one of the fields *MAKERS*; what PyTorch refuses is noted, in its words."""
    maker = next(maker for maker in MAKERS if maker in values)
    node, universe = values[maker], context.keys.universe
    if schema is None or node is None or universe is None:
        return
    library, tags = universe.torch_library, values.texts("tags", "the name of a tag")
    schema = _written(schema, values)
    all_tags = tuple(dict.fromkeys((*library.tags, *tags)))
    operator = LibraryOperator(context, block, schema.name, schema, all_tags, universe, custom=True)
    if maker == TRITON_OP and not operator.has(TRITON_OP, node):
        return
    if tags and not library.takes_tags and (at := values.get("tags")) is not None:
        operator.refuse("custom_op() got an unexpected keyword argument 'tags'", at, "remove the tags")
    operator.refuse(rules.refused_schema(schema, all_tags), node)
    span = context.problems.span(node)
    definition = Define(block, schema, AliasAnalysisKind.FROM_SCHEMA, all_tags, library.custom_op, span)
    context.define(definition, custom=True)
    default = read_function(context, values.get("kernel"))
    _register_fake(operator, values, default if maker == TRITON_OP else None, span)
    operator.refuse(values.text("refused"), node)
    plain = Kernel(library.custom_op, python=True, span=span, redispatches=_BELOW_AUTOGRAD)
    operator.register(AUTOGRAD, _backward(operator, values) or plain._replace(wraps=Wrapped(WrapKind.AUTOGRAD)))
    _register_in_place(operator, schema, span, "mutates_args" in values)
    _register_kernels(operator, schema, values, default, node)
    for field in ("vmap", "autocast"):
        if (at := values.get(field)) is not None and operator.has(field, at):
            _READERS[field](operator, at, values)


def _written(schema: FunctionSchema, values: Values) -> FunctionSchema:
    """The schema with the aliases of the arguments of ``mutates_args``."""
    node = values.get("mutates_args")
    if node is None:
        return schema
    names = values.texts("mutates_args", "the name of an argument")
    if names == (UNKNOWN,):
        names = tuple(argument.name for argument in schema.arguments if takes_tensors(argument))
    written_schema, message = rules.written(schema, names)
    if message is not None:
        values.problems.add(_CODE, message, node, f"the arguments are {', '.join(a.name for a in schema.arguments)}")
    return written_schema


def _register_fake(operator: LibraryOperator, values: Values, default: PythonFunction | None, span: Span) -> None:
    """The kernel at Meta, which is there without a fake implementation, too; the last one that is declared counts."""
    fake, body = (FakeImpl(), None) if default is None else (FakeImpl(default.name), default.body)
    for node in items_of(values.get("fake")):
        with operator.context.placed(node):
            if (fake_parts := read_fake(operator.context, node)) is not None:
                fake, _, body = fake_parts
                span = operator.context.problems.span(node)
    redispatch = None if fake.function is None else _COMPUTES
    kernel = Kernel(operator.library.fake, python=True, span=span, redispatches=redispatch, fake=fake, body=body)
    operator.context.implement(operator.block, operator.name, META, kernel, span)


def _register_in_place(operator: LibraryOperator, schema: FunctionSchema, span: Span, writes: bool) -> None:
    """The kernels at ADInplaceOrView: PyTorch's fallback for views, and one that counts versions of what is written.

    writes: the operator is said to write to something, where its schema is not known.
    """
    library, mutable = operator.library, is_mutable(schema) or (schema.unknown is not None and writes)
    kernel = Kernel(library.custom_op, span=span, redispatches=_BELOW_KEY)
    if library.view_fallback and (mutable or rules.is_view(schema)):
        operator.register(AD_INPLACE_OR_VIEW, kernel)
    if mutable:
        operator.register(AD_INPLACE_OR_VIEW, kernel._replace(python=True, wraps=Wrapped(WrapKind.VERSION_COUNTERS)))


def _register_kernels(
    operator: LibraryOperator, schema: FunctionSchema, values: Values, default: PythonFunction | None, at: Node
) -> None:
    """The kernels of device types: ``custom_op``'s own, then those of ``register_kernel``.

    For several device types at once PyTorch makes a kernel each, of which every one runs the function of the last type
    (``backend_impl`` looks it up by a variable of the loop). A device type that is there already gets no second kernel.
    """
    node = values.get("kernels")
    groups = [] if default is None else [([_DEFAULT], [default])]
    if node is not None:
        pairs = pairs_of(node) if default is not None else ()
        with operator.context.at_call(_first_of(pairs[0][1]) if pairs else node):
            if operator.refuse(rules.refused_devices(schema, operator.library), node):
                return
    groups += _functions_of_devices(operator, node)
    _note_missing(operator, values, at)
    debug, kind = operator.library.custom_op, WrapKind.TRITON if TRITON_OP in values else WrapKind.KERNEL
    functions: dict[str, PythonFunction] = {}
    kernels: dict[str, str] = {}
    for devices, several in groups:
        for function in several:
            if devices != [_DEFAULT] and operator.library.backend_select and not has_tensors(schema):
                chooses = Wrapped(WrapKind.BACKEND_SELECT)
                operator.register(BACKEND_SELECT, Kernel(debug, python=True, span=function.span, wraps=chooses))
            for device in devices:
                functions[device] = function
                kernels.setdefault(device, devices[-1])
    for device, looked_up in kernels.items():
        function = functions[looked_up]
        key = EXPLICIT if device == _DEFAULT else operator.universe.devices[device]
        operator.register(key, function.kernel(debug, kind, function.redispatches or _COMPUTES))


def _note_missing(operator: LibraryOperator, values: Values, at: Node) -> None:
    problems = operator.context.problems
    if TRITON_OP in values and "kernel" not in values:
        problems.add("missing-field", "a triton_op needs the field 'kernel'", at)
    elif "kernel" not in values and "kernels" not in values:
        hint = "for an operator without a function (device_types=()) write kernels: {}"
        problems.add("missing-field", "a custom operator needs one of the fields 'kernel', 'kernels'", at, hint)
