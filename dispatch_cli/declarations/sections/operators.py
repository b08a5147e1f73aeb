"""The short form: operators, each with everything that is registered for it."""

from __future__ import annotations

from dispatch_cli.declarations.fields import Values, expect, read_records, scalars, text_of
from dispatch_cli.declarations.formats.operator_format import FUNCTIONS, MAKERS, ONLY_CUSTOM, OPERATOR
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
_BY_TORCH_LIBRARY = (*FUNCTIONS, *ONLY_CUSTOM)
_MODULE_CONTEXT = "python_module_context"
_NEEDS_SCHEMA = ("debug", "alias_analysis", "tags", "python_module", _MODULE_CONTEXT)


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
    if not is_custom and not values.keys().isdisjoint(_BY_TORCH_LIBRARY):
        from dispatch_cli.declarations.sections.torch_library import read_registrations

        read_registrations(context, node, values, block, name)
    _read_python_dispatch(context, values.get("python_dispatch"), name)


def _identity(context: FileContext, values: Values) -> tuple[FunctionSchema | None, OperatorName | None]:
    """The schema, if there is one, and the name, if it can be used; mistakes are noted."""
    problems = context.problems
    makers = [maker for maker in ("func", *MAKERS) if maker in values]
    func, name_node = values.get(makers[0]) if makers else None, values.get("name")
    for other in makers[1:]:
        if (node := values[other]) is not None:
            problems.add("bad-value", f"an operator with the field {makers[0]!r} already has a schema", node)
    if makers:
        if name_node is not None:
            problems.add(
                "bad-value", f"an operator with the field {makers[0]!r} already has a name", name_node, "remove 'name'"
            )
        if makers[0] in MAKERS and values.get("schema") is not None:
            named = read_operator_name(problems, func)
            schema = None if named is None else unknown_schema(named, text_of(problems, values.get("reason")))
        else:
            schema = read_schema(context, func)
            read_unknown_schema(context, values)
        name, place = schema.name if schema is not None else None, func
    else:
        schema = read_unknown_schema(context, values)
        name, place = schema.name if schema is not None else read_operator_name(problems, name_node), name_node
        for field in _NEEDS_SCHEMA if schema is None else ():
            if (node := values.get(field)) is not None:
                problems.add("bad-value", f"{field!r} is only for a definition, which needs the field 'func'", node)
    if name is None or place is None:
        return schema, name
    if name.namespace is None:
        problems.add("bad-operator-name", f"the operator {name} has no namespace", place, _NAMESPACE_HINT)
    elif name.namespace == WILDCARD:
        problems.add("bad-operator-name", "an operator cannot be in the namespace _, which is for fallbacks", place)
    return schema, name


def read_unknown_schema(context: FileContext, values: Values) -> FunctionSchema | None:
    """The schema of a definition that says that it is not known; None, noting mistakes, where it does not say so."""
    problems = context.problems
    schema, reason = values.get("schema"), text_of(problems, values.get("reason"))
    name_node = values.get("name")
    if schema is None:
        if "reason" in values and "schema" not in values and (at := values["reason"]) is not None:
            problems.add("bad-value", "'reason' is only for a schema that is not known", at, "add schema: unknown")
        return None
    if "func" in values:
        problems.add("bad-value", "a definition with the field 'func' has a known schema", schema, "remove 'schema'")
    if name_node is None or "func" in values:
        return None
    if (refused := text_of(problems, values.get("refused"))) is not None:
        problems.add("torch-library", refused, name_node)
    name = read_operator_name(problems, name_node)
    return None if name is None else unknown_schema(name, reason)


def read_definition_fields(
    context: FileContext, values: Values, block: Block, schema: FunctionSchema | None
) -> Define | None:
    """The definition that the fields beside ``func`` belong to; None without a schema."""
    problems = context.problems
    debug = text_of(problems, values.get("debug"))
    kind_node, func = values.get("alias_analysis"), values.get("func") or values.get("name")
    tags = [text_of(problems, item) or "" for item in scalars(problems, values.get("tags"), "the name of a tag")]
    module, module_context = (text_of(problems, values.get(name)) for name in ("python_module", _MODULE_CONTEXT))
    if module is None and (at := values.get(_MODULE_CONTEXT)) is not None:
        problems.add("bad-value", f"'{_MODULE_CONTEXT}' is only for a definition with the field 'python_module'", at)
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
