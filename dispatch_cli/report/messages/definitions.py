"""Texts about registrations that are refused for what they say: keys, names, schemas, blocks."""

from __future__ import annotations

from dispatch_cli.report.messages.kinds import Message, TextKind

MESSAGES = (
    Message(
        TextKind.RESERVED_NAMESPACE,
        "{namespace} is a reserved namespace",
        (
            "{namespace} is a reserved namespace. Please try creating a library with another name",
            "is a reserved namespace. Please try creating a library with another name",
            "'{namespace}' is a reserved namespace, please choose something else",
        ),
        "Library in torch/library.py",
        means=(
            "The namespace prim belongs to TorchScript; torch.library.Library refuses it with the kind DEF or FRAGMENT."
        ),
        author=("Choose another namespace.",),
    ),
    Message(
        TextKind.OTHER_NAMESPACE,
        "an operator of the namespace {namespace} is registered in a block of another namespace",
        (
            "Explicitly provided namespace ({namespace}) in schema string does not match namespace of enclosing",
            "Explicitly provided namespace ({namespace}) in operator name does not match namespace of enclosing",
        ),
        "Library::_def, Library::_parseNameForLib",
        means=(
            "`def` and `impl` register in the namespace of their block. A namespace that is given in the name must "
            "be the same."
        ),
        author=("Leave the namespace out of the name, or move the line to a block of that namespace.",),
    ),
    Message(
        TextKind.WRONG_BLOCK,
        "this kind of block does not allow this registration",
        (
            "Cannot define an operator inside of a {function} block",
            "Cannot define a class inside of a {function} block",
            "with the wildcard namespace _ (every {function} defines operators for a distinct namespace",
            "Explicitly provided dispatch key ({key}) is inconsistent with the dispatch key of the enclosing "
            "{function}",
            "Fallback functions which apply to only a single namespace",
            "fallback(...): Cannot define an operator inside of a {function} block",
        ),
        "aten/src/ATen/core/library.cpp",
        means=(
            "TORCH_LIBRARY and TORCH_LIBRARY_FRAGMENT define operators. TORCH_LIBRARY_IMPL(namespace, key) registers "
            "kernels at that one key. Backend fallbacks are registered in TORCH_LIBRARY_IMPL(_, key)."
        ),
        author=("Move the line to a block of the right kind, key and namespace.",),
    ),
    Message(
        TextKind.BAD_KEY,
        "{key} is not the name of a dispatch key",
        (
            "could not parse dispatch key: {key}",
            "Invalid dispatch key: {key}",
            "{key} is not supported, please select a dispatch key in",
        ),
        "parseDispatchKey in c10/core/DispatchKey.cpp",
        means=(
            "`dispatch-cli keys` lists the names. Names that end in TensorId (CPUTensorId, SparseCPUTensorId, "
            "VariableTensorId) are those of old PyTorch versions: leave the ending out; Variable is now Autograd."
        ),
        author=(
            "Write one of the names that `dispatch-cli keys` lists. For some keys kernels can be registered in C++ "
            "only: PyTorch does not know their names as text.",
        ),
    ),
    Message(
        TextKind.BAD_SCHEMA,
        "a schema cannot be read, or cannot be inferred from the annotations of a function",
        (
            "infer_schema(func): {*}",
            "define(qualname, schema, ...): expected schema to look like",
            'Expected `qualname` to be of the form "namespace::name", but got {name}',
            "Full schema string was not specified, and we couldn't infer schema either",
            "custom_op only supports functional operators",
            "Functions without tensor inputs are required to have a `device: torch.device` argument",
            "custom_op(..., manual_schema)(func): ",
            "custom_op(qualname='{op}', ...)(func): ",
            "custom_op(...)(func): ",
            "custom_op(..., ns=",
            "custom_op does not support arguments named 'self'",
            "Expected there to be a namespace in ",
            "The torch.custom_ops APIs do not handle overloads",
            "define(qualname, schema): expected qualname",
            "Cannot infer operator schema ",
            "unknown type specifier. Common valid schema types include",
            "in an operator's schema string. `",
            "You can only specify the schema once per operator registration",
            "expected arrow but found",
        ),
        "torch/_library/infer_schema.py, torch/library.py, function_schema_parser.cpp",
        means=(
            "A schema gives the names, types and mutation of the arguments and, after an arrow, the types of the "
            "results. custom_op infers it from type annotations."
        ),
        author=(
            "Annotate each argument and the result: Tensor, Optional[Tensor], Sequence[Tensor], int, float, bool, "
            "str, torch.dtype, torch.device.",
            "Or give the schema: `torch.library.custom_op('ns::f', mutates_args=(), schema='(Tensor x) -> Tensor')`.",
        ),
    ),
    Message(
        TextKind.MUTATES_ARGS,
        "mutates_args does not fit the function or the schema",
        (
            "Attempted to create a custom op with `mutates_args={*}` and `schema=",
            "infer_schema(func): {*} in mutates_args",
            "infer_schema(func): Parameter {argument} is in mutable_args but only Tensors",
            "mutates_args must either be a sequence of the names of the arguments that are mutated",
        ),
        "infer_schema in torch/_library/infer_schema.py, torch/_library/custom_ops.py",
        means=(
            "mutates_args lists the names of the tensor arguments that the function changes in place. Each must be "
            "an argument of the function, and a schema that is given must mark the same ones, as in `Tensor(a!) x`."
        ),
        author=(
            "List in mutates_args the arguments that are changed, by their names in the function: "
            "`mutates_args=('x',)`; `()` if there are none; 'unknown' if you do not know (newer versions of PyTorch).",
            "If a schema is given too, mark the same arguments in it: `Tensor(a!) x`.",
        ),
    ),
    Message(
        TextKind.SCHEMA_MISMATCH,
        "the types of the C++ kernel of {op} do not match its schema",
        (
            "Inferred operator schema for a C++ kernel function doesn't match the expected function schema. "
            "{**}operator: {op}",
            # until PyTorch 1.5
            "Tried to register multiple operators with the same name and the same overload name but different "
            "schemas: {op}(",
        ),
        "checkSchema in OperatorEntry.cpp",
        means="`impl` compares the types of the C++ function with the schema: int is int64_t, float is double.",
        user=("The extension was built for another version of its library or of PyTorch: build it again.",),
        author=(
            "The last line of the text names the difference; change the function or the schema.",
            "A `def` without a schema infers it from the function, with arguments named _0, _1: write the operator's "
            "whole schema, with names and defaults.",
        ),
    ),
    Message(
        TextKind.SIGNATURE_MISMATCH,
        "{op} is called or implemented with different C++ signatures",
        (
            "Mismatch in kernel C++ signatures {**}operator: {op}",
            "Tried to access or call an operator with a wrong signature. {**}operator: {op}",
        ),
        "OperatorEntry::registerKernel, reportSignatureError",
        means="All C++ kernels of an operator must have the same signature, and `typed()` must call it with that one.",
        user=("The extension was built for another PyTorch: build it again for the installed one.",),
        author=(
            "The text shows both signatures. Common differences: references, and `int64_t` where the other has "
            "`SymInt`.",
        ),
    ),
    Message(
        TextKind.BAD_REGISTRATION,
        "a registration is refused",
        (
            "In operator registration: {*}",
            "Registration to both CompositeImplicitAutograd and CompositeExplicitAutograd is not allowed",
            "Overridden is not allowed but found duplicates in",
            "should be passed either a name or an OpOverload object as the first argument",
            "impl(..., device_types={device}): the operator {op} already has an implementation for this device type",
            "Attempting to register a {*} impl for operator {op} that already has a {*} impl registered",
            "Overriden is not allowed but found duplicates in",
            "Tried to register operator {op} but specified schema multiple times",
            "got unexpected type for op: ",
            "duplicate registrations for {op}",
            "Input function is required to be a callable but found type",
        ),
        "op_registration.cpp, torch/_python_dispatcher.py, torch/_custom_op/impl.py",
        means="The text names the rule that the registration breaks.",
        author=("`dispatch-cli register FILE` shows what is registered for an operator, and where.",),
    ),
)
