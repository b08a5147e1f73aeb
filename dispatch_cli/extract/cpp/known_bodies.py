"""Macros of PyTorch's headers that hold registrations: name, parameters, body."""

from __future__ import annotations

BODIES = """
SINGLE_ARG(...) __VA_ARGS__
C10_STRINGIZE_IMPL(x) #x
C10_STRINGIZE(x) C10_STRINGIZE_IMPL(x)
C10_CONCATENATE_IMPL(s1, s2) s1##s2
C10_CONCATENATE(s1, s2) C10_CONCATENATE_IMPL(s1, s2)
"""
