"""Options that commands share: what is loaded, and which operators and keys an answer is about."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from dispatch_cli.cli.modules import completion
from dispatch_cli.cli.output import Output, say_note, warn, with_parameters
from dispatch_cli.cli.source_reading import NO_READING, SOURCE_PARAMETERS, ReadingOptions, command_line, reading_options

if TYPE_CHECKING:
    from dispatch_cli.declarations.tree import ExtractedDocument
    from dispatch_cli.engine.state import State
    from dispatch_cli.model.higher_order import HigherOrderOperator
    from dispatch_cli.model.names import OperatorName
    from dispatch_cli.model.problem import InputError, Problem
    from dispatch_cli.model.settings import CheckSettings, Named
    from dispatch_cli.model.universe import Universe

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Names = TypeVar("_Names", str, None, tuple[str, ...])
_SETTINGS = rb"(?m)tool[\s\"'.]{1,9}dispatch-cli|^\s*\[\s*tool\s*\]"
"""Part of a project file that has settings of this program; compiled when there is such a file."""
WITHOUT_WORDS = ("raw", "csv", "svg")
"""Formats in which no answer says what it leaves out."""
OWN_OR_ALL = "all; with files over a base, those for which the files register or change something"


class SourceOptions(NamedTuple):
    """Values of the source options."""

    files: tuple[str, ...]
    keys: tuple[str, ...]
    universe: str | None
    bases: tuple[str, ...]
    allow_outside: bool = False
    privateuse1: str | None = None
    project: CheckSettings | None = None
    """The settings of the project file; None where the command has not read it."""
    reading: ReadingOptions = NO_READING
    without_base: bool = False
    """``--base none``: nothing is assumed, either."""
    when: tuple[str, ...] = ()
    """Values of names in conditions, as NAME=VALUE."""


def resolved(ctx: click.Context, _param: click.Parameter, value: _Names) -> _Names:
    """The callback of an option that takes such a name, or several."""
    if isinstance(value, str):
        return resolved_name(value, quiet=ctx.resilient_parsing)
    if isinstance(value, tuple):
        return tuple(resolved_name(name, quiet=ctx.resilient_parsing) for name in value)
    return value


_VERSION = re.compile(r"torch-[\w.+-]*")


def resolved_name(text: str, quiet: bool = False) -> str:
    """The embedded name that a text means; the text itself where it means none. quiet: without a note."""
    if not text.startswith("torch-"):
        return text
    from dispatch_cli import bases

    resolution = bases.resolve(text)
    if resolution.note is not None and not quiet:
        say_note(resolution.note)
    return resolution.name


def embedded_name(argument: str) -> str | None:
    """The argument, if it names a state as --base does: an embedded one, or that of a recording; None for a file.

    What is called like a version, and is no file, is meant for an embedded one.
    """
    from dispatch_cli import bases

    is_version = _VERSION.fullmatch(argument) is not None and not os.path.exists(argument)  # noqa: PTH110
    if is_version or bases.resolve(argument).name in bases.names():
        return argument
    from dispatch_cli.trace.recording import is_recording

    return argument if is_recording(argument) else None


def say_notes(state: State) -> None:
    """The notes on how a state was loaded, on standard error."""
    for note in state.declarations.notes:
        say_note(note)


privateuse1_option = click.option(
    "--privateuse1",
    metavar="NAME",
    help="The name of the backend at PrivateUse1, such as npu. Default: what the files or pyproject.toml say.",
)
allow_outside_option = click.option(
    "--allow-outside",
    is_flag=True,
    help="Also follow `extends`, pyproject.toml and links to files outside the project.",
)


when_option = click.option(
    "--when",
    "when",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="What a name in conditions of registrations stands for, such as CUDA_VERSION=12040; `undefined` for a macro "
    "that is not defined. Repeatable. Default: what leads to the most registrations; check-invariants checks all.",
)


def source_options(
    command: Callable[..., Any], arguments: str = "[FILE]...", complete: str = "files", what_if: bool = True
) -> Callable[..., Any]:
    """FILE…, -k, --base, --universe, --allow-outside, and how sources are read: what is loaded.

    The command gets one `SourceOptions`, its first argument.
    arguments: how the help names them; arguments before the files are among the source's files. complete: the
        completion of them, by its name. what_if: whether there is -k.
    """

    @wraps(command)
    def call(
        files: tuple[str, ...],
        universe: str | None,
        bases: tuple[str, ...],
        allow_outside: bool,
        privateuse1: str | None,
        reading: ReadingOptions,
        when: tuple[str, ...],
        keys: tuple[str, ...] = (),
        **others: Any,
    ) -> Any:
        without_base = "none" in bases
        if without_base and len(bases) > 1:
            raise click.UsageError("--base none cannot be combined with another --base.")
        source = SourceOptions(
            *(files, keys, universe, () if without_base else bases, allow_outside, privateuse1),
            reading=reading,
            without_base=without_base,
            when=when,
        )
        return command(source, **others)

    keys_option = click.option(
        "-k",
        "keys",
        multiple=True,
        metavar="KEY",
        shell_complete=completion("registrable_keys"),
        help="Instead of files: an operator foo(Tensor x) with a kernel at KEY. Repeatable.",
    )
    return with_parameters(
        call,
        click.argument("files", nargs=-1, metavar=arguments, shell_complete=completion(complete)),
        *((keys_option,) if what_if else ()),
        click.option(
            "--base",
            "bases",
            multiple=True,
            metavar="NAME",
            callback=resolved,
            shell_complete=completion("bases"),
            help="The embedded PyTorch state to start from, such as torch-2.15, or an overlay over it; see "
            "`dispatch-cli bases`. Repeatable. Or a recording of a program, for the state of its PyTorch. `none` "
            "for no state. Default for sources: the newest state that the project's requirements allow.",
        ),
        click.option(
            "--universe",
            metavar="NAME|PATH",
            callback=resolved,
            shell_complete=completion("universes"),
            help="The set of dispatch keys: an embedded universe, or a universe file. Default: what the files say, "
            "or the newest embedded one.",
        ),
        privateuse1_option,
        allow_outside_option,
        when_option,
        reading_options,
    )


def load_state(
    source: SourceOptions, guards: Sequence[str] = (), ops: Sequence[str] = (), pytorch_alone: bool = False
) -> State:
    """Load and run what the source options name.

    guards: files that say what must hold, and register nothing. ops: the operators that are asked for; where nothing is
    named to load, they are those of the newest embedded state, and standard error says so. pytorch_alone: no state is
    assumed below PyTorch's own sources. Errors: InputError.
    """
    if source.files or source.keys or source.bases:
        return _load(source, guards, pytorch_alone)
    if not ops:
        raise click.UsageError(
            "Nothing to load: give sources or declarations, such as '.' for this folder ('-' for standard input), "
            "--base NAME, -k KEY, or --op GLOB for PyTorch's own operators."
        )
    state = _newest(source, guards)
    if state.over_assumed:
        from dispatch_cli.render.words import assumed_label

        say_note(assumed_label(state.over))
    return state


def state_or_newest(source: SourceOptions, asked: Sequence[str] = ()) -> State:
    """The state; the answer says so if it is over an embedded one that no option or file named.

    asked: keys and devices; for one that the embedded builds lack, such as mps, the overlay is assumed as well.
    """
    if source.files or source.keys or source.bases:
        return _load(source)
    return _newest(source, asked=asked)


def _newest(source: SourceOptions, guards: Sequence[str] = (), asked: Sequence[str] = ()) -> State:
    """The newest embedded state, or that of the universe which is asked for. asked: as for `state_or_newest`."""
    from dispatch_cli import bases

    base = bases.newest_for(source.universe)
    state = _load(source._replace(bases=(base, *overlays_of(base, asked)), universe=None), guards)
    state.over_assumed = base != source.universe
    return state


def overlays_of(base: str, asked: Sequence[str]) -> Iterator[str]:
    """The overlays of an embedded state for the backends that are asked for by keys and devices."""
    from dispatch_cli import bases

    backends = {name.removeprefix(f"{base}-"): name for name in bases.overlay_names() if name.startswith(f"{base}-")}
    yield from (name for backend, name in backends.items() if any(word.lower().endswith(backend) for word in asked))


def _load(source: SourceOptions, guards: Sequence[str] = (), pytorch_alone: bool = False) -> State:
    from dispatch_cli.model.problem import InputError

    if source.keys and (source.files or source.bases):
        raise click.UsageError("-k cannot be combined with files or --base.")
    from dispatch_cli import api

    if source.files:
        source = opened_files(source)
    backend = None
    try:
        project = project_defaults(source.files) if source.project is None else source.project
        backend = project.privateuse1 if project is not None and source.privateuse1 is None else None
        name = source.privateuse1 if backend is None else backend.text
        if source.keys:
            return api.what_if_state(
                source.keys, universe=source.universe, allow_outside=source.allow_outside, privateuse1=name
            )
        documents: Sequence[str | ExtractedDocument] = ()
        assumed = None
        if source.files:
            from dispatch_cli.cli.source_reading import assumed_base, say_assumed, state_with

            if not source.bases and not source.without_base:
                assumed = assumed_base(source.files, source.universe, None if project is None else project.base)
            if pytorch_alone and assumed is not None and assumed.of_pytorch:
                say_note(f"PyTorch's own sources are checked alone, with {assumed.name}'s keys; --base adds a state")
                source, assumed = source._replace(universe=assumed.name), None
            documents = _documents(source, name, None if assumed is None else assumed.name)
        state = api.load_state(
            documents,
            universe=source.universe,
            bases=source.bases,
            assumed_base=None if assumed is None else assumed.name,
            guards=guards,
            allow_outside=source.allow_outside,
            privateuse1=name,
            when=choices(source.when),
        )
        state.named_files = source.files
        if assumed is not None and state.over_assumed:
            say_assumed(assumed)
            state.elsewhere = state_with
            state.over_assumed = assumed.setting is None
        # what options name is resolved, and noted, as they are read; of a recording there can be more to say
        if any(not base.startswith("torch-") for base in source.bases):
            say_notes(state)
    except InputError as error:
        error = at_setting(error, backend)
        raise InputError(tuple(map(_on_standard_input, error.problems))) from None
    return state


def _on_standard_input(problem: Problem) -> Problem:
    """The problem; of standard input that is no declaration file at all, with what is read there."""
    is_other = problem.code == "yaml-syntax" or "a mapping that begins with" in problem.message
    if problem.span is None or problem.span.file != "-" or problem.hint is not None or not is_other:
        return problem
    return problem._replace(hint="standard input is read as declarations; for C++ and Python, name the files")


def opened_files(source: SourceOptions) -> SourceOptions:
    """Options with the files at a revision that are among the files; their project's settings are read there."""
    files = opened(source.files)
    return source._replace(files=files, project=None if is_at_revision(files) else source.project)


