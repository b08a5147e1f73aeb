"""Kernels in declarations: a name, the word ``fallthrough``, or a mapping."""

from __future__ import annotations

from dispatch_cli.declarations.context import FileContext
from dispatch_cli.declarations.fields import Values, expect, is_true, read_record, text_of
from dispatch_cli.declarations.kernel_format import FALLTHROUGH, KERNEL
from dispatch_cli.declarations.limits import MAX_KERNELS
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.python_functions import read_body, read_wraps
from dispatch_cli.declarations.redispatches import read_redispatches
from dispatch_cli.declarations.schemas import read_signature
from dispatch_cli.declarations.tree import Node, Scalar, Sequence
from dispatch_cli.model.declarations import Block
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.span import Span

NAME_OF_A_KERNEL = (
    "the name of a kernel",
    "remove the key if nothing is registered there, or write fallthrough",
)
"""The value expected where a kernel is named, and a hint for what else may have been meant."""


def entries(problems: Problems, node: Node) -> tuple[Node, ...]:
    """The kernels of a list, or the one kernel that is not in a list; an empty list, or a very long one, is noted."""
    if type(node) is not Sequence:
        return (node,)
    if not node.items:
        expect(problems, node, "a kernel or a list of kernels")
    if len(node.items) > MAX_KERNELS:
        message = f"more than {MAX_KERNELS} kernels at one key"
        problems.add(
            "too-large", message, node.items[MAX_KERNELS], "only the last one is active: remove some of the others"
        )
    return node.items[:MAX_KERNELS]


def read_kernel(context: FileContext, node: Node, block: Block) -> Kernel | None:
    """The kernel that *node* declares in *block*; None, noting why, when it declares none."""
    if type(node) is Scalar:
        return named_kernel(context, node, block)
    values = read_record(context.problems, node, KERNEL)
    return described_kernel(context, node, values, block) if values is not None else None


def named_kernel(context: FileContext, node: Scalar, block: Block) -> Kernel | None:
    """The kernel that a text declares."""
    problems = context.problems
    span = problems.span(node)
    if node.text == FALLTHROUGH and node.plain:
        return _fallthrough(block, span)
    name = text_of(problems, node, *NAME_OF_A_KERNEL)
    if not name:
        if name is not None:
            expect(problems, node, NAME_OF_A_KERNEL[0])
        return None
    return Kernel(name, name, span=span)


def described_kernel(context: FileContext, node: Node, values: Values, block: Block) -> Kernel | None:
    """The kernel that the fields of a mapping describe; None, noting why, when they describe none."""
    problems = context.problems
    if not values.keys() & {"kernel", "debug", FALLTHROUGH}:
        return None
    name_node, signature_node = values.get("kernel"), values.get("signature")
    name = text_of(problems, name_node, *NAME_OF_A_KERNEL)
    debug = text_of(problems, values.get("debug")) or name
    signature = read_signature(problems, signature_node) if type(signature_node) is Scalar else None
    falls_through = is_true(values.get(FALLTHROUGH)) is True
    python = is_true(values.get("python")) is True
    boxed, unboxed = is_true(values.get("boxed")), is_true(values.get("unboxed"))
    span = problems.span(node)
    redispatches = read_redispatches(problems, context.keys, values.get("redispatches"))
    if falls_through:
        if redispatches is not None:
            message = "a fallthrough never runs, so it cannot redispatch"
            problems.add("bad-value", message, values["redispatches"] or node, "remove 'redispatches'")
        if name_node is not None:
            problems.add("bad-value", "a fallthrough has no function, so it cannot have a name", name_node)
        plain = _fallthrough(block, span)
        debug = debug or plain.debug
        boxed, unboxed = boxed is not False, unboxed is True
        return plain._replace(debug=debug, signature=signature, boxed=boxed, unboxed=unboxed, python=python)
    if debug is None:
        if "kernel" not in values and "debug" not in values:
            problems.add("missing-field", "a kernel needs one of the fields 'kernel', 'debug', 'fallthrough'", node)
        return None
    if unboxed is None:
        unboxed = "signature" in values and not python
    if redispatches is not None and name is not None:
        context.known.functions.note(problems, name, redispatches, values["redispatches"] or node)
    wraps = read_wraps(problems, values.get("wraps"))
    kernel = Kernel(debug, name, signature, boxed is not False, unboxed, False, python, span, redispatches, wraps=wraps)
    return kernel._replace(body=read_body(problems, values.get("body")))


def _fallthrough(block: Block, span: Span) -> Kernel:
    """PyTorch's fallthrough kernel; a dump shows where its block is."""
    return Kernel(f"registered at {block.file}:{block.line}", FALLTHROUGH, fallthrough=True, span=span)
