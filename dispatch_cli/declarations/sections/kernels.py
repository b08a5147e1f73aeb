"""Kernels in declarations: a name, the word ``fallthrough``, or a mapping. Fake implementations (``register_fake``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dispatch_cli.declarations.fields import Values, expect, is_true, read_named, read_record, scalars, text_of
from dispatch_cli.declarations.formats.kernel_format import FAKE_IMPL, FALLTHROUGH, KERNEL
from dispatch_cli.declarations.formats.operator_format import FAKE_TENSOR_MODE
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.sections.context import FileContext, read_signature
from dispatch_cli.declarations.tree import Node, Scalar, Sequence
from dispatch_cli.model.declarations import Block
from dispatch_cli.model.kernel import FakeImpl, Kernel, Redispatch, Wrapped
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import META

if TYPE_CHECKING:
    from dispatch_cli.model.sources.function_body import FunctionBody

MAX_KERNELS = 1_000
"""Kernels at one key of one operator in one place; in PyTorch there are at most a few."""
NAME_OF_A_KERNEL = (
    "the name of a kernel",
    "remove the key if nothing is registered there, or write fallthrough",
)
"""The value expected where a kernel is named, and a hint for what else may have been meant."""
_NAME = ("the name of a Python function", "remove the field if there is no fake implementation")
_RULES = ("decomposition", "prim_meta", "implementation", "raises", "mixes")
_OF_FUNCTION = ("redispatches", "wraps", "body")
_FLAGS = ("no_decomposition", "zero_dim_counts", "side_effects")


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
    values = read_named(context.problems, node, KERNEL, NAME_OF_A_KERNEL[0])
    return None if values is None else described_kernel(context, node, values, block)


def described_kernel(context: FileContext, node: Node, values: Values, block: Block) -> Kernel | None:
    """The kernel that some fields describe; None, noting why, when they describe none."""
    problems = context.problems
    if not values.keys() & {"kernel", "debug", FALLTHROUGH}:
        return None
    signature_node = values.get("signature")
    name = text_of(problems, values.get("kernel"), *NAME_OF_A_KERNEL)
    debug = text_of(problems, values.get("debug")) or name
    signature = read_signature(problems, signature_node) if type(signature_node) is Scalar else None
    falls_through = is_true(values.get(FALLTHROUGH)) is True
    python = is_true(values.get("python")) is True
    boxed, unboxed = is_true(values.get("boxed")), is_true(values.get("unboxed"))
    span = problems.span(node)
    redispatches, wraps, body = _said_of_function(context, values)
    if falls_through:
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
        _note_redispatch(context, name, redispatches, values["redispatches"] or node)
    boxed = boxed is not False
    return Kernel(debug, name, signature, boxed, unboxed, False, python, span, redispatches, wraps=wraps, body=body)


def _said_of_function(
    context: FileContext, values: Values
) -> tuple[Redispatch | None, Wrapped | None, FunctionBody | None]:
    """The redispatch, the wrapper and the body of a kernel's function, as far as its fields say them."""
    if values.keys().isdisjoint(_OF_FUNCTION):
        return None, None, None
    from dispatch_cli.declarations.sections.python_functions import read_body, read_redispatches, read_wraps

    redispatches = read_redispatches(context.problems, context.keys, values.get("redispatches"))
    wraps = read_wraps(context.problems, values.get("wraps"))
    return redispatches, wraps, read_body(context.problems, values.get("body"))


def _note_redispatch(context: FileContext, name: str, redispatch: Redispatch, node: Node) -> None:
    """Note how a function goes on with a call; it is a problem where another declaration of it says otherwise."""
    first = context.known.redispatches.setdefault(name, redispatch)
    if first.span is None or (first.kind, {*first.keys}) == (redispatch.kind, {*redispatch.keys}):
        return
    message = f"kernels with the same name are the same function, but another declaration of {name} differs"
    related = (Related(f"here it has redispatches: {first}", first.span),)
    hint = "rename one of them, or make the declarations equal"
    context.problems.add("redispatches-conflict", message, node, hint, related)


def _fallthrough(block: Block, span: Span) -> Kernel:
    """PyTorch's fallthrough kernel; a dump shows where its block is."""
    return Kernel(f"registered at {block.file}:{block.line}", FALLTHROUGH, fallthrough=True, span=span)


def read_fakes(context: FileContext, node: Node | None, block: Block, name: OperatorName | None) -> None:
    """The fake implementations of an operator, each a registration at Meta; mistakes are noted.

    name: None where it cannot be used; the rest is read all the same.
    """
    for entry in () if node is None else entries(context.problems, node):
        with context.placed(entry):
            fake_parts = read_fake(context, entry)
            if fake_parts is not None and name is not None:
                fake, debug, body = fake_parts
                debug = debug or fake.function or f"registered at {block.file}:{block.line}"
                # PyTorch wraps the function anew in every registration, so no two kernels are one function.
                kernel = Kernel(debug, python=True, span=context.problems.span(entry), fake=fake, body=body)
                context.implement(block, name, META, kernel, kernel.span)


def read_fake_rules(context: FileContext, node: Node | None, name: OperatorName) -> None:
    """The field ``fake_tensor_mode``; mistakes are noted."""
    values = None if node is None else read_record(context.problems, node, FAKE_TENSOR_MODE)
    if values is None:
        return
    from dispatch_cli.model.calls.fake_tensor import DeclaredFakeRules, FakeRules

    texts = {field: text_of(context.problems, values.get(field)) for field in _RULES}
    flags = {field: is_true(values.get(field)) is True for field in _FLAGS}
    nodes = scalars(context.problems, values.get("meta_refuses"), "the name of an argument")
    refused = tuple(text_of(context.problems, item) or "" for item in nodes)
    rules = FakeRules(**texts, **flags, meta_refuses=refused)  # type: ignore[arg-type]
    if name.name:
        context.fake_rules.append(DeclaredFakeRules(name, rules))


def read_fake(context: FileContext, node: Node) -> tuple[FakeImpl, str | None, FunctionBody | None] | None:
    """A fake implementation, its debug text and its function's body; None, noting why, when there is none."""
    problems = context.problems
    values = read_named(problems, node, FAKE_IMPL, _NAME[0])
    if values is None:
        return None
    function = text_of(problems, values.get("kernel"), *_NAME)
    debug, source = (text_of(problems, values.get(field)) for field in ("debug", "source"))
    missing = is_true(values.get("missing"))
    if function is None and not missing:
        if "kernel" not in values and missing is False:
            problems.add("missing-field", "a fake implementation needs the field 'kernel', or 'missing: true'", node)
        return None
    fake = FakeImpl(function, source, is_true(values.get("allow_override")))
    return fake, debug, _said_of_function(context, values)[2]