def opened(files: Sequence[str]) -> tuple[str, ...]:
    """The names under which files can be read until the command ends. Errors: InputError."""
    if not any(":" in file for file in files):
        return tuple(files)
    from dispatch_cli.files.asked import resolve
    from dispatch_cli.files.paths import close_trees

    click.get_current_context().call_on_close(close_trees)
    return resolve(files)


def is_at_revision(files: Sequence[str]) -> bool:
    """True if the first of some files is at a revision; what belongs to all of them is looked for there then."""
    if not any(":" in file for file in files):
        return False
    from dispatch_cli.files.paths import tree_of

    return tree_of(files[0]) is not None


def choices(when: Sequence[str]) -> dict[str, str]:
    """Values of names given by --when. Errors: BadParameter for a value without a name."""
    values = {}
    for text in when:
        parts = re.fullmatch(r"(.*?)(?<![<>=!])=(?!=)(.*)", text, re.S)
        name, value = (text, "") if parts is None else (parts[1], parts[2])
        if not name.strip():
            raise click.BadParameter(f"{text!r} has no name.", param_hint="'--when'")
        values[" ".join(name.split())] = value.strip() or "1"
    return values


def _documents(source: SourceOptions, backend: str | None, base: str | None) -> Sequence[str | ExtractedDocument]:
    """The files with documents of the sources. backend: the name at PrivateUse1, if known. base: the assumed one."""
    from dispatch_cli.cli.source_reading import with_documents

    settings = None if source.project is None else source.project.extract
    bases = source.bases or (() if base is None else (base,))
    return with_documents(source.files, source.reading, settings, source.allow_outside, bases, backend)


