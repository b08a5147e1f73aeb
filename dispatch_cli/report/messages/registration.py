"""Texts about registrations of operators and kernels: two of one thing."""

from __future__ import annotations

from dispatch_cli.report.messages.kinds import Message, TextKind

MESSAGES = (
    Message(
        TextKind.OVERRIDDEN,
        "{op} got a second kernel at {key}, which replaces the first",
        (
            "Overriding a previously registered kernel for the same operator and the same dispatch key "
            "{**}operator: {op}[[({**}dispatch key: {key}"
            "[[ {**}previous kernel: {previous_line}[[ {**}new kernel: {new}]]]]]]",
        ),
        "OperatorEntry::registerKernel",
        means=(
            "Two kernels are registered for the same operator and key. The newer one is used; the older one is used "
            "again when the library of the newer one is deleted. PyTorch prints this warning once per process, for "
            "the first such operator only."
        ),
        user=("If a library is meant to replace a kernel of PyTorch, the warning is harmless.",),
        author=(
            "If it is not meant: the code is loaded twice, or two libraries implement the same operator. Import only "
            "one of them.",
            "In Python, `Library.impl(…, allow_override=True)` says that the replacement is meant (newer versions of "
            "PyTorch).",
        ),
        warning=True,
    ),
    Message(
        TextKind.DEFINED_TWICE,
        "{op} is defined twice",
        (
            "Tried to register an operator ({op}({**}) with the same name and overload name multiple times"
            "[[. Each overload's schema should only be registered with a single call to def(). Duplicate registration: "
            "{new}. Original registration: {previous}]]",
            "Tried to register an operator ({op}",
        ),
        "Dispatcher::registerDef",
        means=(
            "An operator has one schema, and one `def` or `define`. The text names both places. The usual cause: the "
            "same library is loaded twice, such as a wheel and a build of its sources, a notebook cell that is run "
            "again, or a module that is imported under two names."
        ),
        user=(
            "Check whether two versions of the library are installed; uninstall one, and restart Python.",
            "In a notebook, restart the notebook's kernel, or keep the `define` in a cell of its own.",
        ),
        author=(
            "In Python, keep `torch.library.Library(ns, 'FRAGMENT')` in a variable, and delete it before you create "
            "it again.",
            "Register kernels with `impl`, not with a second `def`.",
        ),
    ),
    Message(
        TextKind.LIBRARY_TWICE,
        "two TORCH_LIBRARY blocks for the namespace {namespace}",
        (
            "Only a single TORCH_LIBRARY can be used to register the namespace {namespace}; please[[ {**}"
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
        TextKind.PYTHON_TWICE,
        "{op} has a kernel from Python at {key} already",
        (
            "This is not allowed since there's already a kernel registered from python overriding {op}'s behavior for "
            "{key} dispatch key and {namespace} namespace",
        ),
        "Library.impl in torch/library.py",
        means="PyTorch records what `Library.impl` registers, and refuses a second kernel at the same key.",
        user=("The usual cause: a module is imported twice, or a notebook cell is run twice. Restart Python.",),
        author=("Pass `allow_override=True` (newer versions of PyTorch), or delete the first Library object first.",),
    ),
    Message(
        TextKind.PYTHON_IMPL_TWICE,
        "{op} has a Python implementation at {key} already",
        (
            "Trying to override a python impl for {key} on operator {op}",
            "{key} already registered in python_key_table",
            "{key} already registered in functorch_table",
            "already has a `__torch_dispatch__` rule registered for {op}",
        ),
        "OperatorBase.py_impl in torch/_ops.py, torch/_library/simple_registry.py",
        means="`py_impl` registers one implementation per key, mode or subclass, and refuses a second one.",
        author=("Remove one of the two, or delete the entry from the operator's `py_kernels` first.",),
    ),
    Message(
        TextKind.FALLBACK_TWICE,
        "two backend fallbacks at {key}",
        (
            "Tried to register multiple backend fallbacks for the same dispatch key {key}"
            "[[; previous registration {previous}, new registration {new}]]",
            "Fallback can only be registered using library fragment on the global namespace",
        ),
        "Dispatcher::registerFallback, Library.fallback in torch/library.py",
        means=(
            "A key can have only one backend fallback for all operators (rule 9). It is registered in the namespace "
            "`_`."
        ),
        author=(
            "Register it once: `TORCH_LIBRARY_IMPL(_, KEY, m) { m.fallback(…); }`. The text names the place of "
            "the first.",
        ),
    ),
    Message(
        TextKind.FAKE_TWICE,
        "{op} cannot have this fake implementation: it has a kernel at Meta already, or it decomposes",
        (
            "register_fake(...): the operator {op} already has a[[n]] fake impl registered at {previous_place}.",
            "register_fake(...): the operator {op} already has a[[n]] {*}implementation",
            "impl_abstract(...): the operator {op} already has a[[n]] {*}implementation",
            "the operator {op} already has an abstract impl registered at {previous_place}.",
        ),
        "FakeImplHolder.register in torch/_library/fake_impl.py",
        key="Meta",
        means=(
            "A fake implementation is registered at Meta. Either the operator has a kernel there already, or it has "
            "one at CompositeImplicitAutograd and needs no fake implementation: it decomposes into operators that "
            "have one."
        ),
        author=("Remove one of the two. In newer versions of PyTorch register_fake accepts `allow_override=True`.",),
    ),
    Message(
        TextKind.META_FOR_COMPOSITE,
        "a kernel at Meta is refused for {op}, which decomposes",
        (
            "We should not register a meta kernel directly to the operator '{op}'",
            "{op} is a CompositeImplicitAutograd op, we shouldn't register meta function for it",
        ),
        "Library.impl in torch/library.py",
        key="Meta",
        means=(
            "{op} has a kernel at CompositeImplicitAutograd, which fills the Meta slot too (rule 6): the operator "
            "decomposes into others, each with its own Meta kernel. A kernel at Meta would hide that, so PyTorch "
            "refuses it from Python."
        ),
        author=(
            "Leave it out; register Meta kernels for the operators that {op} decomposes into.",
            "Or move the composite kernel to CompositeExplicitAutograd, and give the operator a backward.",
        ),
    ),
    Message(
        TextKind.DEVICE_NAME,
        "the name or the module of the backend at PrivateUse1 is not accepted",
        (
            "torch.register_privateuse1_backend() has already been set",
            "Cannot register privateuse1 backend with in-tree device name",
            "The runtime module of '{device}' has already been registered",
        ),
        "c10/core/DeviceType.cpp, register_privateuse1_backend",
        means=(
            "Only one backend outside of PyTorch can use the key PrivateUse1 in a process, and it can be named only "
            "once."
        ),
        user=("Do not import two packages that each bring a backend at PrivateUse1.",),
    ),
    Message(
        TextKind.NO_DEVICE_MODULE,
        "the backend {device} has no Python module in torch",
        (
            "Device '{device}' does not have a corresponding module registered as 'torch.",
            "No module named 'torch.{private_device}'",
        ),
        "torch/__init__.py, torch/_utils.py",
        key="PrivateUse1",
        means=(
            "For streams, random numbers and the like PyTorch calls the Python module `torch.NAME` of a backend. A "
            "backend outside of PyTorch registers its name and that module when its package is imported; without a "
            "name the device is called privateuseone."
        ),
        user=("Import the package of the backend before the first tensor is created, such as `import torch_npu`.",),
        author=(
            "Call torch.utils.rename_privateuse1_backend('name') for the name, and "
            "torch._register_device_module('name', module) for the module.",
        ),
    ),
    Message(
        TextKind.LIBRARY_GONE,
        "the Library object was destroyed, and with it its registrations",
        ("Library object has been destroyed",),
        "Library in torch/library.py",
        means="Registrations made through a `torch.library.Library` object are removed when the object is.",
        author=("Keep the object in a variable of the module.",),
    ),
    Message(
        TextKind.OLD_GUARD,
        "AutoNonVariableTypeMode is the old name of a C++ guard",
        ("AutoNonVariableTypeMode is deprecated",),
        "ATen/core/LegacyTypeDispatch.h",
        means="The code was written for PyTorch 1.8 or older.",
        author=("Use at::AutoDispatchBelowADInplaceOrView in kernels, and c10::InferenceMode for inference.",),
        warning=True,
    ),
)
