"""PyTorch's own operators of which the generated autograd kernel has no derivative, or only one way."""

from __future__ import annotations

from enum import Enum
from functools import cache
from pathlib import Path

from dispatch_cli.model.names import OperatorName

FILE = Path(__file__).with_name("derivatives.txt")
"""The table; ``python -m tests.engine.support.write_derivatives`` writes it from the ``derivatives.yaml`` of wheels."""


class Derivative(Enum):
    """The derivative of an operator; the value is the word in the table."""

    BOTH = "both"
    BACKWARD = "backward"
    """There is none for forward mode: jvp raises."""
    SOME = "some"
    """It is there for some arguments or versions, or says that the result has none."""
    NONE = "none"
    """The backward pass raises, if the result can require a gradient at all."""


def derivative(name: OperatorName) -> Derivative:
    """The derivative of one of PyTorch's operators with a generated autograd kernel."""
    return _table().get(str(name).removeprefix("aten::"), Derivative.BOTH)


@cache
def _table() -> dict[str, Derivative]:
    found: dict[str, Derivative] = {}
    kind = Derivative.BOTH
    for word in FILE.read_text(encoding="utf-8").split():
        if word.endswith(":"):
            kind = Derivative(word[:-1])
        else:
            found[word] = kind
    return found
