"""PyTorch's texts about operators and dispatch, as tables: the texts, their meaning, and advice."""
