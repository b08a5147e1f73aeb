"""The words by which a call is described: what a shell completes, and what ``explore`` offers.

`report.call_request` reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dispatch_cli.model.calls.call import CONTEXT_WORDS, TENSOR_WORDS, Absent, ContextKind, Layout
from dispatch_cli.model.schema.types import DTYPES
from dispatch_cli.model.text.suggest import starting
from dispatch_cli.model.universe import Universe

NAMED_WORDS = ("subclass",)
"""The words of a tensor that need a name, as in ``subclass=NAME``."""
KEYS_AFTER = ("include", "exclude")
"""The contexts that need keys, as in ``exclude=KEY,KEY``."""
ABSENT_WORDS = tuple(absent.value for absent in Absent)
"""The words that stand for a tensor which is not there, and go with no other."""
_WITH_A_VALUE = ("autocast", "mode", "pre_dispatch_mode", *KEYS_AFTER)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"


class Completion(NamedTuple):
    """Continuation of a text. is_whole: False where more must follow, as after ``include=``."""

    text: str
    is_whole: bool = True


def tensor_words(universe: Universe, given: Sequence[str] = ()) -> tuple[str, ...]:
    """The words that can follow those of a tensor that are *given*: devices where none is, then the others."""
    words = tuple(word for word in TENSOR_WORDS if word not in given and not (given and word in ABSENT_WORDS))
    has_device = any(word.partition(":")[0] in universe.devices for word in given)
    return words if has_device else (*universe.devices, *words)


def option_words(universe: Universe, option: str) -> tuple[str, ...]:
    """The values of an option beside tensors: device, layout, dtype, generator."""
    if option == "layout":
        return tuple(layout.value for layout in Layout)
    return DTYPES if option == "dtype" else tuple(universe.devices)


def tensor_completions(universe: Universe, text: str) -> Iterator[Completion]:
    """A tensor with one more word: its device first, then the others."""
    before, blank, word = text.rpartition(" ")
    words = tensor_words(universe, before.split())
    yield from (Completion(before + blank + other) for other in starting(words, word) if other not in NAMED_WORDS)
    yield from (Completion(f"{before}{blank}{other}=", False) for other in NAMED_WORDS if f"{other}=".startswith(word))


def context_completions(universe: Universe, text: str) -> Iterator[Completion]:
    """The contexts, and what follows their words."""
    head, equals, value = text.partition("=")
    if equals and head in KEYS_AFTER:
        before, comma, key = value.rpartition(",")
        yield from (Completion(f"{head}={before}{comma}{other}") for other in starting(universe.slots[1:], key))
        return
    autocasts = _autocasts(universe)
    off = (f"{autocast} off" for autocast in autocasts if text.startswith(autocast))
    yield from map(Completion, starting((*_whole_contexts(), *autocasts, *off), text))
    yield from (Completion(f"{name}=", False) for name in KEYS_AFTER if f"{name}=".startswith(text))


def key_set_completions(universe: Universe, text: str) -> Iterator[Completion]:
    """A key, or an expression of keys with its last word completed."""
    start = len(text.rstrip(_LETTERS))
    yield from (Completion(text[:start] + key) for key in starting(universe.keys_by_id, text[start:]))


def _whole_contexts() -> Iterator[str]:
    """The contexts of one word, and the modes that PyTorch has."""
    from dispatch_cli.engine.call.thread import INFRA_MODES, PRE_DISPATCH_MODES

    yield from (word for word in CONTEXT_WORDS if word not in _WITH_A_VALUE)
    yield from (f"{ContextKind.MODE.value}={name}" for name in INFRA_MODES)
    yield from (f"{ContextKind.PRE_DISPATCH_MODE.value}={name}" for name in PRE_DISPATCH_MODES)
    yield f"{ContextKind.INFERENCE_MODE.value}(False)"


def _autocasts(universe: Universe) -> tuple[str, ...]:
    """The contexts of autocast, one for each device that has it."""
    from dispatch_cli.model.universe import autocast_key_of

    names = (name for name, key in universe.devices.items() if autocast_key_of(universe, key))
    return tuple(f"{ContextKind.AUTOCAST.value} {name}" for name in names)
