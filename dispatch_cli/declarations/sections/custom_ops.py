"""Operators that Python's ``torch.library.custom_op`` and ``triton_op`` make, and all that these register.

Sources: torch/_library/custom_ops.py, torch/_library/triton.py.
"""

from __future__ import annotations

from dispatch_cli.declarations.fields import Values, scalars, text_of
from dispatch_cli.declarations.formats.operator_format import MAKERS, TRITON_OP
from dispatch_cli.declarations.sections import custom_op_rules as rules
from dispatch_cli.declarations.sections.context import FileContext
from dispatch_cli.declarations.sections.kernels import read_fake
from dispatch_cli.declarations.sections.python_functions import PythonFunction, read_function
from dispatch_cli.declarations.sections.torch_library import (
    CODE,
    DEFAULT,
    LibraryOperator,
    first_of,
    read_autocast,
    read_backward,
    read_kernels,
    read_vmap,
)
from dispatch_cli.declarations.tree import Mapping, Node, Sequence
from dispatch_cli.model.declarations import Block, Define
from dispatch_cli.model.kernel import AliasAnalysisKind, FakeImpl, Kernel, Redispatch, RedispatchKind, WrapKind, Wrapped
from dispatch_cli.model.schema import FunctionSchema
from dispatch_cli.model.schema.model import has_tensors, is_mutable, takes_tensors
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import AD_INPLACE_OR_VIEW, AUTOGRAD, BACKEND_SELECT, EXPLICIT, META

_UNKNOWN = "unknown"
_COMPUTES = Redispatch(RedispatchKind.NO)
_BELOW_KEY = Redispatch(RedispatchKind.BELOW_KEY)


def read_custom_op(context: FileContext, values: Values, block: Block, schema: FunctionSchema | None) -> None:
    """Read an operator with one of the fields *MAKERS*; what PyTorch refuses is noted, in its words."""
    problems = context.problems
    maker = next(maker for maker in MAKERS if maker in values)
    node = values[maker]
    universe = context.keys.universe
    if schema is None or node is None or universe is None:
        return
    library = universe.torch_library
    tags = tuple(text_of(problems, item) or "" for item in scalars(problems, values.get("tags"), "the name of a tag"))
    schema = _written(context, schema, values)
    all_tags = tuple(dict.fromkeys((*library.tags, *tags)))
    operator = LibraryOperator(context, block, schema.name, schema, all_tags, universe, custom=True)
    if maker == TRITON_OP and not operator.has(TRITON_OP, node):
        return
    if tags and not library.takes_tags and (at := values.get("tags")) is not None:
        operator.refuse("custom_op() got an unexpected keyword argument 'tags'", at, "remove the tags")
    operator.refuse(rules.refused_schema(schema, all_tags), node)
    span = problems.span(node)
    definition = Define(block, schema, AliasAnalysisKind.FROM_SCHEMA, all_tags, library.custom_op, span)
    context.define(definition, custom=True)
    default = read_function(problems, context.keys, values.get("kernel"))
    _register_fake(operator, values, default if maker == TRITON_OP else None, span)
    operator.refuse(text_of(problems, values.get("refused")), node)
    backward, wraps, setup = read_backward(operator, values)
    place, body = (span, None) if backward is None else (backward.span, backward.body)
    below = Redispatch(RedispatchKind.BELOW_AUTOGRAD)
    operator.register(AUTOGRAD, library.custom_op, wraps, place, below, body, setup)
    _register_in_place(operator, schema, span, "mutates_args" in values)
    _register_kernels(operator, schema, values, default, node)
    for field, reader in (("vmap", read_vmap), ("autocast", read_autocast)):
        if (at := values.get(field)) is not None and operator.has(field, at):
            reader(operator, at, values)


def _written(context: FileContext, schema: FunctionSchema, values: Values) -> FunctionSchema:
    """The schema with the aliases of the arguments of ``mutates_args``."""
    problems, node = context.problems, values.get("mutates_args")
    if node is None:
        return schema
    names = tuple(text_of(problems, scalar) or "" for scalar in scalars(problems, node, "the name of an argument"))
    if names == (_UNKNOWN,):
        names = tuple(argument.name for argument in schema.arguments if takes_tensors(argument))
    written_schema, message = rules.written(schema, names)
    if message is not None:
        problems.add(CODE, message, node, f"the arguments are {', '.join(a.name for a in schema.arguments)}")
    return written_schema


def _register_fake(operator: LibraryOperator, values: Values, default: PythonFunction | None, span: Span) -> None:
    """The kernel at Meta, which is there without a fake implementation, too; the last one that is declared counts."""
    fake, body = (FakeImpl(), None) if default is None else (FakeImpl(default.name), default.body)
    for node in _items(values.get("fake")):
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
    if library.view_fallback and (mutable or rules.is_view(schema)):
        operator.register(AD_INPLACE_OR_VIEW, library.custom_op, None, span, _BELOW_KEY)
    if mutable:
        wraps = Wrapped(WrapKind.VERSION_COUNTERS)
        operator.register(AD_INPLACE_OR_VIEW, library.custom_op, wraps, span, _BELOW_KEY)


def _register_kernels(
    operator: LibraryOperator, schema: FunctionSchema, values: Values, default: PythonFunction | None, at: Node
) -> None:
    """The kernels of device types: ``custom_op``'s own, then those of ``register_kernel``.

    For several device types at once PyTorch makes a kernel each, of which every one runs the function of the last type
    (``backend_impl`` looks it up by a variable of the loop). A device type that is there already gets no second kernel.
    """
    node = values.get("kernels")
    groups = [] if default is None else [([DEFAULT], [default])]
    if node is not None:
        pairs = node.pairs if type(node) is Mapping and default is not None else ()
        with operator.context.at_call(first_of(pairs[0][1]) if pairs else node):
            if operator.refuse(rules.refused_devices(schema, operator.library), node):
                return
    groups += read_kernels(operator, node)
    _note_missing(operator, values, at)
    functions: dict[str, PythonFunction] = {}
    kernels: dict[str, str] = {}
    for devices, several in groups:
        for function in several:
            if devices != [DEFAULT] and operator.library.backend_select and not has_tensors(schema):
                wraps = Wrapped(WrapKind.BACKEND_SELECT)
                operator.register(BACKEND_SELECT, operator.library.custom_op, wraps, function.span)
            for device in devices:
                functions[device] = function
                kernels.setdefault(device, devices[-1])
    for device, looked_up in kernels.items():
        function = functions[looked_up]
        key = EXPLICIT if device == DEFAULT else operator.universe.devices[device]
        redispatch = function.redispatches or _COMPUTES
        kind = WrapKind.TRITON if TRITON_OP in values else WrapKind.KERNEL
        wraps, debug = function.wrapped(kind), operator.library.custom_op
        operator.register(key, debug, wraps, function.span, redispatch, function.body)


def _note_missing(operator: LibraryOperator, values: Values, at: Node) -> None:
    """Note that there is no function, where one is needed."""
    problems = operator.context.problems
    if TRITON_OP in values and "kernel" not in values:
        problems.add("missing-field", "a triton_op needs the field 'kernel'", at)
    elif "kernel" not in values and "kernels" not in values:
        hint = "for an operator without a function (device_types=()) write kernels: {}"
        problems.add("missing-field", "a custom operator needs one of the fields 'kernel', 'kernels'", at, hint)


def _items(node: Node | None) -> tuple[Node, ...]:
    return () if node is None else node.items if type(node) is Sequence else (node,)
