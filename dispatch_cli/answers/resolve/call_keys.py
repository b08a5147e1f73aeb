"""The key set with which an operator would be called: of tensors, on a thread in contexts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dispatch_cli.answers.keys.outcomes import ThreadKeys, thread_keys
from dispatch_cli.answers.shared.report_parts import hexadecimal
from dispatch_cli.engine.call.simulate import make_value
from dispatch_cli.engine.call.tensors import TensorMaker, Value
from dispatch_cli.engine.call.thread import Contexts, Thread
from dispatch_cli.engine.keys.keyset import DispatchKeySet, components_of, functionalities_of
from dispatch_cli.engine.keys.layout import layout_of
from dispatch_cli.model.calls.call import Context, TensorSpec
from dispatch_cli.model.universe import Universe


class TensorKeys(NamedTuple):
    """A tensor and its own keys, as ``torch._C._dispatch_keys`` has them."""

    tensor: str
    keys: tuple[str, ...]


class CarriedKey(NamedTuple):
    """A key that a tensor or the thread brings, with its functionality.

    tensors: the positions, from 1, of the tensors that have it. included: the thread includes it. excluded: the thread
    excludes its functionality, so that the call does not have it.
    """

    key: str
    functionality: str
    tensors: tuple[int, ...]
    included: bool
    excluded: bool


@dataclass(frozen=True, slots=True)
class CallKeysReport:
    """included, excluded: by the thread. carried: every key that a tensor or the thread brings, the highest first.
    keys: those of all tensors and of the thread, without the excluded ones, as
    PyTorch iterates them; an operator's fallthroughs are not taken away. highest: the first key. functionalities,
    backends: the bits, each by its name. raw: PyTorch's ``raw_repr``. printed: as PyTorch prints the set.
    """

    REPORT: ClassVar[str] = "call-keys"

    universe: str
    tensors: tuple[TensorKeys, ...]
    contexts: tuple[str, ...]
    included: ThreadKeys
    excluded: ThreadKeys
    carried: tuple[CarriedKey, ...]
    keys: tuple[str, ...]
    highest: str
    functionalities: tuple[str, ...]
    backends: tuple[str, ...]
    raw: str
    printed: str


def call_keys_report(universe: Universe, tensors: Sequence[TensorSpec], contexts: Sequence[Context]) -> CallKeysReport:
    """The keys of those tensors in those contexts, the outermost first. Errors: CallError.

    Source: ``DispatchKeyExtractor``, ``computeDispatchKeySet``.
    """
    maker = TensorMaker(universe)
    thread = Contexts(maker).enter_all(tuple(contexts))
    values = [make_value(maker, thread, spec) for spec in tensors]
    keys = DispatchKeySet(layout_of(universe))
    for value in values:
        keys |= value.keyset
    brought = keys | thread.keys.included
    keys = brought - thread.keys.excluded
    return CallKeysReport(
        universe=universe.name,
        tensors=tuple(TensorKeys(str(spec), tuple(value.keyset)) for spec, value in zip(tensors, values, strict=True)),
        contexts=tuple(map(str, contexts)),
        included=thread_keys(thread.keys.included, universe.default_included),
        excluded=thread_keys(thread.keys.excluded, universe.default_excluded),
        carried=tuple(_carried(brought, values, thread)),
        keys=tuple(keys),
        highest=keys.highest_priority(),
        functionalities=functionalities_of(keys),
        backends=components_of(keys),
        raw=hexadecimal(keys.bits),
        printed=str(keys),
    )


def _carried(keys: DispatchKeySet, values: Sequence[Value], thread: Thread) -> Iterator[CarriedKey]:
    """Each key of a set, the highest first, with where it comes from."""
    parts, slot = keys.layout.universe.runtime_parts, keys.layout.universe.slot
    for key in sorted(keys, key=slot.__getitem__, reverse=True):
        functionality = parts[key][0]
        yield CarriedKey(
            key=key,
            functionality=functionality,
            tensors=tuple(position for position, value in enumerate(values, 1) if value.keyset.has(key)),
            included=thread.keys.included.has(functionality),
            excluded=thread.keys.excluded.has(functionality),
        )
