"""A simulated call as a picture: its keys from top to bottom, the kernels that run, and the ways between them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from dispatch_cli.answers.keys.outcomes import KeyOutcome, KeyStatus
from dispatch_cli.answers.resolve.document import DOES_TONES
from dispatch_cli.answers.resolve.higher_order import ResolveHigherOrderReport
from dispatch_cli.answers.resolve.report import ResolveReport, Stage
from dispatch_cli.answers.resolve.step_wording import step_sentence
from dispatch_cli.answers.resolve.wording import end_sentence, outcome_kernel_label, stage_title, status_label
from dispatch_cli.answers.shared.slot_row import TableRow
from dispatch_cli.engine.call.trace import Does
from dispatch_cli.render.document import DrawnArrow, DrawnPath, DrawnRow, Tone

_WAYS = {Does.CALLS_ANEW: "calls the operator again"}


def picture(report: ResolveReport | ResolveHigherOrderReport) -> Iterator[DrawnPath]:
    """The call; of a higher-order operator the steps alone, which have no key set to be drawn."""
    if isinstance(report, ResolveHigherOrderReport):
        steps = [DrawnRow(step.hop.key, step.hop.does.value, Tone.KERNEL) for step in report.steps]
        yield DrawnPath(steps, (), report.operator)
        return
    rows: list[DrawnRow] = []
    at: dict[int, int] = {}
    for stage in report.selections:
        if rows:
            rows.append(DrawnRow("", stage_title(report, stage), Tone.HEAD))
        for outcome in stage.keys:
            at.update(dict.fromkeys(outcome.steps, len(rows)))
            rows.append(_row(stage, outcome))
        for step in stage.steps:
            if step.number not in at:  # no key of the set led there
                at[step.number] = len(rows)
                rows.append(DrawnRow(step.hop.slot, step_sentence(step), DOES_TONES.get(step.hop.does, Tone.PLAIN)))
    if report.fails and not rows:
        rows.append(DrawnRow(report.operator, end_sentence(report), Tone.BAD))
    elif report.fails:
        number = at[report.steps[-1].number] if report.steps else len(rows) - 1
        rows[number] = rows[number]._replace(beside=end_sentence(report), tone=Tone.BAD)
    arrows = [
        DrawnArrow(at[step.number], at[following.number], _WAYS.get(step.hop.does, "redispatches"))
        for step, following in pairwise(report.steps)
    ]
    yield DrawnPath(rows, arrows, report.operator)


def _row(stage: Stage, outcome: KeyOutcome[TableRow]) -> DrawnRow:
    steps = {step.number: step for step in stage.steps}
    label = status_label(outcome, {number: step.hop.does for number, step in steps.items()})
    if outcome.status is not KeyStatus.RUNS:
        return DrawnRow(outcome.key, label)
    last = steps[outcome.steps[-1]]
    kernel = outcome_kernel_label(outcome, last, True)
    return DrawnRow(outcome.key, f"{label}: {kernel}", DOES_TONES.get(last.hop.does, Tone.ALIAS))
