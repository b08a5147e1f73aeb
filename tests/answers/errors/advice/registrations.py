"""Texts about definitions and registrations."""

import torch
from torch.library import Library, custom_op

from tests.answers.errors.advice.fakes import compiled
from tests.answers.errors.advice.slots import ONE, define
from tests.answers.errors.advice.trial import tries, untried

C = torch._C
KEPT = []
"""Libraries that must live on."""


def raw(kind, namespace, key="", line=1):
    """A library as C++ makes it."""
    library = C._dispatch_library(kind, namespace, key, "/dev/null", line)
    KEPT.append(library)
    return library


def double(x):
    return x * 2


@tries(
    "overridden",
    "remove one of the two",
    unchanged=("The newer kernel runs",),
    until="2.13",
)
def kernel_twice(advice):
    raw("FRAGMENT", "t").def_("f(Tensor x) -> Tensor")
    for line in (2,) if advice else (2, 3):
        raw("IMPL", "t", "CPU", line).impl_t_t("f", "CPU", f"impl {line}")


untried(
    "overridden",
    "If a package is meant to replace a kernel of PyTorch",
    "as the newer kernel that runs, which is tried",
)


@tries(
    "defined-twice",
    "keep the torch.library.Library in a variable, and delete it",
    "In Python, define what is not there, `if not hasattr(torch.ops.ns, 'f'):`",
)
def operator_twice(advice):
    for _ in range(2):
        library = Library("t", "FRAGMENT")
        if "hasattr" in advice:
            if not hasattr(torch.ops.t, "f"):
                library.define("f(Tensor x) -> Tensor")
                library.impl("f", double, "CPU")
            KEPT.append(library)
        else:
            library.define("f(Tensor x) -> Tensor")
            library.impl("f", double, "CPU")
            if advice:
                library._destroy() if _ == 0 else KEPT.append(library)
            else:
                KEPT.append(library)
    assert torch.ops.t.f(ONE).sum() == 8


untried(
    "defined-twice",
    "Check whether two versions of the library are installed",
    "something to look at; no change of a program",
)


@tries("defined-twice", "or `Library(ns, 'FRAGMENT')`, in all places but one")
def library_twice(advice):
    KEPT.append(Library("t", "DEF"))
    KEPT.append(Library("t", "FRAGMENT" if advice else "DEF"))
    KEPT[1].define("f(Tensor x) -> Tensor")


untried(
    "defined-twice",
    "Check whether two versions of the library are installed",
    "something to look at; no change of a program",
)


@tries(
    "defined-twice",
    "Use PyTorch 2.13 or newer",
    "or pass `allow_override=True`",
    "and delete it before you create it again",
    since="2.13",
)
def python_kernel_twice(advice):
    define("t::f", "(Tensor x) -> Tensor")
    first, second = Library("t", "IMPL"), Library("t", "IMPL")
    first.impl("f", double, "CPU")
    if "delete" in advice:
        first._destroy()
    given = {"allow_override": "pass" in advice} if "2.13" not in advice else {}
    second.impl("f", lambda x: x * 3, "CPU", **given)
    assert torch.ops.t.f(ONE).sum() == 12


@tries("defined-twice", "Remove one of the two", "or pass `allow_override=True`", since="2.8")
def fake_twice(advice):
    define("t::f", "(Tensor x) -> Tensor", CPU=double)
    for number in range(1 if "Remove" in advice else 2):
        torch.library.register_fake("t::f", torch.empty_like, allow_override=bool(advice and number))
    assert compiled(torch.ops.t.f)(ONE).sum() == 8


@tries("defined-twice", "Remove one of the two", since="2.8")
def fake_beside_meta(advice):
    define("t::f", "(Tensor x) -> Tensor", CPU=double, Meta=torch.empty_like)
    if not advice:
        torch.library.register_fake("t::f", torch.empty_like, allow_override=False)
    assert compiled(torch.ops.t.f)(ONE).sum() == 8


@tries("bad-registration", "Name in mutates_args the tensors")
def mutated_argument_that_is_no_tensor(advice):
    @custom_op("t::f", mutates_args=("x",) if advice else ("n",))
    def f(x: torch.Tensor, n: int) -> None:
        x.add_(n)

    x = torch.zeros(2)
    f(x, 3)
    assert x.sum() == 6


@tries("bad-registration", "Annotate each argument", "Or give the schema")
def function_without_annotations(advice):
    if "Annotate" in advice:

        @custom_op("t::f", mutates_args=())
        def f(x: torch.Tensor, n: int = 1) -> torch.Tensor:
            return x + n

    else:

        @custom_op("t::f", mutates_args=(), **({"schema": "(Tensor x) -> Tensor"} if advice else {}))
        def f(x):
            return x + 1

    assert f(ONE).sum() == 8


@tries("signature-mismatch", "Change the function or the schema")
def schema_of_another_kernel(advice):
    raw("FRAGMENT", "t").def_("f(Tensor x) -> Tensor" if advice else "f(Tensor x, Tensor y) -> Tensor")
    raw("IMPL", "t", "CPU").impl_t_t("f", "CPU", "x")


untried(
    "signature-mismatch", "If the code is not yours: the extension may be built", "needs another build of an extension"
)
untried("signature-mismatch", "A `def` without a schema", "needs C++")
untried("wrong-mutation", 'compile with `backend="aot_eager"`', "needs a fault of PyTorch")


