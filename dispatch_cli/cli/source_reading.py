"""Sources where a command takes files: options for them, which files are sources, how they are read, what is said."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from dispatch_cli.cli.modules import completion
from dispatch_cli.cli.output import progress_on, say_note, with_parameters

if TYPE_CHECKING:
    from dispatch_cli.declarations.tree import ExtractedDocument
    from dispatch_cli.extract.run import SourceRun
    from dispatch_cli.model.settings import Named
    from dispatch_cli.model.sources.source_settings import SourceSettings

NOT_UNDERSTOOD = "dispatch_cli.not_understood"
"""Key under which a run notes that something in the sources is not understood."""
NO_CONFIG = "none"
"""The value of ``--config`` for no project file."""
_CODE = (".py", ".pyw", ".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hh", ".hpp", ".hip", ".m", ".mm")
_OURS = rb"""(?m)(?:\A\s*\{\s*|^)["']?dispatch["']?[ \t]*:"""
"""Begins a file of declarations; compiled when there is a file to look at."""
_START = 4096
_WIDTH = 60


class ReadingOptions(NamedTuple):
    """Values of the options that say how sources are read."""

    defines: tuple[str, ...] = ()
    undefines: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


NO_READING = ReadingOptions()
"""Options where none is given."""
_NAMES = {name: f"source_{name}" for name in ReadingOptions._fields}
READING_PARAMETERS = frozenset((*_NAMES.values(), "config", "allow_outside"))
"""Parameters that say how sources are read; `extract` has them, too."""
SOURCE_PARAMETERS = READING_PARAMETERS | {"bases", "universe", "privateuse1", "when"}
"""Parameters that say what is loaded."""


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options; the command gets them as one `ReadingOptions`, its argument *reading*."""

    @wraps(command)
    def call(*args: Any, **others: Any) -> Any:
        reading = ReadingOptions(**{name: others.pop(parameter) for name, parameter in _NAMES.items()})
        return command(*args, reading=reading, **others)

    return with_parameters(
        call,
        click.option(
            "-D",
            "source_defines",
            multiple=True,
            metavar="NAME[=VALUE]",
            help="In C++ sources: the macro NAME is defined. Repeatable.",
        ),
        click.option(
            "-U",
            "source_undefines",
            multiple=True,
            metavar="NAME",
            help="In C++ sources: the macro NAME is not defined. Repeatable.",
        ),
        click.option(
            "-I",
            "source_include",
            multiple=True,
            metavar="DIR",
            shell_complete=completion("files"),
            help="In C++ sources: look for included headers in DIR, too. Repeatable.",
        ),
        click.option(
            "--set",
            "source_values",
            multiple=True,
            metavar="NAME=VALUE",
            help="In Python sources: the value of a name or expression. Repeatable.",
        ),
        click.option(
            "--exclude",
            "source_exclude",
            multiple=True,
            metavar="GLOB",
            help="Leave out sources that match, as in .gitignore. Repeatable.",
        ),
    )


strict_option = click.option("--strict", is_flag=True, help="Exit with 1 when some source is not understood.")


def source_arguments() -> tuple[str, ...]:
    """The files and the options of the source that were given to the command that runs."""
    from dispatch_cli.files.paths import as_argument

    files = click.get_current_context().params.get("files") or ()
    return (*map(as_argument, files), *_given_options(SOURCE_PARAMETERS | {"keys"}))


def _given_options(parameters: Collection[str]) -> Iterator[str]:
    context = click.get_current_context()
    for option in context.command.params:
        name = option.name or ""
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and isinstance(option, click.Option) and name in parameters:
            yield from _option(option, context.params[name])


def command_line(command: str, files: Sequence[str], parameters: Collection[str], *more: str) -> str:
    """Another command for the same files, as a shell takes it.

    parameters: those whose options go over to it where they were given. more: its further arguments.
    """
    import shlex

    from dispatch_cli.files.paths import as_argument

    options = _given_options(parameters)
    return shlex.join(("dispatch-cli", command, *map(as_argument, files), *options, *more))


def _option(option: click.Option, value: Any) -> Iterator[str]:
    flag = max(option.opts, key=len)
    if option.is_flag:
        yield flag
        return
    for item in value if option.multiple else (value,):
        yield from (flag, str(item))


def is_source(file: str) -> bool:
    """True if a file is a source or a directory, and no declaration file. Of most, the name or the start says it."""
    if file == "-":
        return False
    from dispatch_cli.files import paths

    if paths.is_folder(file):
        return True
    suffix = os.path.splitext(file)[1].lower()  # noqa: PTH122
    if suffix in _CODE or suffix == ".gz" or not paths.is_file(file):
        return suffix in _CODE
    try:
        if re.search(_OURS, _start_of(file)) is not None:
            return False
    except OSError:
        return False
    from dispatch_cli.declarations.source import SourceError, read_start
    from dispatch_cli.extract.kinds import HEAD_BYTES, kind_of_named
    from dispatch_cli.model.sources.extracted import SourceKind

    try:
        data = read_start(file, HEAD_BYTES)
    except SourceError:
        return False
    if b"\0" in data:
        return False
    return kind_of_named(file, data.decode("utf-8", "replace")) not in (None, SourceKind.DECLARATIONS)


def _start_of(file: str) -> bytes:
    """Errors: OSError."""
    from dispatch_cli.files import paths

    tree = paths.tree_of(file)
    if tree is not None:
        return tree.read(paths.inside(file), _START)
    with open(file, "rb") as stream:  # noqa: PTH123
        return stream.read(_START)


def with_documents(
    files: Sequence[str],
    reading: ReadingOptions,
    project: SourceSettings | None,
    allow_outside: bool,
    bases: Sequence[str] = (),
    backend: str | None = None,
) -> Sequence[str | ExtractedDocument]:
    """The files with what the sources among them say in the place of the first source.

    project: settings for sources in the project file; None to look for it. bases: the embedded states to start from.
    backend: the name at PrivateUse1 that options or settings give; it counts more than what the sources say.
    Errors: InputError.
    """
    sources = [file for file in files if is_source(file)]
    if not sources:
        return files
    run = read_sources(sources, reading, project, allow_outside, bases)
    from dispatch_cli.declarations.tree import ExtractedDocument

    say_notes(run, command_line("extract", sources, READING_PARAMETERS))
    if not is_understood(run):
        click.get_current_context().meta[NOT_UNDERSTOOD] = True
    data = run.document
    if backend is not None:
        data = {name: value for name, value in data.items() if name != "privateuse1"}
    document = ExtractedDocument(sources[0], data, run.lines)
    documents: list[str | ExtractedDocument] = []
    for file in files:
        if file not in sources:
            documents.append(file)
        elif file == sources[0]:
            documents += [document, *run.declarations]
    return documents


def say_notes(run: SourceRun, whole: str) -> None:
    """Say on standard error what was read, and what was not. whole: the command line that prints all of it."""
    from dispatch_cli.cli.source_summary import notes, unreadable

    for part in unreadable(run):
        say_note(part, "warning")
    for note in notes(run, whole):
        say_note(note)


def is_understood(run: SourceRun) -> bool:
    """True if all of the sources is understood and decided, as far as anyone can see."""
    from dispatch_cli.cli.source_summary import undecided_in, unreadable

    return not run.not_understood and not undecided_in(run) and not any(unreadable(run))


def read_sources(
    files: Sequence[str],
    reading: ReadingOptions,
    project: SourceSettings | None,
    allow_outside: bool,
    bases: Sequence[str] = (),
) -> SourceRun:
    """Read sources as the project and the options say. Errors: InputError, UsageError."""
    from dispatch_cli.bases import names
    from dispatch_cli.extract.run import run
    from dispatch_cli.files import paths

    own = own_settings(reading, paths.here(files[0]))
    settings = (*settings_of_projects(files, project, allow_outside), own)
    known = names()
    base = next((base for base in bases if base in known), known[0])
    with progress_on(sys.stderr, file_line) as progress:
        pytorch = partial(operators_of, base)
        return run(files, settings, allow_outside=allow_outside, progress=progress, pytorch=pytorch)


def operators_of(base: str) -> Iterator[str]:
    """The schemas of the operators of an embedded state."""
    from dispatch_cli import bases

    state = bases.load(base)
    for name in state.names:
        schema = state.header(name).schema
        if schema is not None:
            yield schema


def settings_of_projects(
    files: Sequence[str], project: SourceSettings | None, allow_outside: bool
) -> Iterator[SourceSettings]:
    """Settings of the nearest project file, then of the one nearest above all paths, if that is another.

    project: the first, where it is known. Errors: InputError.
    """
    from pathlib import Path

    from dispatch_cli.declarations.project import find_project
    from dispatch_cli.declarations.project_settings import read_project
    from dispatch_cli.files import paths

    def read(file: Path) -> SourceSettings:
        return read_project(Path(paths.shown(str(file))), allow_outside, only=("extract",)).extract

    here = Path(paths.here(files[0]))
    if project is not None:
        yield project
    elif (nearest := find_project(here)) is not None:
        yield read(nearest)
    if click.get_current_context().params.get("config") != NO_CONFIG:
        above = find_project(Path(common_folder(files)))
        if above is not None and above != find_project(here):
            yield read(above)


def common_folder(files: Sequence[str]) -> str:
    """The folder that all files and folders are in, or are; of those in different trees, that of the first one."""
    from dispatch_cli.files import paths

    folders = [path if paths.is_folder(path) else paths.folder_of(path) for path in map(paths.absolute, files)]
    above = [set(paths.above(folder)) for folder in folders]
    return next((folder for folder in paths.above(folders[0]) if all(folder in others for others in above)), folders[0])


def own_settings(reading: ReadingOptions, here: str) -> SourceSettings:
    """Settings given by the options. here: folder of the paths in them. Errors: UsageError."""
    from dispatch_cli.files import paths
    from dispatch_cli.model.sources.source_settings import (
        FileSettings,
        SourceSettings,
        assignment,
        definition,
        macro_name,
    )

    is_here = paths.tree_of(here) is None
    include = reading.include if is_here else tuple(_at(here, folder) for folder in reading.include)
    for folder in reading.include if is_here else ():
        if not os.path.isdir(folder):  # noqa: PTH112
            raise click.BadParameter(f"{folder!r} is not a directory.", param_hint="'-I'")
    return SourceSettings(
        every=FileSettings(
            (),
            tuple(_each("-D", reading.defines, definition)),
            tuple(_each("-U", reading.undefines, macro_name)),
            tuple(_each("--set", reading.values, assignment)),
        ),
        include=include,
        exclude=reading.exclude,
    )


def _at(here: str, path: str) -> str:
    """A path of the command line for files at a revision: a relative one is of that revision, too."""
    from dispatch_cli.files import paths

    return path if os.path.isabs(path) else paths.normal(paths.join(here, path))  # noqa: PTH117


def _each(option: str, texts: Sequence[str], read: Callable[[str], Any]) -> Iterator[Any]:
    for text in texts:
        try:
            yield read(text)
        except ValueError as error:  # noqa: PERF203
            raise click.BadParameter(f"{text!r}: {error}.", param_hint=f"'{option}'") from None


def file_line(file: str) -> str:
    """Progress line for a file that is read."""
    return f"reading {file[-_WIDTH:]}"


class AssumedBase(NamedTuple):
    """An embedded state. why: how it was chosen, as the end of a sentence. setting: the one that names it, if any.

    of_pytorch: the sources are PyTorch's own, which register what the state has.
    """

    name: str
    why: str
    setting: Named | None = None
    of_pytorch: bool = False


def assumed_base(files: Sequence[str], universe: str | None, setting: Named | None) -> AssumedBase | None:
    """The state to start from unless the files decide it; None for none.

    Sources, and declarations beside them, are over the newest state that the packaging files of the sources' project
    allow. universe: what ``--universe`` names. setting: `base` of the project file.
    """
    from dispatch_cli import bases
    from dispatch_cli.declarations.project import NO_BASE

    if setting is not None:
        return None if setting.text == NO_BASE else AssumedBase(setting.text, f"as {setting.span} says", setting)
    states = bases.names()
    sources = [file for file in files if is_source(file)]
    if not sources:
        return None
    if universe is not None and universe not in states:
        return None
    from dispatch_cli.declarations.pytorch_requirement import is_pytorch, newest_allowed

    folder = common_folder(sources)
    of_pytorch = is_pytorch(folder)
    if universe is not None:
        return AssumedBase(universe, "as --universe says", of_pytorch=of_pytorch)
    name, requirement, is_allowed = newest_allowed(folder, states)
    if requirement is None:
        return AssumedBase(name, "the newest embedded state", of_pytorch=of_pytorch)
    clause = f"{requirement.span}: torch{requirement.spec}"
    if is_allowed:
        why = f"the newest embedded state that the project allows ({clause})"
        return AssumedBase(name, why, of_pytorch=of_pytorch)
    return AssumedBase(name, f"the nearest embedded state to what the project requires ({clause})")


def state_with(operator: str) -> str | None:
    """The newest embedded state that has an operator."""
    from dispatch_cli import bases

    for name in bases.names():
        try:
            bases.load(name).header(operator)
        except KeyError:
            continue
        return name
    return None


def say_assumed(base: AssumedBase) -> None:
    """Name the state on standard error."""
    other = "" if base.setting is not None else "; --base names another, or none"
    say_note(f"over {base.name}, {base.why}{other}")
