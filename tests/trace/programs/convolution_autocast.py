"""A convolution net, forward under autocast and backward, with a scaled loss and SGD."""

import torch
from torch import nn


def main() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3, groups=2),
        nn.GroupNorm(2, 8),
        nn.SiLU(),
        nn.ConvTranspose2d(8, 4, 2, stride=2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4, 5),
    )
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    pictures, labels = torch.randn(2, 3, 12, 12), torch.tensor([1, 3])
    for _ in range(2):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16):
            scores = net(pictures)
            similar = torch.bmm(scores[None], scores[None].mT)
            with torch.autocast("cpu", enabled=False):
                penalty = similar.float().pow(2).mean()
            loss = nn.functional.cross_entropy(scores, labels) + penalty
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.2f}, {scores.dtype}")


if __name__ == "__main__":
    main()
