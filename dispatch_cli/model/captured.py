"""Operators of a captured state, and what such a state must offer so that a dispatcher can continue it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from dispatch_cli.model.calls.fake_tensor import FakeRules
    from dispatch_cli.model.declarations import CapturedRegistration
    from dispatch_cli.model.higher_order import HigherOrderOperator, ModeType
    from dispatch_cli.model.kernel import AliasAnalysisKind, FakeImpl, Kernel, Wrapped
    from dispatch_cli.model.names import OperatorName
    from dispatch_cli.model.schema.model import FunctionSchema


_NONE: Mapping[str, Any] = MappingProxyType({})
DEFAULT_ALIAS_ANALYSIS = "default"
"""Word in the record of a captured operator for a kind that was left at its default."""

MADE_OF = 6
"""Index of the first field in the record of a captured kernel that says what it is made of, if it does."""


class CapturedOperator(NamedTuple):
    """An operator of a captured state: what it has registered, oldest kernel first.

    schema: None when it is dangling. debug: the schema's debug text. kernels: dispatch key and kernel.
    python_kernels: dispatch key and function name.
    """

    name: OperatorName
    schema: FunctionSchema | None
    debug: str
    alias_analysis: AliasAnalysisKind | None
    tags: tuple[str, ...]
    kernels: tuple[tuple[str, Kernel], ...]
    python_kernels: tuple[tuple[str, str], ...] = ()


class CapturedHeader(NamedTuple):
    """Data for the table of a captured operator, so that nothing has to be parsed.

    schema: as text. kernels: the active kernel of each key: its debug text, and whether it falls through.
    overridden: the keys with more than one kernel.
    functions: of active kernels that ``torch.library`` made, what is known of the user's function.
    """

    schema: str | None
    kernels: dict[str, tuple[str, bool]]
    overridden: tuple[str, ...] = ()
    functions: Mapping[str, tuple[FakeImpl | None, Wrapped | None]] = _NONE


class CapturedListing(NamedTuple):
    """Data for comparisons of a captured operator, so that nothing has to be parsed.

    schema: as text. alias_analysis: by name; None where it was left at its default. kernels: dispatch key, debug text
    and whether it falls through, oldest first. python_kernels: dispatch key and function name.
    """

    schema: str | None
    alias_analysis: str | None
    tags: Sequence[str]
    kernels: Sequence[tuple[str, str, bool]]
    python_kernels: Sequence[Sequence[str]]


class StateSource(Protocol):
    """A captured state that gives out its operators one at a time.

    name: such as ``torch-2.15``. names: of its operators. parts: the names of what makes it up: a state, and overlays
    over it. incomplete: the runtime keys at which it may lack kernels of its operators, and fallbacks.
    """

    name: str
    names: Sequence[str]
    parts: tuple[str, ...]
    incomplete: tuple[str, ...]

    def part_of(self, operator: str, key: str) -> str:
        """The name of the part that has an operator's kernel at a key."""

    def operator(self, name: str) -> CapturedOperator:
        """One operator; its live table is in order."""

    def header(self, name: str) -> CapturedHeader:
        """The same operator, without signatures, schemas as values, and flags."""

    def listing(self, name: str) -> CapturedListing:
        """The same operator, as far as it is compared with that of another state."""

    def python_kernels(self, name: str) -> Sequence[Sequence[str]]:
        """The kernels of the Python dispatcher for the same operator: key and function name."""

    def fake_rules(self, name: str) -> FakeRules:
        """Facts about the same operator that ``FakeTensorMode`` asks for, beside its kernels."""

    @property
    def higher_order_operators(self) -> tuple[HigherOrderOperator, ...]:
        """Its higher-order operators."""

    @property
    def higher_order_names(self) -> Sequence[str]:
        """Names of the higher-order operators."""

    @property
    def modes(self) -> tuple[ModeType, ...]:
        """Known facts about its mode types."""


def captured_python_kernels(
    source: StateSource, operator: str, without: Collection[CapturedRegistration]
) -> dict[str, str]:
    """The functions that the Python dispatcher has for an operator, by dispatch key. without: what is left out."""
    kernels = source.python_kernels(operator)
    return {key: function for key, function in kernels if (operator, key, 1, True) not in without}
