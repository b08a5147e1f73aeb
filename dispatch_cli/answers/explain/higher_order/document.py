"""A higher-order operator at one place, explained: the answer, steps of dispatch, rules, advice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dispatch_cli.answers.explain.advice.report import HigherOrderAdvice, ImplChange, ManualForMode
from dispatch_cli.answers.explain.document import RULES, headed
from dispatch_cli.answers.explain.higher_order.report import ExplainHigherOrderReport, PlaceRow
from dispatch_cli.answers.explain.rule_steps import RuleLine, RuleState
from dispatch_cli.answers.shared.selection import some_of
from dispatch_cli.answers.table.higher_order.document import ENTRIES, IMPLS, alike, slot_label
from dispatch_cli.answers.table.higher_order.report import ASIDE, fold_slots
from dispatch_cli.engine.call.higher_order.place import AtPlace, DispatchLine, DispatchStep, StepOutcome
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.higher_order import AUTOGRAD_NOT_IMPLEMENTED, FALLTHROUGH, ImplEdit, ImplKind
from dispatch_cli.model.text.quoting import scalar
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

_DOES = {
    "FakeTensorMode": ", which computes results without data",
    "ProxyTorchDispatchMode": ", which records the call in the graph",
    "CompositeExplicitAutograd": ", which works for every backend",
}
"""Task of an implementation."""
_SECTIONS = {ImplKind.MODE: "modes", ImplKind.SUBCLASS: "subclasses", ImplKind.TRANSFORM: "transforms"}
_STEPS = {
    DispatchStep.MASK: "key set without the keys that fall through",
    DispatchStep.TRANSFORM: "innermost functorch transform",
    DispatchStep.MODE: "innermost mode",
    DispatchStep.SUBCLASS: "tensors with __torch_dispatch__, in order",
    DispatchStep.PRE_DISPATCH: "innermost mode of the PreDispatch stack",
    DispatchStep.RESOLVE_KEY: "resolve_key chooses a key",
    DispatchStep.IMPLEMENTATION: "implementation at that key",
}
_OUTCOMES = {
    StepOutcome.PASSES: ("goes on", Tone.PLAIN),
    StepOutcome.DECIDES: ("decides", Tone.KERNEL),
    StepOutcome.RAISES: ("raises", Tone.BAD),
    StepOutcome.NOT_REACHED: ("not reached", Tone.DIM),
}
STEPS: list[Column[DispatchLine]] = [
    Column("Step of dispatch", lambda line, _: _STEPS[line.step]),
    Column("Looks at", lambda line, _: Run(line.looks_at, _OUTCOMES[line.outcome][1]), wraps=False),
    Column("Outcome", lambda line, _: Run(*_OUTCOMES[line.outcome])),
]


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


def advice_sentences(advice: HigherOrderAdvice, mode: str) -> Iterator[str]:
    """A sentence for each change, the best one first. mode: the name of the place, where it is a mode."""
    for position, change in enumerate(advice.changes):
        text = impl_change_text(change)
        declared = ", ".join(_declared(edit) for edit in change.edits)
        sentence = f"{text}; declare `{declared}`."
        yield f"{sentence[0].upper()}{sentence[1:]}" if position == 0 else f"Or {sentence}"
    if advice.manual is ManualForMode.SUPPORT:
        yield (
            f"{'Or set' if advice.changes else 'Set'} supports_higher_order_operators = True in {mode}: its "
            "__torch_dispatch__ then gets the call."
        )
    elif advice.manual is ManualForMode.UNWRAP:
        yield (
            "A FunctionalTensor gets here if its mode is not active: the implementation for functionalization removes "
            "the wrapper (`ctx.unwrap_tensors`) before it calls the operator again."
        )
    elif advice.manual is ManualForMode.NOTHING:
        yield "No registration at this place helps."


def higher_order_advice_text(advice: HigherOrderAdvice) -> str:
    """The changes as one text, for a report that is read by a program."""
    return " ".join(advice_sentences(advice, "the mode"))


def impl_change_text(change: ImplChange) -> str:
    """A change as part of a sentence."""
    return ", and ".join(_edit_text(edit) for edit in change.edits)


def _edit_text(edit: ImplEdit) -> str:
    if edit.kernel == FALLTHROUGH:
        return f"let DispatchKey.{edit.name} fall through (`op.fallthrough`), if the operator does nothing at this key"
    if edit.kernel == AUTOGRAD_NOT_IMPLEMENTED:
        return "register autograd_not_implemented with py_autograd_impl, so that backward() raises"
    match edit.kind:
        case ImplKind.AUTOGRAD:
            return "register a derivative with py_autograd_impl"
        case ImplKind.FUNCTIONALIZE:
            return (
                "register an implementation with py_functionalize_impl, for the key Functionalize, "
                "FunctionalTensorMode and the transform Functionalize"
            )
        case ImplKind.TRANSFORM:
            return f"register an implementation with py_impl(TransformType.{edit.name})"
        case ImplKind.DISPATCH:
            return f"register an implementation with py_impl(DispatchKey.{edit.name}){_DOES.get(edit.name, '')}"
        case _:
            return f"register an implementation with py_impl({edit.name}){_DOES.get(edit.name, '')}"


def _declared(edit: ImplEdit) -> str:
    value = _value(edit)
    if edit.kind in (ImplKind.AUTOGRAD, ImplKind.FUNCTIONALIZE):
        return f"{edit.kind.value}: {value}"
    return f"{_SECTIONS.get(edit.kind, 'dispatch')}: {{{scalar(edit.name)}: {value}}}"


def _value(edit: ImplEdit) -> str:
    if edit.deferred_error is not None:
        return f"{{kernel: {edit.kernel}, deferred_error: {str(edit.deferred_error).lower()}}}"
    kernel = scalar(edit.kernel)
    return f"{{kernel: {kernel}, redispatches: true}}" if edit.redispatches else kernel


def impl_declarations(change: ImplChange) -> str:
    """Registrations that a change makes, as declarations in YAML."""
    lines = "".join(f"    {_declared(edit)}\n" for edit in change.edits)
    return f"higher_order_operators:\n  - name: {scalar(change.edits[0].operator)}\n    add: true\n{lines}"


def document(report: ExplainHigherOrderReport) -> Iterator[Block]:
    """The operator; the answer, and what it follows from."""
    effects = [", with a side effect"] if report.side_effect else []
    effects += [", writes to its arguments"] if report.mutates else []
    yield Paragraph(f"{report.operator} (higher-order operator{''.join(effects)})", kind=ParagraphKind.TITLE)
    if report.span is not None:
        yield Paragraph(Run(f"declared at {report.span}", Tone.DIM))
    yield Paragraph(Run(over_label(report), Tone.DIM))
    yield Gap()
    yield from headed(answer_sentences(report))
    if report.steps:
        yield Gap()
        yield TableBlock(STEPS, report.steps)
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
        yield Paragraph(joined(Run("Advice: ", Tone.HEAD), " ".join(advice_sentences(report.advice, report.name))))


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
    yield from aside_lines((slot_label(slot), folding.aside.get(slot)) for slot in ASIDE)
