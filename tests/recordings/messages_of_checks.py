"""Texts of the checks of operators: opcheck, schema checks, composite compliance."""

import torch
from message_case import prints
from torch.library import custom_op, opcheck

_LIBRARY = torch.library.Library("checked", "FRAGMENT")


def _operator(name, schema, **kernels):
    _LIBRARY.define(name + schema)
    for key, kernel in kernels.items():
        _LIBRARY.impl(name, kernel, key)
    return getattr(torch.ops.checked, name).default


@prints("no-meta", "opcheck(op, ...): test_faketensor failed")
def operator_without_a_fake():
    opcheck(_operator("f", "(Tensor x) -> Tensor", CPU=lambda x: x.clone()), (torch.ones(2),))


@prints("not explained", "found mismatched tensor metadata", operator="checked::other_size")
def fake_of_another_size():
    kernels = {"CPU": lambda x: x.clone(), "Meta": lambda x: x.new_empty(7)}
    opcheck(_operator("other_size", "(Tensor x) -> Tensor", **kernels), (torch.ones(2),))


@prints("not explained", "autograd_registration_check: no inputs have requires_grad=True")
def inputs_without_a_gradient():
    op = _operator("j", "(Tensor x) -> Tensor", CPU=lambda x: x.clone(), Meta=lambda x: x.clone())
    # opcheck leaves this test out where no input requires a gradient
    from torch.testing._internal.optests.autograd_registration import autograd_registration_check

    autograd_registration_check(op, (torch.ones(2),), {})


@prints("not explained", "does not have an autograd kernel defined")
def gradient_at_another_key():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    op = _operator("g", "(Tensor x) -> Tensor", CPU=Double.apply, Meta=lambda x: x.clone())
    opcheck(op, (torch.ones(2, requires_grad=True),), test_utils="test_autograd_registration")


@prints("wrong-mutation", "is not defined as mutable but was mutated")
def argument_that_is_changed():
    opcheck(_operator("h", "(Tensor x) -> Tensor", CPU=lambda x: x.add_(1).clone()), (torch.ones(2),))


@prints("not explained", "is not defined to alias output but was aliasing", "directly return inputs")
def view_that_is_not_told():
    opcheck(_operator("i", "(Tensor x) -> Tensor", CPU=lambda x: x.view(-1)), (torch.ones(2, 2),))


@prints("wrong-mutation", "must not also be an input", operator="f")
def argument_that_is_returned():
    @custom_op("returned::f", mutates_args=())
    def f(x: torch.Tensor) -> torch.Tensor:
        return x

    f(torch.ones(2))


@prints("wrong-mutation", "for argument", operator="changed::f")
def change_that_is_not_told():
    from torch._library.utils import MutationChecker

    torch.library.define("changed::f", "(Tensor x) -> Tensor")
    x = torch.ones(2)
    leaves, spec = torch.utils._pytree.tree_flatten(((x,), {}))
    checker = MutationChecker(torch.ops.changed.f.default, leaves, spec)
    x.add_(1)
    checker.check()


@prints("not explained", "Composite compliance check failed")
def composite_that_sets_data():
    from torch.testing._internal.composite_compliance import check_with_mode

    def f(x):
        return x.clone().set_(x)

    check_with_mode(f, (torch.ones(2),), {}, torch.testing.assert_close)


@prints("not explained", "Not composite compliant: performing in-place operation")
def composite_that_writes_a_subclass_into_a_plain_tensor():
    from torch.testing._internal.composite_compliance import check_all_permutations

    check_all_permutations(lambda x, y: x.add_(y), (torch.zeros(2), torch.ones(2)), {}, torch.testing.assert_close)


@prints("not explained", ".item() is not allowed to be called inside of composite functions")
def composite_that_reads_data():
    from torch.testing._internal.composite_compliance import check_with_mode

    check_with_mode(lambda x: x.sum() * x.sum().item(), (torch.ones(2),), {}, torch.testing.assert_close)
