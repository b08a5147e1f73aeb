"""The body of a Python function, as far as its source says what it does with its arguments."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import NamedTuple

from dispatch_cli.model.span import Span


class ArgumentUse(NamedTuple):
    """A place where a function writes to an argument or returns it.

    text: the expression, such as ``x.add_(1)``. sometimes: not every call that returns gets there, or what the
    expression gives depends on the argument, as for ``x.contiguous()``.
    """

    argument: str
    text: str
    at: Span
    sometimes: bool = False


class FunctionBody(NamedTuple):
    """A function.

    parameters: as Python writes them, with ``=`` for a default: ``("x", "n=", "*", "out", "**options")``.
    writes, returns: of parameters that are not bound anew, and views of them; returns also of another name that is
    returned more than once.
    values: the fewest values of a ``return`` statement, and the most up to the last that is not None, where the values
    of each are written out, or one value: arithmetic of a parameter, or a new tensor. None for other functions.
    """

    parameters: tuple[str, ...]
    writes: tuple[ArgumentUse, ...] = ()
    returns: tuple[ArgumentUse, ...] = ()
    values: tuple[int, int] | None = None

    @property
    def signature(self) -> Signature:
        """The signature. Errors: ValueError for parameters that Python does not take."""
        parameters: list[Parameter] = []
        after_star = False
        before = self.parameters.index("/") if "/" in self.parameters else 0
        for place, text in enumerate(self.parameters):
            name, default = text.strip("*=/"), Parameter.empty if not text.endswith("=") else None
            if text.startswith("**"):
                parameters.append(Parameter(name, Parameter.VAR_KEYWORD))
            elif name and text.startswith("*"):
                parameters.append(Parameter(name, Parameter.VAR_POSITIONAL))
            elif name:
                kind = Parameter.POSITIONAL_ONLY if place < before else Parameter.POSITIONAL_OR_KEYWORD
                parameters.append(Parameter(name, Parameter.KEYWORD_ONLY if after_star else kind, default=default))
            after_star = after_star or text.startswith("*")
        return Signature(parameters)

    def refusal(self, positional: int, *keywords: str) -> str | None:
        """Reason why a call with these arguments fails, mostly in Python's words; None where it does not."""
        try:
            self.signature.bind(*range(positional), **dict.fromkeys(keywords))
        except TypeError as error:
            kinds = [parameter.kind for parameter in self.signature.parameters.values()]
            taken = kinds.count(Parameter.POSITIONAL_ONLY) + kinds.count(Parameter.POSITIONAL_OR_KEYWORD)
            if taken < positional and Parameter.VAR_POSITIONAL not in kinds:
                return f"it takes {taken} argument{'s' * (taken != 1)} by position, PyTorch passes {positional}"
            return str(error)
        return None
