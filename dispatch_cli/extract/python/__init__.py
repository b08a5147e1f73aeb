"""Reads Python sources: what they register with ``torch.library``, without running or importing anything."""
