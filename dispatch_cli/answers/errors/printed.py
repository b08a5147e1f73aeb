"""Keys, tables and versions that a text shows. People paste first lines, ends, and parts in between.

Sources of the names of keys: ``toString`` in c10/core/DispatchKey.cpp, of several versions, and
``OperatorEntry::reportError``, which writes the name of ``torch.utils.rename_privateuse1_backend`` for PrivateUse1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dispatch_cli.answers.errors.read import ErrorText
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.universe import AUTOGRAD, BACKEND_SELECT, META, Universe, autograd_key_of

RENAMED = "PrivateUse1"
"""The backend that an out-of-tree library can give a name of its own."""
UNNAMED = "UNKNOWN_TENSOR_TYPE_ID"
"""PyTorch's word for a key that its ``toString`` lacks."""
_OLD_ENDING = "TensorId"
_OLD_NAMES = {"Autocast": "AutocastCUDA", "ORT": "MAIA", "Variable": AUTOGRAD}
"""Former names of keys: Autocast until 1.11, ORT until 2.3, VariableTensorId until 1.5."""
_RELEASE = re.compile(
    r"(?i)(?<![\w.])(?:py|lib)?torch(?:[ _.]{0,3}version(?:__)?)?['\"]?(?: \(e\.g\.,? 1\.0\))?"
    r"(?: ?[:=]{1,2} ?| {1,40}|-|/| v)['\"]?([12])\.(\d{1,2})(?!\d)"
)
"""``PyTorch Version (e.g., 1.0): 2.4.1``, ``torch==2.4.1+cu121``, ``torch-2.4.1``, ``torch 2.4``."""


def key_named(universe: Universe, printed: str) -> str | None:
    """The key of the universe that a table or a list of a text means; None where it has none of that name."""
    old = printed.removesuffix(_OLD_ENDING)
    names = (printed, _OLD_NAMES.get(old, old))
    return next(filter(universe.has_key, names), None)


def read_key(universe: Universe, printed: str) -> tuple[str | None, str | None]:
    """The key at which a call ended, None where the universe has none of that name; a library's name of PrivateUse1.

    There PyTorch prints the names of renamed backends. Their small letters tell them: ``npu``, ``SparseCsrnpu``. A fork
    has a key of its own for its backend, in capital letters: ``DML``.
    """
    named = key_named(universe, printed)
    if named is not None:
        return named, None
    heads = (key.removesuffix(RENAMED) for key in universe.slots if key.endswith(RENAMED))
    for head in sorted(heads, key=len, reverse=True):
        backend = printed.removeprefix(head)
        is_name = backend[:1].isalpha() and backend in (backend.lower(), backend.upper()) and backend != UNNAMED
        if printed.startswith(head) and is_name:
            return f"{head}{RENAMED}", None if backend == "privateuseone" else backend
    return None, None


def are_indices(listed: Iterable[str]) -> bool:
    """True for a list of wrong names.

    PyTorch 1.12 and 1.13 wrote the key of the number that a slot has, not the slot's key. Most of those have no name.
    """
    return [*listed].count(UNNAMED) > 1


def is_old(name: str) -> bool:
    """True for a name that only PyTorch before 2.4 prints."""
    return name.endswith(_OLD_ENDING) or name in _OLD_NAMES


class PrintedTable(NamedTuple):
    """A table in a text, by the keys of the universe.

    lines: the rules of its lines. listed: the keys that the first line lists; None where it lists none, wrong ones or a
    part. whole: the text tells of every backend key whether there is a kernel.
    """

    lines: dict[str, Rule]
    listed: frozenset[str] | None
    whole: bool

    def kernels(self, universe: Universe) -> tuple[str, ...] | None:
        """The backend keys with a kernel of the operator, in the order of tables; None where the text shows a part.

        A list of keys does not say which of them hold a backend fallback: Meta is left out then, where PyTorch has one.
        """
        if not self.whole:
            return None
        shown = {*self.lines}
        if self.listed is not None:
            core = {fallback.key for fallback in universe.fallbacks if fallback.key not in self.lines}
            shown = {*self.listed} - core
        shown -= {key for key, rule in self.lines.items() if rule is Rule.FALLBACK}
        return tuple(key for key in universe.runtime if key in shown and autograd_key_of(universe, key) is not None)

    def fallbacks(self, universe: Universe) -> set[str]:
        """The backends at whose keys the text shows a backend fallback, or does not tell it from a kernel."""
        keys = (key for key in {*self.lines, *(self.listed or ())} if autograd_key_of(universe, key) is not None)
        parts = ((self.lines.get(key), universe.runtime_parts[key][1]) for key in keys)
        shown = {of for rule, of in parts if rule is Rule.FALLBACK or (rule is None and of in (RENAMED, "XPU"))}
        return {backend for backend in shown if backend not in (None, "CPU", META)}


