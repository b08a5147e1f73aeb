"""Fake implementations in declarations: the name of a Python function, or a mapping.

What they mean: ``torch.library.register_fake``.
"""

from __future__ import annotations

from dispatch_cli.declarations.context import FileContext
from dispatch_cli.declarations.fields import expect, is_true, read_record, scalars, text_of
from dispatch_cli.declarations.kernel_format import FAKE_IMPL, FALLTHROUGH
from dispatch_cli.declarations.kernels import entries
from dispatch_cli.declarations.operator_format import FAKE_TENSOR_MODE
from dispatch_cli.declarations.python_functions import read_body
from dispatch_cli.declarations.tree import Node, Scalar
from dispatch_cli.model.declarations import Block
from dispatch_cli.model.fake_tensor import DeclaredFakeRules, FakeRules
from dispatch_cli.model.function_body import FunctionBody
from dispatch_cli.model.kernel import FakeImpl, Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import META

_NAME = ("the name of a Python function", "remove the field if there is no fake implementation")


_RULES = ("decomposition", "prim_meta", "implementation", "raises", "mixes")
_FLAGS = ("no_decomposition", "zero_dim_counts", "side_effects")


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
    texts = {field: text_of(context.problems, values.get(field)) for field in _RULES}
    flags = {field: is_true(values.get(field)) is True for field in _FLAGS}
    nodes = scalars(context.problems, values.get("meta_refuses"), "the name of an argument")
    refused = tuple(text_of(context.problems, item) or "" for item in nodes)
    rules = FakeRules(**texts, **flags, meta_refuses=refused)  # type: ignore[arg-type]
    context.fake_rules.append(DeclaredFakeRules(name, rules))


def read_fake(context: FileContext, node: Node) -> tuple[FakeImpl, str | None, FunctionBody | None] | None:
    """A fake implementation, its debug text and its function's body; None, noting why, when there is none."""
    problems = context.problems
    if type(node) is Scalar:
        function = text_of(problems, node, *_NAME)
        if not function or (function == FALLTHROUGH and node.plain):
            if function is not None:
                expect(problems, node, _NAME[0])
            return None
        return FakeImpl(function), None, None
    values = read_record(problems, node, FAKE_IMPL)
    if values is None:
        return None
    function, debug, source = (text_of(problems, values.get(field)) for field in ("kernel", "debug", "source"))
    missing = is_true(values.get("missing"))
    if function is None and not missing:
        if "kernel" not in values and missing is False:
            problems.add("missing-field", "a fake implementation needs the field 'kernel', or 'missing: true'", node)
        return None
    if function is not None and missing:
        problems.add(
            "bad-value", "a fake implementation with 'missing: true' has no function", values["missing"] or node
        )
    fake = FakeImpl(function, source, is_true(values.get("allow_override")))
    return fake, debug, read_body(problems, values.get("body"))
