"""Inference mode: a net, a greedy loop, its tensors used outside, autocast, and tensors with gradients inside."""

import torch
from torch import nn


def main() -> None:
    torch.manual_seed(0)
    attention = nn.MultiheadAttention(8, 2, batch_first=True).eval()
    recurrent = nn.LSTM(8, 8, batch_first=True).eval()
    outside = torch.randn(1, 3, 8)
    with torch.inference_mode():
        tokens = torch.randn(1, 3, 8)
        for _ in range(2):
            mixed, _ = attention(tokens, tokens, tokens, need_weights=False)
            last, _ = recurrent(mixed)
            tokens = torch.cat([tokens, last[:, -1:]], dim=1)
        outside.add_(1)
        view = outside[0].t()
        with torch.autocast("cpu", torch.bfloat16):
            half = torch.mm(view, view.mT)
        scores = nn.functional.scaled_dot_product_attention(tokens, tokens, tokens)
        with torch.inference_mode(False):
            learned = torch.ones(2, requires_grad=True)
            (learned * 2).sum().backward()
        sorted_, order = scores.flatten().topk(3)
    copied = tokens.clone()
    copied[0, 0] = 0
    try:
        tokens.add_(1)
    except RuntimeError as error:
        print(str(error).partition(".")[0])
    print(tuple(copied.shape), half.dtype, learned.grad.tolist(), tuple(order.shape), sorted_.is_inference())


if __name__ == "__main__":
    main()
