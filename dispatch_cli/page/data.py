"""The data of a page: everything that it shows, with nothing repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from dispatch_cli import __version__, bases
from dispatch_cli.answers.coverage.wording import SERVICE_NAMES
from dispatch_cli.answers.diff.document import document as diff_document
from dispatch_cli.answers.diff.report import DiffArguments, as_side, diff_report
from dispatch_cli.answers.diff.wording import outcome
from dispatch_cli.answers.explain.advice.adviser import slot_advice
from dispatch_cli.answers.explain.advice.document import advice_lines, fragment, new_changes
from dispatch_cli.answers.explain.advice.report import Advice
from dispatch_cli.answers.explain.document import ROLE_TONES
from dispatch_cli.answers.explain.wording import ROLES
from dispatch_cli.answers.findings.report import FindingsReport
from dispatch_cli.answers.findings.summary_document import SEVERITY_TONES
from dispatch_cli.answers.findings.summary_document import document as findings_document
from dispatch_cli.answers.findings.summary_document import outcome as findings_outcome
from dispatch_cli.answers.keys.document import document as keys_document
from dispatch_cli.answers.keys.report import universe_argument, universe_report
from dispatch_cli.answers.shared.operator_list import ListedOperator, listed_operators
from dispatch_cli.answers.table.grid_document import CODES, CORE_FALLBACK, FALLTHROUGH, MARKS
from dispatch_cli.answers.table.higher_order.document import tables as higher_order_tables
from dispatch_cli.answers.table.higher_order.report import slots_of
from dispatch_cli.answers.table.registrations.document import fallbacks_document
from dispatch_cli.answers.table.registrations.report import backend_fallbacks_report
from dispatch_cli.answers.table.report import changed_slots
from dispatch_cli.answers.table.slot_notes import backend_key_below
from dispatch_cli.engine.history import run
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.table import AMBIGUOUS_KERNEL
from dispatch_cli.model.declarations import Declarations
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.text.quoting import CONTROL, UNSEEN
from dispatch_cli.model.universe import autograd_key_of
from dispatch_cli.page.blocks import coverage_data, support_data, written_blocks
from dispatch_cli.page.operators import OperatorColumns
from dispatch_cli.page.outcomes import Outcomes
from dispatch_cli.page.pool import Pool, Pools
from dispatch_cli.render.data import data_of
from dispatch_cli.render.words import OF_PYTORCH, REGISTERED, below_names

MOST_ADVISED = 40
"""Slots with advice; each takes some hundredths of a second."""
MOST_LOOKED_AT = 2_000
"""Slots for which advice is looked for."""


class PageFile(NamedTuple):
    """A file that the page was made from.

    sha256: of its bytes; None where they cannot be read again.
    """

    name: str
    sha256: str | None


class PageSource(NamedTuple):
    """Source of a page.

    arguments: the source options, as they were given; the first *named* are files. more_files: the number of files
    that are not in *files*. names: of the state's files and folders, for people. url: of the repository that they are
    in.
    """

    arguments: tuple[str, ...]
    files: tuple[PageFile, ...]
    more_files: int = 0
    named: int = 0
    names: tuple[str, ...] = ()
    url: str | None = None


def page_data(
    state: State, findings: FindingsReport, source: PageSource, progress: Callable[[str], object]
) -> dict[str, Any]:
    """Everything that the page shows, as what JSON knows. progress: told what is made next."""
    dispatcher = state.dispatcher
    universe = dispatcher.universe
    keys = tuple(dict.fromkeys((*universe.slots, *universe.keys_by_id)))
    pools = Pools(keys)
    keys_report, fallbacks = universe_report(universe), backend_fallbacks_report(state)
    names = [OperatorName.parse(name) for name in dispatcher.names()]
    outcomes = Outcomes(dispatcher, pools)
    progress("page: the tables of all operators")
    operators = OperatorColumns(state, outcomes, pools).data(names)
    progress("page: coverage, support and advice")
    above, below = (
        [-1 if other is None else universe.slot[other] for other in (of(universe, key) for key in universe.slots)]
        for of in (autograd_key_of, backend_key_below)
    )
    return {
        "about": {
            "dispatch_cli": __version__,
            "universe": universe.name,
            "torch": universe.torch,
            "over": state.over,
            "over_files": state.over_files,
            "below": below_names(state.over, state.over_files) or "PyTorch",
            "over_assumed": state.over_assumed,
            "has_base": state.base is not None,
            "privateuse1": universe.backend_name,
            "universe_argument": universe_argument(state, tuple(source.arguments)),
            "arguments": source.arguments,
            "diff": changes_data(state, source.arguments[: source.named], source.arguments[source.named :]),
            "names": source.names,
            "source_url": source.url,
            "files": data_of(source.files),
            "more_files": source.more_files,
        },
        "words": _words(),
        "key_names": keys,
        "slots": len(universe.slots),
        "above": above,
        "below": below,
        "keys": {part: data_of(getattr(keys_report, part)) for part in ("aliases", "backends", "functionalities")},
        "ambiguous": AMBIGUOUS_KERNEL.label,
        "fallbacks": data_of(fallbacks.fallbacks),
        "decisions": outcomes.decisions.values,
        "lines": outcomes.lines.values,
        "reasons": outcomes.reasons.values,
        "plans": outcomes.plans.values,
        "operators": operators,
        "listed": _listed(state, names),
        "higher_order": _higher_order(state),
        "written": {
            "keys": [*written_blocks(keys_document(keys_report, universe=universe))],
            "fallbacks": [*written_blocks(fallbacks_document(fallbacks))],
            "findings": [*written_blocks(findings_document(findings))],
            "outcome": findings_outcome(findings).text,
        },
        "coverage": coverage_data(state, names),
        "support": support_data(state),
        "findings": {part: data_of(getattr(findings, part)) for part in ("findings", "unlisted")},
        "fixes": {
            row.fingerprint: text for row in findings.findings if (text := fragment(row.finding.fix)) is not None
        },
        "summary": data_of(findings.summary),
        "affected": data_of(findings.affected),
        "advice": advice_data(state, findings, {str(name): number for number, name in enumerate(names)}),
        # what the parts above have in common comes last
        "texts": pools.texts.values,
        "places": pools.places.values,
    }


def _higher_order(state: State) -> dict[str, Any]:
    """operators: names, and their tables as the command writes them. own: names of those of the files."""
    tables = slots_of(state, state.higher_order_operators)
    return {
        "operators": [[table.name, [*written_blocks(higher_order_tables((table,), False))]] for table in tables],
        "own": [operator.name for operator in state.own_higher_order_operators()],
    }


def _listed(state: State, names: Sequence[OperatorName]) -> list[int]:
    """The order of the operators in a list: their numbers; higher-order ones are counted behind the others."""
    others = [ListedOperator(operator.name, True) for operator in state.higher_order_operators]
    numbers = {entry: number for number, entry in enumerate([*(ListedOperator(str(name)) for name in names), *others])}
    return [numbers[operator] for operator in listed_operators(state)]


def _words() -> dict[str, Any]:
    """codes: letter, meaning and tone of a slot in a grid, by rule. unsafe: a class of a regular expression."""
    return {
        "rules": {rule.value: rule.dump_text for rule in Rule},
        "codes": {rule.value: _code(code) for rule, code in CODES.items()},
        "core_fallback": _code(CORE_FALLBACK),
        "fallthrough": _code(FALLTHROUGH),
        "marks": {mark: [meaning, tone.value] for mark, (meaning, tone) in MARKS.items()},
        "roles": {role.value: words for role, words in ROLES.items()},
        "role_tones": {role.value: tone.value for role, tone in ROLE_TONES.items()},
        "severity_tones": {severity.value: tone.value for severity, tone in SEVERITY_TONES.items()},
        "services": {service.value: words for service, words in SERVICE_NAMES.items()},
        "registered": REGISTERED.replace("(?P<", "(?<"),
        "of_pytorch": OF_PYTORCH,
        "unsafe": _unsafe(),
    }


def _code(code: Any) -> list[str]:
    return [code.letter, code.meaning, code.tone.value]


def _unsafe() -> str:
    """Characters that are spelled out: inside of a class of a regular expression, as JavaScript with ``u`` has it."""
    return "".join(sign if sign == "-" else f"\\u{{{ord(sign):x}}}" for sign in f"\t\n{CONTROL}{UNSEEN}")


def changes_data(state: State, files: tuple[str, ...], options: tuple[str, ...]) -> dict[str, Any] | None:
    """The arguments of ``diff``, its outcome and its document.

    None where ``diff`` cannot compare the two. files, options: the source options as they were given.
    """
    below = as_side(state.over)
    if not files or len(below) != 1 or below[0] not in (*bases.names(), *bases.overlay_names()):
        return None
    before = run(Declarations(state.dispatcher.universe), state.source)
    report = diff_report(before, state, (below, files))
    universes = (before.dispatcher.universe, state.dispatcher.universe)
    return {
        "arguments": DiffArguments(below, files, options).arguments,
        "outcome": outcome(report),
        "blocks": [*written_blocks(diff_document(report, universes=universes))],
    }


def advice_data(state: State, findings: FindingsReport, numbers: Mapping[str, int]) -> dict[str, Any]:
    """values: the advice in sentences with their labels, and the fixes. operators: by number, slots and values.

    It is for slots of the files' operators, those with findings first; for the others, the page has the command to run.
    numbers: of the operators, by name. A slot of which it was found that there is none has it, too: an empty one.
    """
    values = Pool()
    operators: dict[int, list[int]] = {}
    advised = 0
    for name, key in islice(dict.fromkeys(_slots(state, findings)), MOST_LOOKED_AT):
        if advised == MOST_ADVISED:
            break
        pieces = slot_advice(state, name, key)
        advised += bool(pieces)
        slot = state.dispatcher.universe.slot[key]
        operators.setdefault(numbers[str(name)], []).extend((slot, values.build(pieces, _advice)))
    return {"values": values.values, "operators": operators}


def _advice(advice: tuple[Advice, ...]) -> Any:
    best = (changes[0].edits if changes else () for changes in new_changes(advice))
    return {
        "lines": [[run.text for run in runs] for runs in advice_lines(advice)],
        "fixes": [*map(fragment, best)],
    }


def _slots(state: State, findings: FindingsReport) -> Iterator[tuple[OperatorName, str]]:
    """Slots of the operators of files, those first that findings are about; a slot can come again."""
    dispatcher = state.dispatcher
    universe = dispatcher.universe
    own = state.own_operators()
    by_name = {str(name): name for name in own}
    for finding in (row.finding for row in findings.findings):
        name = by_name.get(finding.operator or "")
        if name is not None and finding.key is not None and finding.key in universe.slot:
            yield name, finding.key
    for name in own:
        yield from ((name, key) for key in dispatcher.stale_slots(name))
    for name in own:
        yield from ((name, key) for key in changed_slots(state, name))
    for name in own:
        for key in dispatcher.operator(name).kernels:
            if key in universe.slot:
                above = autograd_key_of(universe, key)
                yield from ((name, slot_key) for slot_key in (key, above) if slot_key is not None)
