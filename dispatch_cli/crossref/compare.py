"""The engine's answers against PyTorch's, operator by operator and key by key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dispatch_cli.crossref.answers import Answers, Compared, Disagreement
from dispatch_cli.crossref.replay import Subject
from dispatch_cli.engine.dispatcher.dump import dump_registrations, dump_table
from dispatch_cli.engine.python import table as python_table
from dispatch_cli.engine.python.higher_order import HigherOrderTable
from dispatch_cli.engine.rules import Decision, Rule
from dispatch_cli.engine.table.table import NOT_KNOWN_TEXT
from dispatch_cli.model.higher_order import FALLTHROUGH
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import UNDEFINED

UNKNOWN_LINE = f"{NOT_KNOWN_TEXT} [{Rule.NOT_KNOWN.dump_text}]"
"""Text of our table dump for a slot that is not known, after its key."""

Difference = tuple[str, str | None, str | None]
"""A slot, or the title of a line, and what the two sides have there."""
MISSING = "missing"
AMBIGUOUS = "error: ambiguous autogradother kernel"
"""Answers that ``capture/answers_probe.py`` writes for a missing and for an ambiguous kernel."""
INVARIANTS_HOLD = "the invariants hold"
STALE = "the live table is stale"
ABSENT = "no such operator"
PRESENT = "registered"


def known(differences: Iterable[Difference], incomplete: tuple[str, ...]) -> Iterator[Difference]:
    """Without those that may come from what the state lacks.

    incomplete: the keys at which it lacks kernels; a kernel that it has there is known by name, not by its debug text.
    """
    for title, ours, theirs in differences:
        if ours == UNKNOWN_LINE:
            continue
        if title.partition(" ")[0] in incomplete:
            if ours is None:
                continue
            if theirs is not None and _rule(ours) == _rule(theirs):
                continue
        yield title, ours, theirs


def _rule(line: str) -> str:
    """The rule in the brackets of a line of a table; nothing of a line about a registration."""
    return "" if " :: " in line else line.rpartition(" [")[2]


class Count(NamedTuple):
    """Number of answers of a part that were compared, and of those that differ."""

    part: Compared
    compared: int
    different: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result.

    source: whose answers they were. slots: of the engine's tables, in order. counts: of the parts that were asked for.
    differences: by operator, then part.
    """

    source: str
    universe: str
    slots: tuple[str, ...]
    counts: tuple[Count, ...]
    differences: tuple[Disagreement, ...]


def names_of(subject: Subject, answers: Answers) -> list[str]:
    """The operators that one or the other has, sorted."""
    return sorted({*subject.dispatcher.names(), *answers["texts"]})


def higher_order_names(subject: Subject, answers: Answers) -> list[str]:
    """The higher-order operators that one or the other has, sorted."""
    return sorted({*subject.higher_order, *answers["higher_order_answers"]})


def compare(subject: Subject, answers: Answers, names: Iterable[str], higher_order: Iterable[str] = ()) -> Comparison:
    """Compare everything that was asked about the operators *names*, and about those higher-order ones."""
    comparer = _Comparer(subject, answers)
    for name in names:
        comparer.take(name)
    for name in higher_order:
        comparer.take_higher_order(name)
    return comparer.result()


