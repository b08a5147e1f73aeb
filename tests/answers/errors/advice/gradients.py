"""Texts about gradients and inference mode."""

import contextlib

import torch
from torch.autograd import forward_ad
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import return_and_correct_aliasing

from tests.answers.errors.advice.fakes import clone_op
from tests.answers.errors.advice.trial import tries, untried


def training(*values):
    return torch.tensor(values, requires_grad=True)


@tries(
    "no-derivative",
    "call it with `x.detach()`",
    "`my_op.register_autograd(backward, setup_context=setup_context)`",
)
def backward_without_a_formula(advice):
    f, x = clone_op(), training(1.0, 2.0)
    if "register" in advice:
        f.register_autograd(lambda ctx, g: g * 2, setup_context=lambda ctx, inputs, output: None)
    y = f(x.detach()) if "detach" in advice else f(x)
    (y * x).sum().backward()
    assert x.grad.sum() == (11 if "register" in advice else 5)


class Summed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, number, shape):
        ctx.returned = number, shape
        return x * 2 + y.detach()

    @staticmethod
    def backward(ctx, g):
        number, shape = ctx.returned
        return (g.new_ones(shape), *[None] * (number - 1))


@tries("wrong-gradients", "Let it return one value for each input")
def gradients_that_are_too_few(advice):
    Summed.apply(training(1.0, 2.0), torch.ones(2), 4 if advice else 2, (2,)).sum().backward()


@tries("wrong-gradients", "Let `backward` return None at that position")
def gradient_of_a_number(advice):
    class Times(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, n):
            return x * n

        @staticmethod
        def backward(ctx, g):
            return g * 3, None if advice else g

    Times.apply(training(1.0, 2.0), 3).sum().backward()


@tries("wrong-gradients", "Let `backward` return gradients of the shape, dtype and device")
def gradient_of_another_shape(advice):
    Summed.apply(training(1.0, 2.0), torch.ones(2), 4, (2,) if advice else (3,)).sum().backward()


@tries(
    "no-derivative",
    "omit create_graph=True",
    "plain operators (indexing, sums)",
    "Attention that has them",
)
def second_derivative_of_attention(advice):
    q = torch.rand(1, 1, 4, 8, requires_grad=True)
    with sdpa_kernel(SDPBackend.MATH) if "Attention" in advice else contextlib.nullcontext():
        attention = torch.nn.functional.scaled_dot_product_attention
        loss = (q @ q.mT if "plain" in advice else attention(q, q, q)).sum()
    (g,) = torch.autograd.grad(loss, q, create_graph="create_graph" not in advice)
    if g.requires_grad:
        g.sum().backward()


class Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, at_zero):
        return torch.heaviside(x, at_zero)

    @staticmethod
    def backward(ctx, g):
        return torch.zeros_like(g), None


@tries(
    "no-derivative",
    "call it with `x.detach()`",
    "as an autograd.Function of your own",
    "with operators that have derivatives",
)
def operator_without_a_derivative(advice):
    x, at_zero = training(-1.0, 2.0), torch.ones(2)
    if "detach" in advice:
        y = torch.heaviside(x.detach(), at_zero)
    elif "Function" in advice:
        y = Step.apply(x, at_zero)
    elif "operators" in advice:
        y = torch.where(x > 0, x * 0 + 1, x * 0)
    else:
        y = torch.heaviside(x, at_zero)
    (y * x).sum().backward()
    assert x.grad.tolist() == [0, 1]


@tries("no-derivative", "a smooth form: soft bins for a histogram")
def histogram_without_a_derivative(advice):
    x, edges = training(0.2, 0.7), torch.tensor([0.0, 0.5, 1.0])
    if advice:
        above = torch.sigmoid((x[:, None] - edges) / 0.1).sum(0)
        y = above[:-1] - above[1:]
    else:
        y = torch.histogram(x, edges).hist
    y[0].backward()
    assert x.grad[0] < 0 or x.grad[1] < 0


@tries("no-derivative", "`torch.zeros(n).index_add(0, i, weights)`")
def counts_without_a_derivative(advice):
    index, weights = torch.tensor([0, 1, 1]), training(1.0, 2.0, 3.0)
    y = torch.zeros(2).index_add(0, index, weights) if advice else torch.bincount(index, weights=weights)
    y[1].backward()
    assert weights.grad.tolist() == [0, 1, 1]


@tries("no-derivative", "call it with `x.detach()`")
def input_without_a_derivative(advice):
    x, y = training(2.0, 3.0), training(2.0, 3.0)
    torch.special.zeta(x.detach() if advice else x, y).sum().backward()
    assert y.grad.isfinite().all()


@tries("no-derivative", "call it with `x.detach()`")
def argument_without_a_derivative(advice):
    weight, x, target = torch.ones(2, requires_grad=True), torch.ones(2, 2), torch.tensor([0, 1])
    torch.nn.functional.nll_loss(x, target, weight.detach() if advice else weight)


@tries("no-derivative", "Use reverse mode: backward(), torch.func.vjp or jacrev", until="2.13")
def forward_mode_without_a_derivative(advice):
    picture, grid = torch.rand(1, 1, 4, 4), torch.rand(1, 2, 2, 2)

    def sampled(picture):
        return torch.nn.functional.grid_sample(picture, grid, align_corners=True)

    if advice:
        sampled(picture.requires_grad_()).sum().backward()
        torch.func.vjp(sampled, picture.detach())[1](torch.ones(1, 1, 2, 2))
        torch.func.jacrev(sampled)(picture)
    else:
        torch.func.jvp(sampled, (picture,), (picture,))


