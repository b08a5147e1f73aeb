"""The captured states that this package carries, and the reader of their file format.

A state file holds every operator of one PyTorch build. Its head is small and says where each operator lies, so that one
operator costs its head and one block, not the whole file.

Layout: `MAGIC`; the length of the head, 4 bytes, big-endian; the head, compressed JSON; then the blocks, each
compressed JSON: a list of operator records. ``python -m dispatch_cli.bases.build`` writes such files from what
``capture`` wrote. The blocks of all states are compressed with one preset dictionary (`common_text`): what blocks and
versions have in common is not in each of them, which saves an eighth.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from dispatch_cli import universes
from dispatch_cli.model.captured import (
    DEFAULT_ALIAS_ANALYSIS,
    MADE_OF,
    CapturedHeader,
    CapturedListing,
    CapturedOperator,
)
from dispatch_cli.model.universe import Universe

if TYPE_CHECKING:
    from dispatch_cli.model.calls.fake_tensor import FakeRules
    from dispatch_cli.model.higher_order import HigherOrderOperator, ModeType

MAGIC = b"dispatch-cli state 2\n"
SUFFIX = ".state"
COMMON = "common.txt"
OVERLAY_SUFFIX = ".overlay"
KERNELS = 4
"""Index of the kernels in the record of an operator."""

_HERE = os.path.dirname(__file__)


class Description(NamedTuple):
    """Description of a state. kernels: registered kernels, inactive ones too. bytes: size of the file."""

    name: str
    universe: str
    torch: str
    git: str
    build: str
    operators: int
    kernels: int
    higher_order_operators: int
    bytes: int


@cache
def names() -> tuple[str, ...]:
    """Names of the embedded states, newest PyTorch first."""
    states = [name.removesuffix(SUFFIX) for name in os.listdir(_HERE) if name.endswith(SUFFIX)]
    return tuple(sorted(states, key=universes.version_of, reverse=True))


def newest_for(universe: str | None) -> str:
    """Name of the state to load where none is named: that of a universe that has one, else the newest."""
    states = names()
    return universe if universe in states else states[0]


def overlay_names() -> tuple[str, ...]:
    """Names of the embedded overlays, newest PyTorch first; `dispatch_cli.bases.overlay` says what they are."""
    overlays = [name.removesuffix(OVERLAY_SUFFIX) for name in os.listdir(_HERE) if name.endswith(OVERLAY_SUFFIX)]
    return tuple(sorted(overlays, key=lambda name: (universes.version_of(name.rpartition("-")[0]), name), reverse=True))


class Resolved(NamedTuple):
    """The name that a text means. note: what to tell the user, where the text is not that name itself."""

    name: str
    note: str | None = None


_PATCH = r"(?a)(torch-[0-9]{1,3}\.[0-9]{1,3})\.[0-9]{1,5}(?:\+[\w.]{1,40})?(-[a-z]\w{0,40})?"
"""Compiled when it is needed: most names are those of states."""


def resolve(text: str) -> Resolved:
    """The embedded state, overlay or universe that *text* names; ``torch-2.9.1`` means ``torch-2.9``.

    A text that means none is given back as it is.
    """
    match = None if text in names() else re.fullmatch(_PATCH, text)
    if match is None:
        return Resolved(text)
    version, name = match[1], match[1] + (match[2] or "")
    if version not in names() or name not in (version, *overlay_names()):
        return Resolved(text)
    return Resolved(name, f"{text} means {name}, which is of PyTorch {load(version).description.torch}")


@cache
def common_text() -> bytes:
    """Preset dictionary of zlib for every block: records of one state."""
    with open(os.path.join(_HERE, COMMON), "rb") as file:
        return file.read()


@cache
def load(name: str) -> Base:
    """The embedded state of that name. Errors: KeyError when there is none."""
    if name not in names():
        raise KeyError(name)
    return Base(path_of(name))


def path_of(name: str, suffix: str = SUFFIX) -> str:
    """The file of an embedded state, or of an overlay by its suffix."""
    return os.path.join(_HERE, f"{name}{suffix}")


class Records:
    """A captured state whose operators are records, which are read as far as they are asked for.

    A record is a list: schema, debug text, alias analysis, tags, kernels (oldest first), Python kernels, what
    FakeTensorMode asks for. A kernel is one, too: key, debug text, signature, flags (``b`` boxed, ``u`` unboxed, ``f``
    fallthrough), whether it is a Python function, how it goes on, and what it is made of.

    name: such as ``torch-2.15``. parts: the names of the embedded states and overlays that make it up. incomplete: the
    keys at which it may lack kernels.
    """

    name: str
    parts: tuple[str, ...] = ()
    incomplete: tuple[str, ...] = ()

    def part_of(self, operator: str, key: str) -> str:  # noqa: ARG002 (of several parts, each has its own)
        """The name of the state or overlay that has an operator's kernel at a key."""
        return self.name

    def record(self, name: str) -> list[Any]:
        """One operator. Errors: KeyError when the state has none of that name."""
        raise KeyError(name)

    def operator(self, name: str) -> CapturedOperator:
        """One operator. Errors: KeyError when the state has none of that name."""
        from dispatch_cli.bases.operators import operator_of

        return operator_of(name, self.record(name))

    def header(self, name: str) -> CapturedHeader:
        """One operator, as far as a table needs it. Errors: KeyError when the state has none of that name."""
        record = self.record(name)
        schema, kernels = record[0], record[KERNELS]
        # oldest first, so that the last one at a key, the active one, remains
        active = {kernel[0]: (kernel[1], "f" in kernel[3]) for kernel in kernels}
        overridden: tuple[str, ...] = ()
        if len(active) < len(kernels):
            overridden = tuple(key for key, count in Counter(kernel[0] for kernel in kernels).items() if count > 1)
        if not any(len(kernel) > MADE_OF for kernel in kernels):
            return CapturedHeader(schema, active, overridden)
        from dispatch_cli.bases.operators import functions_of

        return CapturedHeader(schema, active, overridden, functions_of(kernels))

    def listing(self, name: str) -> CapturedListing:
        """One operator, as far as it is compared. Errors: KeyError when the state has none of that name."""
        schema, _, alias_analysis, tags, kernels, python_kernels, *_ = self.record(name)
        return CapturedListing(
            schema,
            None if alias_analysis == DEFAULT_ALIAS_ANALYSIS else alias_analysis,
            tags,
            [(kernel[0], kernel[1], "f" in kernel[3]) for kernel in kernels],
            python_kernels,
        )

    def python_kernels(self, name: str) -> Sequence[Sequence[str]]:
        """The Python kernels of one operator: key and function. Errors: KeyError when there is no such operator."""
        kernels: list[list[str]] = self.record(name)[5]
        return kernels

    def fake_rules(self, name: str) -> FakeRules:
        """Facts about an operator that ``FakeTensorMode`` asks for. Errors: KeyError when there is no such operator."""
        from dispatch_cli.model.calls.fake_tensor import FakeRules

        rules = FakeRules(*(value for rest in self.record(name)[6:] for value in rest))
        return rules._replace(meta_refuses=tuple(rules.meta_refuses))


