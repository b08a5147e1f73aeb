"""The universes this package carries, and how to load them or one of your own.

A universe file is JSON (format 1, written by ``python -m dispatch_cli.universes.build``); the fields are those of
`dispatch_cli.model.universe.Universe`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any

from dispatch_cli.model.universe import CATCH_ALL, UNDEFINED, CoreFallback, TorchLibrary, Universe

FORMAT = 1
MAX_BYTES = 4 << 20
"""A universe is some 30 KB; more than this is not one."""

_HERE = os.path.dirname(__file__)


class UniverseError(Exception):
    """A universe cannot be loaded; the message says which and why."""


def names() -> tuple[str, ...]:
    """Names of the embedded universes, newest PyTorch first."""
    found = [name.removesuffix(".json") for name in os.listdir(_HERE) if name.endswith(".json")]
    return tuple(sorted(found, key=version_of, reverse=True))


def default_name() -> str:
    """The newest embedded universe."""
    return names()[0]


def version_of(name: str) -> tuple[int, ...]:
    """The version in a name such as ``torch-2.15``, to sort by."""
    return tuple(int(part) for part in name.removeprefix("torch-").split("."))


def load(name_or_path: str) -> Universe:
    """Load an embedded universe by name, or one from a file.

    Errors: UniverseError for an unknown name, an unreadable file, or a file that is not a universe.
    """
    if name_or_path in names():
        return _embedded(name_or_path)
    from pathlib import Path

    path = Path(name_or_path)
    try:
        if not path.is_file():
            raise UniverseError(
                f"no universe named {name_or_path[:200]!r} (embedded: {', '.join(names())}) and no file of that name"
            )
        if path.stat().st_size > MAX_BYTES:
            raise UniverseError(f"{name_or_path} is larger than a universe can be ({MAX_BYTES >> 20} MiB)")
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UniverseError(f"{name_or_path[:200]} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise UniverseError(f"{name_or_path} is no universe: it is not valid UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise UniverseError(f"{name_or_path} is no universe: it is not JSON: {error}") from None
    return from_data(data)


@cache
def _embedded(name: str) -> Universe:
    with open(os.path.join(_HERE, f"{name}.json"), encoding="utf-8") as file:
        return _universe(json.load(file))


def differences(one: Universe, other: Universe) -> list[str]:
    """The fields in which two universes differ, as far as both say something."""
    sides = ((field.name, getattr(one, field.name), getattr(other, field.name)) for field in fields(Universe))
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
)
HIGHER_ORDER_FALLTHROUGH = (
    "PythonDispatcher",
    "PythonTLSSnapshot",
    "ADInplaceOrView",
    "BackendSelect",
    "AutocastCPU",
    "AutocastCUDA",
)
"""What a universe file says with its field ``higher_order_fallthrough``; older files do not have it, and then it is
this (PyTorch 2.0 to 2.4), as far as the universe has the keys."""
FAKE_FALLBACKS = ("aten", "prims", "debugprims", "quantized", "vision", "torchaudio", "torchtext", "xla")
"""What a universe file says with its field ``fake_fallbacks``; the same holds of older files (PyTorch 2.4 to 2.15)."""
WRAPPED = ("CPU", "CUDA", "XLA", "Conjugate", "Negative")
"""What a universe file says with its field ``wrapped``; the same holds of older files."""
_FLAGS = (
    "mask_by_arguments",
    "grad_ends_inference",
    "python_needs_snapshot",
    "fake_overrides",
    "fake_without_device",
    "guards_remove",
    "keysets_without_pickle",
)
_OPTIONAL_TEXTS = ("fake_device_error", "override_warning")
_MAPS_TO_LISTS = ("per_backend", "aliases", "autograd_backends", "refreshes")


def from_data(data: object) -> Universe:
    """Make a universe from the data of a universe file, checking that it holds together.

    Errors: UniverseError, naming the field.
    """
    universe = _universe(data)
    _check_names(universe)
    return universe


def _universe(data: object) -> Universe:
    """The universe, each field of the right type."""
    if not isinstance(data, Mapping):
        raise UniverseError("a universe is a mapping of fields")
    if data.get("format") != FORMAT:
        raise UniverseError(f"field 'format' must be {FORMAT}, not {data.get('format')!r}")
    values: dict[str, Any] = {}
    for field in _TEXTS:
        values[field] = _checked(data, field, str)
    for field in _LISTS:
        values[field] = _texts(data.get(field), field)
    for field in _MAPS_TO_LISTS:
        mapping = _checked(data, field, Mapping)
        values[field] = {str(key): _texts(keys, f"{field}.{key}") for key, keys in mapping.items()}
    for field, kind, words in (("ids", int, "keys to numbers"), ("devices", str, "device types to keys")):
        values[field] = dict(_checked(data, field, Mapping))
        if not all(isinstance(value, kind) for value in values[field].values()):
            raise UniverseError(f"field {field!r} must map {words}")
    unparseable = set(_texts(data.get("unparseable"), "unparseable"))
    values["parseable"] = frozenset(values["ids"]) - unparseable
    values["fallbacks"] = tuple(_fallback(entry) for entry in _checked(data, "fallbacks", Sequence))
    # Files from before these fields were there do not have them.
    older = {
        "higher_order_fallthrough": [key for key in HIGHER_ORDER_FALLTHROUGH if key in values["functionalities"]],
        "wrapped": [key for key in WRAPPED if key in values["runtime"]],
        "fake_fallbacks": [*FAKE_FALLBACKS],
        "fake_numbered": [],
        "plain_devices": [device for device, key in values["devices"].items() if key not in values["backends"]],
    }
    for field, default in older.items():
        values[field] = _texts(data.get(field, default), field)
    for field in _FLAGS:
        values[field] = data.get(field) is True
    for field in _OPTIONAL_TEXTS:
        values[field] = None if data.get(field) is None else _checked(data, field, str)
    values["torch_library"] = _torch_library(data.get("torch_library"))
    return Universe(**values)


def _torch_library(data: object) -> TorchLibrary | None:
    """What ``torch.library`` registers; older files do not say."""
    if data is None:
        return None
    if not isinstance(data, Mapping):
        raise UniverseError("field 'torch_library' must be a mapping")
    values: dict[str, Any] = {}
    for field in ("custom_op", "fake"):
        values[field] = _checked(data, field, str)
    for field in ("tags", "device_types", "autocast_devices"):
        values[field] = _texts(data.get(field), f"torch_library.{field}")
    values["functions"] = dict(_checked(data, "functions", Mapping))
    if not all(isinstance(text, str) for text in values["functions"].values()):
        raise UniverseError("field 'torch_library.functions' must map functions to texts")
    for field in set(TorchLibrary._fields) - set(values):
        values[field] = data.get(field) is True
    return TorchLibrary(**values)


def _checked(data: Mapping[str, Any], field: str, kind: type) -> Any:
    value = data.get(field)
    if not isinstance(value, kind) or (kind is Sequence and isinstance(value, str)):
        raise UniverseError(f"field {field!r} is missing or of the wrong type")
    return value


def _texts(value: object, field: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UniverseError(f"field {field!r} must be a list of key names")
    return tuple(value)


def _fallback(entry: object) -> CoreFallback:
    if (
        not isinstance(entry, Mapping)
        or not isinstance(entry.get("key"), str)
        or not isinstance(entry.get("debug"), str)
    ):
        raise UniverseError("each entry of field 'fallbacks' needs a 'key' and a 'debug' text")
    return CoreFallback(entry["key"], entry["debug"], entry.get("fallthrough") is True)


def _check_names(universe: Universe) -> None:
    """Every key that is named anywhere must be a key of the universe, in a place where it makes sense."""
    runtime, functionalities = set(universe.runtime), set(universe.functionalities)
    if len(runtime) != len(universe.runtime) or UNDEFINED in runtime:
        raise UniverseError("field 'runtime' names a key twice, or Undefined")
    for functionality, keys in universe.per_backend.items():
        if functionality not in functionalities or len(keys) != len(universe.backends):
            raise UniverseError(f"field 'per_backend.{functionality}' must be a functionality with one key per backend")
    if CATCH_ALL not in universe.aliases:
        raise UniverseError(f"field 'aliases' must have {CATCH_ALL}, where registrations without a key go")
    expected = {key for name in universe.functionalities for key in universe.per_backend.get(name, (name,))}
    if expected != runtime:
        odd = sorted(expected ^ runtime)
        raise UniverseError(f"fields 'runtime', 'functionalities' and 'per_backend' disagree about {', '.join(odd)}")
    slots = runtime | {UNDEFINED}
    places = {
        "autogradother_backends": [*universe.autogradother_backends],
        "aliases": [key for keys in universe.aliases.values() for key in keys],
        "autograd_backends": [k for key, keys in universe.autograd_backends.items() for k in (key, *keys)],
        "fallbacks": [fallback.key for fallback in universe.fallbacks],
        "default_included": [*universe.default_included],
        "default_excluded": [*universe.default_excluded],
        "higher_order_fallthrough": [*universe.higher_order_fallthrough],
        "wrapped": [*universe.wrapped],
    }
    for field, named in places.items():
        for key in named:
            if key not in runtime:
                raise UniverseError(f"field {field!r} names {key!r}, which is not a runtime key")
    for key, refreshed in universe.refreshes.items():
        if key not in universe.ids or not slots.issuperset(refreshed):
            raise UniverseError(f"field 'refreshes.{key}' names a key that the universe does not have")
    for key in (*universe.runtime, *universe.aliases, *universe.functionalities):
        if key not in universe.ids:
            raise UniverseError(f"field 'ids' does not have {key!r}")
    for key in (universe.after_autograd, universe.after_ADInplaceOrView, *universe.full_after_always):
        if key not in functionalities:
            raise UniverseError(f"{key!r} is named as a functionality, which it is not")
