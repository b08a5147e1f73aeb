"""``dispatch-cli explain`` and ``dispatch-cli rules``"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.help import Command
from dispatch_cli.cli.modules import completion
from dispatch_cli.cli.options import SourceOptions, note_conditions, source_options, state_or_newest
from dispatch_cli.cli.output import Output, output_options, show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dispatch_cli.answers.errors.read import ErrorText
    from dispatch_cli.answers.errors.report import ErrorReport
    from dispatch_cli.answers.explain.higher_order_report import ExplainHigherOrderReport
    from dispatch_cli.answers.explain.report import ExplainReport
    from dispatch_cli.engine.state import State
    from dispatch_cli.model.names import OperatorName
    from dispatch_cli.model.universe import Universe


class NotUnderstood(click.ClickException):
    """A text without an error that is understood: one sentence, and exit code 2."""

    exit_code = 2


@click.command("explain", cls=Command)
@partial(source_options, arguments="[OP KEY] [FILE]...", complete="explain")
@click.option(
    "--from-error",
    "error_file",
    metavar="FILE",
    shell_complete=completion("files"),
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
        state = state_or_newest(source._replace(files=tuple(files)), (key,))
        show(_answer(state, operator, key, out), out)
    else:
        if error_file in source.files:
            raise click.UsageError(f"{error_file} cannot be both the error text and a declaration file.")
        show(_from_error(source, error_file), out)


def _operator_and_key(arguments: tuple[str, ...]) -> tuple[str, ...]:
    if len(arguments) < 2:
        raise click.UsageError(
            "Give an operator and a key, such as `explain aten::add.Tensor CPU`, or --from-error FILE."
        )
    operator, key, *_ = arguments
    if _is_path(operator):
        raise click.UsageError(f"The operator and the key come first: `explain OP KEY {operator}`.")
    if "::" not in operator and not _names_key(key) and _names_key(operator):
        if "::" in key:
            raise click.UsageError(f"The operator comes first: `explain {key} {operator}`.")
        raise click.UsageError(f"The operator is missing: `explain OP {operator} {key}`.")
    if _is_path(key):
        raise click.UsageError(f"The key is missing: `explain {operator} CPU {key}`, for example.")
    return arguments


def _is_path(text: str) -> bool:
    """True if a text can be no key, and there is a file or folder of that name."""
    if "::" in text or not any(sign in text for sign in "./\\"):
        return False
    from dispatch_cli.files import paths

    return paths.exists(text)


def _names_key(text: str) -> bool:
    """True if a text is a dispatch key of the newest PyTorch that is embedded."""
    from dispatch_cli.api import load_universes

    (universe,) = load_universes([None])
    return universe.has_key(universe.key_named(text))


def _answer(state: State, operator: str, key: str, out: Output) -> ExplainReport | ExplainHigherOrderReport:
    """The explanation of an operator of either kind. Errors: InputError where there is none of that name."""
    from dispatch_cli.answers.shared.selection import any_operator
    from dispatch_cli.model.names import OperatorName

    name = any_operator(state, operator)
    if isinstance(name, OperatorName):
        from dispatch_cli.answers.explain.report import explain_report

        key = _key(state.dispatcher.universe, key)
        note_conditions(state, [name], out)
        return explain_report(state, name, key)
    from dispatch_cli.answers.explain.higher_order_report import explain_higher_order, place_named

    return explain_higher_order(state, name, place_named(state, name, key))


def _key(universe: Universe, text: str) -> str:
    """A key of the universe. Errors: InputError where there is none of that name."""
    key = universe.key_named(text)
    if universe.has_key(key):
        return key
    from dispatch_cli.model.problem import InputError, Problem
    from dispatch_cli.model.text.suggest import KEYS_LISTED, suggestion

    hint = suggestion(key, [*universe.slots, *universe.aliases, *universe.per_backend], 3) or KEYS_LISTED
    message = f"{universe.name} has no dispatch key {text[:200]!r}"
    raise InputError((Problem("unknown-dispatch-key", message, hint=hint),))


def _pasted(file: str, allow_outside: bool) -> tuple[str, Sequence[ErrorText]]:
    """A text and its errors; exits with 2 when it can not be read, and when it has none that is understood."""
    from dispatch_cli.answers.errors.read import MAX_CHARACTERS, dump_lines, find_errors, uncoloured
    from dispatch_cli.declarations.project import within
    from dispatch_cli.declarations.source import SourceError, decoded, read_plain

    try:
        text = decoded(read_plain(file, MAX_CHARACTERS, within(file, allow_outside)))
    except SourceError as error:
        hint = f". {error.hint}" if error.code == "outside-project" else ""
        if error.code == "too-large":
            hint = ". Give the part with the error: `tail -n 500 FILE | dispatch-cli explain --from-error -`"
        raise click.BadParameter(f"{error.message}{hint}", param_hint="'--from-error'") from None
    errors = find_errors(text)
    if errors:
        return text, errors
    name = "standard input" if file == "-" else file
    if not text.strip():
        raise NotUnderstood(f"{name} is empty; give the whole text that PyTorch printed, with its traceback.")
    if any(dump_lines(uncoloured(text))):
        raise NotUnderstood(
            f'{name} has lines of a dispatch table, but not the line before it that names the operator: "Could not run '
            "'OP' with arguments from the 'KEY' backend\"."
        )
    raise NotUnderstood(
        f"no text in {name} is one that dispatch-cli explains; the whole text, with its traceback, may have one."
    )


def _from_error(source: SourceOptions, file: str) -> ErrorReport:
    """The answer to the text in a file, held against the state that the options name, or its own PyTorch version."""
    from dispatch_cli.answers.errors.answer import answer, bases_of
    from dispatch_cli.model.names import OperatorName

    text, errors = _pasted(file, source.allow_outside)
    own = source._replace(files=(), keys=(), universe=None, bases=bases_of(text, errors[0]))
    if not (source.files or source.keys or source.bases or source.universe or source.without_base):
        return answer(text, errors, _assumed(own), file)
    state = state_or_newest(source)
    named = errors[0].operator
    if named is not None and not state.declarations.bases and not _has(state, OperatorName.parse(named)):
        pytorchs = _assumed(own)
        if _has(pytorchs, OperatorName.parse(named)):  # PyTorch's own, which the files do not declare
            state = pytorchs
    return answer(text, errors, state, file)


def _assumed(own: SourceOptions) -> State:
    """The state of the PyTorch version that printed a text, which no option names."""
    state = state_or_newest(own)
    state.over_assumed = True
    return state


def _has(state: State, name: OperatorName) -> bool:
    return name in state.dispatcher or state.higher_order_operator(str(name)) is not None


@click.command("rules", cls=Command)
@click.argument("numbers", nargs=-1, type=click.IntRange(1, 10), metavar="[N]...", shell_complete=completion("rules"))
@output_options(csv=False)
def rules_command(numbers: tuple[int, ...], out: Output) -> None:
    """List the ten rules of a dispatch table, or explain some with examples.

    Every answer names the rule that fills a slot by its number N. The examples are computed when you ask for them.
    """
    from dispatch_cli.answers.explain.rules_report import rules_report
    from dispatch_cli.api import load_universes

    (universe,) = load_universes([None])
    show(rules_report(universe, numbers), out, whole=bool(numbers))
