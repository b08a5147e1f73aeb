"""The kinds of texts that PyTorch prints about operators and dispatch."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.engine.rules import Rule

NO_KERNEL = "no-kernel"
NO_AUTOGRAD = "no-autograd"
NO_BATCHING_RULE = "no-batching-rule"
NOT_ON_DEVICE = "not-on-device"
AMBIGUOUS = "ambiguous"
OVERRIDDEN = "overridden"
OTHER_TEXT = "other-text"
"""The kinds of which an answer says more than their message."""


class Message(NamedTuple):
    """The texts of one kind.

    kind: its name in machine formats. says: it in a clause, with names in braces for what the text fills in. templates:
    as they read, see `template`. source: the function or file of PyTorch that prints it. key: the dispatch key that
    they are about, where they name none. means: PyTorch's meaning. user, author: advice for who calls the operator, and
    for who wrote or registers it; one that begins with ``[name]`` is for texts with that detail alone, with ``[!name]``
    for those without. rules: of a kind about a slot, the rules that decide it where PyTorch prints the text. contexts:
    the details that the traceback adds, see `read.CONTEXTS`. warning: it is no error; the program goes on. aside: it is
    about another part of PyTorch, and explained only where a text has nothing about operators and dispatch.
    """

    kind: str
    says: str
    templates: tuple[str, ...]
    source: str
    key: str | None = None
    means: str = ""
    user: tuple[str, ...] = ()
    author: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    contexts: tuple[str, ...] = ()
    warning: bool = False
    aside: bool = False
