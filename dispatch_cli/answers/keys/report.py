"""A universe at a glance: the priority of functionalities, what each slot holds by itself, aliases, devices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import ClassVar, NamedTuple

from dispatch_cli.engine.rules import PRECEDENCE, Rule
from dispatch_cli.engine.state import State
from dispatch_cli.model.universe import Universe, autograd_keys_of
from dispatch_cli.trace.recording import is_recording


class CoreAnswer(Enum):
    """Kernel that PyTorch itself puts into a slot."""

    KERNEL = "kernel"
    FALLTHROUGH = "fallthrough"
    NOTHING = "nothing"


class ThreadDefault(Enum):
    """State of a key in a fresh thread."""

    INCLUDED = "included"
    EXCLUDED = "excluded"
    NEITHER = "neither"


class KeyRow(NamedTuple):
    """A runtime key.

    slot: its number in a table; id: in the enum. priority: of its functionality, 1 the lowest. backend: None where it
    is not per backend. core: what PyTorch itself puts there. parseable: whether PyTorch's parser knows the name.
    """

    key: str
    slot: int
    id: int
    functionality: str
    backend: str | None
    priority: int
    core: CoreAnswer
    parseable: bool
    default: ThreadDefault


class FunctionalityRow(NamedTuple):
    """A functionality. keys: its runtime keys, one per backend or itself alone."""

    functionality: str
    priority: int
    id: int
    per_backend: bool
    keys: tuple[str, ...]


class BackendRow(NamedTuple):
    """A backend component. autograd_keys: of its tensors. devices: those whose key is its Dense one."""

    backend: str
    autograd_keys: tuple[str, ...]
    devices: tuple[str, ...]


class AliasRow(NamedTuple):
    """An alias key. rule_number, rule: of the algorithm; None for an alias that no rule asks. covers: runtime keys.

    fills_undefined: it fills the slot Undefined, too.
    """

    alias: str
    rule_number: int | None
    rule: Rule | None
    covers: tuple[str, ...]
    fills_undefined: bool

    @property
    def slots(self) -> int:
        """Number of slots that it covers, with Undefined."""
        return len(self.covers) + self.fills_undefined


@dataclass(frozen=True, slots=True)
class UniverseReport:
    """functionalities: highest priority first. aliases: in the order in which the rules ask them.

    autograd_keys_without_backends: for which no backend counts, so that the math kernel stays.
    higher_order_fallthrough: where higher-order operators fall through by default.
    keys: every runtime key in the order of slots.
    """

    REPORT: ClassVar[str] = "keys"

    universe: str
    torch: str
    functionalities: tuple[FunctionalityRow, ...]
    backends: tuple[BackendRow, ...]
    aliases: tuple[AliasRow, ...]
    devices: Mapping[str, str]
    default_included: tuple[str, ...]
    default_excluded: tuple[str, ...]
    full_after_always: tuple[str, ...]
    autograd_keys_without_backends: tuple[str, ...]
    higher_order_fallthrough: tuple[str, ...]
    keys: tuple[KeyRow, ...]


def universe_report(universe: Universe) -> UniverseReport:
    """Everything about a universe that is not about one key alone."""
    autograd = universe.aliases.get("Autograd", ())
    return UniverseReport(
        universe=universe.name,
        torch=universe.torch,
        functionalities=tuple(
            FunctionalityRow(
                functionality,
                priority,
                universe.ids[functionality],
                functionality in universe.per_backend,
                universe.per_backend.get(functionality, (functionality,)),
            )
            for priority, functionality in reversed([*enumerate(universe.functionalities, start=1)])
        ),
        backends=tuple(_backend(universe, backend) for backend in universe.backends),
        aliases=tuple(_aliases(universe)),
        devices=universe.devices,
        default_included=universe.default_included,
        default_excluded=universe.default_excluded,
        full_after_always=universe.full_after_always,
        autograd_keys_without_backends=tuple(key for key in autograd if not universe.autograd_backends.get(key)),
        higher_order_fallthrough=universe.higher_order_fallthrough,
        keys=_keys(universe),
    )


def _backend(universe: Universe, backend: str) -> BackendRow:
    devices = tuple(device for device, key in universe.devices.items() if key == backend)
    return BackendRow(backend, autograd_keys_of(universe, backend), devices)


def thread_default(universe: Universe, key: str) -> ThreadDefault:
    """State of *key* in a fresh thread."""
    if key in universe.default_included:
        return ThreadDefault.INCLUDED
    return ThreadDefault.EXCLUDED if key in universe.default_excluded else ThreadDefault.NEITHER


def _keys(universe: Universe) -> tuple[KeyRow, ...]:
    core = {
        fallback.key: CoreAnswer.FALLTHROUGH if fallback.fallthrough else CoreAnswer.KERNEL
        for fallback in universe.fallbacks
    }
    return tuple(_key(universe, key, core.get(key, CoreAnswer.NOTHING)) for key in universe.runtime)


def _key(universe: Universe, key: str, core: CoreAnswer) -> KeyRow:
    functionality, backend = universe.runtime_parts[key]
    return KeyRow(
        key=key,
        slot=universe.slot[key],
        id=universe.ids[key],
        functionality=functionality,
        backend=backend,
        priority=universe.functionalities.index(functionality) + 1,
        core=core,
        parseable=key in universe.parseable,
        default=thread_default(universe, key),
    )


def _aliases(universe: Universe) -> Iterator[AliasRow]:
    asked = {step.alias: step for step in PRECEDENCE if step.alias in universe.aliases}
    for alias in (*asked, *(alias for alias in universe.aliases if alias not in asked)):
        own_step, covers = asked.get(alias), universe.aliases[alias]
        if own_step is None:
            yield AliasRow(alias, None, None, covers, False)
        else:
            yield AliasRow(alias, own_step.number, own_step.rule, covers, own_step.fills_undefined)


def universe_argument(state: State, arguments: tuple[str, ...]) -> str:
    """The universe as the arguments that load a state name it; else the file that has it, or its name."""
    given = [text for option, text in pairwise(arguments) if option == "--universe"]
    recordings = (text for option, text in pairwise(arguments) if option == "--base" and is_recording(text))
    files = (file for file in (*given, state.declarations.universe_file) if file is not None)
    return next(files, None) or next(recordings, state.dispatcher.universe.name)
