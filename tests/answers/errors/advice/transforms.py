"""Texts about vmap, the transforms of torch.func, and functionalization."""

import torch
from torch.func import functionalize, grad, jacrev, replace_all_batch_norm_modules_, vmap

from tests.answers.errors.advice.fakes import clone_op, compiled
from tests.answers.errors.advice.slots import ONE, define
from tests.answers.errors.advice.trial import tries, untried


@tries("under-vmap", "`vmap(f, randomness='different')`", "`randomness='same'`")
def random_numbers(advice):
    options = {"randomness": "same" if "same" in advice else "different"} if advice else {}
    vmap(lambda x: x + torch.randn(2), **options)(ONE)


@tries("under-vmap", "call model.eval()")
def dropout(advice):
    layer = torch.nn.Dropout()
    vmap(layer.eval() if advice else layer)(ONE)


@tries("under-vmap", "Use the operator that returns its result")
def in_place_without_a_batch(advice):
    y = torch.ones(2)
    assert vmap(lambda x: y.mul(x.sum()) if advice else y.mul_(x.sum()))(ONE).sum() == 8


@tries("under-vmap", "torch.where instead of `if`", "Or move that part out of vmap, into a loop over the batch")
def condition_under_vmap(advice):
    if "loop" in advice:
        assert torch.stack([x if x.sum() > 0 else -x for x in ONE]).sum() == 4
    else:
        call = (lambda x: torch.where(x.sum() > 0, x, -x)) if advice else (lambda x: x if x.sum() > 0 else -x)
        assert vmap(call)(ONE).sum() == 4


@tries("under-vmap", "nonzero and `x[mask]`", "Or move that part out of vmap, into a loop over the batch")
def size_under_vmap(advice):
    if "loop" in advice:
        assert sum(len(x.nonzero()) for x in ONE) == 4
    else:
        vmap(lambda x: torch.where(x > 0, x, 0) if advice else x.nonzero())(ONE)


@tries("under-vmap", "give it a dimension: `x[k.unsqueeze(0)]`")
def index_under_vmap(advice):
    rows, indices = torch.arange(12.0).reshape(3, 4), torch.tensor([0, 1, 2])
    vmap((lambda x, k: x[k.unsqueeze(0)]) if advice else (lambda x, k: x[k.item()]))(rows, indices)


class Bare(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0]


class Separate(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0]


@tries("function-transform", "to a staticmethod `setup_context(ctx, inputs, output)`")
def function_without_a_context(advice):
    call = Separate.apply if advice else Bare.apply
    assert grad(lambda x: call(x).sum())(torch.ones(2)).sum() == 4


@tries("function-transform", "write the staticmethod `jvp(ctx, *tangents)` as well")
def function_without_a_context_in_jvp(advice):
    class Forward(Separate):
        @staticmethod
        def jvp(ctx, tangent):
            return tangent * 2

    call = Forward.apply if advice else Bare.apply
    value, tangent = torch.func.jvp(call, (torch.ones(2),), (torch.ones(2),))
    assert (value + tangent).sum() == 6


@tries("function-transform", "set `generate_vmap_rule = True`", "or write a staticmethod `vmap(info, in_dims, *args)`")
def function_without_a_rule(advice):
    class Mapped(Separate):
        generate_vmap_rule = "generate" in advice
        if "staticmethod" in advice:

            @staticmethod
            def vmap(info, in_dims, x):
                return x * x, in_dims[0]

    assert vmap(Mapped.apply)(ONE).sum() == 4


@tries("function-transform", "use `x.requires_grad_()` and torch.autograd.grad, not torch.func")
def transform_of_a_custom_op(advice):
    f = clone_op()
    f.register_autograd(lambda ctx, g: g * 2, setup_context=lambda ctx, inputs, output: None)
    x = torch.ones(2)
    if "requires_grad_" in advice:
        x.requires_grad_()
        (g,) = torch.autograd.grad(f(x).sum(), x)
    else:
        g = grad(lambda x: f(x).sum())(x)
    assert g.sum() == 4


@tries("functionalize-alias", "call a functional operator and copy its result, `x.copy_(f(x))`")
def change_functionalized(advice):
    schema = "(Tensor(a!) x) -> ()" if "nothing" in advice else "(Tensor(a!) x) -> Tensor(a!)"
    op = define("t::f_", schema, CPU=lambda x: (x.add_(1), None)[1] if "nothing" in advice else x.add_(1))
    torch.library.register_fake("t::f_")(lambda x: None if "nothing" in advice else x)
    functional = define("t::f", "(Tensor x) -> Tensor", CPU=lambda x: x + 1)

    def body(x):
        x = x.clone()
        if "copy_" in advice:
            x.copy_(functional(x))
        elif "outside" not in advice:
            op(x)
        return x

    call = compiled(body) if "compile" in advice else functionalize(body)
    result = call(ONE)
    if "outside" in advice:
        op(result)
    assert result.sum() == 8


