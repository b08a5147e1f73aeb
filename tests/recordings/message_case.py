"""Decorator for functions that make PyTorch print a text."""

from collections import namedtuple

Expected = namedtuple("Expected", "kind operator words")
"""kind: the name in machine formats. operator: that the text names, or None. words: one of these is in the text."""


def prints(kind, *words, operator=None):
    """The function makes PyTorch print a text of that kind, which has one of *words*."""

    def decorate(function):
        function.expects = Expected(kind, operator, words)
        return function

    return decorate
