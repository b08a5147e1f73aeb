"""The name that sources give to the backend at PrivateUse1."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TypeVar

from dispatch_cli.declarations.source import SourceError
from dispatch_cli.declarations.universe_file import is_free_backend_name
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.extracted import (
    Extracted,
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    Unknown,
)
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import PRIVATE_USE1

MARK = b"privateuse1_backend"
"""Part of the names of the functions that give it, by which files with calls of them are found."""
_CALL = re.compile(r"(?:register|rename)_privateuse1_backend\s{0,20}\(\s{0,99}[\"']([a-z_]{1,40})[\"']\s*\)")
_NAME_IN_KEY = re.compile(r"(?:^|[a-z])([A-Z]{2,40})$")
_IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t]+torch_([a-z]{2,40})\b", re.MULTILINE)
_Key = TypeVar("_Key", bound="str | Unknown | None")
_COMMENTS = ("#", "//", "*", "/*")


def backend_names(files: Iterable[str], read: Callable[[str], str]) -> list[tuple[str, Span]]:
    """The names in calls with a literal, each with the place of its first call.

    Such a call is ``torch.utils.rename_privateuse1_backend("npu")`` or ``c10::register_privateuse1_backend("npu")``.
    """
    places: dict[str, Span] = {}
    for file in files:
        try:
            text = read(file)
        except SourceError:  # reported where the file is read
            continue
        for match in _CALL.finditer(text):
            if match[1] in places:
                continue
            start = text.rfind("\n", 0, match.start()) + 1
            before = text[start : match.start()]
            if not before.lstrip().startswith(_COMMENTS):
                place = Span(file, text.count("\n", 0, match.start()) + 1, len(before) + 1)
                places[match[1]] = place
    return list(places.items())


def imported_names(
    items: Iterable[Extracted], files: Iterable[str], read: Callable[[str], str]
) -> list[tuple[str, Span]]:
    """The names of backends whose keys are used, and whose package is imported: ``"AutogradNPU"`` and ``torch_npu``.

    Such a package gives the backend its name. Each with the place of the first import.
    """
    keys = {match[1].lower() for key in _keys(items) if (match := _NAME_IN_KEY.search(key))}
    names = set(filter(is_free_backend_name, keys))
    if not names:
        return []
    places: dict[str, Span] = {}
    for file in files:
        try:
            text = read(file)
        except SourceError:
            continue
        for match in _IMPORT.finditer(text):
            if match[1] in names and match[1] not in places:
                places[match[1]] = Span(file, text.count("\n", 0, match.start()) + 1, 1)
        if len(places) == len(names):
            break
    return list(places.items())


def of_package(name: str, at: Span) -> Iterator[Extracted]:
    """Kernels that the imported package of a backend registers: no more is known than that there are some."""
    block = ExtractedBlock(LibraryKind.IMPL, "aten", None, at)
    kernels = Unknown(f"one of those that torch_{name} registers")
    yield block
    yield ExtractedKernel(block, kernels, kernels, "kernel", at)


def without_names(items: Iterable[Extracted], names: Collection[str]) -> Iterator[Extracted]:
    """Yield the registrations; those for one of several backends at PrivateUse1 have the key that all of them share."""
    for registration in items:
        match registration:
            case ExtractedBlock():
                yield _shared_block(registration, names)
            case ExtractedKernel():
                block = _shared_block(registration.block, names)
                yield registration._replace(block=block, key=_shared_key(registration.key, names))
            case ExtractedFallback():
                block = _shared_block(registration.block, names)
                yield registration._replace(block=block, key=_shared_key(registration.key, names))
            case ExtractedDefinition():
                yield registration._replace(block=_shared_block(registration.block, names))
            case _:
                yield registration


def _shared_block(block: ExtractedBlock, names: Collection[str]) -> ExtractedBlock:
    return block._replace(dispatch_key=_shared_key(block.dispatch_key, names))


def _shared_key(key: _Key, names: Collection[str]) -> _Key | str:
    if not isinstance(key, str):
        return key
    match = _NAME_IN_KEY.search(key)
    return f"{key[: match.start(1)]}{PRIVATE_USE1}" if match is not None and match[1].lower() in names else key


def _keys(items: Iterable[Extracted]) -> Iterator[str]:
    for registration in items:
        if isinstance(registration, ExtractedBlock) and isinstance(registration.dispatch_key, str):
            yield registration.dispatch_key
        elif isinstance(registration, ExtractedKernel | ExtractedFallback) and isinstance(registration.key, str):
            yield registration.key
