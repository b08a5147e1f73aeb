"""The backend fallbacks: what serves all operators at keys that nothing else fills."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dispatch_cli.answers.shared.starting_state import StartsFrom, starts_from
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.origin import OWN, Origin
from dispatch_cli.model.span import Span


class BackendFallback(NamedTuple):
    """A backend fallback.

    kernel: its name, or what a dump shows; debug: what a dump shows. core: it is PyTorch's own. when: the conditions of
    its registration; None where it has none.
    """

    key: str
    kernel: str
    debug: str
    fallthrough: bool
    core: bool
    span: Span | None
    origin: Origin = OWN
    when: str | None = None


@dataclass(frozen=True, slots=True)
class BackendFallbacksReport(StartsFrom):
    """All backend fallbacks, or those at the keys that were asked for, in the order of the slots."""

    REPORT: ClassVar[str] = "backend-fallbacks"

    fallbacks: tuple[BackendFallback, ...]


def backend_fallbacks_report(state: State, keys: Collection[str] | None = None) -> BackendFallbacksReport:
    """The backend fallbacks at *keys*; None for all."""
    dispatcher = state.dispatcher
    fallbacks = dispatcher.fallbacks
    return BackendFallbacksReport(
        *starts_from(state),
        fallbacks=tuple(
            _fallback(state, fallbacks[key])
            for key in dispatcher.universe.slots
            if key in fallbacks and (keys is None or key in keys)
        ),
    )


def _fallback(state: State, registration: Registration) -> BackendFallback:
    kernel = registration.kernel
    return BackendFallback(
        key=registration.key,
        kernel=kernel.label,
        debug=kernel.debug,
        fallthrough=kernel.fallthrough,
        core=kernel.span is None,
        span=kernel.span,
        origin=state.origin(registration),
        when=kernel.when,
    )
