"""What can be chosen for a part of a call: the words of a tensor, contexts, options, keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from dispatch_cli.answers.resolve.call_words import (
    ABSENT_WORDS,
    NAMED_WORDS,
    context_completions,
    key_set_completions,
    last_key,
    option_words,
    tensor_words,
)
from dispatch_cli.engine.call.tensors import TensorMaker
from dispatch_cli.model.call import LAYOUTS, CallError, TensorSpec
from dispatch_cli.model.suggest import starting
from dispatch_cli.model.universe import Universe


class CallPart(Enum):
    """A part of a call; the value is its title."""

    TENSOR = "Tensor"
    CONTEXT = "Context"
    DEVICE = "device"
    LAYOUT = "layout"
    DTYPE = "dtype"
    GENERATOR = "generator"
    KEYSET = "Key set"


class WordChoice(NamedTuple):
    """A word to choose.

    text: of the whole part, once it is chosen. is_given: the part has it already; choosing it takes it away, unless it
    is a device, of which there is always one. is_whole: False where more must follow, such as a name. why_not: why it
    does not go together with the words of the part. instead_of: the words that it takes the place of.
    """

    word: str
    text: str
    is_given: bool = False
    is_whole: bool = True
    why_not: str = ""
    instead_of: str = ""


def words_of(
    universe: Universe, part: CallPart, text: str, devices: Sequence[str] = (), given: str = ""
) -> tuple[WordChoice, ...]:
    """What can be chosen for a part whose text is *text*; its last word is taken for the beginning of one.

    devices: of the call's tensors, whose contexts come first. given: of a part of one word, the one that was chosen.
    """
    if part is CallPart.TENSOR:
        return tuple(_of_tensor(universe, text))
    if part is CallPart.CONTEXT:
        return tuple(
            WordChoice(one.text, *_instead_of(one.text, given), is_whole=one.is_whole)
            for one in context_completions(universe, text, devices)
        )
    if part is CallPart.KEYSET:
        return tuple(WordChoice(one.text[last_key(text) :], one.text) for one in key_set_completions(universe, text))
    words = option_words(universe, part.value)
    return tuple(WordChoice(word, *_instead_of(word, given)) for word in starting(words, text.strip()))


def _instead_of(word: str, given: str) -> tuple[str, bool]:
    """The text of a part of one word once this word is chosen, and whether it has it already."""
    return ("", True) if word == given else (word, False)


def devices_of(universe: Universe, tensors: Iterable[str]) -> tuple[str, ...]:
    """The devices that the texts of tensors name, each once."""
    words = (_plain(word) for text in tensors for word in text.split())
    return tuple(dict.fromkeys(word for word in words if word in universe.devices))


def as_typed(universe: Universe, text: str) -> str:
    """The text of a tensor without words in whose place later ones stand: a device, a layout."""
    given = text.split()
    kept: list[str] = []
    for word in given:
        kept = [*(one for one in kept if not _gives_way(universe, one, word)), word]
    return text if kept == given else _joined(kept) + " " * text.endswith(" ")


def _of_tensor(universe: Universe, text: str) -> Iterator[WordChoice]:
    """The words of a tensor, the given ones marked. There is one device and one layout: another takes its place."""
    words = tensor_words(universe)
    given = text.split()
    begun = "" if not given or text.endswith(" ") else given.pop()
    given = list(dict.fromkeys(given))
    maker = TensorMaker(universe)
    present = {_plain(word): word for word in given}
    for word in starting(words, begun):
        if word in present:
            kept = [one for one in given if one != present[word] or word in universe.devices]
            yield WordChoice(present[word], _joined(kept), is_given=True)
            continue
        kept = [one for one in given if not _gives_way(universe, one, word)]
        text, gone = _joined([*kept, word]), _joined([one for one in given if one not in kept])
        if word in NAMED_WORDS:
            yield WordChoice(f"{word}=", f"{text}=", is_whole=False, instead_of=gone)
        else:
            yield WordChoice(word, text, why_not=_refused(maker, text), instead_of=gone)


def _gives_way(universe: Universe, old: str, new: str) -> bool:
    """Whether a word goes when another one comes: of devices and of layouts there is one, and none goes with `none`."""
    if old in ABSENT_WORDS or new in ABSENT_WORDS:
        return True
    kinds = universe.devices, LAYOUTS
    return any(_plain(old) in kind and _plain(new) in kind for kind in kinds)


def _refused(maker: TensorMaker, text: str) -> str:
    try:
        maker.make(TensorSpec.parse(text))
    except CallError as error:
        return error.message
    return ""


def _plain(word: str) -> str:
    """The ``cuda`` of ``cuda:0``, the ``fake`` of ``fake=A``."""
    return word.partition("=")[0].partition(":")[0]


def _joined(words: list[str]) -> str:
    return " ".join(words)