def at_setting(error: InputError, backend: Named | None) -> InputError:
    """The error with the place in the project file that gives the backend its name, where it is about that name."""
    from dispatch_cli.model.problem import InputError

    if backend is None:
        return error
    placed = (
        problem._replace(span=backend.span) if problem.code == "backend-name" and problem.span is None else problem
        for problem in error.problems
    )
    return InputError(tuple(placed))


def project_defaults(files: Sequence[str] = ()) -> CheckSettings | None:
    """Defaults of options in the nearest project file: `privateuse1` and `base`; None without such a file.

    files: those at a revision have the project file of that revision.

    Errors: InputError.
    """
    if is_at_revision(files):
        return _defaults_near(files[0])
    return _defaults_near("") if may_have_settings() else None


def may_have_settings() -> bool:
    """True if a project file has settings of this program. One that cannot be read is warned of."""
    try:
        folder = os.getcwd()  # noqa: PTH109  (few projects say it: reading them need not be imported)
    except FileNotFoundError:  # it was removed: there is no project
        return False
    below = ""
    while folder != below:
        file = os.path.join(folder, "pyproject.toml")  # noqa: PTH118
        try:
            if os.path.isfile(file):  # noqa: PTH113
                with open(file, "rb") as text:  # noqa: PTH123
                    if re.search(_SETTINGS, text.read(1 << 20)) is not None:
                        return True
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            say_note(f"{os.path.relpath(file)} cannot be read: {why}; its settings are not used", "warning")
        folder, below = os.path.dirname(folder), folder  # noqa: PTH120
    return False


