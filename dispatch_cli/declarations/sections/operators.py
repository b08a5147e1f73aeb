"""The short form: operators, each with everything that is registered for it."""

from __future__ import annotations

from dispatch_cli.declarations.fields import Values, expect, read_records, scalars, text_of
from dispatch_cli.declarations.formats.operator_format import FUNCTIONS, MAKERS, OPERATOR
from dispatch_cli.declarations.sections.context import FileContext, read_operator_name, read_schema, unknown_schema
from dispatch_cli.declarations.sections.kernels import (
    NAME_OF_A_KERNEL,
    entries,
    read_fake_rules,
    read_fakes,
    read_kernel,
)
from dispatch_cli.declarations.tree import Mapping, Node, Scalar
from dispatch_cli.model.declarations import WILDCARD, Block, Define, LibraryKind, PythonKernel
from dispatch_cli.model.kernel import AliasAnalysisKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import FunctionSchema

_NAMESPACE_HINT = "write it as namespace::name"


def read_operators(context: FileContext, section: Node) -> None:
    """Read the section ``operators``."""
    for node, values in read_records(context.problems, section, OPERATOR):
        with context.placed(node):
            _read_operator(context, node, values)


def _read_operator(context: FileContext, node: Node, values: Values) -> None:
    schema, name = _identity(context, values)
    namespace = name.namespace if name is not None else None
    # With a name that cannot be used the rest is still read, for its own mistakes.
    block = context.block(LibraryKind.FRAGMENT, namespace or WILDCARD, None, node, implicit=True)
    name = name if name is not None else OperatorName("")
    if namespace is not None:
        context.open(block)
    is_custom = not values.keys().isdisjoint(MAKERS)
    if is_custom:
        from dispatch_cli.declarations.sections.custom_ops import read_custom_op

        read_custom_op(context, values, block, schema)
    else:
        context.define(read_definition_fields(context, values, block, schema))
    for field, value in values.items():
        if field == "dispatch":
            _read_dispatch(context, value, block, name)
        elif field == "fake" and not is_custom:
            read_fakes(context, value, block, name)
        elif field == "fake_tensor_mode":
            read_fake_rules(context, value, name)
    if not is_custom and not values.keys().isdisjoint(FUNCTIONS):
        from dispatch_cli.declarations.sections.torch_library import read_registrations

        read_registrations(context, node, values, block, name)
    _read_python_dispatch(context, values.get("python_dispatch"), name)


def _identity(context: FileContext, values: Values) -> tuple[FunctionSchema | None, OperatorName | None]:
    """The schema, if there is one, and the name, if it can be used; mistakes are noted."""
    problems = context.problems
    schema, node = read_definition(context, values)
    name = None if schema is None else schema.name
    if schema is None and node is not None and node is values.get("name"):
        name = read_operator_name(problems, node)
    if name is None or node is None:
        return schema, name
    if name.namespace is None:
        problems.add("bad-operator-name", f"the operator {name} has no namespace", node, _NAMESPACE_HINT)
    elif name.namespace == WILDCARD:
        problems.add("bad-operator-name", "an operator cannot be in the namespace _, which is for fallbacks", node)
    return schema, name


def read_definition(
    context: FileContext, values: Values, namespace: str | None = None
) -> tuple[FunctionSchema | None, Node | None]:
    """The schema of a definition, which can be one that is not known, and its node; None for what only has a name.

    namespace: that of the block around it.
    """
    problems = context.problems
    field = next((name for name in ("func", *MAKERS, "name") if name in values), None)
    node = None if field is None else values[field]
    if values.get("schema") is None:
        return None if field == "name" else read_schema(context, node, namespace), node
    name, reason = read_operator_name(problems, node), text_of(problems, values.get("reason"))
    if field == "name" and node is not None and (refused := text_of(problems, values.get("refused"))) is not None:
        problems.add("torch-library", refused, node)
    return None if name is None else unknown_schema(name, reason), node


def read_definition_fields(
    context: FileContext, values: Values, block: Block, schema: FunctionSchema | None
) -> Define | None:
    """The definition that the fields beside ``func`` belong to; None without a schema."""
    problems = context.problems
    debug = text_of(problems, values.get("debug"))
    kind_node, func = values.get("alias_analysis"), values.get("func") or values.get("name")
    tags = [text_of(problems, item) or "" for item in scalars(problems, values.get("tags"), "the name of a tag")]
    module, module_context = (text_of(problems, values.get(f"python_module{end}")) for end in ("", "_context"))
    if schema is None or func is None:
        return None
    kind: AliasAnalysisKind | None = AliasAnalysisKind.FROM_SCHEMA
    if type(kind_node) is Scalar:
        kind = None if kind_node.text == "default" else AliasAnalysisKind[kind_node.text]
    stub = None if module is None else (module, module_context or "")
    return Define(block, schema, kind, tuple(tags), debug, problems.span(func), python_module=stub)


def _read_dispatch(context: FileContext, node: Node | None, block: Block, name: OperatorName) -> None:
    if type(node) is not Mapping:
        return
    problems = context.problems
    for key_node, key, value in context.keys.pairs(problems, node, catch_all=True):
        span = problems.span(key_node)
        for entry in entries(problems, value):
            with context.placed(entry):
                kernel = read_kernel(context, entry, block)
                if kernel is not None:
                    context.implement(block, name, key, kernel, problems.at or span)


def _read_python_dispatch(context: FileContext, node: Node | None, name: OperatorName) -> None:
    problems = context.problems
    for at, key, value in context.keys.pairs(problems, node) if type(node) is Mapping else ():
        if type(value) is not Scalar or not value.text:
            expect(problems, value, NAME_OF_A_KERNEL[0])
            continue
        kernel = text_of(problems, value, *NAME_OF_A_KERNEL)
        if kernel is not None and key is not None and name.name:
            context.python_kernels.append(
                PythonKernel(name, key, kernel, problems.span(at), context.by, False, context.when, context.extracted)
            )
