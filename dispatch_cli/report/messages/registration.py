"""Texts about registrations of operators and kernels: two of one thing."""

from __future__ import annotations

from dispatch_cli.report.messages.kinds import Message, TextKind

MESSAGES = (
    Message(
        TextKind.OVERRIDDEN,
        "{op} got a second kernel at {key}; the new one is used",
        (
            "Overriding a previously registered kernel for the same operator and the same dispatch key "
            "{**}operator: {op}[[({**}dispatch key: {key}"
            "[[ {**}previous kernel: {previous_line}[[ {**}new kernel: {new}]]]]]]",
        ),
        "OperatorEntry::registerKernel",
        means=(
            "Two registrations name one operator and one key. The newer stands in front; when it goes (its library is "
            "deleted) the older is active again. The warning comes once in a process, for the first such operator only."
        ),
        user=("If both are wanted (a library that replaces a kernel of PyTorch), the warning is harmless.",),
        author=(
            "If it is not wanted: the code is loaded twice, or two libraries implement one operator. Import one of "
            "them.",
            "From Python, `Library.impl(…, allow_override=True)` says that it is meant (newer versions of PyTorch).",
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
            "An operator has one schema, given by one `def` or `define`. The text names both places. Mostly the same "
            "library is loaded twice: a wheel and a build of its sources, a notebook cell run again, a module that is "
            "imported under two names."
        ),
        user=(
            "Look whether two versions of the library are installed; uninstall one, and restart Python.",
            "In a notebook, restart the kernel, or keep the `define` in a cell of its own.",
        ),
        author=(
            "Python: `torch.library.Library(ns, 'FRAGMENT')` kept in a variable, and deleted before it is made anew.",
            "Give kernels by `impl` in place of a second `def`.",
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
            "A namespace has one TORCH_LIBRARY block, or one `Library(ns, 'DEF')`. The text names both places; if they "
            "are one and the same, the shared library is loaded twice."
        ),
        user=("Look whether two versions of the library are installed or loaded; keep one.",),
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
        means="Python keeps a list of what `Library.impl` registered, and refuses a second kernel at the same key.",
        user=("Mostly a module is imported or a cell is run twice; restart Python.",),
        author=("Pass `allow_override=True` (newer versions of PyTorch), or delete the first Library before.",),
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
        means="`py_impl` gives one implementation for a key, a mode or a subclass, and refuses a second.",
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
        means="A key has one backend fallback for all operators (rule 9), registered in the namespace `_`.",
        author=("Register it once: `TORCH_LIBRARY_IMPL(_, KEY, m) { m.fallback(…); }`. See who has one in the text.",),
    ),
    Message(
        TextKind.FAKE_TWICE,
        "{op} can not have this fake implementation: it has something at Meta, or decomposes",
        (
            "register_fake(...): the operator {op} already has a[[n]] fake impl registered at {previous_place}.",
            "register_fake(...): the operator {op} already has a[[n]] {*}implementation",
            "impl_abstract(...): the operator {op} already has a[[n]] {*}implementation",
            "the operator {op} already has an abstract impl registered at {previous_place}.",
        ),
        "FakeImplHolder.register in torch/_library/fake_impl.py",
        key="Meta",
        means=(
            "A fake implementation is put at Meta. An operator with a kernel there has one already; one with a "
            "kernel at CompositeImplicitAutograd needs none, because it decomposes into operators that have."
        ),
        author=("Remove one of the two; newer versions of register_fake take `allow_override=True`.",),
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
            "{op} has a kernel at CompositeImplicitAutograd. It fills the Meta slot too (rule 6): the operator "
            "decomposes into others, each with a Meta kernel. A kernel at Meta would hide that, and PyTorch refuses "
            "it from Python."
        ),
        author=(
            "Leave it out; give Meta kernels to the operators that it decomposes into.",
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
        means="One out-of-tree backend per process can have the key PrivateUse1; its name is given once.",
        user=("Do not import two packages that both bring a backend at PrivateUse1.",),
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
            "For streams, random numbers and the like PyTorch asks the module `torch.NAME` of a backend. A backend "
            "outside of PyTorch registers it when its package is imported; until it has a name it is privateuseone."
        ),
        user=("Import the package of the backend before the first tensor is made, such as `import torch_npu`.",),
        author=(
            "torch.utils.rename_privateuse1_backend('name') gives the name, and "
            "torch._register_device_module('name', module) the module.",
        ),
    ),
    Message(
        TextKind.LIBRARY_GONE,
        "the Library object was destroyed, and with it its registrations",
        ("Library object has been destroyed",),
        "Library in torch/library.py",
        means="What a `torch.library.Library` registers lives as long as the object.",
        author=("Keep it in a variable of the module.",),
    ),
    Message(
        TextKind.OLD_GUARD,
        "AutoNonVariableTypeMode is the old name of a guard",
        ("AutoNonVariableTypeMode is deprecated",),
        "ATen/core/LegacyTypeDispatch.h",
        means="The code was written for PyTorch before 1.9, where Autograd was called Variable.",
        author=("In kernels use at::AutoDispatchBelowADInplaceOrView; for inference c10::InferenceMode.",),
        warning=True,
    ),
)
