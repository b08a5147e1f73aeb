"""Programs that raise a text of PyTorch, and the same programs with the advice of the answer to it applied.

A program is a function of one argument: the piece of advice that is applied, by a part of its sentence; an empty text
for none. Without advice it raises or warns with a text of its kind. With advice it must not, and checks its result.
"""

from collections import namedtuple

Program = namedtuple("Program", "name kind advice unchanged since until needs run")
"""kind: that of the text. advice: a part of the sentence of each piece. unchanged: parts of those that ask for no
change: the program ends well with the warning. since, until: the first version of PyTorch in which the advice works,
and the last that prints the text; empty: all. needs: a command without which it is left out."""

PROGRAMS = []
"""All, in the order in which they are written."""


def tries(kind, *advice, unchanged=(), since="", until="", needs=""):
    """The function raises a text of that kind, and tries these pieces of advice."""

    def decorate(function):
        PROGRAMS.append(Program(function.__name__, kind, advice, unchanged, since, until, needs, function))
        return function

    return decorate


def untried(kind, advice, reason):
    """A piece of advice that no program tries, and the reason."""
    if not reason:
        raise ValueError(f"{kind}: {advice}")
