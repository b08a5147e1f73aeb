"""Findings in numbers: a row for each check that found something; then how much was checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dispatch_cli.answers.findings.checked import NotChecked
from dispatch_cli.answers.findings.report import (
    CheckedConditions,
    CheckSummary,
    ChosenCheck,
    FindingsReport,
    UnlistedFindings,
)
from dispatch_cli.checks.check import Group, Need
from dispatch_cli.model.names import Severity, some_of
from dispatch_cli.render.document import Block, Column, Gap, Paragraph, Run, TableBlock, Tone
from dispatch_cli.render.words import plural

GROUPS = {
    Group.INVARIANTS: "PyTorch's own invariants",
    Group.REGISTRATIONS: "Registrations",
    Group.AUTOGRAD: "Autograd",
    Group.CALLS: "Reachable kernels",
    Group.AGREEMENT: "Consistency",
    Group.OWNERSHIP: "Ownership of operators and namespaces",
    Group.HIGHER_ORDER: "Higher-order operators",
    Group.DRIFT: "Declarations and the built library",
    Group.INTENTIONS: "Guards and suppressions",
}
SEVERITY_TONES = {Severity.ERROR: Tone.BAD, Severity.WARNING: Tone.WARN, Severity.INFO: Tone.ALIAS}
_BAD_ENOUGH = {Severity.ERROR: "an error", Severity.WARNING: "a warning or an error", Severity.INFO: "any"}


def unlisted_sentence(rest: UnlistedFindings) -> str:
    """Number and kind of the items, and the way to list them."""
    subject = "" if rest.reason is None else f"{rest.reason}: "
    listed = f" ({rest.listed:,} listed)" if rest.listed else ""
    verb = "is" if rest.findings == 1 else "are"
    return f"{subject}{plural(rest.findings, 'more finding')}{listed} {verb} not listed; --full lists all"


COLUMNS: list[Column[CheckSummary]] = [
    Column("Check", lambda row, _: row.check),
    Column("Highest severity", lambda row, _: severity_run(row.severity)),
    Column("Findings", lambda row, _: str(row.findings), right=True),
    Column("What should hold", lambda row, _: row.title),
]


def document(report: FindingsReport, *, counts: bool = True, lowest: Severity = Severity.INFO) -> Iterator[Block]:
    """counts: there is a row for each check that found something. lowest: the mildest severity that is shown."""
    if counts and report.summary:
        yield TableBlock(COLUMNS, report.summary)
        yield Gap()
    not_checked = report.not_checked
    if report.over_assumed:  # nobody asked for PyTorch's operators
        not_checked = not_checked._replace(pytorch=0)
    sentences = (*not_run_sentences(report.checks), *not_checked_sentences(not_checked))
    built = report.built
    if built is not None and built.universe != report.universe:
        other = f"the declarations are for {report.universe}, but were compared with {built.source}"
        sentences = (*sentences, f"{other}; what torch.library itself registers may differ")
    for sentence in (
        *sentences,
        *schema_sentences(report),
        *condition_sentences(report.conditions, has_option=built is None),
    ):
        yield Paragraph(Run(sentence, Tone.DIM))
    if notes := "; ".join(_left_out(report)):
        yield Paragraph(Run(notes, Tone.DIM))
    yield Paragraph(outcome(report, lowest))


def outcome(report: FindingsReport, lowest: Severity = Severity.INFO) -> Run:
    """The end of a run of the checks, in one sentence. lowest: the mildest severity that is shown."""
    checks = sum(check.lacks is not Need.BUILT for check in report.checks)
    if report.checks and not checks:
        return Run(f"No check ran ({_where(report)})", Tone.WARN)
    checked = f"{plural(report.operators, 'operator')}, {plural(checks, 'check')} ({_where(report)})"
    if report.is_nothing_checked:
        return Run(f"No operator was checked: {_unread(report)}", Tone.BAD)
    tone = Tone.WARN if report.unread_files else Tone.KERNEL
    if not report.operators and not report.summary:
        return Run(f"There is no operator to check{_unread_files(report, 'but')} ({_where(report)})", tone)
    if not report.summary:
        return Run(f"All checks passed{_unread_files(report, 'but')}: {checked}", tone)
    counts = ", ".join(plural(count, severity.value) for severity, count in report.counts.items() if count)
    hidden = sum(count for severity, count in report.counts.items() if severity.rank > lowest.rank)
    if hidden:
        mildest = next(severity for severity in reversed(Severity) if report.counts[severity])
        left = report.open_promises if mildest is Severity.INFO else 0
        promises = f"{plural(left, 'promise')} could not be checked; " if left else ""
        counts += f" ({promises}--severity {mildest.value} shows {'it' if hidden == 1 else 'all'})"
    if hidden == sum(report.counts.values()) and not report.failed:
        return Run(f"All checks passed but for {counts}{_unread_files(report, 'and')}: {checked}", tone)
    affected = len(report.affected)
    where = f" in {plural(affected, 'operator')}" if affected else ""
    rest = "" if report.failed else f"; none is {_BAD_ENOUGH[report.fail_on]}"
    return Run(f"{counts}{where}; checked: {checked}{rest}", Tone.BAD if report.failed else Tone.WARN)


def _unread_files(report: FindingsReport, word: str) -> str:
    """The end of a sentence, after a word that joins it; empty where all files could be read."""
    return f", {word} {plural(report.unread_files, 'file')} could not be read" if report.unread_files else ""


def _unread(report: FindingsReport) -> str:
    """Counts of registrations that are not decided, and of statements that are not understood."""
    undecided = plural(report.undecided, "registration")
    statements = plural(report.not_understood, "statement that may register some", "statements that may register some")
    parts = [f"{undecided} {'is' if report.undecided == 1 else 'are'} undecided"] if report.undecided else []
    parts += [f"{statements} {'is' if report.not_understood == 1 else 'are'} not understood"] * bool(
        report.not_understood
    )
    return " and ".join(parts)


def _where(report: FindingsReport) -> str:
    """Name of what was checked: the library that declarations were compared with, or else the universe."""
    return report.universe if report.built is None else report.built.source


def severity_run(severity: Severity) -> Run:
    """A severity in its tone."""
    return Run(severity.value, SEVERITY_TONES[severity])


def not_run_sentences(checks: Iterable[ChosenCheck]) -> Iterator[str]:
    """Sentence about checks that were asked for but did not run, as they belong to another command."""
    if names := [check.id for check in checks if check.lacks is Need.BUILT]:
        needs = "it needs" if len(names) == 1 else "they need"
        yield f"{', '.join(names)} did not run: {needs} a built library or a state (`dispatch-cli crossref`)"


def schema_sentences(report: FindingsReport) -> Iterator[str]:
    """Sentence about operators of which not everything could be checked."""
    if names := report.unknown_schemas:
        yield f"the schema of {some_of(names)} is not known; what depends on it was not checked"


def condition_sentences(checked: CheckedConditions | None, has_option: bool) -> Iterator[str]:
    """Sentences about the combinations of conditions that were looked at. has_option: the command has --when."""
    if checked is None or not checked.operators:
        return
    from dispatch_cli.engine.variants import MOST_CASES
    from dispatch_cli.model.sources.file_choice import file_choice

    chosen = f" (with {', '.join(checked.chosen)})" if checked.chosen else ""
    combinations = "1 combination" if checked.states == 1 else f"{checked.states} combinations"
    example = next(iter(_open_choices(checked)), None) if has_option and checked.states > 1 else None
    some = f"; --when {example}, for example, chooses some" if example is not None else ""
    of_files = checked.atoms and all(file_choice(atom) is not None for atom in checked.atoms)
    yield (
        f"{plural(checked.operators, 'operator')} {'has' if checked.operators == 1 else 'have'} registrations "
        f"{'in alternative files' if of_files else 'with conditions'}; {combinations} of them checked{chosen}{some}"
    )
    if checked.capped:
        names = some_of(checked.capped)
        yield f"not all combinations were checked of {names}: there are more than {MOST_CASES}"


def _open_choices(checked: CheckedConditions) -> Iterator[str]:
    """The values of --when that would choose some combinations: of conditions that the user has not decided."""
    from dispatch_cli.answers.shared.conditions import choosing
    from dispatch_cli.model.conditions.worlds import names_in

    decided = {choice.rpartition("=")[0] for choice in checked.chosen}
    return (choosing(atom, False) for atom in checked.atoms if decided.isdisjoint((atom, *names_in(atom))))


def not_checked_sentences(counts: NotChecked) -> Iterator[str]:
    """Sentences about operators that were not checked, and how to check them."""
    if counts.pytorch:
        which = _operators(counts.pytorch, "that PyTorch registered")
        yield f"{which} not checked; `check-invariants --base NAME` without files checks PyTorch's"
    if counts.extended:
        yield f"{_operators(counts.extended, 'from files that these extend')} not checked"
    if counts.unknown:
        yield (
            f"the capture does not say who registered {plural(counts.unknown, 'operator')}, which were checked as "
            "PyTorch's own; make a new capture to check those of other libraries fully"
        )


def _operators(count: int, which: str) -> str:
    return f"{plural(count, 'operator')} {which} {'was' if count == 1 else 'were'}"


def _left_out(report: FindingsReport) -> Iterator[str]:
    if report.suppressed_count:
        yield f"{report.suppressed_count} suppressed"
    if report.baseline is not None:
        yield f"{report.baseline.known} in the baseline"
        if fixed := sum(entry.count for entry in report.baseline.fixed):
            yield f"{fixed} of the baseline fixed (--update-baseline removes {'it' if fixed == 1 else 'them'})"
