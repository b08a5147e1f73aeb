"""Kernels in declarations: a name, the word ``fallthrough``, or a mapping. Fake implementations (``register_fake``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dispatch_cli.declarations.fields import Values, expect, items_of, read_named, read_record
from dispatch_cli.declarations.formats.format_types import (
    A_KERNEL,
    AT,
    BOOLEAN,
    FALLTHROUGH,
    TEXT,
    WHEN,
    Field,
    Record,
    list_of,
    record,
    some,
    text_or,
)
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.sections.context import FileContext, read_signature
from dispatch_cli.declarations.sections.python_functions import (
    A_BODY,
    GOES_ON_TYPE,
    read_body,
    read_redispatches,
    read_wraps,
)
from dispatch_cli.declarations.tree import Node
from dispatch_cli.model.declarations import Block
from dispatch_cli.model.kernel import FakeImpl, Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import META

if TYPE_CHECKING:
    from dispatch_cli.model.sources.function_body import FunctionBody

KERNELS = some(A_KERNEL, "kernels")
FAKES = some(text_or("the name of a Python function", "fake_impl"), "fake implementations")

_KERNEL_FIELDS = (
    Field(
        "kernel",
        TEXT,
        "The kernel's name. Kernels with the same name are the same function.",
        excludes=("fallthrough",),
    ),
    Field("debug", TEXT, "The kernel's debug string, which dumps show.", default="its name"),
    Field(
        "signature",
        TEXT,
        "The inferred signature, such as `(Tensor a, Scalar b) -> Tensor`. It must match the operator's schema.",
        default="none",
    ),
    Field("fallthrough", BOOLEAN, "The kernel is a fallthrough; then it has no name.", default="false"),
    Field("boxed", BOOLEAN, "The kernel can be called boxed.", default="true"),
    Field(
        "unboxed",
        BOOLEAN,
        "The kernel can be called unboxed.",
        default="true when it has a signature and is not a Python kernel",
    ),
    Field("python", BOOLEAN, "The kernel is a Python function.", default="false"),
    Field(
        "redispatches",
        GOES_ON_TYPE,
        "What the kernel does next in a call. `false`: it computes the result, and no other kernel of the operator "
        "runs. `true` or `below-key`: it redispatches with the keys below its own. `below-autograd`: it redispatches "
        "with the keys below all autograd keys. `unwrapped`: it unwraps the tensors of the innermost functorch "
        "transform and calls the operator again below it. `other-operators`: it calls other operators. `raises`: it "
        "raises an error. A mapping names keys.",
        default="assumed from the kernel's dispatch key, and the answer says so",
        excludes=("fallthrough",),
    ),
    Field("wraps", record("wraps"), "The user's Python function that the kernel wraps."),
    A_BODY,
    AT,
    WHEN,
)
KERNEL = Record(
    "kernel",
    "a kernel",
    "A kernel, when more than its name is given. `fallthrough` instead of a name is short for `{fallthrough: true}`; "
    "in quotes, as in JSON, it is a name.",
    _KERNEL_FIELDS,
    ("kernel", "debug", FALLTHROUGH),
)
FAKE_IMPL = Record(
    "fake_impl",
    "a fake implementation",
    "A fake implementation, as registered by `torch.library.register_fake`, when more than the function's name is "
    "given. `FakeTensorMode` runs it, and PyTorch also registers it as a Python kernel at `Meta`. It is refused "
    "where PyTorch refuses it.",
    (
        Field("kernel", TEXT, "The name of the Python function.", excludes=("missing",)),
        Field(
            "missing",
            BOOLEAN,
            "The user has registered no function. `torch.library.custom_op` then registers its own, which raises an "
            "error.",
            default="false",
        ),
        Field("debug", TEXT, "The debug string of the kernel at `Meta`.", default="its name"),
        Field("source", TEXT, "Where PyTorch says it was registered, as `FILE:LINE`.", default="not known"),
        Field(
            "allow_override",
            BOOLEAN,
            "Whether it may replace an earlier fake implementation or kernel at `Meta`; otherwise PyTorch refuses it.",
            default="true; false before PyTorch's `register_fake` had this parameter",
        ),
        A_BODY,
        AT,
    ),
    ("kernel", "missing"),
)
FAKE_TENSOR_MODE = Record(
    "fake_tensor_mode",
    "a FakeTensorMode entry",
    "What `FakeTensorMode` uses for an operator besides kernels and fake implementations. `capture` records it for "
    "PyTorch's operators; other operators rarely need it.",
    (
        Field("decomposition", TEXT, "The function that decomposes it (`torch._decomp.decomposition_table`)."),
        Field(
            "no_decomposition",
            BOOLEAN,
            "The mode does not decompose it, not even by a kernel at `CompositeImplicitAutograd`, because it has a "
            "Python meta function (`torch._decomp.meta_table`), or a C++ kernel at `Meta` that takes symbolic sizes.",
            default="false",
        ),
        Field(
            "side_effects",
            BOOLEAN,
            "Calls of it are kept when their results are not used (`torch.fx.node.has_side_effect`).",
            default="false",
        ),
        Field("prim_meta", TEXT, "The function that computes the result of a `prims` operator (`prim_meta_impl`)."),
        Field("implementation", TEXT, "The mode's own function for it (`register_op_impl`)."),
        Field(
            "raises", TEXT, "The exception that this function raises in a mode without a `ShapeEnv`.", default="none"
        ),
        Field(
            "meta_refuses",
            list_of(TEXT, "strings"),
            "Arguments for which the Python meta function raises `NotImplementedError`. The operator's real kernel "
            "then runs on tensors of zeros.",
            default="none",
        ),
        Field(
            "mixes",
            TEXT,
            "A device type, such as `cpu`, whose tensors may be mixed with those of another device in a call.",
            default="none: all tensors must be on one device",
        ),
        Field(
            "zero_dim_counts",
            BOOLEAN,
            "Zero-dimensional CPU tensors must be on that device too.",
            default="false: they may be mixed with tensors of any device",
        ),
    ),
)


def entries(problems: Problems, node: Node) -> tuple[Node, ...]:
    """The kernels of a list, or the one kernel that is not in a list; an empty list is noted."""
    items = items_of(node)
    if not items:
        expect(problems, node, "a kernel or a list of kernels")
    return items


def read_kernel(context: FileContext, node: Node, block: Block) -> Kernel | None:
    """The kernel that *node* declares in *block*; None, noting why, when it declares none."""
    values = read_named(context.problems, node, KERNEL)
    return None if values is None else described_kernel(context, values, block)


def described_kernel(context: FileContext, values: Values, block: Block) -> Kernel | None:
    """The kernel that some fields describe; None, noting why, when they describe none."""
    problems = context.problems
    if values.keys().isdisjoint(KERNEL.one_of):
        return None
    name, is_fallthrough = values.text("kernel"), values.flag(FALLTHROUGH) is True
    debug = values.text("debug") or name
    signature = read_signature(problems, values.get("signature"))
    python, boxed, unboxed = values.flag("python") is True, values.flag("boxed") is not False, values.flag("unboxed")
    redispatches, wraps, body = read_redispatches(context, values), read_wraps(values), read_body(values)
    if is_fallthrough:  # PyTorch's own kernel; a dump shows its block
        name, debug = FALLTHROUGH, debug or f"registered at {block.file}:{block.line}"
    elif debug is None:
        if values.keys().isdisjoint(("kernel", "debug")):
            message = "a kernel needs one of the fields 'kernel', 'debug', 'fallthrough'"
            problems.add("missing-field", message, values.node)
        return None
    if unboxed is None:
        unboxed = "signature" in values and not python and not is_fallthrough
    return Kernel(
        debug,
        name,
        signature,
        boxed=boxed,
        unboxed=unboxed,
        fallthrough=is_fallthrough,
        python=python,
        span=problems.span(values.node),
        redispatches=redispatches,
        wraps=wraps,
        body=body,
    )


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


def read_fake(context: FileContext, node: Node) -> tuple[FakeImpl, str | None, FunctionBody | None] | None:
    """A fake implementation, its debug text and its function's body; None, noting why, when there is none."""
    values = read_named(context.problems, node, FAKE_IMPL)
    if values is None:
        return None
    function, debug, source = values.text("kernel"), values.text("debug"), values.text("source")
    missing, body = values.flag("missing"), read_body(values)
    if function is None and not missing:
        if "kernel" not in values and missing is False:
            message = "a fake implementation needs the field 'kernel', or 'missing: true'"
            context.problems.add("missing-field", message, node)
        return None
    return FakeImpl(function, source, values.flag("allow_override")), debug, body


def read_fake_rules(context: FileContext, node: Node | None, name: OperatorName) -> None:
    """The field ``fake_tensor_mode``; mistakes are noted."""
    values = read_record(context.problems, node, FAKE_TENSOR_MODE)
    if values is None:
        return
    from dispatch_cli.model.calls.fake_tensor import DeclaredFakeRules, FakeRules

    rules = FakeRules(
        decomposition=values.text("decomposition"),
        no_decomposition=values.flag("no_decomposition") is True,
        prim_meta=values.text("prim_meta"),
        implementation=values.text("implementation"),
        raises=values.text("raises"),
        mixes=values.text("mixes"),
        zero_dim_counts=values.flag("zero_dim_counts") is True,
        meta_refuses=values.texts("meta_refuses", "the name of an argument"),
        side_effects=values.flag("side_effects") is True,
    )
    context.contents.fake_rules.append(DeclaredFakeRules(name, rules))
