"""torch.compile with the backends that need no compiler, fake tensors, make_fx in its three ways, and export."""

import warnings

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import functionalize, vmap
from torch.fx.experimental.proxy_tensor import make_fx

warnings.simplefilter("ignore")


class Compiled(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(4, 8)
        self.last = torch.nn.Linear(8, 2)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1)
        hidden = torch.nn.functional.gelu(self.first(x))
        if hidden.sum() > 1e6:  # a break in the graph
            hidden = hidden * 0
        return self.last(hidden).softmax(-1)


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


def compiled_calls() -> str:
    net = Compiled()
    results = []
    for backend in ("eager", "aot_eager"):
        torch._dynamo.reset()
        compiled = torch.compile(net, backend=backend)
        for rows in (2, 2, 3):
            result = compiled(torch.ones(rows, 4))
            result[:, 0].sum().backward()
            results.append(result.detach().sum())
    with torch.no_grad():
        results.append(torch.compile(lambda x: x.sin().add_(1).cos(), backend="aot_eager")(torch.ones(3)).sum())
    return " ".join([*(f"{result.item():.2f}" for result in results), str(int(net.calls))])


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
    print(*results, compiled_calls())


if __name__ == "__main__":
    main()