@tries("wrong-mutation", "Return `x.clone()`", "An operator that only changes arguments should return nothing")
def argument_that_is_returned(advice):
    if "nothing" in advice:

        @custom_op("t::f", mutates_args=("x",))
        def f(x: torch.Tensor) -> None:
            x.add_(1)

    else:

        @custom_op("t::f", mutates_args=("x",))
        def f(x: torch.Tensor) -> torch.Tensor:
            x.add_(1)
            return x.clone() if advice else x

    x = torch.ones(2)
    f(x)
    assert x.sum() == 4


@tries("wrong-mutation", "`-> Tensor` takes a tensor, and no number or list")
def number_for_a_tensor(advice):
    op = define("t::f", "(Tensor x) -> Tensor", CPU=lambda x: x.new_tensor(3) if advice else 3)
    assert op(ONE) == 3


@tries("wrong-mutation", "and `-> ()` None alone")
def result_for_none(advice):
    op = define("t::f", "(Tensor x) -> ()", CPU=lambda x: None if advice else x + 1)
    assert op(ONE) is None


@tries("wrong-mutation", "Correct the fake implementation")
def dtype_that_was_not_promised(advice):
    @custom_op("t::f", mutates_args=())
    def f(x: torch.Tensor) -> torch.Tensor:
        return x.double() + 1

    f.register_fake(lambda x: torch.empty_like(x, dtype=torch.float64) if advice else torch.empty_like(x))
    torch.library.opcheck(f, (torch.ones(2),))


@tries(
    "wrong-mutation",
    "exclude the call: `@torch.compiler.disable`",
    "`torch.empty_strided(size, stride)`",
    since="2.13",
)
def strides_that_were_not_promised(advice):
    @custom_op("t::f", mutates_args=())
    def f(x: torch.Tensor) -> torch.Tensor:
        return x.t().contiguous().t()

    @f.register_fake
    def _(x):
        return torch.empty_strided(x.shape, (1, 3)) if "strided" in advice else torch.empty_like(x)

    torch.compiler.config.force_disable_caches = "strided" in advice
    call = torch.compiler.disable(f) if "disable" in advice else f
    # a matrix product, since sums would be compiled as C++, which takes long
    torch.compile(lambda x: call(x) @ x.t())(torch.ones(3, 5))


@tries("bad-registration", "and not those of C++ or Python")
def schema_with_types_of_c(advice):
    define("t::f", "(int n) -> ()" if advice else "(int64_t n) -> ()")


@tries("bad-registration", "Only an operator that changes no argument and returns no view has a formula")
def formula_of_a_change_in_place(advice):
    op = define("t::f", "(Tensor x) -> Tensor" if advice else "(Tensor(a!) x) -> ()", CPU=lambda x: x + 1)
    torch.library.register_autograd("t::f", lambda ctx, g: g)
    assert op(ONE).sum() == 8


@tries("wrong-mutation", "the parameters of the operator's schema, in their order and with the same defaults")
def fake_implementation_without_a_default(advice):
    op = define("t::f", "(Tensor x, int n=1) -> Tensor", CPU=lambda x, n=1: x + n)

    def f_fake(x, n=1):
        return x.clone()

    def other_fake(x, n):
        return x.clone()

    torch.library.register_fake("t::f")(f_fake if advice else other_fake)
    assert torch.compile(op, backend="eager")(ONE).sum() == 8


@tries(
    "wrong-mutation",
    "give it the parameters of the operator's schema",
    "exclude the call: `@torch.compiler.disable`",
    since="2.13",
)
def fake_implementation_with_too_few_parameters(advice):
    op = define("t::f", "(Tensor x, int n) -> Tensor", CPU=lambda x, n: x + n)
    torch.library.register_fake("t::f")((lambda x, n: x.clone()) if "give" in advice else (lambda x: x.clone()))
    call = torch.compiler.disable(op) if "disable" in advice else op
    assert torch.compile(lambda x: call(x, 1) * 2, backend="eager", fullgraph=not advice)(ONE).sum() == 16


@tries("bad-registration", "Defaults are numbers, bools, None", since="2.13")
def tensor_as_a_default(advice):
    def shift(x: torch.Tensor, w: torch.Tensor | None = None if advice else ONE) -> torch.Tensor:
        return x + (1 if w is None else w)

    assert custom_op("t::f", shift, mutates_args=())(ONE).sum() == 8


@tries("bad-registration", "is for TORCH_LIBRARY, `impl`")
def definition_in_a_block_of_kernels(advice):
    raw("FRAGMENT" if advice else "IMPL", "t", "" if advice else "CPU").def_("f(Tensor x) -> Tensor")


@tries("not-defined", "keep its Library in a variable of a module")
def library_that_is_deleted(advice):
    library = Library("t", "FRAGMENT")
    library.define("f(Tensor x) -> Tensor")
    if advice:
        KEPT.append(library)
    del library
    assert torch.ops.t.f


@tries("defined-twice", "leave that out, or name it otherwise")
def operator_twice_by_one_library(advice):
    KEPT.append(Library("t", "FRAGMENT"))
    for name in ("f", "g" if advice else "f"):
        KEPT[-1].define(f"{name}(Tensor x) -> Tensor")


@tries("defined-twice", "Leave it out")
def fake_beside_composite(advice):
    op = define("t::f", "(Tensor x) -> Tensor", CompositeImplicitAutograd=double)
    if not advice:
        torch.library.register_fake("t::f", torch.empty_like)
    x = torch.ones(2, requires_grad=True)
    compiled(op)(x).sum().backward()
    assert x.grad.sum() == 4