class Base(Records):
    """An embedded state, read as far as it is asked for.

    Source of the data: a live PyTorch, by ``capture``.

    names: those of all operators, sorted. overlays: the kernels of those over it, by overlay, operator and key.
    """

    def __init__(
        self,
        path: str,
        overlays: Mapping[str, Mapping[str, Mapping[str, str]]] = {},
        incomplete: tuple[str, ...] = (),
    ) -> None:
        self._path = path
        self._overlays = overlays
        self.incomplete = incomplete
        with open(path, "rb") as file:
            start = file.read(len(MAGIC))
            assert start == MAGIC, f"{path} is not a state file"
            length = int.from_bytes(file.read(4), "big")
            self._head: dict[str, Any] = json.loads(zlib.decompress(file.read(length)))
            self._start = file.tell()
        self.name = self._head["name"]
        self.names: Sequence[str] = self._head["names"]
        self.parts = (self.name, *overlays)
        self._records: dict[str, list[Any]] = {}

    def part_of(self, operator: str, key: str) -> str:
        """The name of the state or overlay that has an operator's kernel at a key."""
        return next((part for part, kernels in self._overlays.items() if key in kernels.get(operator, ())), self.name)

    @property
    def universe(self) -> Universe:
        """The key layout of the build."""
        return universes.load(self._head["universe"])

    @cached_property
    def description(self) -> Description:
        """Description of the state."""
        fields = ("name", "universe", "torch", "git", "build", "operators", "kernels", "higher_order_operators")
        return Description(**{field: self._head[field] for field in fields}, bytes=os.path.getsize(self._path))

    def record(self, name: str) -> list[Any]:
        """One operator. Errors: KeyError when the state has none of that name."""
        if name not in self._records:
            place = bisect_left(self.names, name)
            if place == len(self.names) or self.names[place] != name:
                raise KeyError(name)
            self._records |= self._read_block(place // self._head["block_size"])
        return self._records[name]

    @cached_property
    def higher_order_operators(self) -> tuple[HigherOrderOperator, ...]:
        """The higher-order operators, by name."""
        from dispatch_cli.bases.operators import higher_order_operator_of

        return tuple(map(higher_order_operator_of, self._higher_order["operators"]))

    @property
    def higher_order_names(self) -> Sequence[str]:
        """Names of the higher-order operators."""
        return [operator["name"] for operator in self._higher_order["operators"]]

    @cached_property
    def modes(self) -> tuple[ModeType, ...]:
        """The mode types about which facts are known."""
        from dispatch_cli.model.higher_order import ModeType

        return tuple(ModeType(name, supports_higher_order_operators=True) for name in self._higher_order["modes"])

    @cached_property
    def _higher_order(self) -> dict[str, Any]:
        block: dict[str, Any] = self._read(self._head["higher_order_offset"])
        return block

    def _read_block(self, number: int) -> dict[str, Any]:
        first = number * self._head["block_size"]
        texts = self.names[first : first + self._head["block_size"]]
        records = dict(zip(texts, self._read(self._head["offsets"][number]), strict=True))
        for kernels in self._overlays.values():
            for name in records.keys() & kernels:
                records[name][KERNELS] += [[key, kernel, None, "u", False] for key, kernel in kernels[name].items()]
        return records

    def _read(self, place: list[int]) -> Any:
        offset, length = place
        with open(self._path, "rb") as file:
            file.seek(self._start + offset)
            return json.loads(zlib.decompressobj(zdict=common_text()).decompress(file.read(length)))
