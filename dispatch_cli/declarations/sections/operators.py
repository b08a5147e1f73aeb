"""The short form: operators, each with everything that is registered for it."""

from __future__ import annotations

from dispatch_cli.declarations.fields import Values, expect, read_records, text_of
from dispatch_cli.declarations.formats.format_types import (
    AT,
    CATCH_ALL,
    FUNCTIONS,
    KEYS,
    MAKERS,
    NAME,
    TEXT,
    UNKNOWN,
    WHEN,
    Field,
    Record,
    Type,
    choice,
    either,
    list_of,
    map_of,
    record,
)
from dispatch_cli.declarations.sections.context import FileContext, read_operator_name, read_schema, unknown_schema
from dispatch_cli.declarations.sections.kernels import (
    FAKES,
    KERNELS,
    entries,
    read_fake_rules,
    read_fakes,
    read_kernel,
)
from dispatch_cli.declarations.sections.python_functions import A_FUNCTION, SOME_FUNCTIONS
from dispatch_cli.declarations.tree import Node, Scalar
from dispatch_cli.model.declarations import WILDCARD, Block, Define, LibraryKind, PythonKernel
from dispatch_cli.model.kernel import AliasAnalysisKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import FunctionSchema

_DEFINING = ("func", "schema")
OPERATOR = Record(
    "operator",
    "an operator",
    "An operator with all its registrations, in order. It needs one of these fields: `func`, a schema; `custom_op` "
    "or `triton_op` for an operator made with `torch.library`; or `name` for an operator that is defined elsewhere.",
    (
        AT,
        WHEN,
        Field("func", TEXT, "The schema with its namespace: `mylib::add(Tensor a, Tensor b) -> Tensor`."),
        Field(
            "custom_op",
            TEXT,
            "The schema of an operator made with `torch.library.custom_op`. It has every kernel that `custom_op` "
            "registers: at Meta and Autograd; at ADInplaceOrView if it writes to an argument or returns a view; at "
            "BackendSelect if it has no tensor arguments. Debug strings and tags are those of the universe's PyTorch "
            "version.",
            excludes=("func",),
        ),
        Field(
            "triton_op",
            TEXT,
            "The same for `torch.library.triton_op`; its function is also the fake implementation.",
            excludes=("func", "custom_op"),
        ),
        Field(
            "name",
            TEXT,
            "Only the name, such as `mylib::add.out`, of an operator that is defined elsewhere, or whose schema is not "
            "known.",
            excludes=("func", *MAKERS),
        ),
        Field(
            "schema",
            Type(f"{UNKNOWN} (a known schema is given with func)", (Scalar,), {"const": UNKNOWN}, (UNKNOWN,)),
            f"`{UNKNOWN}`: the operator is defined here, but its schema is not known. What depends on the schema is "
            "not checked.",
            default="known, or the operator is defined elsewhere",
            excludes=("func",),
        ),
        Field("reason", TEXT, f"With `schema: {UNKNOWN}`: why it is not known.", default="not said", needs=("schema",)),
        Field(
            "mutates_args",
            either(TEXT, list_of(TEXT, "strings")),
            "For `custom_op`: the arguments that it writes to, if the schema does not say so; `unknown` means all "
            "tensors.",
            needs=MAKERS,
        ),
        Field(
            "refused",
            TEXT,
            f"With `schema: {UNKNOWN}`: why PyTorch refuses the Python function of which it infers the schema.",
            default="it does not",
            needs=("schema", *MAKERS),
        ),
        Field(
            "kernel",
            A_FUNCTION,
            "For `custom_op` and `triton_op`: the function for all device types. A `triton_op` needs it.",
            needs=MAKERS,
        ),
        Field(
            "kernels",
            map_of(NAME, SOME_FUNCTIONS, "device types to Python functions"),
            "Functions by device type (`register_kernel`); several device types are separated by commas: "
            '`{cpu: f_cpu, "cuda, xpu": f_gpu}`. A `custom_op` without a function (`device_types=()`) has '
            "`kernels: {}`.",
        ),
        Field(
            "debug",
            TEXT,
            "The debug string of the definition, which dumps show after `debug:`.",
            default="registered at FILE:LINE",
            needs=_DEFINING,
            excludes=MAKERS,
        ),
        Field(
            "alias_analysis",
            choice("FROM_SCHEMA", "CONSERVATIVE", "PURE_FUNCTION", "default"),
            "The alias analysis kind. `default` is that of legacy definitions without one; dumps show `CONSERVATIVE "
            "(default)`.",
            default="FROM_SCHEMA",
            needs=_DEFINING,
            excludes=MAKERS,
        ),
        Field(
            "tags",
            list_of(TEXT, "strings"),
            "The operator's tags, such as `pt2_compliant_tag`.",
            needs=(*_DEFINING, *MAKERS),
        ),
        Field(
            "python_module",
            TEXT,
            "The Python module with its fake implementation (`m.set_python_module`), which PyTorch names in errors "
            "where there is none yet.",
            default="not said",
            needs=_DEFINING,
            excludes=MAKERS,
        ),
        Field(
            "python_module_context",
            TEXT,
            "With `python_module`: what else `m.set_python_module` says, such as a build target.",
            needs=("python_module",),
        ),
        Field(
            "dispatch",
            map_of(KEYS, KERNELS, "dispatch keys to kernels"),
            f"Kernels by dispatch key. Several keys are separated by commas; `{CATCH_ALL}` registers without a key. A "
            "list registers one kernel after the other; the last one is active.",
        ),
        Field(
            "fake",
            FAKES,
            "Its fake implementation (`torch.library.register_fake`), which runs for fake tensors and at `Meta`. It "
            "is registered before the kernels in `dispatch` or after them, in the order of the two fields.",
        ),
        Field(
            "fake_tensor_mode",
            record("fake_tensor_mode"),
            "What `FakeTensorMode` uses for the operator besides kernels and fake implementations.",
        ),
        Field(
            "backward",
            A_FUNCTION,
            "Its backward function (`register_autograd`). A `custom_op` has a kernel at Autograd even without one.",
        ),
        Field("setup_context", A_FUNCTION, "The function that saves values for `backward`.", needs=("backward",)),
        Field("vmap", SOME_FUNCTIONS, "Its batching rule (`register_vmap`)."),
        Field(
            "autocast",
            map_of(NAME, TEXT, "device types to dtypes"),
            "The dtype to which autocast casts its tensors, by device type (`register_autocast`): `{cuda: float16}`.",
        ),
        Field(
            "python_dispatch",
            map_of(KEYS, TEXT, "dispatch keys to kernel names"),
            "Kernels of the Python dispatcher (`py_impl`) by dispatch key.",
        ),
    ),
    ("func", "custom_op", "triton_op", "name"),
)
_NAMESPACE_HINT = "write it as namespace::name"


