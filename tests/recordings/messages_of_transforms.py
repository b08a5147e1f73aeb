"""Texts about vmap, grad and functionalization."""

import torch
from message_case import prints
from torch.func import functionalize, grad, vmap


class _Bare(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g


class _Set(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.clone()

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g


class _Both(_Set):
    generate_vmap_rule = True

    @staticmethod
    def vmap(info, in_dims, x):
        return x.clone(), in_dims[0]


def _batch():
    return torch.ones(2, 3)


@prints("no-batching-rule", "batching rule", operator="slow::f")
def loop_in_place_of_a_rule():
    torch.library.define("slow::f", "(Tensor x) -> Tensor")
    torch.library.impl("slow::f", "CPU")(lambda x: x.clone())
    vmap(torch.ops.slow.f)(_batch())


@prints("no-batching-rule", "Batching rule not implemented", operator="views::f")
def view_without_a_rule():
    torch.library.define("views::f", "(Tensor(a) x) -> Tensor(a)")
    torch.library.impl("views::f", "CPU")(lambda x: x.view(-1))
    vmap(torch.ops.views.f)(_batch())


@prints("no-batching-rule", "Batching rule not implemented", operator="lists::f")
def list_without_a_rule():
    torch.library.define("lists::f", "(Tensor[] x) -> Tensor")
    torch.library.impl("lists::f", "CPU")(lambda x: x[0].clone())
    vmap(lambda x: torch.ops.lists.f([x]))(_batch())


@prints("no-batching-rule", "vmap fallback which is currently disabled", operator="off::f")
def loop_that_is_off():
    torch.library.define("off::f", "(Tensor x) -> Tensor")
    torch.library.impl("off::f", "CPU")(lambda x: x.clone())
    torch._C._functorch._set_vmap_fallback_enabled(False)
    try:
        vmap(torch.ops.off.f)(_batch())
    finally:
        torch._C._functorch._set_vmap_fallback_enabled(True)


@prints("vmap-random", "randomness error mode")
def random_numbers():
    vmap(lambda x: x + torch.randn(3))(_batch())


@prints("not explained", "inplace randomness")
def random_numbers_in_place():
    y = torch.ones(3)
    vmap(lambda x: x + y.normal_(), randomness="different")(_batch())


@prints("vmap-in-place", "is not possible because there exists a Tensor")
def in_place_without_a_batch():
    y = torch.ones(3)
    vmap(lambda x: y.mul_(x.unsqueeze(0).sum()))(_batch())


@prints("vmap-in-place", "is not possible because there exists a Tensor", operator="inplace::f_")
def in_place_by_the_loop():
    torch.library.define("inplace::f_", "(Tensor(a!) y, Tensor x) -> Tensor(a!)")
    torch.library.impl("inplace::f_", "CPU")(lambda y, x: y.add_(x))
    y = torch.ones(3)
    vmap(lambda x: torch.ops.inplace.f_(y, x))(_batch())


@prints("vmap-data", "calling .item() on a Tensor")
def value_under_vmap():
    vmap(lambda x: x * x.sum().item())(_batch())


@prints("vmap-data", "data-dependent control flow")
def condition_under_vmap():
    vmap(lambda x: x if x.sum() > 0 else -x)(_batch())


@prints("not explained", "Attempted to vmap over `mask`")
def mask_under_vmap():
    vmap(lambda x: torch.masked_select(x, x > 0))(_batch())


@prints("function-transform", "In order to use an autograd.Function with functorch transforms")
def function_without_a_context():
    grad(lambda x: _Bare.apply(x).sum())(torch.ones(2))


@prints("function-transform", "does not have vmap support")
def function_without_a_rule():
    vmap(_Set.apply)(_batch())


@prints("not explained", "has both generate_vmap_rule=True")
def function_with_two_rules():
    vmap(_Both.apply)(_batch())


@prints("not explained", "NYI: Functionalize rule for custom_function_call")
def function_functionalized():
    functionalize(_Set.apply)(torch.ones(2, requires_grad=True))


@prints("vmap-arguments", "may have escaped from inside a function")
def tensor_that_escaped():
    kept = []
    vmap(lambda x: kept.append(x) or x)(_batch())
    kept[0] + 1


@prints("functionalize-alias", "whose output has alias annotations", operator="aliases::f")
def view_functionalized():
    torch.library.define("aliases::f", "(Tensor(a) x) -> Tensor(a)")
    torch.library.impl("aliases::f", "CPU")(lambda x: x.view(-1))
    functionalize(torch.ops.aliases.f)(_batch())


@prints("functionalize-alias", "either mutates or", "has alias annotations", operator="aliases::changes")
def mutation_functionalized():
    torch.library.define("aliases::changes", "(Tensor(a!) x) -> ()")
    torch.library.impl("aliases::changes", "CPU")(lambda x: x.add_(1) and None)
    functionalize(torch.ops.aliases.changes)(_batch())


@prints("not explained", "mutating a non-functional tensor with a functional tensor")
def outer_tensor_changed():
    y = torch.ones(2, 3)
    functionalize(lambda x: y.add_(x))(_batch())


@prints("not explained", "during the functionalization pass", "allowed in the functionalization pass")
def sparse_functionalized():
    functionalize(lambda x: x.to_sparse().coalesce().indices())(torch.eye(2))
    functionalize(lambda x: x[0].resize_(9))(torch.eye(2))


@prints("not explained", "There was no rule registered for", operator="cond")
def mode_without_a_rule():
    class Mode(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    with Mode():
        torch.ops.higher_order.cond(torch.tensor(True), lambda x: x.sin(), lambda x: x.cos(), (torch.ones(2),))


@prints("not explained", "could not find kernel for HigherOrderOperator", operator="cond")
def key_without_a_rule():
    torch.ops.higher_order.cond.dispatch(
        torch._C.DispatchKey.AutocastCPU, torch.tensor(True), lambda x: x, lambda x: x, ()
    )
