"""What PyTorch prints about operators and dispatch, as tables: how the texts read, what they mean, what helps."""