def printed_table(universe: Universe, text: ErrorText) -> PrintedTable:
    """The table in an error text. Lines and lists are in the order of slots, in which backends come first."""
    lines = {key: rule for name, rule in text.dump.items() if (key := _slot(universe, name))}
    names = () if text.available is None or are_indices(text.available) else text.available
    listed = frozenset(key for name in names if (key := _slot(universe, name)))
    after_backends = universe.slot[BACKEND_SELECT]
    # a list that ends too early may have all backends; of one that was shortened by hand it is not known what it lacks
    has_backends = text.available_cut and any(universe.slot[key] >= after_backends for key in listed)
    is_list = bool(names) and (has_backends or _is_whole_list(universe, text))
    slots = [universe.slot[key] for key in lines]
    is_table = bool(slots) and min(slots) <= after_backends <= max(slots)
    return PrintedTable(lines, listed if is_list else None, is_list or is_table)


def _slot(universe: Universe, name: str) -> str | None:
    key = key_named(universe, name)
    return key if key in universe.slot else None


def _is_whole_list(universe: Universe, text: ErrorText) -> bool:
    """True for a list of keys as PyTorch wrote it, not shortened by hand.

    Every PyTorch since 1.6 ends it with fallbacks at keys above those of autograd; older ones have names of their own.
    """
    if text.available_cut or not text.available:
        return False
    last = [key_named(universe, name) or "" for name in text.available[-2:]]  # Functionalize stood last for a time
    above = max(universe.slot[key] for key in universe.covered_by(AUTOGRAD))
    return is_old(text.available[-1]) or any(universe.slot.get(key, 0) > above for key in last)


FALLBACKS = 4
"""Files of fallbacks from which on their lines tell the version."""
_PLACE = re.compile(r"(\w{1,80}\.\w{1,4}):(\d{1,6})$")
_FALLBACK_PLACE = re.compile(r"(\w{1,80}\.\w{1,4}):(\d{1,6}) \[backend fallback\]")
_GAPS = re.compile(r"[\s>|]+")


class TextVersion(NamedTuple):
    """The version of a text.

    release: major and minor number that the text names; None where it names none, or several. nearest: the embedded
    version nearest to the text; None where nothing tells it. older_than_all: the text is older than each of them.
    """

    release: str | None
    nearest: str | None
    older_than_all: bool


def version_of(text: str, error: ErrorText, universes: Sequence[Universe]) -> TextVersion:
    """The version of an error in a text. universes: the embedded ones, newest first."""
    newest, *_, oldest = universes
    releases = {(int(match[1]), int(match[2])) for match in _RELEASE.finditer(text)}
    if len(releases) == 1:
        (release,) = releases
        names = (universe.name for universe in universes if universe.release <= release)
        return TextVersion(f"{release[0]}.{release[1]}", next(names, oldest.name), release < oldest.release)
    listed = error.available or ()
    if are_indices(listed) or any(map(is_old, (error.key or "", *error.dump, *listed))):
        return TextVersion(None, oldest.name, True)
    printed = {error.key or "", *error.dump, *listed}
    known = {name for name in printed if any(name in universe.slot for universe in universes)}
    fitting = [universe for universe in universes if known <= universe.slot.keys() and _has_fallbacks(universe, error)]
    if not fitting:
        return TextVersion(None, oldest.name, True)
    places = set(_FALLBACK_PLACE.findall(_GAPS.sub(" ", text)))
    fitting = [universe for universe in fitting if _has_places(universe, places)] or fitting
    return TextVersion(None, None if fitting[0] is newest else fitting[0].name, False)  # the newest fits most texts


def _has_places(universe: Universe, places: set[tuple[str, str]]) -> bool:
    """True if a text prints backend fallbacks, with the lines of this version where that has the file, too."""
    known = [match.groups() for debug in universe.own_fallbacks.values() if (match := _PLACE.search(debug))]
    files = {file for file, _ in known}
    return len({file for file, _ in places} & files) >= FALLBACKS and {
        (file, line) for file, line in places if file in files
    } <= {*known}


def _has_fallbacks(universe: Universe, error: ErrorText) -> bool:
    """True unless a whole list of keys lacks one at which this version has a fallback of its own."""
    if error.available is None or not _is_whole_list(universe, error):
        return True
    there = {key_named(universe, name) for name in (*error.available, *error.dump)}
    return all(fallback.key in there for fallback in universe.fallbacks)
