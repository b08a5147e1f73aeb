"""Declarations out of sources: C++, Python and torchgen's YAML are read; nothing of them is executed or imported."""