def read_operators(context: FileContext, section: Node) -> None:
    for values in read_records(context.problems, section, OPERATOR):
        with context.placed(values.node):
            _read_operator(context, values)


def _read_operator(context: FileContext, values: Values) -> None:
    schema, name = _identity(context, values)
    if name is None or name.namespace is None:
        return
    block = context.block(LibraryKind.FRAGMENT, name.namespace, None, values.node, implicit=True)
    context.open(block)
    is_custom = not values.keys().isdisjoint(MAKERS)
    if is_custom:
        from dispatch_cli.declarations.sections.torch_library import read_custom_op

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

        read_registrations(context, values, block, name)
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


def read_definition(context: FileContext, values: Values) -> tuple[FunctionSchema | None, Node | None]:
    """The schema of a definition, which can be one that is not known, and its node; None for what only has a name."""
    problems = context.problems
    field = next((name for name in ("func", *MAKERS, "name") if name in values), None)
    node = None if field is None else values[field]
    if values.get("schema") is None:
        return None if field == "name" else read_schema(context, node), node
    name, reason = read_operator_name(problems, node), values.text("reason")
    if field == "name" and node is not None and (refused := values.text("refused")) is not None:
        problems.add("torch-library", refused, node)
    if name is None:
        return None, node
    return unknown_schema(name, reason or ""), node


def read_definition_fields(
    context: FileContext, values: Values, block: Block, schema: FunctionSchema | None
) -> Define | None:
    """The definition that the fields beside ``func`` belong to; None without a schema."""
    debug, tags = values.text("debug"), values.texts("tags", "the name of a tag")
    module, module_context = values.text("python_module"), values.text("python_module_context")
    kind_node, func = values.get("alias_analysis"), values.get("func") or values.get("name")
    if schema is None or func is None:
        return None
    kind: AliasAnalysisKind | None = AliasAnalysisKind.FROM_SCHEMA
    if type(kind_node) is Scalar:
        kind = None if kind_node.text == "default" else AliasAnalysisKind[kind_node.text]
    stub = None if module is None else (module, module_context or "")
    return Define(block, schema, kind, tags, debug, context.problems.span(func), python_module=stub)


def _read_dispatch(context: FileContext, node: Node | None, block: Block, name: OperatorName) -> None:
    for key_node, key, value in context.keys.pairs(context.problems, node, catch_all=True):
        span = context.problems.span(key_node)
        for entry in entries(context.problems, value):
            with context.placed(entry):
                kernel = read_kernel(context, entry, block)
                if kernel is not None:
                    context.implement(block, name, key, kernel, context.problems.at or span)


def _read_python_dispatch(context: FileContext, node: Node | None, name: OperatorName) -> None:
    problems = context.problems
    for at, key, value in context.keys.pairs(problems, node):
        if type(value) is not Scalar or not value.text:
            expect(problems, value, "the name of a kernel")
            continue
        kernel = text_of(problems, value)
        if kernel is not None and key is not None:
            context.contents.python_kernels.append(
                PythonKernel(name, key, kernel, problems.span(at), context.by, False, context.when, context.extracted)
            )
