"""Texts about registrations, each printed by a function that registers what is refused or warned of."""

import torch
from message_case import prints

C, Library = torch._C, torch.library.Library
KEPT = []
"""Libraries that must live on."""
_NOT_OVER = {"allow_override": False} if "allow_override" in torch.library.Library.impl.__code__.co_varnames else {}
_REFUSED = {"allow_override": False} if "allow_override" in torch.library.register_fake.__kwdefaults__ else {}


def _library(namespace, kind="FRAGMENT", key=""):
    library = Library(namespace, kind, key)
    KEPT.append(library)
    return library


def _operator(namespace):
    """A library with one operator."""
    library = _library(namespace)
    library.define("f(Tensor x) -> Tensor")
    return library


def _double(x):
    return x * 2


def _raw(kind, namespace, key="", line=1):
    library = C._dispatch_library(kind, namespace, key, "/dev/null", line)
    KEPT.append(library)
    return library


@prints("overridden", "Overriding a previously registered kernel", operator="first::f")
def kernel_twice():
    _raw("FRAGMENT", "first").def_("f(Tensor x) -> Tensor")
    for line in (2, 3):
        _raw("IMPL", "first", "CPU", line).impl_t_t("f", "CPU", f"impl {line}")


@prints("defined-twice", "Tried to register an operator", operator="twice::f")
def operator_twice():
    _operator("twice")
    _library("twice").define("f(Tensor x, int n=1) -> Tensor")


@prints("defined-twice", "Only a single TORCH_LIBRARY")
def library_twice():
    _library("alone", "DEF")
    _library("alone", "DEF")


@prints("defined-twice", "already a kernel registered from python", operator="again::f")
def python_twice():
    library = _operator("again")
    for _ in range(2):
        library.impl("f", _double, "CUDA", **_NOT_OVER)


@prints("not explained", "Trying to override a python impl", operator="impls::f")
def py_impl_twice():
    _operator("impls")
    for _ in range(2):
        torch.ops.impls.f.default.py_impl(C.DispatchKey.CPU)(_double)


@prints("not explained", "rule registered for", operator="rules::f")
def torch_dispatch_twice():
    class Mode(torch.utils._python_dispatch.TorchDispatchMode):
        pass

    _operator("rules")
    for _ in range(2):
        torch.library.register_torch_dispatch("rules::f", Mode, _double)


@prints("not explained", "multiple backend fallbacks")
def fallback_twice():
    for line in (1, 2):
        _raw("IMPL", "_", "PrivateUse2", line).fallback_fallthrough("PrivateUse2")


@prints("not explained", "Fallback can only be registered using library fragment on the global")
def fallback_of_a_namespace():
    _library("narrow", "IMPL").fallback(_double, "PrivateUse3")


@prints(
    "defined-twice", "already has a fake impl registered", "already has an abstract impl registered", operator="fakes::f"
)
def fake_twice():
    _operator("fakes")
    for _ in range(2):
        torch.library.register_fake("fakes::f", _double, **_REFUSED)


@prints("defined-twice", "DispatchKey::Meta implementation", operator="metas::f")
def fake_beside_meta():
    _operator("metas").impl("f", _double, "Meta")
    torch.library.register_fake("metas::f", _double, **_REFUSED)


@prints("defined-twice", "DispatchKey::CompositeImplicitAutograd", operator="composites::f")
def fake_beside_composite():
    _operator("composites").impl("f", _double, "CompositeImplicitAutograd")
    torch.library.register_fake("composites::f", _double, **_REFUSED)


@prints("defined-twice", "We should not register a meta kernel directly", operator="dropout")
def meta_for_composite():
    _library("aten", "IMPL").impl("dropout", _double, "Meta")


@prints("not explained", "is a reserved namespace")
def reserved_namespace():
    Library("prim", "DEF")


@prints("bad-registration", "does not match namespace of enclosing")
def definition_of_another_namespace():
    _library("here").define("there::f(Tensor x) -> Tensor")


@prints("bad-registration", "does not match namespace of enclosing")
def kernel_of_another_namespace():
    _raw("FRAGMENT", "here2").def_("f(Tensor x) -> Tensor")
    _raw("IMPL", "here2", "CPU").impl_t_t("there::f", "CPU", "x")