@tries(
    "inference-tensor",
    "Clone it outside of the block: `x.clone()`",
    "Use torch.no_grad() instead of torch.inference_mode()",
    "Do not let code in inference mode be the first to fill a cache",
)
def inference_tensor_in_training(advice):
    weight = training(1.0, 2.0)
    if "cache" in advice:
        table = torch.ones(2)
    with torch.no_grad() if "no_grad" in advice else torch.inference_mode():
        if "cache" not in advice:
            table = torch.ones(2)
    if "clone" in advice:
        table = table.clone()
    (table * weight).sum().backward()
    table.add_(1)


@tries(
    "no-derivative",
    "Attention that has them: `with torch.nn.attention.sdpa_kernel(SDPBackend.MATH):`.",
)
def attention_in_forward_mode(advice):
    q = torch.rand(1, 2, 4, 8)
    with sdpa_kernel(SDPBackend.MATH) if advice else contextlib.nullcontext():
        torch.func.jvp(lambda q: torch.nn.functional.scaled_dot_product_attention(q, q, q), (q,), (q,))


@tries(
    "no-derivative",
    "write the static method that the text names",
    "Write the static method `jvp(ctx, *tangents)`",
    "call it with `x.detach()`",
)
def function_without_jvp(advice):
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    if "static" in advice:
        Doubled.jvp = staticmethod(lambda ctx, tangent: tangent * 2)
    with forward_ad.dual_level(), torch.no_grad():
        x = forward_ad.make_dual(torch.ones(2), torch.ones(2))
        Doubled.apply(x.detach() if "detach" in advice else x)


class Same(torch.autograd.Function):
    copies = False

    @staticmethod
    def forward(ctx, x):
        return x.clone() if Same.copies else x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g


@tries("changed-in-place", "let it return `y.clone()`, no argument and no view")
def view_of_a_function_changed(advice):
    Same.copies = bool(advice)
    Same.apply(training(1.0) * 2).mul_(3).backward()


@tries("no-derivative", "Do not compile the part that is differentiated twice, or compile it with `backend='eager'`")
def compiled_second_derivative(advice):
    f = torch.compile(torch.sin, backend="eager" if advice else "aot_eager")
    x = training(1.0)
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    g.backward()
    assert x.grad == -torch.sin(x)


@tries("wrong-gradients", "Let `backward` return gradients of the shape, dtype and device")
def gradient_on_another_device(advice):
    class Moved(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return (g * 2) if advice else torch.empty_like(g, device="meta")

    Moved.apply(training(1.0)).backward()


untried("wrong-gradients", "If the function is not yours: a newer release", "needs another version")


@tries("changed-in-place", "call the backwards first, or compute the forward again")
def step_before_a_backward(advice):
    layers = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    optimizer = torch.optim.SGD(layers.parameters(), lr=0.1)
    loss = layers(torch.ones(1, 2)).sum()
    loss.backward(retain_graph=not advice)
    optimizer.step()
    (layers(torch.ones(1, 2)).sum() if advice else loss).backward()


untried("no-derivative", "Write that backward with operators that have derivatives", "tried for other backwards")
untried("wrong-gradients", "A custom backend has to return each output of the backward graph", "needs a backend")


@tries("changed-in-place", "use `inplace=False` in the layer", "or a hook of the tensor")
def change_behind_a_full_backward_hook(advice):
    layer, seen = torch.nn.Linear(2, 2), []
    if "tensor" not in advice:
        layer.register_full_backward_hook(lambda module, inputs, outputs: seen.append(outputs))
    y = layer(torch.ones(1, 2))
    if "tensor" in advice:
        y.register_hook(seen.append)
    torch.nn.functional.relu(y, inplace="inplace" not in advice).sum().backward()
    assert len(seen) == 1


@tries("function-transform", "Keep what is no tensor as an attribute: `ctx.n = n`")
def number_saved_for_backward(advice):
    class Times(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, n):
            if advice:
                ctx.n = n
            else:
                ctx.save_for_backward(x, n)
            return x * n

        @staticmethod
        def backward(ctx, g):
            return g * ctx.n, None

    x = training(1.0)
    Times.apply(x, 3).backward()
    assert x.grad == 3


class Held(torch.Tensor):
    """A tensor that wraps another one, as quantized weights do."""

    @staticmethod
    def __new__(cls, held):
        return torch.Tensor._make_wrapper_subclass(cls, held.shape)

    def __init__(self, held):
        self.held = held

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return return_and_correct_aliasing(func, args, kwargs or {}, cls(func(args[0].held)))


@tries("inference-tensor", "Use torch.no_grad() instead")
def weight_that_is_turned_in_inference_mode(advice):
    x = Held(torch.ones(2, 3))
    with torch.no_grad() if "no_grad" in advice else torch.inference_mode():
        if "create" in advice:
            x = Held(torch.ones(2, 3))
        assert x.t().shape == (3, 2)


untried("changed-in-place", "Write `x = x.detach()` in place of `x.detach_()`", "needs an older version")
