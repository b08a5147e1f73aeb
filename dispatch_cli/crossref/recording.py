"""Recordings of a PyTorch: files that hold every operator's dumps, as ``tests/recordings/record.py`` writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dispatch_cli import universes
from dispatch_cli.capture.probe import parse_dump, parse_fallbacks
from dispatch_cli.crossref.answers import Answers, Probed, Texts
from dispatch_cli.declarations.project_folder import within
from dispatch_cli.declarations.source import SourceError, read_json
from dispatch_cli.model.budget import Budget, OverBudget
from dispatch_cli.model.problem import InputError, Problem


def read(file: str, allow_outside: bool = False) -> Probed | None:
    """Read a recording: JSON, as it is or compressed by gzip or xz. None for a file that is something else.

    allow_outside: true if it can be a link out of its project.
    Errors: InputError for a file that cannot be read, and for a recording that does not hold together.
    """
    try:
        data, budget = read_json(file, within(file, allow_outside))
    except SourceError as error:
        raise InputError((Problem(error.code, error.message, hint=error.hint),)) from None
    except ValueError:
        return None
    if not isinstance(data, dict) or "dispatch" in data or not {"universe", "ops"} <= data.keys():
        return None
    try:
        return _from_data(data, budget)
    except OverBudget as error:
        raise InputError((Problem("too-large", f"{file}: {error.message}", hint=error.hint),)) from None
    except (universes.UniverseError, ValueError) as error:
        raise InputError((Problem("bad-recording", f"{file} is not a usable recording: {error}"),)) from None


def _from_data(data: Mapping[str, Any], budget: Budget) -> Probed:
    """Errors: ValueError, UniverseError, OverBudget."""
    texts = {name: _texts(name, dumps) for name, dumps in _mapping(data, "ops").items()}
    budget.spend(sum(dumps.registrations.count("\n") for dumps in texts.values()))  # each line becomes a registration
    parsed = {name: _parsed(dump) for name, (dump, _) in texts.items()}
    return Probed(
        universe=universe_data(data),
        operators=tuple(operator for operator in parsed.values() if not isinstance(operator, str)),
        not_understood={name: line for name, line in parsed.items() if isinstance(line, str)},
        answers=Answers(f"the recording of PyTorch {_text(data, 'torch')}", texts),
    )


def _parsed(dump: str) -> Mapping[str, Any] | str:
    """A registration dump in pieces, or the line of it that is not understood."""
    try:
        return parse_dump(dump)
    except ValueError as error:
        return str(error)


def universe_data(recording: Mapping[str, Any]) -> dict[str, Any]:
    """The universe of a recording as the data of a universe file.

    A recording does not say what a registration refreshes. Tables do not depend on it: every key has its own slot
    refreshed here, and the live tables are taken for settled.

    Errors: ValueError, UniverseError.
    """
    recorded = _mapping(recording, "universe")
    functionalities = _list(recorded, "functionality")
    if not functionalities:
        raise ValueError("it has no functionality key")
    lowest = functionalities[0]
    per_backend, full_after = _mapping(recorded, "per_backend"), _mapping(recorded, "full_after")
    ids, torch = _mapping(recorded, "ids"), _text(recording, "torch")
    data = {
        "format": universes.FORMAT,
        "name": _name(torch),
        "torch": torch,
        "git": str(recording.get("git") or ""),
        "functionalities": functionalities,
        "backends": _list(per_backend, lowest),
        "per_backend": per_backend,
        "runtime": _list(recorded, "runtime"),
        "aliases": _mapping(recorded, "alias"),
        "autograd_backends": {key: keys for key, keys in _mapping(recorded, "autograd_backends").items() if keys},
        "autogradother_backends": _list(recorded, "autogradother_backends"),
        "ids": ids,
        "unparseable": sorted(set(ids).difference(_list(recorded, "parseable"))),
        "refreshes": {},
        "full_after_always": _list(full_after, lowest),
        "after_autograd": _functionality_of(full_after, _list(recorded, "after_autograd")),
        "after_ADInplaceOrView": _functionality_of(full_after, _list(recorded, "after_ADInplaceOrView")),
        "default_included": _list(recorded, "default_included"),
        "default_excluded": _list(recorded, "default_excluded"),
        "devices": _mapping(recorded, "device_key"),
        "fallbacks": parse_fallbacks(_text(recording, "empty_table")),
    }
    universes.from_data(data)
    return data


def _name(torch: str) -> str:
    version = re.match(r"\d+\.\d+", torch)
    return f"torch-{version[0] if version is not None else torch}"


def _functionality_of(full_after: Mapping[str, Any], keyset: list[str]) -> str:
    functionality = next((key for key, after in full_after.items() if after == keyset), None)
    if functionality is None:
        raise ValueError("no functionality has the key set after_autograd or after_ADInplaceOrView")
    return functionality


def _texts(name: str, dumps: object) -> Texts:
    if not isinstance(dumps, Mapping):
        raise ValueError(f"the operator {name!r} has no dumps")
    return Texts(_text(dumps, "dump"), _text(dumps, "table"))


def _mapping(data: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    value = data.get(field)
    if not isinstance(value, Mapping):
        raise ValueError(f"field {field!r} must be a mapping")
    return value


def _list(data: Mapping[str, Any], field: str) -> list[str]:
    value = data.get(field)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"field {field!r} must be a list of strings")
    return value


def _text(data: Mapping[str, Any], field: str) -> str:
    value = data.get(field)
    if not isinstance(value, str):
        raise ValueError(f"field {field!r} must be a string")
    return value