class _Comparer:
    def __init__(self, subject: Subject, answers: Answers) -> None:
        self._subject = subject
        self._dispatcher = subject.dispatcher
        self._answers = answers
        self._compared = dict.fromkeys(Compared, 0)
        self._different = dict.fromkeys(Compared, 0)
        self._differences: list[Disagreement] = []
        self._refusals: dict[str, list[Disagreement]] = {}
        for refusal in subject.refusals:
            self._refusals.setdefault(refusal.operator, []).append(refusal)

    def take(self, name: str) -> None:
        """Compare one operator."""
        refused = self._refusals.get(name, [])
        self._differences += refused
        theirs = self._answers["texts"].get(name)
        operator = OperatorName.parse(name)
        self._compared[Compared.OPERATOR] += 1
        before = len(self._differences) - len(refused)
        if theirs is None or operator not in self._dispatcher:
            ours_text, theirs_text = (PRESENT, ABSENT) if theirs is None else (ABSENT, PRESENT)
            self._differences.append(Disagreement(name, Compared.OPERATOR, None, ours_text, theirs_text))
        else:
            self._compare(name, operator, theirs)
        self._different[Compared.OPERATOR] += len(self._differences) > before

    def take_higher_order(self, name: str) -> None:
        """Compare one higher-order operator: where a call of it can arrive, and what ``resolve_key`` chooses there."""
        operator, theirs = self._subject.higher_order.get(name), self._answers["higher_order_answers"].get(name)
        slots = self._dispatcher.universe.slots
        if operator is None or theirs is None:
            ours_text, theirs_text = (ABSENT, PRESENT) if operator is None else (PRESENT, ABSENT)
            self._note(name, Compared.HIGHER_ORDER, len(slots), [("", ours_text, theirs_text)])
            return
        table = HigherOrderTable(self._dispatcher.universe, operator, self._dispatcher.fallback_bits)
        ours = {
            key: _higher_order_answer(resolve_answer(key, decision), table.falls_through(key))
            for key, decision in zip(slots, table.decisions, strict=True)
        }
        row, reached = theirs
        expected = {
            key: _higher_order_answer(answer, key != UNDEFINED and key not in reached)
            for key, answer in self._row(row).items()
        }
        texts = list(_different(ours, expected)) if ours != expected else []
        self._note(name, Compared.HIGHER_ORDER, len(slots), texts)

    def _row(self, number: int) -> dict[str, str]:
        """A row of answers of ``resolve_key``, by slot."""
        slots = (UNDEFINED, *self._answers["universe"]["runtime"])
        return dict(zip(slots, self._answers["resolve_rows"][number], strict=True))

    def _compare(self, name: str, operator: OperatorName, theirs: Sequence[str]) -> None:
        """theirs: ``_dispatch_dump`` and ``_dispatch_dump_table``."""
        dump = self._known(_lines(dump_registrations(self._dispatcher, operator), theirs[0]))
        self._note(name, Compared.DUMP, 1, dump)
        ours = dump_table(self._dispatcher, operator)
        table = self._known(_lines(ours, theirs[1]))
        # Slots that neither has a line for are missing in both, and so agree.
        compared = len(self._dispatcher.universe.slots) - ours.count(f": {UNKNOWN_LINE}\n")
        self._note(name, Compared.TABLE, compared, table)
        complaint = self._answers["broken"].get(name)
        stale = bool(self._dispatcher.stale_entries(operator))
        differs = stale is (complaint is None)
        texts = [("", STALE if stale else INVARIANTS_HOLD, complaint or INVARIANTS_HOLD)] if differs else []
        self._note(name, Compared.INVARIANTS, 1, texts)
        if name in self._answers["resolved"]:
            self._resolve(name, operator, self._row(self._answers["resolved"][name]))

    def _known(self, differences: list[Difference]) -> list[Difference]:
        incomplete = self._dispatcher.layout.incomplete
        return list(known(differences, incomplete)) if incomplete else differences

    def _resolve(self, name: str, operator: OperatorName, theirs: dict[str, str]) -> None:
        python_keys = self._subject.python_keys.get(name, ())
        slots = self._dispatcher.universe.slots
        decisions = python_table.decisions(self._dispatcher, operator, python_keys)
        unknown = {key for key, decision in zip(slots, decisions, strict=True) if decision.rule is Rule.NOT_KNOWN}
        ours = dict(zip(slots, map(resolve_answer, slots, decisions), strict=True))
        texts = [answer for answer in _different(ours, theirs) if answer[0] not in unknown] if ours != theirs else []
        self._note(name, Compared.RESOLVE_KEY, len(slots) - len(unknown), texts)

    def _note(self, name: str, part: Compared, compared: int, texts: Sequence[Difference]) -> None:
        self._compared[part] += compared
        self._different[part] += min(len(texts), compared)
        self._differences += (Disagreement(name, part, key or None, *answers) for key, *answers in texts)

    def result(self) -> Comparison:
        """Everything noted."""
        asked = [Compared.OPERATOR, Compared.DUMP, Compared.TABLE, Compared.INVARIANTS, Compared.RESOLVE_KEY]
        if self._compared[Compared.HIGHER_ORDER]:
            asked.append(Compared.HIGHER_ORDER)
        return Comparison(
            source=f"PyTorch {self._answers['torch']}",
            universe=self._dispatcher.universe.name,
            slots=self._dispatcher.universe.slots,
            counts=tuple(Count(part, self._compared[part], self._different[part]) for part in asked),
            differences=tuple(self._differences),
        )


def _higher_order_answer(chosen: str, falls_through: bool) -> str:
    return f"{FALLTHROUGH}, {chosen}" if falls_through else chosen


def resolve_answer(key: str, decision: Decision) -> str:
    """Answer of ``resolve_key`` for a slot, in words."""
    if decision.rule is Rule.AMBIGUOUS:
        return AMBIGUOUS
    chosen = python_table.chosen_key(key, decision)
    return MISSING if chosen is None else chosen


def _lines(ours: str, theirs: str) -> list[Difference]:
    """The lines in which two dumps differ: the text before the colon, and what follows it in either."""
    if ours == theirs:
        return []
    our_lines, their_lines = _by_title(ours), _by_title(theirs)
    differences = list(_different(our_lines, their_lines))
    if differences:
        return differences
    # The lines are the same, then, and it is their order that is not.
    for number, (our_title, other) in enumerate(zip(our_lines, their_lines, strict=True), start=1):
        if our_title != other:
            return [(f"line {number}", f"{our_title}: …", f"{other}: …")]
    return [("", ours, theirs)]


def _different(ours: dict[str, str], theirs: dict[str, str]) -> Iterator[Difference]:
    for key in {**theirs, **ours}:
        if ours.get(key) != theirs.get(key):
            yield key, ours.get(key), theirs.get(key)


def _by_title(dump: str) -> dict[str, str]:
    """The lines of a dump by the text before the colon; of several inactive kernels at a key, each has a number."""
    lines: dict[str, str] = {}
    seen: dict[str, int] = {}
    for line in dump.splitlines():
        title, _, rest = line.partition(": ")
        seen[title] = seen.get(title, 0) + 1
        lines[title if seen[title] == 1 else f"{title} {seen[title]}"] = rest
    return lines
