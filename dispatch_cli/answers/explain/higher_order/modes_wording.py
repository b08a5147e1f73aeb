"""Sentences about calls in a mode of which the mode is not asked: an implementation or an error comes first."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.answers.explain.higher_order.report import ExplainHigherOrderReport, PlaceRow
from dispatch_cli.answers.table.higher_order.modes import ModeCall, ModeCallKind
from dispatch_cli.engine.call.higher_order.place import AtPlace


def call_before_mode(report: ExplainHigherOrderReport) -> ModeCall | None:
    """The ordinary call in the mode, where it does not get to the mode."""
    calls = (call for call in report.calls if call.kind is ModeCallKind.ORDINARY and not call.asks_mode)
    return next(calls, None)


def before_mode_sentences(
    report: ExplainHigherOrderReport, before: ModeCall, answer: PlaceRow, runs: str
) -> Iterator[str]:
    """An ordinary call, then a call that reaches the mode. runs: the mode's implementation."""
    mode = report.name
    if before.error is not None:
        yield f"An ordinary call in {mode} fails at {before.key}, before it reaches the mode."
        yield f"PyTorch raises {before.error_type}: {before.error.partition('Hint:')[0]}"
    else:
        source = "" if before.source in (None, before.key) else f" (from {before.source})"
        yield (
            f"An ordinary call in {mode} runs {before.kernel} at {before.key}{source}, which comes before the mode: "
            f"{mode} {_sees(before)}."
        )
    inference = [call for call in report.calls if call.kind is ModeCallKind.INFERENCE and call.asks_mode]
    reaches = f"A call that reaches {mode} below autograd{', such as in inference mode,' if inference else ''}"
    match answer.found:
        case AtPlace.ERROR:
            yield f"{reaches} fails: {report.operator} has no implementation for {mode}."
            yield f"PyTorch raises {answer.error_type}: {(answer.error or '').partition('Hint:')[0]}"
        case AtPlace.IMPL:
            yield f"{reaches} runs {runs}."
        case _:
            yield f"{reaches} is handled by the mode's own __torch_dispatch__."
    for call in report.calls:
        if call.kind is ModeCallKind.ABOVE_AUTOGRAD and call.asks_mode and call.error is not None:
            yield (
                "Tracing above autograd (torch.export, make_fx(pre_dispatch=True)) asks the mode first, and fails: "
                f"PyTorch raises {call.error_type}: {call.error}"
            )


def _sees(before: ModeCall) -> str:
    if before.decomposes:
        return "sees the operators that it calls"
    return "is asked only if that calls the operator again"
