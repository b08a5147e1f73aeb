"""Dispatch keys in declarations: the names that PyTorch's parser accepts, several of them separated by commas."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from dispatch_cli import universes
from dispatch_cli.declarations.fields import pairs_of, parts
from dispatch_cli.declarations.formats.format_types import CATCH_ALL
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.source import Place
from dispatch_cli.declarations.tree import Node, Scalar
from dispatch_cli.model.problem import Related
from dispatch_cli.model.text.glob import is_glob
from dispatch_cli.model.text.quoting import MAX_QUOTED, quoted
from dispatch_cli.model.text.suggest import KEYS_LISTED, suggestion
from dispatch_cli.model.universe import CATCH_ALL as CATCH_ALL_KEY
from dispatch_cli.model.universe import UNDEFINED, Universe

_CODE = "unknown-dispatch-key"


class KeyReader:
    """Reads dispatch keys of one universe; without one, every name is taken.

    constants: keys are named as the C++ enum names them, so that those count too that PyTorch's parser does not know.
    """

    def __init__(self, universe: Universe | None, constants: bool = False) -> None:
        self.universe = universe
        self.constants = constants
        self._known: dict[str, tuple[str, ...]] = {}

    def pairs(
        self, problems: Problems, mapping: Node | None, *, catch_all: bool = False
    ) -> list[tuple[Scalar, str | None, Node]]:
        """The pairs of a mapping by single dispatch key, in order; None stands for the catch-all where that is allowed.

        Unknown keys, and keys that two pairs name, are noted and left out. Errors: OverBudget.
        """
        entries: list[tuple[Scalar, str | None, Node]] = []
        first: dict[str, Scalar] = {}
        for node, value in pairs_of(mapping):
            for key in self.several(problems, node, catch_all=catch_all):
                kept = first.get(key)
                if kept is not None:
                    related = (Related("it is first written here", problems.span(kept)),)
                    problems.add("duplicate-key", f"the dispatch key {key} is written twice", node, related=related)
                    continue
                first[key] = node
                entries.append((node, None if key == CATCH_ALL else key, value))
        problems.source.budget.spend(max(0, len(entries) - len(pairs_of(mapping))))
        return entries

    def several(self, problems: Problems, node: Scalar, *, catch_all: bool) -> tuple[str, ...]:
        """The keys of a text, separated by commas; the unknown ones are noted and left out."""
        text = node.text
        known = self._known.get(text)
        if known is not None:
            return known
        keys: list[str] = []
        good = True
        for written, offset in parts(text):
            key = self._read(written)
            if key == CATCH_ALL and catch_all:
                good = False  # Not everywhere, so not to be remembered.
                keys.append(key)
            elif self._takes(key) or self._check(problems, key, problems.inside(node, offset)):
                keys.append(key)
            else:
                good = False
        if good:
            self._known[text] = tuple(keys)
        return tuple(keys)

    def single(self, problems: Problems, node: Scalar) -> str | None:
        """The one key that a registration block names; None, noting it, when it is unknown.

        A block names its key in C++, as a constant: so it reaches the few keys that PyTorch's parser does not know.
        """
        key = self._read(node.text)
        return key if self._is_constant(key) or self._check(problems, key, node) else None

    def _is_constant(self, key: str) -> bool:
        return self.universe is not None and key in self.universe.runtime_parts

    def slot_globs(self, problems: Problems, node: Scalar) -> tuple[str, ...]:
        """Runtime keys, globs over them and alias keys, separated by commas; unknown names are noted and left out.

        Names of other PyTorch versions are taken: one file speaks of several versions.
        """
        return tuple(
            key
            for key, place in self._parts(problems, node)
            if is_glob(key) or self._is_known(key) or self._has_slot(problems, key, place)
        )

    def _parts(self, problems: Problems, node: Scalar) -> Iterator[tuple[str, Place]]:
        """The names of a text, separated by commas, each with its place; where one is missing, that is noted."""
        for key, offset in parts(node.text):
            place = problems.inside(node, offset)
            if key:
                yield self._read(key), place
            else:
                problems.add(_CODE, "a dispatch key is missing here", place)

    def in_sets(self, problems: Problems, node: Scalar) -> tuple[str, ...]:
        """Runtime keys, and those that alias keys cover, separated by commas; unknown names are noted and left out."""
        universe = self.universe
        runtime_keys: list[str] = []
        for key, place in self._parts(problems, node):
            if universe is not None and universe.is_alias(key):
                runtime_keys += universe.covered_by(key)
            elif key == UNDEFINED:
                problems.add(_CODE, "Undefined is in no key set, so it cannot be excluded", place, "remove it")
            elif self._has_slot(problems, key, place):
                runtime_keys.append(key)
        return tuple(runtime_keys)

    def slot(self, problems: Problems, node: Scalar) -> str | None:
        """One runtime key; None, noting it, when it is none."""
        text = self._read(node.text)
        return text if self._has_slot(problems, text, node) else None

    def device(self, problems: Problems, node: Scalar) -> str | None:
        """The backend key that a device or its key means, in any case; None, noting it, when it means none."""
        text, universe = node.text, self.universe
        if universe is None:
            return text
        key = universe.devices.get(text.lower()) or universe.key_named(text)
        if key in universe.devices.values():
            return key
        names = [*universe.devices.values(), *universe.devices]
        hint = suggestion(text, names) or f"the devices are {', '.join(universe.devices)}"
        problems.add("no-backend", f"{quoted(text)} is no device of {universe.name}", node, hint)
        return None

    def _read(self, text: str) -> str:
        """The key that is written, which may have the name that was given to the backend at PrivateUse1."""
        return text if self.universe is None else self.universe.key_written(text)

    def _is_known(self, key: str) -> bool:
        """True for an alias key, and for a key that only other universes have a slot for, or as an alias."""
        known = chain((self.universe,), map(universes.load, universes.names()))
        return any(universe is None or key in universe.slot or universe.is_alias(key) for universe in known)

    def _has_slot(self, problems: Problems, key: str, at: Node | Place) -> bool:
        universe = self.universe
        if universe is None or key in universe.slot:
            return True
        hint = suggestion(key, (*universe.slots, *universe.aliases))
        if universe.is_alias(key):
            hint = f"{key} is an alias key; name a runtime key that it covers, such as {universe.covered_by(key)[0]}"
        problems.add(_CODE, f"there is no runtime key {quoted(key)}", at, hint)
        return False

    def _takes(self, key: str) -> bool:
        universe = self.universe
        if universe is None or (self.constants and self._is_constant(key)):
            return True
        return key in universe.parseable and (key in universe.slot or key in universe.aliases) and key != UNDEFINED

    def _check(self, problems: Problems, key: str, at: Node | Place) -> bool:
        universe = self.universe
        if universe is None or self._takes(key):
            return True
        if not key:
            problems.add(_CODE, "a dispatch key is missing here", at)
        elif key == CATCH_ALL:
            problems.add(_CODE, f"{CATCH_ALL} means no dispatch key, but one is needed here", at, _CATCH_ALL_HINT)
        elif key == UNDEFINED:
            problems.add(_CODE, "nothing can be registered at Undefined", at, _UNDEFINED_HINT)
        elif key in universe.per_backend and key in universe.parseable:
            hint = f"it is a functionality: name its runtime keys, such as {universe.per_backend[key][0]}"
            problems.add(
                "functionality-key", f"{key} has no slot, so PyTorch never runs a kernel registered there", at, hint
            )
        else:
            shown = key if key.isprintable() and len(key) <= MAX_QUOTED else quoted(key)
            problems.add(_CODE, f"could not parse dispatch key: {shown}", at, lambda: _hint(universe, key))
        return False


_CATCH_ALL_HINT = f"a kernel without a key is registered at {CATCH_ALL_KEY}"
_UNDEFINED_HINT = f"PyTorch treats it as the catch-all: write {CATCH_ALL_KEY}"


def _hint(universe: Universe, key: str) -> str:
    if "," in key:
        return "one dispatch key is needed here: use one block per key"
    if key in universe.slot:
        return "the key exists, but PyTorch cannot parse its name; use the dispatch_key of a library"
    registrable = sorted(name for name in universe.parseable if name in universe.slot or name in universe.aliases)
    others = [name for name in universes.names() if key in universes.load(name).parseable]
    if others:
        return f"{universe.name} has no such key, but {others[0]} has it; choose the version with --universe or --base"
    written = key.replace(universe.backend_name, universe.backend_name.upper())
    if (known := universe.key_written(written)) != written:
        return f"did you mean {written} or {known}?"
    return suggestion(key, (*registrable, CATCH_ALL)) or KEYS_LISTED
