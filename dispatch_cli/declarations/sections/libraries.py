"""The long form: registration blocks as C++ has them, and backend fallbacks."""

from __future__ import annotations

from dataclasses import replace

from dispatch_cli.declarations.fields import Values, expect, pairs_of, read_named, read_record, read_records
from dispatch_cli.declarations.formats.file_format import NO_FALLBACKS
from dispatch_cli.declarations.formats.format_types import (
    A_KERNEL,
    AT,
    CATCH_ALL,
    NAME,
    ONE_KEY,
    TEXT,
    UNKNOWN,
    WHEN,
    Field,
    Record,
    choice,
    list_of,
    map_of,
    some,
    text_or,
)
from dispatch_cli.declarations.sections.context import FileContext, read_operator_name
from dispatch_cli.declarations.sections.kernels import (
    FAKES,
    KERNEL,
    described_kernel,
    entries,
    read_fakes,
    read_kernel,
)
from dispatch_cli.declarations.sections.operators import OPERATOR, read_definition, read_definition_fields
from dispatch_cli.declarations.tree import Node, Scalar, Sequence
from dispatch_cli.model.declarations import WILDCARD, Block, LibraryKind
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.text.quoting import quoted

LIBRARY_KERNEL = Record(
    "library_kernel",
    "a kernel",
    "A kernel in the `impl` of a library.",
    (
        *KERNEL.fields,
        Field(
            "dispatch_key",
            ONE_KEY,
            "The key at which it is registered, in a block without a key.",
            default=f"the block's, else {CATCH_ALL}",
        ),
    ),
    KERNEL.one_of,
)
_OF_DEFINITIONS = (
    "schema",
    "reason",
    "refused",
    "debug",
    "alias_analysis",
    "tags",
    "python_module",
    "python_module_context",
)
"""Fields that a definition has as an operator has them."""
DEFINITION = Record(
    "definition",
    "a definition",
    "A definition in a library, when more than the schema is given.",
    (
        AT,
        WHEN,
        Field("func", TEXT, "The schema; it may leave out the block's namespace."),
        Field(
            "name",
            TEXT,
            f"In the place of `func`, with `schema: {UNKNOWN}`: the name of an operator whose schema is not known.",
            needs=("schema",),
            excludes=("func",),
        ),
        *(OPERATOR.by_name[name] for name in _OF_DEFINITIONS),
    ),
    ("func", "name"),
)
LIBRARY = Record(
    "library",
    "a library",
    "A registration block as in C++: `TORCH_LIBRARY`, `TORCH_LIBRARY_FRAGMENT` or `TORCH_LIBRARY_IMPL`. Its content "
    "is registered in the order in which it is written.",
    (
        AT,
        WHEN,
        Field(
            "kind",
            choice("DEF", "FRAGMENT", "IMPL"),
            "Which of the three macros: `DEF` is `TORCH_LIBRARY`.",
            required=True,
        ),
        Field("namespace", TEXT, "The namespace; `_` for a block of fallbacks.", required=True),
        Field(
            "dispatch_key",
            ONE_KEY,
            f"The dispatch key of everything in the block, or `{CATCH_ALL}` for none; only for kind IMPL.",
        ),
        Field(
            "define",
            list_of(text_or("a schema", "definition"), "schemas"),
            "The operators that it defines; only for kinds DEF and FRAGMENT.",
        ),
        Field(
            "impl",
            map_of(NAME, some(text_or("a kernel name", "library_kernel"), "kernels"), "operator names to kernels"),
            "The kernels that it registers, by operator name; the name may leave out the block's namespace.",
        ),
        Field(
            "fake",
            map_of(NAME, FAKES, "operator names to fake implementations"),
            "The fake implementations that it registers (`torch.library.register_fake`), by operator name; the name "
            "may leave out the block's namespace.",
        ),
        Field("fallback", A_KERNEL, "The backend fallback for the block's key; only in namespace `_`."),
        Field(
            "dropped",
            TEXT,
            "Of a `torch.library.Library`: the Python function whose local variable alone holds it. Nothing of it is "
            "registered here, as PyTorch removes what it has registered when the function returns.",
        ),
    ),
)
_MISUSE = "block-misuse"


def read_libraries(context: FileContext, section: Node) -> None:
    for values in read_records(context.problems, section, LIBRARY):
        with context.placed(values.node):
            _read_library(context, values)


def read_fallbacks(context: FileContext, section: Node) -> None:
    """Read the section ``fallbacks``: each entry is a block of its own."""
    problems = context.problems
    if type(section) is Scalar:
        if section.text == NO_FALLBACKS:
            context.known.core_fallbacks = False
        else:
            expect(problems, section, f"{NO_FALLBACKS} or a mapping of dispatch keys to kernels")
    for key_node, key, value in context.keys.pairs(problems, section):
        block = context.block(LibraryKind.IMPL, WILDCARD, key, key_node, implicit=True)
        kernel = read_kernel(context, value, block)
        if kernel is not None and key is not None:
            with context.placed(value):
                context.open(block)
                context.fall_back(block, key, kernel, problems.span(key_node))