def _defaults_near(file: str) -> CheckSettings | None:
    """file: as in `paths.here`. Errors: InputError."""
    from pathlib import Path

    from dispatch_cli.declarations.project import find_project
    from dispatch_cli.files import paths

    project = find_project(Path(paths.here(file)))
    if project is None:
        return None
    from dispatch_cli.declarations.project_settings import read_project

    return read_project(Path(paths.shown(str(project))), only=("privateuse1", "base"))


def warn_of_overrides(state: State, color: str = "auto", names: Collection[OperatorName] | None = None) -> None:
    """Say on standard error which registrations took the place of another. names: the operators; None for all."""
    registrations = [entry for entry in state.overrides if names is None or entry.operator in names]
    if registrations:
        from dispatch_cli.render.problems import overrides

        warn(
            overrides(registrations, _checks_command(state, "overridden-kernel", "--severity", "info", "--full")), color
        )


_OF_ANOTHER_BACKEND = (
    "another library is the backend at PrivateUse1; what it registers, such as fallbacks at AutogradPrivateUse1 "
    "and AutocastPrivateUse1, is not known here: name its declarations or sources, too"
)


def note_conditions(state: State, names: Sequence[OperatorName], out: Output, says_undecided: bool = True) -> None:
    """Say on standard error for which conditions an answer about operators holds, where they have conditions.

    Also said is what the answer leaves out, because PyTorch refuses it; about one operator, what may concern it; and
    that the backend is another library's. says_undecided: the answer says itself which kernels it leaves out because
    they are undecided.
    """
    refused = state.refused
    if refused:
        from dispatch_cli.checks.catalogue.refused_registration import is_expected

        refused = tuple(item for item in refused if not is_expected(item))
    if len(names) == 1:
        refused = tuple(item for item in refused if item.operator is None or item.operator == str(names[0]))
    if refused or state.variants is not None:
        from dispatch_cli.answers.shared.conditions import shown_for
        from dispatch_cli.render.problems import notes_on_conditions

        why = _checks_command(state, "refused-registration", "--severity", "info")
        warn(notes_on_conditions(refused, shown_for(state, names), why), out.color)
    if not says_undecided or out.format in WITHOUT_WORDS:
        from dispatch_cli.answers.shared.report_parts import undecided_kernels
        from dispatch_cli.render.words import undecided_lines

        warn(undecided_lines(undecided_kernels(state, names)), out.color)
    if not state.named_files:
        return
    from dispatch_cli.model.declarations import Implement
    from dispatch_cli.model.universe import PRIVATE_USE1

    kernels = (step for step in state.declarations.steps if isinstance(step, Implement) and step.block.extracted)
    if any(PRIVATE_USE1 in (step.dispatch_key, step.block.dispatch_key) for step in kernels):
        from dispatch_cli.checks.view import View

        view = View(state, names)
        if view.extends_backend and not any(key.endswith(PRIVATE_USE1) for key in view.own_fallbacks):
            say_note(_OF_ANOTHER_BACKEND)


def _checks_command(state: State, check: str, *more: str) -> str:
    """The command line that runs a check on the files of a state."""
    return command_line("check-invariants", state.named_files, SOURCE_PARAMETERS, "--select", check, *more)


def filter_option(default: str) -> Callable[[_Command], _Command]:
    """--op: which operators. default: what is taken without it."""
    return op_option(f"Only operators whose name matches. Default: {default}.")


def op_option(text: str) -> Callable[[_Command], _Command]:
    """--op: which operators, in words."""
    return click.option("--op", "ops", multiple=True, metavar="GLOB", help=text, shell_complete=completion("operators"))


def key_option(text: str, registrable: bool = False) -> Callable[[_Command], _Command]:
    """--key: which keys; the commands get `key_globs`. registrable: alias and functionality keys, too."""
    complete = completion("registrable_keys") if registrable else completion("runtime_keys")
    return click.option("--key", "key_globs", multiple=True, metavar="GLOB", help=text, shell_complete=complete)


