"""A small extension of PyTorch: operators in C++ and Python."""

from pathlib import Path

import torch

torch.ops.load_library(Path(__file__).parent / "_C.so")

from scaled import operators  # noqa: E402, F401
