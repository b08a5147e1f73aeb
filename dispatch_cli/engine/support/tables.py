"""Facts about PyTorch's own operators that no registration says, as tables.

``python -m tests.engine.support.write_tables`` writes them.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from pathlib import Path

from dispatch_cli.model.names import OperatorName

FOLDER = Path(__file__).parent
DERIVATIVES, CALLS = "derivatives.txt", "calls.txt"
_OWN = "aten::"

FORWARD_OF_SOME = frozenset({"aten::norm.Scalar", "aten::normal.Tensor_Tensor", "aten::scatter_reduce_.two"})
"""Operators with a derivative for forward mode that raises for some samples of OpInfo, all of which were tried.

It gives a tangent of another size, or takes an undefined one for a tensor.
"""


class Derivative(Enum):
    """Derivatives of the generated autograd kernel of an operator; the value is the word in the table.

    BACKWARD: no derivative for forward mode, so that jvp raises. SOME_FORWARD: one in some versions alone. SOME: for
    some arguments or versions alone, or the result is said to have none. NONE: the backward pass raises, if the result
    can require a gradient at all.
    """

    BOTH = "both"
    BACKWARD = "backward"
    SOME_FORWARD = "some-forward"
    SOME = "some"
    NONE = "none"


def derivative(name: OperatorName) -> Derivative:
    """The derivative of an operator with a generated autograd kernel, by the ``derivatives.yaml`` of PyTorch.

    One that works in place has that of the other form.
    """
    functional = name._replace(name=name.name.removesuffix("_"))
    table = _derivatives()
    return table.get(str(name)) or table.get(str(functional), Derivative.BOTH)


def calls(name: OperatorName) -> tuple[OperatorName, ...]:
    """The operators that the composite kernel of one of PyTorch's operators leads to, as far as samples showed."""
    return tuple(OperatorName.parse(called) for called in _table(CALLS).get(str(name), ()))


@cache
def _derivatives() -> dict[str, Derivative]:
    return {name: Derivative(kind) for kind, names in _table(DERIVATIVES).items() for name in names}


@cache
def _table(file: str) -> dict[str, list[str]]:
    """Words by the word with a colon before them; operators are aten's."""
    table: dict[str, list[str]] = {}
    values: list[str] = []
    for word in (FOLDER / file).read_text(encoding="utf-8").split():
        if word.endswith(":"):
            key = word[:-1]
            values = table.setdefault(key if file == DERIVATIVES else f"{_OWN}{key}", [])
        else:
            values.append(f"{_OWN}{word}")
    return table
