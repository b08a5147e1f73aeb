"""Two steps of training a classifier of words with AdamW, and inference under autocast, with tensors used outside."""

import torch
from torch import nn

VOCABULARY = 32
CLASSES = 4


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
        self.recurrent = nn.GRU(16, 8, batch_first=True)
        self.head = nn.Linear(8, CLASSES)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        hidden = self.layer(self.embedding(words))
        _, last = self.recurrent(hidden)
        return self.head(last[-1])


def main() -> None:
    torch.manual_seed(0)
    torch.backends.mha.set_fastpath_enabled(torch.__version__ >= (2, 5))  # that of 2.4 fails under autocast
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 2)
    words = torch.randint(0, VOCABULARY, (4, 6))
    labels = torch.tensor([0, 1, 2, 3])
    for _ in range(2):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(words), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    model.eval()
    with torch.inference_mode():
        with torch.autocast("cpu", torch.bfloat16):
            scores = model(words)
        accuracy = (scores.argmax(-1) == labels).float().mean()
        with torch.inference_mode(False):
            learned = torch.ones(2, requires_grad=True)
            (learned * 2).sum().backward()
    copied = scores.clone()
    copied[0, 0] = 0
    try:
        scores.add_(1)
    except RuntimeError as error:
        print(str(error).partition(".")[0])
    print(f"loss {loss.item():.3f}, accuracy {accuracy.item():.2f}", learned.grad.tolist(), copied.is_inference())


if __name__ == "__main__":
    main()
