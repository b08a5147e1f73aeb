"""``dispatch-cli explain``"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.completion import complete_explain, complete_files
from dispatch_cli.cli.help import Command
from dispatch_cli.cli.options import SourceOptions, as_sentence, note_conditions, source_options, state_or_newest
from dispatch_cli.cli.output import Output, output_options, show

if TYPE_CHECKING:
    from dispatch_cli.answers.explain.higher_order.report import ExplainHigherOrderReport
    from dispatch_cli.answers.explain.report import ExplainReport
    from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
    from dispatch_cli.engine.history.state import State
    from dispatch_cli.model.names import OperatorName
    from dispatch_cli.report.error_text import ErrorText
    from dispatch_cli.report.message import MessageReport


@click.command("explain", cls=Command)
@partial(source_options, arguments="[OP KEY] [FILE]...", complete=complete_explain)
@click.option(
    "--from-error",
    "error_file",
    metavar="FILE",
    shell_complete=complete_files,
    help="Instead of OP and KEY: explain the PyTorch error in this text file ('-' for standard input).",
)
@output_options(csv=False)
def command(source: SourceOptions, error_file: str | None, out: Output) -> None:
    """Explain one operator at one key: which rule applies, why, and what would help.

    KEY is a runtime key, an alias key or a functionality. FILEs are applied one after the other. Without FILE, --base
    and -k, the newest embedded PyTorch state is used.

    OP may be a higher-order operator; then KEY may also be a mode, a tensor subclass or a functorch transform:
    FakeTensorMode, mode=MyMode, subclass=MyTensor, transform=Vmap.
    """
    if error_file is None:
        operator, key, *files = _operator_and_key(source.files)
        state, assumed = state_or_newest(source._replace(files=tuple(files)), out.color, operator)
        show(_answer(state, assumed, operator, key), out)
    else:
        if error_file in source.files:
            raise click.UsageError(f"{error_file} cannot be both the error text and a declaration file.")
        errors = _errors(error_file, source.allow_outside)
        state, assumed = state_or_newest(source, out.color)
        answer = _from_error(state, source, assumed, error_file, errors)
        show(answer, out)


def _operator_and_key(arguments: tuple[str, ...]) -> tuple[str, ...]:
    if len(arguments) < 2:
        raise click.UsageError(
            "Give an operator and a key, such as `explain aten::add.Tensor CPU`, or --from-error FILE."
        )
    return arguments


def _answer(state: State, assumed: bool, operator: str, key: str) -> ExplainReport | ExplainHigherOrderReport:
    """The explanation of an operator of either kind; exits with 2 when there is none of that name."""
    from dispatch_cli.answers.shared.named import higher_order_named, operator_named, similar_operators

    name = operator_named(state.dispatcher, operator)
    if name is not None:
        return _report(state, assumed, name, _key(state.dispatcher, key))
    found = higher_order_named(state, operator)
    if found is None:
        hint = as_sentence(similar_operators(state.dispatcher, operator))
        raise click.BadParameter(f"there is no operator {operator[:200]!r}.{hint}", param_hint="'OP'")
    from dispatch_cli.answers.explain.higher_order.command_arguments import place_named
    from dispatch_cli.answers.explain.higher_order.report import explain_higher_order

    return explain_higher_order(state, found, place_named(state, found, key), assumed)


def _key(dispatcher: Dispatcher, text: str) -> str:
    """A key of the universe; exits with 2 when there is none of that name."""
    universe = dispatcher.universe
    key = universe.key_named(text)
    if key in universe.slot or key in universe.aliases or key in universe.per_backend:
        return key
    from dispatch_cli.model.suggest import KEYS_LISTED, suggestion

    close = suggestion(key, [*universe.slots, *universe.aliases, *universe.per_backend], 3)
    hint = as_sentence(close or KEYS_LISTED)
    raise click.BadParameter(f"{universe.name} has no dispatch key {text[:200]!r}.{hint}", param_hint="'KEY'")


def _errors(file: str, allow_outside: bool) -> list[ErrorText]:
    """What a text says; exits with 2 when it can not be read, and when there is no error in it."""
    from dispatch_cli.declarations.project_folder import within
    from dispatch_cli.declarations.source import SourceError, decoded, read_bytes
    from dispatch_cli.report.error_text import MAX_CHARACTERS, MAX_REARRANGED, find_errors, lines_of_table
    from dispatch_cli.report.messages.table import looked_for

    try:
        text = decoded(read_bytes(file, MAX_CHARACTERS, within(file, allow_outside))[0])
    except SourceError as error:
        hint = f". {error.hint}" if error.code == "outside-project" else ""
        if error.code == "too-large":
            hint = ". Give the part with the error: `tail -n 500 FILE | dispatch-cli explain --from-error -`"
        raise click.BadParameter(f"{error.message}{hint}", param_hint="'--from-error'") from None
    errors = find_errors(text)
    if errors:
        return errors
    name = "standard input" if file == "-" else file
    texts = "\n".join(f"  {one}" for one in looked_for())
    if not text.strip():
        message = f"{name} is empty. Give the whole text that PyTorch printed, with its traceback."
        raise click.BadParameter(message, param_hint="'--from-error'")
    lines = lines_of_table(text)
    if lines:
        message = (
            f"{name} has {lines} {'line' if lines == 1 else 'lines'} of a dispatch table, but not the line before it "
            "that names the operator: \"Could not run 'OP' with arguments from the 'KEY' backend\". Paste that too."
        )
        raise click.BadParameter(message, param_hint="'--from-error'")
    message = f"{name} has none of PyTorch's messages about operators and dispatch, such as:\n{texts}"
    message += (
        "\nGive the whole text, with the traceback and all its errors. If it is whole, the error is not about "
        "dispatch. `dispatch-cli explain OP KEY` explains a slot of a dispatch table."
    )
    if len(text) > MAX_REARRANGED:
        message += (
            "\nIn so long a text, sentences that are broken over lines are not recognized: give only the part with "
            "the error."
        )
    raise click.BadParameter(message, param_hint="'--from-error'")


def _from_error(
    state: State, source: SourceOptions, assumed: bool, file: str, errors: list[ErrorText]
) -> ExplainReport | ExplainHigherOrderReport | MessageReport:
    """The slot that the first error is about, explained; what the error means, where it is about none."""
    from dispatch_cli import api, bases
    from dispatch_cli.model.names import OperatorName
    from dispatch_cli.report.explain_error import ANSWERS, error_report, key_of
    from dispatch_cli.report.from_text import register_from_text
    from dispatch_cli.report.higher_order_error import OF_HIGHER_ORDER
    from dispatch_cli.report.messages.kinds import TextKind
    from dispatch_cli.report.printed_keys import read_key

    first = errors[0]
    named = None if first.operator is None else OperatorName.parse(first.operator)
    if named is not None and not state.declarations.bases and named not in state.dispatcher:
        newest, is_newest = state_or_newest(source._replace(files=(), keys=(), universe=None), "never")
        if named in newest.dispatcher:  # PyTorch's own, which the files do not declare
            state, assumed = newest, is_newest
    if named is not None and named.namespace is None and first.kind in OF_HIGHER_ORDER:
        from dispatch_cli.answers.explain.higher_order.command_arguments import from_error

        return from_error(state, source, assumed, file, errors)
    if named is None or first.kind not in ANSWERS:
        from dispatch_cli.report.message import message_report

        return message_report(state, assumed, file, errors)
    dispatcher, name = state.dispatcher, named
    from_text = name not in dispatcher and register_from_text(dispatcher, name, first)
    if name not in dispatcher and first.kind is TextKind.AMBIGUOUS:
        # the text does not show which backend has the kernel, and no slot can be made from it
        from dispatch_cli.report.message import message_report

        return message_report(state, assumed, file, errors)
    if name not in dispatcher:
        from dispatch_cli.answers.shared.named import similar_operators
        from dispatch_cli.render.explain_error import unknown_operator_text

        message = unknown_operator_text(first, state.over)
        hint = as_sentence(similar_operators(dispatcher, str(name)))
        raise click.BadParameter(f"{message}{hint} Give the files that declare it.", param_hint="'--from-error'")
    universe = dispatcher.universe
    found = None if first.key is None else read_key(universe, first.key)
    if first.key is not None and found is None:
        message = f"the text names the key {first.key[:200]!r}, which {universe.name} does not have"
        raise click.BadParameter(f"{message}; the text may be truncated there.", param_hint="'--from-error'")
    key = key_of(dispatcher, name) if found is None else found.key
    if key not in universe.slot:
        message = f"the text names {key}, which has no slot in a dispatch table. PyTorch's errors name runtime keys."
        hint = f"`explain {name} {key}` says what {key} is."
        raise click.BadParameter(f"{message} {hint}", param_hint="'--from-error'")
    report = _report(state, assumed, name, key)
    if from_text:
        report = replace(report, schema=None)
    universes = api.load_universes(bases.names())
    return replace(report, error=error_report(state, name, key, file, errors, from_text, universes))


def _report(state: State, assumed: bool, name: OperatorName, key: str) -> ExplainReport:
    from dispatch_cli.answers.explain.report import explain_report

    note_conditions(state, [name])
    return explain_report(state, name, key, assumed)
