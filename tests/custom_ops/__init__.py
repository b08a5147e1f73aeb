"""Operators of Python's ``torch.library``: declarations of random ones against what a live PyTorch said of them."""
