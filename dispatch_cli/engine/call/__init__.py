"""A call: which kernels an operator runs for given tensors in given contexts, one after the other, and why."""
