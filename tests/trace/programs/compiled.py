"""torch.compile with the backends that need no compiler: graphs, a break in a graph, gradients, another size."""

import warnings

import torch

warnings.simplefilter("ignore")


class Net(torch.nn.Module):
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


def main() -> None:
    torch.manual_seed(0)
    net = Net()
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
    print(" ".join(f"{result.item():.2f}" for result in results), int(net.calls))


if __name__ == "__main__":
    main()