def matching_names(
    ops: Sequence[str], names: Sequence[str], higher_order: Sequence[str] = (), none: str = "no operator matches"
) -> tuple[set[str], set[str]]:
    """The names that --op chooses of operators and of higher-order ones; exits with 2 when a glob chooses none.

    none: the beginning of the message then.
    """
    from dispatch_cli.answers.shared.selection import not_found, select_higher_order, select_names

    chosen, others = set[str](), set[str]()
    for glob in ops:
        ordinary, of_higher_order = select_names(names, glob), select_higher_order(higher_order, glob)
        if not ordinary and not of_higher_order:
            hint = as_sentence(not_found([*names, *higher_order], glob))
            raise click.BadParameter(f"{none} {glob!r}.{hint}", param_hint="'--op'")
        chosen.update(ordinary)
        others.update(of_higher_order)
    return chosen, others


def chosen_operators(state: State, ops: tuple[str, ...], own: bool = False) -> list[OperatorName]:
    """The operators that --op chooses; exits with 2 when a glob chooses none.

    Without --op, all. own: of files laid over a base then only those that are the files' own, if any.
    """
    from dispatch_cli.model.names import OperatorName

    dispatcher = state.dispatcher
    if not ops:
        shown = state.own_operators() if own and state.base is not None else []
        if own and _is_over_assumed(state):
            return shown
        return shown or [OperatorName.parse(name) for name in dispatcher.names()]
    chosen, _ = matching_names(ops, dispatcher.names())
    return [OperatorName.parse(name) for name in sorted(chosen)]


def chosen_of_both_kinds(
    state: State, ops: tuple[str, ...]
) -> tuple[list[OperatorName], tuple[HigherOrderOperator, ...]]:
    """The operators that --op chooses, and the higher-order ones; exits with 2 when a glob chooses none of either.

    Without --op, all; of files laid over a base only those that the files say something of, if any.
    """
    if ops:
        from dispatch_cli.answers.shared.selection import may_be_higher_order

        if not any(map(may_be_higher_order, ops)):
            return chosen_operators(state, ops), ()
    operators = state.higher_order_operators
    if ops:
        from dispatch_cli.model.names import OperatorName

        chosen, others = matching_names(ops, state.dispatcher.names(), [operator.name for operator in operators])
        ordinary = [OperatorName.parse(name) for name in sorted(chosen)]
        return ordinary, tuple(operator for operator in operators if operator.name in others)
    declared = {operator.name for operator in state.declarations.higher_order_operators}
    if state.base is None and (state.source is None or not declared) and not _is_over_assumed(state):
        return chosen_operators(state, ()), operators
    own, higher_order = state.own_operators(), tuple(operator for operator in operators if operator.name in declared)
    if _is_over_assumed(state):
        return own, higher_order
    return (own, higher_order) if own or higher_order else (chosen_operators(state, ()), operators)


def _is_over_assumed(state: State) -> bool:
    """True if files are over a state that nobody named: then its operators are not meant."""
    return state.over_assumed and bool(state.declarations.files)


def guarded_names(names: Sequence[OperatorName], operators: Sequence[HigherOrderOperator]) -> frozenset[OperatorName]:
    """The names of operators of both kinds; a higher-order one has no namespace."""
    from dispatch_cli.model.names import OperatorName

    return frozenset((*names, *(OperatorName(operator.name) for operator in operators)))


def chosen_keys(universe: Universe, globs: tuple[str, ...], registrable: bool = False) -> frozenset[str] | None:
    """The runtime keys that --key chooses, None for all; exits with 2 when a glob chooses none.

    registrable: of all keys at which a kernel can be registered, alias and functionality keys included.
    """
    if not globs:
        return None
    from dispatch_cli.answers.shared.selection import select_keys

    known = (*universe.slots[:1], *universe.keys_by_id) if registrable else universe.slots
    for glob in globs:
        if not select_keys(universe, (glob,), known):
            from dispatch_cli.model.text.suggest import KEYS_LISTED, suggestion

            close = suggestion(glob, known, 3)
            hint = as_sentence(close or KEYS_LISTED)
            kind = "dispatch" if registrable else "runtime"
            raise click.BadParameter(f"no {kind} key matches {glob!r}.{hint}", param_hint="'--key'")
    return select_keys(universe, globs, known)


def as_sentence(hint: str | None) -> str:
    """A hint as a sentence behind another; nothing where there is none."""
    return f" {hint[0].upper()}{hint[1:]}{'' if hint.endswith('?') else '.'}" if hint else ""
