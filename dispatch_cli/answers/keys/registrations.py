"""Operators that have a kernel registered at a key."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dispatch_cli.answers.shared.report_parts import StartsFrom, starts_from
from dispatch_cli.answers.table.registrations.report import BackendFallback, fallback_of
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import OWN, Origin, Span


class RegisteredKernel(NamedTuple):
    """The active kernel of an operator at a key.

    kernel: its name, or what a dump shows; debug: what a dump shows. when: as in `KernelRow`.
    """

    operator: str
    kernel: str
    debug: str
    fallthrough: bool
    span: Span | None
    origin: Origin = OWN
    when: str | None = None


class KeyRegistrations(NamedTuple):
    """The kernels registered at exactly one key, by operator.

    alias: it is an alias key. fallback: the backend fallback at the key, PyTorch's own included.
    """

    key: str
    alias: bool
    fallback: BackendFallback | None
    kernels: tuple[RegisteredKernel, ...]


@dataclass(frozen=True, slots=True)
class KeyRegistrationsReport(StartsFrom):
    """The kernels at each key that was asked for, in the order of the keys."""

    REPORT: ClassVar[str] = "key-registrations"

    keys: tuple[KeyRegistrations, ...]


def key_registrations_report(
    state: State, keys: Collection[str], names: Iterable[OperatorName]
) -> KeyRegistrationsReport:
    """The operators among *names* that have a kernel at each of *keys*.

    Source: ``torch._C._dispatch_get_registrations_for_dispatch_key``, which gives them for one key, in no order.
    """
    dispatcher = state.dispatcher
    universe = dispatcher.universe
    by_key: dict[str, list[RegisteredKernel]] = {
        key: [] for key in sorted(keys, key=lambda key: universe.ids.get(key, 0))
    }
    for registration in dispatcher.registered_at(by_key, names):
        by_key[registration.key].append(_kernel(state, registration))
    fallbacks = dispatcher.fallbacks
    return KeyRegistrationsReport(
        *starts_from(state, names),
        keys=tuple(
            KeyRegistrations(
                key,
                universe.is_alias(key),
                fallback_of(state, fallbacks[key]) if key in fallbacks else None,
                tuple(rows),
            )
            for key, rows in by_key.items()
        ),
    )


def _kernel(state: State, registration: Registration) -> RegisteredKernel:
    kernel = registration.kernel
    return RegisteredKernel(
        operator=str(registration.operator),
        kernel=kernel.label,
        debug=kernel.debug,
        fallthrough=kernel.fallthrough,
        span=kernel.span,
        origin=state.origin(registration),
        when=kernel.when,
    )