@tries(
    "functionalize-alias",
    "return nothing, `-> ()`",
    "`tags=torch.Tag.inplace` for the first argument",
    "exclude the call: `@torch.compiler.disable`",
    since="2.13",
)
def change_returned_compiled(advice):
    nothing, tags = "nothing" in advice, (torch.Tag.inplace,) if "tags" in advice else ()
    torch.library.define("t::f_", f"(Tensor(a!) x) -> {'()' if nothing else 'Tensor(a!)'}", tags=tags)
    torch.library.impl("t::f_", "CPU")(lambda x: (x.add_(1), None)[1] if nothing else x.add_(1))
    torch.library.register_fake("t::f_")(lambda x: None if nothing else x)

    def changed(x):
        result = torch.ops.t.f_(x)
        return x if nothing else result

    call = torch.compiler.disable(changed) if "disable" in advice else changed
    x = ONE.clone()
    compiled_call = torch.compile(lambda x: call(x) * 2, backend="aot_eager", fullgraph="disable" not in advice)
    assert compiled_call(x).sum() == 16
    assert x.sum() == 8


@tries("functionalize-alias", "`torch.Tag.out` for keyword-only ones", since="2.13")
def out_argument_compiled(advice):
    tags = (torch.Tag.out,) if advice else ()
    torch.library.define("t::f", "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", tags=tags)
    torch.library.impl("t::f", "CPU")(lambda x, *, out: out.copy_(x + 1))
    torch.library.register_fake("t::f")(lambda x, *, out: out)
    assert compiled(lambda x: torch.ops.t.f(x, out=torch.empty_like(x)) * 2)(ONE).sum() == 16


@tries(
    "functionalize-alias",
    "return a copy, and remove the alias from the schema",
    "or register a kernel at CompositeImplicitAutograd",
)
def view_compiled(advice):
    schema = "(Tensor x) -> Tensor" if "copy" in advice else "(Tensor(a) x) -> Tensor(a)"
    if "Composite" in advice:
        op = define("t::f", schema, CompositeImplicitAutograd=lambda x: x.view(-1))
    else:
        op = define("t::f", schema, CPU=lambda x: x.reshape(-1).clone() if advice else x.view(-1))
        torch.library.register_fake("t::f")(lambda x: x.new_empty(x.numel()) if advice else x.view(-1))
    assert compiled(lambda x: op(x) * 2)(ONE).sum() == 8


untried("functionalize-alias", "but not in a subgraph", "no program has been written for it")


@tries("under-vmap", "Return the tensor from the function")
def tensor_that_escapes(advice):
    kept = []

    def f(x):
        kept.append(x)
        return x * 2

    y = vmap(f)(ONE)
    (y if advice else kept[0]).sin()


class Pair:
    def __init__(self, x, y):
        self.x, self.y = x, y


@tries("changed-in-place", "Pass that tensor to the function as an argument")
def sum_that_is_captured(advice):
    total = torch.zeros(2)
    if advice:
        grad(lambda x, total: total.add_(x).sum())(torch.ones(2), torch.zeros(2))
    else:
        grad(lambda x: total.add_(x).sum())(torch.ones(2))


@tries("changed-in-place", "call `model.eval()`", "`torch.func.replace_all_batch_norm_modules_(model)`")
def batch_norm_under_jacrev(advice):
    net = torch.nn.BatchNorm1d(3)
    if "eval" in advice:
        net.eval()
    elif advice:
        replace_all_batch_norm_modules_(net)
    jacrev(net)(torch.randn(4, 3))


@tries("under-vmap", "Map the gradient", "torch.autograd.grad outside", "map `grad_outputs` only")
def gradient_of_mapped_results(advice):
    old_vmap, gradient = torch._vmap_internals._vmap, torch.autograd.grad
    batch, x = torch.eye(2), torch.ones(2, requires_grad=True)
    if "Map" in advice:
        result = vmap(grad(lambda x, v: (v * x * x).sum()), (None, 0))(x.detach(), batch)
    elif "outside" in advice:
        losses = old_vmap(lambda v: (v * x * x).sum())(batch)
        result = torch.stack([gradient(loss, x, retain_graph=True)[0] for loss in losses])
    elif advice:
        y = x * x
        result = old_vmap(lambda v: gradient(y, x, v, retain_graph=True)[0])(batch)
    else:
        result = old_vmap(lambda v: gradient((v * x * x).sum(), x)[0])(batch)
    assert result.equal(batch * 2)


@tries("under-vmap", "Use torch.func.grad, jacrev or hessian there", "or do it outside")
def backward_in_a_transform(advice):
    x = torch.zeros(2, requires_grad=not advice or "outside" in advice)
    if "outside" in advice:
        torch.sin(x).sum().backward()
    else:
        vmap(lambda x: grad(torch.sin)(x) if advice else (x * 2).backward() or x)(x)


@tries("not-captured", "Write there what Dynamo traces")
def branch_with_a_graph_break(advice):
    def f(x):
        return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x.clone() if advice else x * x.data_ptr(), (x,))

    assert torch.compile(f, backend="eager", fullgraph=True)(torch.ones(2)).sum() == 4


@tries("function-transform", "Call it outside of vmap", "or write the loop")
def function_out_of_vmap(advice):
    class Squared(Separate):
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

    if "loop" in advice:
        result = torch.stack([Squared.apply(x) for x in ONE])
    else:
        result = Squared.apply(ONE) if advice else vmap(Squared.apply)(ONE)
    assert result.sum() == 4
