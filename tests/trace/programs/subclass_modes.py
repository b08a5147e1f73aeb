"""A wrapper subclass, one with __torch_function__, and modes of both kinds, with gradients."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map


class Scaled(torch.Tensor):
    """A tensor and a factor that is applied late."""

    @staticmethod
    def __new__(cls: type[Scaled], inner: torch.Tensor, factor: float) -> Scaled:
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=inner.device)

    def __init__(self, inner: torch.Tensor, factor: float) -> None:
        self.inner, self.factor = inner, factor

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        def plain(x: Any) -> Any:
            return x.inner * x.factor if isinstance(x, Scaled) else x

        if func is torch.ops.aten.detach.default:
            return Scaled(args[0].inner.detach(), args[0].factor)
        result = func(*tree_map(plain, args), **tree_map(plain, kwargs or {}))
        return tree_map(lambda x: Scaled(x, 1.0) if isinstance(x, torch.Tensor) else x, result)


class Named(torch.Tensor):
    """A tensor whose results are of its class; its operators are ordinary ones."""


class Counting(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen[str(func)] += 1
        return func(*args, **(kwargs or {}))


class Watching(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def main() -> None:
    torch.manual_seed(0)
    scaled = Scaled(torch.randn(3, 3), 2.0)
    weight = torch.randn(3, 3, requires_grad=True)
    first = (scaled @ weight.detach()).relu().sum()
    learning = Scaled(torch.ones(2), 3.0).requires_grad_()
    (learning * 2).sum().backward()
    with Counting() as counting, Watching():
        loss = torch.nn.functional.linear(torch.ones(2, 3), weight).tanh().sum()
        loss.backward()
        (scaled + 1).mul(2)
    named = torch.ones(2).as_subclass(Named).add(1).sum()
    with Counting(), Counting() as inner:
        torch.zeros(2, dtype=torch.complex64).conj().mul(2).sum()
    print(
        first.inner.shape,
        type(named).__name__,
        type(learning.grad).__name__,
        sum(counting.seen.values()) > 5,
        bool(inner.seen),
    )


if __name__ == "__main__":
    main()