def _read_library(context: FileContext, values: Values) -> None:
    """Read one block. Fields that its kind does not have are noted; what they hold is read all the same."""
    kind, key_node = values.get("kind"), values.get("dispatch_key")
    namespace, key = _namespace(values), _key(context, key_node, needed=values.get("fallback") is not None)
    if type(kind) is not Scalar or namespace is None or (key is None and _names_a_key(key_node)):
        return  # PyTorch refuses the block: nothing in it is registered
    if (function := values.text("dropped")) is not None:
        message = f"PyTorch removes what this library registers when {function} returns: only a local variable holds it"
        if context.extracted:
            context.problems.add("dropped-library", message, values.node, "keep it in a variable of the module")
        return
    block = context.block(LibraryKind[kind.text], namespace, key, values.node)
    _check_contents(context, values, block)
    context.open(block)
    for name, value in values.items():
        if name == "define":
            _read_definitions(context, value, block)
        elif name == "impl":
            _read_implementations(context, value, block)
        elif name == "fake":
            for operator, fakes in pairs_of(value):
                read_fakes(context, fakes, block, _member_name(context, operator, block))
        elif name == "fallback" and value is not None:
            kernel = read_kernel(context, value, block)
            if kernel is not None and key is not None:
                with context.placed(value):
                    context.fall_back(block, key, kernel, context.problems.span(value))


def _names_a_key(node: Node | None) -> bool:
    return type(node) is Scalar and node.text != CATCH_ALL


def _key(context: FileContext, node: Node | None, needed: bool) -> str | None:
    """The key that a block or a kernel names; None for `CatchAll`, which in C++ is the same as no key."""
    if type(node) is not Scalar or (node.text == CATCH_ALL and not needed):
        return None
    return context.keys.single(context.problems, node)


def _namespace(values: Values) -> str | None:
    text, node = values.text("namespace"), values.get("namespace")
    if text is None or node is None:
        return None
    if not text.replace("_", "a").replace(".", "a").isalnum():
        values.problems.add("bad-operator-name", f"{quoted(text)} is not a namespace", node)
        return None
    return text


def _check_contents(context: FileContext, values: Values, block: Block) -> None:
    """PyTorch's rules of what a block may hold; fields of the wrong type are left to their own problem.

    What sources register wrongly, the dispatcher refuses in PyTorch's words.
    """
    if context.extracted:
        return

    def refuse(names: tuple[str, ...], message: str, hint: str | None = None) -> None:
        for name in names:
            if (node := values.get(name)) is not None:
                context.problems.add(_MISUSE, message.format(name), node, hint)

    macro, is_of_fallbacks = block.kind.value, block.namespace == WILDCARD
    if block.kind is not LibraryKind.IMPL:
        if is_of_fallbacks:
            refuse(("namespace",), f"a {macro} block cannot be in the namespace _, which is for fallbacks")
        refuse(("dispatch_key", "fallback"), f"a {macro} block has no {{}}", "use kind IMPL")
        return
    refuse(("define",), f"a {macro} block cannot define operators", "use kind DEF or FRAGMENT")
    if "dispatch_key" not in values:
        refuse(("fallback",), "the block of a fallback needs a dispatch_key")
    if is_of_fallbacks:
        refuse(("impl", "fake"), "a block in the namespace _ can only have a fallback")
    else:
        refuse(
            ("fallback",), f"a fallback is for all operators: its block is in the namespace _, not {block.namespace}"
        )


def _read_definitions(context: FileContext, section: Node | None, block: Block) -> None:
    problems = context.problems
    for node in section.items if type(section) is Sequence else ():
        values = Values(problems, node) if type(node) is Scalar else read_record(problems, node, DEFINITION)
        if values is None:
            continue
        if type(node) is Scalar:
            values["func"] = node
        with context.placed(node):
            schema, func = read_definition(context, values)
            if schema is not None and func is not None:
                name = _in_block(context, func, schema.name, block, in_schema=True)
                schema = None if name is None else replace(schema, name=name)
            context.define(read_definition_fields(context, values, block, schema))


def _in_block(
    context: FileContext, at: Node, name: OperatorName, block: Block, in_schema: bool = False
) -> OperatorName | None:
    """The name in the block's namespace; None, noting it, when it names another."""
    qualified = block.qualified(name)
    if qualified is None:
        context.problems.add(_MISUSE, block.misplaced(name, in_schema), at)
    return qualified


def _read_implementations(context: FileContext, section: Node | None, block: Block) -> None:
    for name_node, value in pairs_of(section):
        name = _member_name(context, name_node, block)
        for entry in entries(context.problems, value):
            with context.placed(entry):
                member = _read_member(context, entry, block)
                if member is not None and name is not None:
                    kernel, key = member
                    context.implement(block, name, key, kernel, context.problems.span(name_node))


def _member_name(context: FileContext, node: Scalar, block: Block) -> OperatorName | None:
    """The operator that a field of ``impl`` or ``fake`` names; None, noting why, when it names none."""
    name = read_operator_name(context.problems, node)
    return None if name is None else _in_block(context, node, name, block)


def _read_member(context: FileContext, node: Node, block: Block) -> tuple[Kernel, str | None] | None:
    """A kernel and its key; None, noting why, when there is none."""
    values = read_named(context.problems, node, LIBRARY_KERNEL)
    if values is None:
        return None
    kernel = described_kernel(context, values, block)
    key_node = values.get("dispatch_key")
    key, own = block.dispatch_key, _key(context, key_node, needed=False)
    if own is None and _names_a_key(key_node):
        return None
    if own is not None and key_node is not None and key is not None and own != key:
        message = f"the kernel's dispatch key {own} differs from that of its block, {key}"
        context.problems.add(_MISUSE, message, key_node, "use a block without a dispatch key, or one block per key")
    return (kernel, own or key) if kernel is not None else None
