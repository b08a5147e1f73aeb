"""A baseline: the findings that an old code base is allowed to keep, so that new ones stand out.

It remembers findings by what they are about, never by line, and how many there are of each. What it remembers and
no check finds any more is fixed, so that it can shrink.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from dispatch_cli.checks.check import Finding

SCHEMA_VERSION = 1
MAX_ENTRIES = 100_000
"""More than these no baseline gets: a file of so many can still be read."""


class Entry(NamedTuple):
    """Entry of a baseline: the subject of findings. subject: as in `Finding`."""

    check: str
    operator: str | None
    key: str | None
    subject: str = ""

    @classmethod
    def of(cls, finding: Finding) -> Entry:
        """Entry for a finding."""
        return cls(*finding.identity)

    @property
    def order(self) -> tuple[str, str, str, str]:
        """Sort key that gives its position in a file."""
        return self.check, self.operator or "", self.key or "", self.subject


class BaselineError(Exception):
    """A file is not a baseline, or what is found is too much for one."""


@dataclass(frozen=True, slots=True)
class FixedEntry:
    """An entry of a baseline of which *count* findings are found no more; the other fields as in `Entry`."""

    check: str
    operator: str | None
    key: str | None
    subject: str
    count: int


class BaselineUse(NamedTuple):
    """Effect of a baseline in a run.

    known: number of findings that it let pass. fixed: entries that the run does not find any more.
    """

    known: int
    fixed: tuple[FixedEntry, ...]


def read_baseline(data: object) -> Counter[Entry]:
    """The entries of a baseline, from the data of its file, and how many findings each stands for.

    Errors: BaselineError.
    """
    if not isinstance(data, dict) or data.get("report") != "baseline":
        raise BaselineError("it is not a baseline written by dispatch-cli")
    if data.get("schema_version") != SCHEMA_VERSION:
        raise BaselineError(
            f"its schema_version is {str(data.get('schema_version'))[:20]}, but this dispatch-cli reads version 1"
        )
    entries = data.get("findings")
    if not isinstance(entries, list):
        raise BaselineError("it has no list of findings")
    counts: Counter[Entry] = Counter()
    for number, entry in enumerate(entries):
        counts[_entry(entry, number)] += entry.get("count", 1)
    return counts


def _entry(entry: object, number: int) -> Entry:
    if isinstance(entry, dict):
        check, operator, key = entry.get("check"), entry.get("operator"), entry.get("key")
        subject, count = entry.get("subject", ""), entry.get("count", 1)
        texts = all(text is None or isinstance(text, str) for text in (operator, key))
        counts = isinstance(count, int) and not isinstance(count, bool) and count > 0
        if isinstance(check, str) and isinstance(subject, str) and texts and counts:
            return Entry(check, operator, key, subject)
    raise BaselineError(f"findings[{number}] is not a valid entry")


class BaselineFilter:
    """Takes the findings of a run one by one, and says of each whether a baseline knows it.

    entries: the baseline. new: how many findings of each entry it does not know; kept where *renews*.
    """

    def __init__(self, entries: Mapping[Entry, int], renews: bool = False) -> None:
        self._entries = entries
        self._left = dict(entries)
        self._renews = renews
        self._known = 0
        self.new: Counter[Entry] = Counter()

    def is_new(self, check: str, operator: str | None, key: str | None, subject: str) -> bool:
        """True if a finding is not in the baseline, or is one more than it has. Errors: BaselineError for too many."""
        entry = Entry(check, operator, key, subject)
        left = self._left.get(entry, 0)
        if left > 0:
            self._left[entry] = left - 1
            self._known += 1
            return False
        if self._renews:
            self.new[entry] += 1
            if len(self.new) > MAX_ENTRIES:
                raise BaselineError(
                    f"there are more than {MAX_ENTRIES:,} new findings, too many for a baseline; "
                    "fix or suppress some of them first"
                )
        return True

    def use(self, judged: Callable[[Entry], bool]) -> BaselineUse:
        """Effect of the baseline. judged: true if the run could have found an entry's subject; other entries stay."""
        gone = ((entry, count) for entry, count in self._left.items() if count > 0 and judged(entry))
        fixed = sorted(gone, key=lambda item: item[0].order)
        return BaselineUse(self._known, tuple(FixedEntry(*entry, count) for entry, count in fixed))

    def renewed(self, use: BaselineUse) -> Counter[Entry]:
        """The entries of the baseline without those that are fixed, and with those of new findings: of all of them."""
        counts = Counter(self._entries)
        counts.subtract({Entry(row.check, row.operator, row.key, row.subject): row.count for row in use.fixed})
        counts.update(self.new)
        return +counts


def fingerprints(findings: Iterable[Finding]) -> list[str]:
    """A text for each finding that tells it from all others and stays the same when lines move."""
    seen: Counter[Entry] = Counter()
    digests = []
    for finding in findings:
        entry = Entry.of(finding)
        seen[entry] += 1
        digests.append(fingerprint(json.dumps([*entry, seen[entry]])))
    return digests


def fingerprint(identity: str) -> str:
    """A short text for what tells something from all others."""
    from hashlib import blake2b

    return blake2b(identity.encode(), digest_size=16).hexdigest()


def baseline_json(entries: Mapping[Entry, int]) -> Iterator[str]:
    """The whole file."""
    yield f'{{\n  "schema_version": {SCHEMA_VERSION},\n  "report": "baseline",\n  "findings": ['
    for position, entry in enumerate(sorted(entries, key=lambda entry: entry.order)):
        fields = {name: value for name, value in entry._asdict().items() if value}
        if entries[entry] > 1:
            fields["count"] = entries[entry]
        yield ("," if position else "") + "\n    " + json.dumps(fields)
    yield "\n  ]\n}\n" if entries else "]\n}\n"
