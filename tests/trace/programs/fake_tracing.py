"""Fake tensors, make_fx in its three ways, functional tensors, and export."""

import warnings

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import functionalize, vmap
from torch.fx.experimental.proxy_tensor import make_fx

warnings.simplefilter("ignore")


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x).relu().sum(-1)


def step(x: torch.Tensor) -> torch.Tensor:
    y = x.clone().requires_grad_()
    loss = torch.nn.functional.dropout(y.view(-1).exp(), 0.5).sum()
    (gradient,) = torch.autograd.grad(loss, y)
    return gradient.mul_(2).add(1)


def main() -> None:
    torch.manual_seed(0)
    results = []
    with FakeTensorMode() as mode:
        x = torch.randn(2, 3, requires_grad=True)
        loss = torch.nn.functional.log_softmax(x @ x.mT, -1).mean()
        loss.backward()
        results.append(tuple(x.grad.shape))
        results.append(tuple(mode.from_tensor(torch.ones(4)).repeat(2).shape))
    for tracing in ("real", "fake", "symbolic"):
        graph = make_fx(step, tracing_mode=tracing)(torch.ones(2, 3))
        results.append(len(graph.graph.nodes) > 5)
    graph = make_fx(functionalize(lambda x: x.clone().add_(1).t_().mul_(2)))(torch.ones(2, 3))
    results.append(any("add." in str(node.target) for node in graph.graph.nodes))
    results.append(len(make_fx(vmap(torch.sin))(torch.ones(2, 3)).graph.nodes))
    exported = torch.export.export(Net(), (torch.ones(2, 3),))
    results.append(tuple(exported.module()(torch.ones(2, 3)).shape))
    print(*results)


if __name__ == "__main__":
    main()
