"""Texts about registrations of operators and kernels: two of one thing, schemas, signatures."""

from __future__ import annotations

from dispatch_cli.answers.errors.kinds import Message
from dispatch_cli.model.universe import META

MESSAGES = (
    Message(
        "overridden",
        "{op} got a second kernel at {key}, which replaces the first",
        (
            "Overriding a previously registered kernel for the same operator and the same dispatch key",
            "Overriding a previously registered kernel for the same operator and the same dispatch key "
            "{**}operator: {op}[[({**}dispatch key: {key}"
            "[[ {**}previous kernel: {previous_line}[[ {**}new kernel: {new}]]]]]]",
        ),
        "OperatorEntry::registerKernel",
        means=(
            "Two kernels are registered for the same operator and key. The newer one is used; the older one is used "
            "again when the library of the newer one is deleted. As the previous kernel PyTorch names the first that "
            "has a C++ signature, at whatever key, which need not be the one that is replaced. It prints this once per "
            "process, for the first such operator only."
        ),
        user=("If a library is meant to replace a kernel of PyTorch, the warning is harmless.",),
        author=(
            "If it is not meant: the code is loaded twice, or two libraries implement the same operator. Import only "
            "one of them.",
        ),
        warning=True,
    ),
    Message(
        "defined-twice",
        "{op} is registered twice",
        (
            "Tried to register an operator ({op}({**}) with the same name and overload name multiple times"
            "[[. Each overload's schema should only be registered with a single call to def(). Duplicate registration: "
            "{new}. Original registration: {previous}]]",
            "Tried to register an operator ({op}",
            "This is not allowed since there's already a kernel registered from python overriding {op}'s behavior for "
            "{key} dispatch key and {namespace} namespace{kernel}",
        ),
        "Dispatcher::registerDef, Library.impl in torch/library.py",
        means=(
            "An operator has one schema, and from Python one kernel at each key. The usual cause: the same library is "
            "loaded twice, such as a wheel and a build of its sources, a notebook cell that is run again, or a module "
            "that is imported under two names."
        ),
        user=(
            "Check whether two versions of the library are installed; uninstall one, and restart Python.",
            "In a notebook, restart the notebook's kernel, or keep the definition in a cell of its own.",
        ),
        author=(
            "In Python, keep `torch.library.Library(ns, 'FRAGMENT')` in a variable, and delete it before you create "
            "it again.",
            "[!kernel] Register kernels with `impl`, not with a second `def`.",
            "[kernel] Pass `allow_override=True` (newer versions of PyTorch).",
        ),
    ),
    Message(
        "library-twice",
        "two TORCH_LIBRARY blocks for the namespace {namespace}",
        (
            "Only a single TORCH_LIBRARY can be used to register the namespace {namespace}[[; please {**}"
            "Previous registration of TORCH_LIBRARY was {previous}; latest registration was {new}]]",
        ),
        "Dispatcher::registerLibrary",
        means=(
            "A namespace can have only one TORCH_LIBRARY block or `Library(ns, 'DEF')`. The text names both places; "
            "if they are the same, the shared library is loaded twice."
        ),
        user=("Check whether two versions of the library are installed or loaded; keep one.",),
        author=("Use TORCH_LIBRARY_FRAGMENT, or `Library(ns, 'FRAGMENT')`, in all places but one.",),
    ),
    Message(
        "fake-twice",
        "{op} cannot have this fake implementation",
        (
            "[[register_fake(...): ]]the operator {op} already has a[[n]] [[fake]][[abstract]] impl registered at "
            "{previous_place}.",
            "the operator {op} already has a[[n]] [[DispatchKey::]]Meta implementation",
            "the operator {op} already has an implementation for this device type via a pre-existing registration to "
            "DispatchKey::CompositeImplicitAutograd{composite}",
            "We should not register a meta kernel directly to the operator '{op}'{composite}",
        ),
        "FakeImplHolder.register in torch/_library/fake_impl.py, Library.impl in torch/library.py",
        key=META,
        means="A fake implementation is a kernel at Meta. The operator has one there, or needs none as it decomposes.",
        author=(
            "[!composite] Remove one of the two. In newer versions of PyTorch register_fake accepts "
            "`allow_override=True`.",
            "[composite] Leave it out: {op} has a kernel at CompositeImplicitAutograd, and decomposes into operators "
            "that have fake implementations. `allow_override=True` does not change that.",
            "[composite] Or register its kernel at CompositeExplicitAutograd, and give the operator a backward.",
        ),
    ),
    Message(
        "bad-schema",
        "the schema of an operator cannot be parsed, or inferred from a function",
        (
            "infer_schema(func): {rest}",
            "Cannot infer operator schema ",
            "expected {*} but found '{*}' here:",
            "unknown type specifier. Common valid schema types include",
        ),
        "torch/_library/infer_schema.py, function_schema_parser.cpp",
        means="custom_op and triton_op infer the schema from the type annotations of the function.[[ {rest}]]",
        author=(
            "Annotate each argument: Tensor, Optional[Tensor], List[Tensor], int, float, bool, str, "
            "torch.dtype, torch.device. PyTorch 2.9 also knows `list[int]` and annotations that are strings, which 2.4 "
            "does not; no version takes a tuple or a dict.",
            "Annotate the result: Tensor, List[Tensor], int, float, bool, or a Tuple of them.",
            "If the text speaks of mutates_args: name there the tensors that the function writes to.",
            "Or give the schema: `torch.library.custom_op('ns::f', mutates_args=(), schema='(Tensor x) -> Tensor')`.",
        ),
    ),
    Message(
        "signature-mismatch",
        "the types of the C++ kernel of {op} do not match its schema, or another kernel or a call",
        (
            "Inferred operator schema for a C++ kernel function doesn't match the expected function schema. "
            "{**}operator: {op}",
            "Tried to register multiple operators with the same name and the same overload name but different "
            "schemas: {op}(",
            "Mismatch in kernel C++ signatures {**}operator: {op}",
            "Tried to register a kernel ({*}) for operator {op} ({*}) for dispatch key {key}, but the C++ function "
            "signature",
            "Tried to access or call an operator with a wrong signature. {**}operator: {op}",
        ),
        "OperatorEntry::registerKernel, checkSchema and reportSignatureError in OperatorEntry.cpp",
        means=(
            "All C++ kernels of an operator must have the types of its schema: int is int64_t, float is double, SymInt "
            "is c10::SymInt; and `typed()` must call it with these."
        ),
        user=("The extension was built for another version of its library or of PyTorch: build it again.",),
        author=(
            "The text shows both; change the function or the schema.",
            "A `def` without a schema infers it from the function, without names and defaults: write the whole schema.",
        ),
    ),
    Message(
        "wrong-mutation",
        "{op} [[{returns}returns an argument, or a view of one, and its schema does not say so]]"
        "[[{changes}changes an argument, and its schema does not say so, or the other way round]]",
        (
            "{op}: for argument '{argument}': the operator's schema {*} specified that the operator{changes}",
            "Argument {argument} is not defined as mutable but was mutated{changes}",
            "Attempted to create a custom op with `mutates_args={*}` and `schema={*}{changes}",
            "{op} (with implementation in {**}): The output of this custom operator (1) must not also be{returns}",
            "The output of this custom operator (1) must not also be an input{returns}",
            "Argument {argument} is not defined to alias output but was aliasing{returns}",
            "Dispatcher operators below autograd are not allowed to directly return inputs{returns}",
            "Tensors returned from custom ops (1) must not be inputs to the custom op{returns}",
        ),
        "torch/_library/utils.py, torch/_subclasses/schema_check_mode.py, torch/_library/custom_ops.py",
        means=(
            "torch.compile and autograd rely on the schema: `Tensor(a!) x` is changed in place, `Tensor x` is not, and "
            "a result without an alias has memory of its own. A schema that is wrong gives wrong results silently."
        ),
        user=("Do not compile or export the call before the operator's authors have corrected it.",),
        author=(
            "[changes] Mark the argument in the schema, `Tensor(a!) x`, or name it in `mutates_args`; or let the "
            "kernel work on `x.clone()`.",
            "[returns] Return `x.clone()`. An operator that only changes arguments should return nothing.",
        ),
    ),
    Message(
        "bad-registration",
        "PyTorch refuses a registration",
        (
            "(Error occurred while processing {block} block at {new}",
            "could not parse dispatch key: {label}",
            "Invalid dispatch key: {label}",
            "is a reserved namespace. Please try creating a library with another name",
            "is a reserved namespace, please choose something else",
            "Tried to register multiple backend fallbacks for the same dispatch key {key}",
            "Fallback can only be registered using library fragment on the global namespace",
            "Trying to override a python impl for {key} on operator {op}",
            "Expected `qualname` to be of the form",
            "expected schema to look like e.g.",
            "Schema tagged with torch.Tag.{*}Got: {op}(",
            "Cannot register privateuse1 backend",
            "torch.register_privateuse1_backend() has already been set",
        ),
        "aten/src/ATen/core/library.cpp, torch/library.py",
        means=(
            "TORCH_LIBRARY(ns, m), and _FRAGMENT, define operators of one namespace (`m.def`); "
            "TORCH_LIBRARY_IMPL(ns, key, m) registers kernels at one key (`m.impl`), and with the namespace _ "
            "fallbacks of that key (`m.fallback`). torch.library has the same rules. The sentence in the text says "
            "what does not fit."
        ),
        author=(
            "Compare the registration with that: names of operators are `ns::name` in Python, and without another "
            "namespace in a block; each has a schema; keys are those that `dispatch-cli keys` lists.",
            "[block] If it is an assertion instead of a sentence: the library was compiled with headers of another "
            "PyTorch than it runs with.",
        ),
    ),
    Message(
        "opcheck",
        "torch.library.opcheck found a fault in an operator",
        (
            "opcheck(op, ...): test_schema failed with{schema}",
            "opcheck(op, ...): test_faketensor failed with{fake_kernel}",
            "opcheck(op, ...): test_autograd_registration failed with{autograd}",
            "opcheck(op, ...): test_aot_dispatch_{*} failed with{compiled}",
        ),
        "torch/testing/_internal/optests/generate_tests.py",
        means=(
            "[[{schema}The operator does something with its arguments that its schema does not "
            "say.]][[{fake_kernel}The fake implementation is missing, fails, or describes another result than the "
            "kernel returns.]][[{autograd}Its gradient is computed elsewhere than at an autograd "
            "key.]][[{compiled}Under torch.compile the operator or its backward fails, or gives other results.]] The "
            "error above the text has the cause."
        ),
        author=(
            "[schema] Mark arguments that are changed: `Tensor(a!) x`, or in `mutates_args`; return no argument.",
            "[fake_kernel] Let the fake implementation return the shape, strides, dtype and device of the kernel's "
            "result.",
            "[autograd] Use register_autograd, or a kernel at the key Autograd.",
            "[compiled] Use only operators on tensors in the backward: no `.item()`, no `if` on data, no NumPy.",
        ),
        aside=True,
    ),
)