@prints("bad-registration", "Cannot define an operator inside of a TORCH_LIBRARY_IMPL block")
def definition_in_a_block_of_kernels():
    _raw("IMPL", "blocks", "CPU").def_("f(Tensor x) -> Tensor")


@prints("bad-registration", "is inconsistent with the dispatch key of the enclosing")
def key_of_another_block():
    _raw("FRAGMENT", "blocks2").def_("f(Tensor x) -> Tensor")
    _raw("IMPL", "blocks2", "CPU").impl_t_t("f", "CUDA", "x")


@prints("bad-registration", "Cannot define an operator inside of a TORCH_LIBRARY block", "only a single namespace")
def fallback_in_a_block_of_definitions():
    _raw("IMPL", "narrow2", "PrivateUse3").fallback_fallthrough("PrivateUse3")


@prints("bad-registration", "could not parse dispatch key")
def key_of_an_older_version():
    C._dispatch_key_parse("SparseCPUTensorId")


@prints("bad-registration", "could not parse dispatch key")
def kernel_at_a_key_of_an_older_version():
    _operator("older").impl("f", _double, "VariableTensorId")


@prints("not explained", "is not supported, please select a dispatch key in")
def key_of_the_teaching_dispatcher():
    from torch._python_dispatcher import PythonDispatcher

    PythonDispatcher().register(["CPUTensorId"])


@prints("not explained", "is not allowed")
def two_composites():
    from torch._python_dispatcher import PythonDispatcher

    PythonDispatcher().register(["CompositeImplicitAutograd", "CompositeExplicitAutograd"])


@prints("not explained", "should be passed either a name or an OpOverload")
def kernel_of_a_packet():
    _library("packets").impl(torch.ops.aten.add, _double, "CPU")


@prints("bad-registration", "infer_schema(func):")
def function_without_annotations():
    @torch.library.custom_op("unannotated::f", mutates_args=())
    def f(x):
        return x.clone()


@prints("bad-registration", "Expected `qualname` to be of the form", 'must be of the form "namespace::name"')
def name_without_a_namespace():
    torch.library.define("nowhere", "(Tensor x) -> Tensor")


@prints("not explained", "expected schema to look like")
def schema_with_a_name():
    torch.library.define("schemas::f", "f(Tensor x) -> Tensor")


@prints("not explained", "mutates_args")
def other_mutation_than_in_the_schema():
    @torch.library.custom_op("mutating::f", mutates_args=("x",), schema="(Tensor x) -> Tensor")
    def f(x):
        return x.clone()


@prints("signature-mismatch", "doesn't match the expected function schema", operator="mismatch::f")
def schema_of_another_kernel():
    _raw("FRAGMENT", "mismatch").def_("f(Tensor x, Tensor y) -> Tensor")
    _raw("IMPL", "mismatch", "CPU").impl_t_t("f", "CPU", "x")


@prints("not explained", "Cannot register autograd formula for non-functional operator", operator="formulas::f")
def formula_of_a_mutating_operator():
    _library("formulas").define("f(Tensor(a!) x) -> ()")
    torch.library.register_autograd("formulas::f", _double)


@prints("not explained", "Cannot register autograd formula for non-functional operator", operator="formulas2::f")
def formula_of_a_mutating_custom_op():
    @torch.library.custom_op("formulas2::f", mutates_args=("x",))
    def f(x: torch.Tensor) -> None:
        x.add_(1)

    f.register_autograd(_double)


@prints("not explained", "kwarg-only Tensor args")
def formula_of_keyword_tensors():
    _library("keywords").define("f(*, Tensor x) -> Tensor")
    torch.library.register_autograd("keywords::f", _double)


@prints("not explained", "Cannot register privateuse1 backend with in-tree device name")
def name_of_a_device_in_tree():
    torch.utils.rename_privateuse1_backend("cuda")


@prints("not explained", "has already been set")
def second_name_of_a_backend():
    torch.utils.rename_privateuse1_backend("mine")
    torch.utils.rename_privateuse1_backend("yours")


@prints("not explained", "Library object has been destroyed")
def library_that_is_gone():
    library = Library("gone", "FRAGMENT")
    library._destroy()
    library.define("f(Tensor x) -> Tensor")
