"""The key set with which an operator would be called: of tensors, on a thread in contexts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dispatch_cli.answers.keys.outcomes import ThreadKeys, thread_keys
from dispatch_cli.answers.shared.report_parts import hexadecimal
from dispatch_cli.engine.call.simulate import make_value
from dispatch_cli.engine.call.tensors import TensorMaker
from dispatch_cli.engine.call.thread import Contexts
from dispatch_cli.engine.keys.keyset import DispatchKeySet, components_of, functionalities_of
from dispatch_cli.engine.keys.layout import layout_of
from dispatch_cli.model.calls.call import Context, TensorSpec
from dispatch_cli.model.universe import Universe


class TensorKeys(NamedTuple):
    """A tensor and its own keys, as ``torch._C._dispatch_keys`` has them."""

    tensor: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallKeysReport:
    """included, excluded: by the thread. keys: those of all tensors and of the thread, without the excluded ones, as
    PyTorch iterates them; an operator's fallthroughs are not taken away. highest: the first key. functionalities,
    backends: the bits, each by its name. raw: PyTorch's ``raw_repr``. printed: as PyTorch prints the set.
    """

    REPORT: ClassVar[str] = "call-keys"

    universe: str
    tensors: tuple[TensorKeys, ...]
    contexts: tuple[str, ...]
    included: ThreadKeys
    excluded: ThreadKeys
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
    keys = (keys | thread.keys.included) - thread.keys.excluded
    return CallKeysReport(
        universe=universe.name,
        tensors=tuple(TensorKeys(str(spec), tuple(value.keyset)) for spec, value in zip(tensors, values, strict=True)),
        contexts=tuple(map(str, contexts)),
        included=thread_keys(thread.keys.included, universe.default_included),
        excluded=thread_keys(thread.keys.excluded, universe.default_excluded),
        keys=tuple(keys),
        highest=keys.highest_priority(),
        functionalities=functionalities_of(keys),
        backends=components_of(keys),
        raw=hexadecimal(keys.bits),
        printed=str(keys),
    )
