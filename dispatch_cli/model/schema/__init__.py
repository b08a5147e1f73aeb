"""Function schemas, PyTorch's language for what an operator takes and returns."""
