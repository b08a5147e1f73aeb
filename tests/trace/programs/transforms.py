"""Function transforms: gradients per sample, jvp, Jacobians both ways, a Hessian, vmap in vmap, functionalize."""

import torch
from torch.func import functional_call, functionalize, grad, hessian, jacfwd, jacrev, jvp, stack_module_state, vjp, vmap


def loss_of(weights: dict[str, torch.Tensor], model: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.mse_loss(functional_call(model, weights, (x,)), y)


def per_sample_gradients() -> torch.Tensor:
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.LayerNorm(4), torch.nn.Linear(4, 1))
    weights = {name: one.detach() for name, one in model.named_parameters()}
    gradients = vmap(grad(loss_of), in_dims=(None, None, 0, 0))(weights, model, torch.randn(5, 3), torch.randn(5, 1))
    return torch.stack([gradient.flatten(1).norm(dim=1) for gradient in gradients.values()]).sum()


def ensemble() -> torch.Tensor:
    models = [torch.nn.Linear(3, 2) for _ in range(3)]
    weights, buffers = stack_module_state(models)

    def call(weights: dict[str, torch.Tensor], buffers: dict[str, torch.Tensor], x: torch.Tensor) -> torch.Tensor:
        return functional_call(models[0], (weights, buffers), (x,))

    return vmap(call, in_dims=(0, 0, None))(weights, buffers, torch.randn(4, 3)).sum()


def curve(x: torch.Tensor) -> torch.Tensor:
    return (x.sin() * x.pow(3)).cumsum(0).exp().log1p()


def in_place(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[1:].add_(1).mul_(x[1:])
    return y.relu_()


def main() -> None:
    torch.manual_seed(0)
    x = torch.randn(3)
    value, tangent = jvp(curve, (x,), (torch.ones(3),))
    _, pull = vjp(curve, x)
    results = [
        per_sample_gradients(),
        ensemble(),
        value.sum() + tangent.sum() + pull(torch.ones(3))[0].sum(),
        (jacrev(curve)(x) - jacfwd(curve)(x)).abs().max(),
        hessian(lambda one: curve(one).sum())(x).sum(),
        vmap(vmap(torch.dot))(torch.randn(2, 3, 4), torch.randn(2, 3, 4)).sum(),
        vmap(lambda one: one + torch.rand(2), randomness="different")(torch.zeros(3, 2)).mean().round(),
        vmap(grad(lambda one: in_place(one).sum()))(torch.randn(2, 3)).sum(),
        functionalize(in_place)(x).sum(),
        vmap(lambda matrix: torch.linalg.solve(matrix, torch.ones(2)))(torch.eye(2).expand(3, 2, 2) * 2).sum(),
    ]
    print(" ".join(f"{result.item():.2f}" for result in results))


if __name__ == "__main__":
    main()
