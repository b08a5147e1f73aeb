"""The universes this package carries, and the data of one of your own.

A universe file is JSON (format 1, written by ``python -m dispatch_cli.bases.regenerate``); the fields are those of
`dispatch_cli.model.universe.Universe`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from dispatch_cli.model.universe import CoreFallback, HigherOrderCalls, TorchLibrary, Universe

FORMAT = 1
MAX_TOLD = 5
"""Faults that one message tells."""
MAX_FAULTS = 50
"""Faults that are told of one universe; the rest is counted."""

_HERE = os.path.dirname(__file__)


class UniverseError(Exception):
    """A universe cannot be loaded; the message says which and why. faults: all of them."""

    def __init__(self, message: str, faults: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.faults = tuple(faults)


@cache
def names() -> tuple[str, ...]:
    """Names of the embedded universes, newest PyTorch first."""
    universe_names = [name.removesuffix(".json") for name in os.listdir(_HERE) if name.endswith(".json")]
    return tuple(sorted(universe_names, key=version_of, reverse=True))


def default_name() -> str:
    """The newest embedded universe."""
    return names()[0]


def version_of(name: str) -> tuple[int, ...]:
    """Version in a name such as ``torch-2.15``, to sort by."""
    return tuple(int(part) for part in name.removeprefix("torch-").split("."))


def load(name: str) -> Universe:
    """The embedded universe of that name. Errors: UniverseError for an unknown one."""
    if name not in names():
        raise UniverseError(f"there is no universe named {name[:200]!r} (embedded universes: {', '.join(names())})")
    return _embedded(name)


@cache
def _embedded(name: str) -> Universe:
    with open(os.path.join(_HERE, f"{name}.json"), encoding="utf-8") as file:
        return from_data(json.load(file), is_trusted=True)


def differences(first: Universe, second: Universe) -> list[str]:
    """The fields in which two universes differ, as far as both say something."""
    sides = ((field, getattr(first, field), getattr(second, field)) for field in Universe.__annotations__)
    return [name for name, mine, its in sides if mine != its and mine is not None and its is not None]


_TEXTS = ("name", "torch", "git", "after_autograd", "after_ADInplaceOrView")
_LISTS = (
    "functionalities",
    "backends",
    "runtime",
    "autogradother_backends",
    "full_after_always",
    "default_included",
    "default_excluded",
    "replaceable_fallbacks",
    "higher_order_fallthrough",
    "wrapped",
)
"""The fields that are lists of keys."""
_WORDS = ("plain_devices", "fake_numbered")
"""The fields that are lists of device types."""
_MAPS_TO_LISTS = ("per_backend", "aliases", "autograd_backends", "refreshes")
"""The fields that map keys to lists of keys."""
_FLAGS = (
    "mask_by_arguments",
    "grad_ends_inference",
    "python_needs_snapshot",
    "fake_overrides",
    "fake_without_device",
)


def from_data(data: object, is_trusted: bool = False) -> Universe:
    """Make a universe from the data of a universe file.

    is_trusted: this package carries it; otherwise it is checked that it holds together. Errors: UniverseError, with
    every fault.
    """
    reader = _UniverseReader(data)
    universe, faults = reader.universe(), reader.faults
    if universe is not None and not is_trusted:
        from dispatch_cli.universes.checking import faults_of

        faults += faults_of(universe, _LISTS, _MAPS_TO_LISTS)
    if universe is None or faults:
        more = [f"and {len(faults) - MAX_TOLD} more"] if len(faults) > MAX_TOLD else []
        raise UniverseError("; ".join([*faults[:MAX_TOLD], *more]), faults[:MAX_FAULTS])
    return universe


class _UniverseReader:
    """Reads the fields, each of the right type. faults: what is wrong, so far."""

    def __init__(self, data: object) -> None:
        self.faults: list[str] = []
        self._data: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
        if not isinstance(data, Mapping):
            self.add("a universe must be a mapping")
        elif data.get("format") != FORMAT:
            shown = repr(data.get("format"))[:60]
            self.add(f"field 'format' must be {FORMAT}, not {shown}")

    def universe(self) -> Universe | None:
        """The universe; None where a field is missing or wrong."""
        if self.faults:
            return None
        data = self._data
        values: dict[str, Any] = {field: self._checked(data, field, str, "") for field in _TEXTS}
        for field in (*_LISTS, *_WORDS):
            values[field] = self._texts(data.get(field), field)
        for field in _MAPS_TO_LISTS:
            mapping = self._checked(data, field, Mapping, {})
            values[field] = {str(key): self._texts(keys, field, str(key)) for key, keys in mapping.items()}
        for field, kind, words in (("ids", int, "keys to numbers"), ("devices", str, "device types to keys")):
            values[field] = dict(self._checked(data, field, Mapping, {}))
            if not all(isinstance(value, kind) and not isinstance(value, bool) for value in values[field].values()):
                self.add(f"field {field!r} must map {words}")
        unparseable = set(self._texts(data.get("unparseable"), "unparseable"))
        values["parseable"] = frozenset(values["ids"]) - unparseable
        fallbacks = self._checked(data, "fallbacks", Sequence, ())
        values["fallbacks"] = tuple(map(self._fallback, fallbacks))
        for field in _FLAGS:
            values[field] = data.get(field) is True
        name = "fake_device_error"
        values[name] = None if data.get(name) is None else self._checked(data, name, str, None)
        values["torch_library"] = self._torch_library()
        readers = {"fake_fallbacks": self._fake_fallbacks, "higher_order_calls": self._higher_order_calls}
        for field, read in readers.items():  # a PyTorch that does not say it is taken for the newest one
            values[field] = read() if field in data else getattr(load(default_name()), field)
        return None if self.faults else Universe(**values)

    def _fake_fallbacks(self) -> tuple[str, ...]:
        return self._texts(self._data["fake_fallbacks"], "fake_fallbacks")

    def _torch_library(self) -> TorchLibrary:
        """Behaviour of ``torch.library``."""
        name = "torch_library"
        data = self._checked(self._data, name, Mapping, {})
        values: dict[str, Any] = {field: self._checked(data, field, str, "", name) for field in ("custom_op", "fake")}
        for field in ("tags", "device_types", "autocast_devices"):
            values[field] = self._texts(data.get(field), name, field)
        values["functions"] = dict(self._checked(data, "functions", Mapping, {}, name))
        if not all(isinstance(text, str) for text in values["functions"].values()):
            self.add("field 'torch_library.functions' must map functions to strings")
        for field in set(TorchLibrary._fields) - set(values):
            values[field] = data.get(field) is True
        return TorchLibrary(**values)

    def _higher_order_calls(self) -> HigherOrderCalls:
        """Behaviour of calls of higher-order operators."""
        name = "higher_order_calls"
        data = self._checked(self._data, name, Mapping, {})
        values: dict[str, Any] = {field: data.get(field) is True for field in ("modes_handle", "fakes_by_mode")}
        for field in ("no_mode_rule", "no_subclass_rule"):
            values[field] = self._checked(data, field, str, "", name)
        unhandled = None if data.get("unhandled") is None else self._checked(data, "unhandled", str, None, name)
        return HigherOrderCalls(unhandled=unhandled, **values)

    def _checked(self, data: Mapping[str, Any], field: str, kind: type, default: Any, within: str = "") -> Any:
        value = data.get(field)
        if isinstance(value, kind) and not (kind is Sequence and isinstance(value, str)):
            return value
        way = (within, field) if within else (field,)
        self.add(f"field {'.'.join(way)!r} is missing or of the wrong type")
        return default

    def _texts(self, value: object, *way: str) -> tuple[str, ...]:
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        self.add(f"field {'.'.join(way)[:200]!r} must be a list of names")
        return ()

    def _fallback(self, entry: object) -> CoreFallback:
        if isinstance(entry, Mapping):
            key, debug = entry.get("key"), entry.get("debug")
            if isinstance(key, str) and isinstance(debug, str):
                return CoreFallback(key, debug, entry.get("fallthrough") is True)
        self.add("each entry of field 'fallbacks' needs the strings 'key' and 'debug'")
        return CoreFallback("", "", False)

    def add(self, message: str) -> None:
        """Note a fault."""
        self.faults.append(message)
