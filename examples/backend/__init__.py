"""The Python side of the backend: it gives PrivateUse1 a name."""

import torch

torch.utils.rename_privateuse1_backend("tiny")
