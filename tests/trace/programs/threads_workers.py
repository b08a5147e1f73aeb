"""Several threads, a loader with a worker process, checkpointed gradients, TorchScript, and calls that raise."""

import threading
import warnings

import torch
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Dataset

warnings.simplefilter("ignore")


class Squares(Dataset[torch.Tensor]):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, place: int) -> torch.Tensor:
        return torch.full((2,), float(place)).square()


def scripted(x: torch.Tensor, times: int) -> torch.Tensor:
    for _ in range(times):
        x = x * 2 + 1
    return x


def work(results: list[float], place: int) -> None:
    x = torch.full((3,), float(place), requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16, enabled=place == 1):
        (x.outer(x) @ x).sum().backward()
    results[place] = x.grad.sum().item()


def raises(other: torch.Tensor) -> bool:
    try:
        torch.add(torch.ones(2), other)
    except RuntimeError:
        return True
    return False


def main() -> None:
    torch.manual_seed(0)
    results = [0.0, 0.0]
    threads = [threading.Thread(target=work, args=(results, place), name=f"worker {place}") for place in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    loaded = sum(batch.sum().item() for batch in DataLoader(Squares(), batch_size=2, num_workers=1))
    layer = torch.nn.Linear(3, 3)
    x = torch.ones(2, 3, requires_grad=True)
    checkpoint(torch.nn.Sequential(layer, torch.nn.Tanh(), layer), x, use_reentrant=False).sum().backward()
    raised = sum(raises(other) for other in (torch.ones(3), torch.ones(2, device="meta"), torch.ones(2)))
    double = torch.jit.script(scripted)
    for _ in range(3):
        last = double(torch.ones(2), 2)
    print(results, loaded, round(x.grad.sum().item(), 2), raised, last.tolist())


if __name__ == "__main__":
    main()
