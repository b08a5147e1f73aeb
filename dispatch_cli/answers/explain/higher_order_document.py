"""A higher-order operator at one place, explained: the answer, rules, advice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dispatch_cli.answers.explain.document import RULES, headed
from dispatch_cli.answers.explain.higher_order_report import ExplainHigherOrderReport, ImplHelp, PlaceRow
from dispatch_cli.answers.explain.rule_steps import RuleLine, RuleState
from dispatch_cli.answers.table.higher_order_document import ENTRIES, IMPLS, SLOTS, alike, title
from dispatch_cli.answers.table.higher_order_report import ASIDE, fold_slots
from dispatch_cli.engine.call.higher_order.place import AtPlace
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.higher_order import ImplKind
from dispatch_cli.model.names import some_of
from dispatch_cli.render.document import (
    Block,
    Column,
    Gap,
    Inline,
    Paragraph,
    ParagraphKind,
    Run,
    TableBlock,
    Tone,
    joined,
)
from dispatch_cli.render.words import aside_lines, over_label


def answer_sentences(report: ExplainHigherOrderReport) -> Iterator[str]:
    """The answer, then the error that PyTorch raises or the names of the implementations."""
    answer = report.answer
    if answer is None:
        registered = any(report.name in row.registered_at for row in report.impls)
        has = "has an implementation" if registered else "has no implementation"
        yield f"{report.operator} {has} at {report.name}, which stands for {len(report.slots)} slots."
        return
    match answer.found:
        case AtPlace.IMPL:
            yield f"A call {_where(report)} runs {_impl(answer)}."
        case AtPlace.MODE_ITSELF:
            yield (
                f"{report.operator} has no implementation for {report.name}, which supports higher-order operators: "
                "its own __torch_dispatch__ gets the call."
            )
        case AtPlace.FALLTHROUGH:
            yield f"No call of {report.operator} stops {_where(report)}: the key falls through."
        case AtPlace.MODES:
            yield "At Python, PyTorch asks the innermost mode, then the tensors with a __torch_dispatch__, in order."
            yield _asked(report, ImplKind.MODE, "FakeTensorMode")
        case AtPlace.TRANSFORMS:
            yield f"At {report.name}, PyTorch asks the innermost functorch transform."
            yield _asked(report, ImplKind.TRANSFORM, "Vmap")
        case AtPlace.ERROR:
            yield f"A call {_where(report)} fails: {_lack(report, answer)}."
            yield f"PyTorch raises {answer.error_type}: {(answer.error or '').partition('Hint:')[0]}"
    if report.kind is ImplKind.MODE:
        yield (
            f"An implementation at an autograd key comes before the mode; `dispatch-cli resolve {report.operator} "
            f"--tensor cpu --context mode={report.name}` follows a whole call."
        )


def _where(report: ExplainHigherOrderReport) -> str:
    match report.kind:
        case ImplKind.MODE:
            return f"that reaches {report.name}"
        case ImplKind.SUBCLASS:
            return f"with a {report.name}"
        case ImplKind.TRANSFORM:
            return f"under the transform {report.name}"
        case _:
            return f"at {report.name}"


def _impl(answer: PlaceRow) -> str:
    place = f", declared at {answer.span}" if answer.span is not None else ""
    if answer.rule is None:
        return f"{answer.kernel}{place}"
    source = "" if answer.source is None else f" from {answer.source}"
    return f"{answer.kernel}{source} (rule {answer.rule_number}, {answer.rule.dump_text}){place}"


def _lack(report: ExplainHigherOrderReport, answer: PlaceRow) -> str:
    """Reason why a call fails."""
    if report.kind is not ImplKind.DISPATCH:
        return f"{report.operator} has no implementation for {report.name}"
    if answer.rule is not None and answer.rule.value == "ambiguous":
        return f"{report.operator} has a composite implementation and one of a backend that shares {report.name}"
    fallback = answer.rule is not None and answer.rule.value == "fallback"
    only = ", and higher-order operators do not use backend fallbacks" if fallback else ""
    return f"{report.operator} has no implementation there{only}"


def _asked(report: ExplainHigherOrderReport, kind: ImplKind, example: str) -> str:
    kinds = (kind, ImplKind.FUNCTIONALIZE, *([ImplKind.SUBCLASS] if kind is ImplKind.MODE else []))
    names = [name for row in report.impls if row.kind in kinds for name in _found_by(row.registered_at, kind)]
    has = f"{report.operator} has implementations for {some_of(names)}" if names else f"{report.operator} has none"
    return f"{has}; `dispatch-cli explain {report.operator} {names[0] if names else example}` says more."


def _found_by(names: tuple[str, ...], kind: ImplKind) -> tuple[str, ...]:
    """The mode or the transform alone, of the names of an implementation for functionalization."""
    if len(names) == 1:
        return names
    return tuple(dict.fromkeys(name for name in names if name.endswith("Mode") == (kind is ImplKind.MODE)))


_HELPS = {
    ImplHelp.FALL_THROUGH: "let DispatchKey.{name} fall through (`op.fallthrough`), if the operator does nothing there",
    ImplHelp.DERIVATIVE: "register a derivative with py_autograd_impl",
    ImplHelp.NO_DERIVATIVE: "register autograd_not_implemented with py_autograd_impl, so that backward() raises",
    ImplHelp.EVERY_BACKEND: (
        "register an implementation with py_impl(DispatchKey.CompositeExplicitAutograd), which works for every backend"
    ),
    ImplHelp.HERE: "register an implementation with {py_impl}",
    ImplHelp.FUNCTIONALIZE: (
        "register an implementation with py_functionalize_impl, for the key Functionalize, FunctionalTensorMode and "
        "the transform Functionalize"
    ),
    ImplHelp.FAKE: "register an implementation with py_impl(FakeTensorMode), which computes results without data",
    ImplHelp.SUPPORT: "set supports_higher_order_operators = True in {name}: its __torch_dispatch__ then gets the call",
    ImplHelp.UNWRAP: (
        "remove the wrapper in the implementation for functionalization (`ctx.unwrap_tensors`) before it calls the "
        "operator again: a FunctionalTensor gets here if its mode is not active"
    ),
}
_PY_IMPL = {ImplKind.DISPATCH: "py_impl(DispatchKey.{name})", ImplKind.TRANSFORM: "py_impl(TransformType.{name})"}


def advice_sentences(report: ExplainHigherOrderReport) -> Iterator[str]:
    """A sentence for each change that helps where a call fails, the best one first."""
    py_impl = _PY_IMPL.get(report.kind, "py_impl({name})").format(name=report.name)
    for position, help_ in enumerate(report.advice or ()):
        text = _HELPS[help_].format(name=report.name, py_impl=py_impl)
        yield f"Or {text}." if position else f"{text[0].upper()}{text[1:]}."
    if not report.advice:
        yield "No registration at this place helps."


def document(report: ExplainHigherOrderReport) -> Iterator[Block]:
    """The operator; the answer, and what it follows from."""
    yield Paragraph(title(report.operator, report.side_effect, report.mutates), kind=ParagraphKind.TITLE)
    if report.span is not None:
        yield Paragraph(Run(f"declared at {report.span}", Tone.DIM))
    yield Paragraph(Run(over_label(report), Tone.DIM))
    yield Gap()
    yield from headed(answer_sentences(report))
    if report.rules:
        yield Gap()
        yield TableBlock(RULES_OF_PYTHON, report.rules)
    if report.slots:
        yield Gap()
        yield from _slots(report)
    if report.impls:
        yield Gap()
        yield TableBlock(IMPLS, [*alike(report.impls)])
    if report.advice is not None:
        yield Gap()
        yield Paragraph(joined(Run("Advice: ", Tone.HEAD), " ".join(advice_sentences(report))))


def _outcome(line: RuleLine, short: bool) -> Inline:
    """A backend fallback gives no kernel: `resolve_key` then answers with the key itself."""
    if line.outcome is RuleState.FIRED and line.rule is Rule.FALLBACK:
        return Run("chooses the key itself", Tone.WARN)
    return RULES[-1].cell(line, short)


RULES_OF_PYTHON: list[Column[RuleLine]] = [*RULES[:-1], replace(RULES[-1], cell=_outcome)]


def _slots(report: ExplainHigherOrderReport) -> Iterator[Block]:
    folding = fold_slots(report.slots)
    if folding.rows:
        yield TableBlock(ENTRIES, folding.rows)
    yield from aside_lines((SLOTS[slot], folding.aside.get(slot)) for slot in ASIDE)
