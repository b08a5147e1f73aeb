"""Settings in ``[tool.dispatch-cli]`` of a project's ``pyproject.toml``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from dispatch_cli import bases
from dispatch_cli.declarations.fields import Values, fits, pairs_of, parts, read_record, read_records, text_of
from dispatch_cli.declarations.formats.format_types import (
    BOOLEAN,
    NAME,
    TEXT,
    TEXTS,
    WHEN,
    Field,
    Record,
    choice,
    either,
    list_of,
    map_of,
    record,
)
from dispatch_cli.declarations.project import NO_BASE, TABLE, within
from dispatch_cli.declarations.sections.suppressions import read_selectors
from dispatch_cli.declarations.source import MAX_PROJECT_BYTES, Source, SourceError, check_inside, read_plain
from dispatch_cli.declarations.toml_reader import read_table
from dispatch_cli.declarations.tree import Scalar
from dispatch_cli.files import paths
from dispatch_cli.model import read_files
from dispatch_cli.model.budget import Budget
from dispatch_cli.model.conditions.condition import parse_condition
from dispatch_cli.model.names import Severity
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.settings import CheckSettings, Named, Selector
from dispatch_cli.model.sources.source_settings import (
    NO_SOURCE_SETTINGS,
    FileSettings,
    SourceSettings,
    assignment,
    definition,
    macro_name,
)
from dispatch_cli.model.text.quoting import quoted

_STRINGS = either(TEXT, list_of(TEXT, "strings"))
_OF_FILES = (
    Field("define", _STRINGS, "Macros that are defined, as `NAME` or `NAME=VALUE`."),
    Field("undefine", _STRINGS, "Macros that are not defined."),
    Field("set", _STRINGS, "What names of Python stand for, as `NAME=VALUE`."),
)
_FILES = Record(
    "files",
    "a table of files",
    "Settings for some files.",
    (
        Field("glob", TEXTS, "The files, as in `.gitignore`.", required=True),
        *_OF_FILES,
        Field("when", _STRINGS, WHEN.doc),
    ),
)
_EXTRACT = Record(
    "extract",
    "extract",
    "How sources are read.",
    (
        *_OF_FILES,
        Field("include", _STRINGS, "Directories of headers."),
        Field("exclude", _STRINGS, "Globs of files to leave out."),
        Field("codegen-backends", _STRINGS, "The backends for which torchgen makes code."),
        Field("derivatives", TEXT, "The file `derivatives.yaml`."),
        Field("tests", BOOLEAN, "Whether folders of tests, benchmarks and examples are read, too."),
        Field("files", list_of(record("files"), "tables"), "Settings for some files; the later ones are the stronger."),
    ),
)
_A_SEVERITY = choice(*(severity.value for severity in Severity))
PROJECT = Record(
    "project",
    f"[tool.{TABLE}]",
    "The settings of a project.",
    (
        Field("select", TEXTS, "The checks to run: ids, codes, or the beginning of either; `all`; or `default`."),
        Field("ignore", _STRINGS, "Checks to leave out, named as in `select`."),
        Field(
            "severity",
            map_of(NAME, _A_SEVERITY, "checks to severities"),
            "The severity of a check's findings, by id, code, or the beginning of either.",
        ),
        Field("fail-on", _A_SEVERITY, "The lowest severity that makes a run fail."),
        Field("baseline", TEXT, "The file with accepted findings."),
        Field("guards", _STRINGS, "Files with guards and promises."),
        Field("privateuse1", TEXT, "The name of the backend at PrivateUse1."),
        Field("base", TEXT, f"The embedded state to start from; `{NO_BASE}` for none."),
        Field("extract", record("extract"), _EXTRACT.doc),
    ),
)
_Value = TypeVar("_Value")


def read_project(path: Path, allow_outside: bool = False, only: tuple[str, ...] = ()) -> CheckSettings:
    """The settings in a project file; none where it has no such table. Paths in it are relative to its folder.

    allow_outside: whether it, and files that it names, may lead out of the project that it is in. only: the fields to
    read, without a look at the others; none for all. Names of checks are taken as they are.
    Errors: InputError, for everything that is not a setting.
    """
    project = within(str(path), allow_outside)
    problems, table = read_table(_source(str(path), project), TABLE)
    if only and table is not None:
        table = table._replace(pairs=tuple(pair for pair in table.pairs if pair[0].text in only))
    values = read_record(problems, table, PROJECT)
    if values is None:
        raise InputError(problems.problems)
    select, severest = values.get("select"), values.text("fail-on")
    settings = CheckSettings(
        select=None if select is None else read_selectors(problems, select),
        ignore=read_selectors(problems, values.get("ignore")),
        severities=tuple(_severities(values)),
        fail_on=None if severest is None else Severity(severest),
        baseline=next(_files(values, "baseline", project), None),
        guards=tuple(_files(values, "guards", project)),
        privateuse1=_named(values, "privateuse1"),
        base=_base(values),
        extract=_extract(values, project),
    )
    if problems:
        raise InputError(problems.problems)
    return settings


def _source(name: str, project: str | None) -> Source:
    """The text of a project file. Errors: InputError."""
    try:
        text = read_plain(name, MAX_PROJECT_BYTES, project).decode("utf-8")
    except SourceError as error:
        raise InputError((Problem(error.code, error.message, hint=error.hint),)) from None
    except UnicodeDecodeError:
        raise InputError((Problem("not-utf8", f"{name} is not valid UTF-8"),)) from None
    source = Source(name, text, Budget(len(text)))
    read_files.keep_lines(name, len(text), lambda: source.lines)
    return source


def _files(values: Values, field: str, project: str | None) -> Iterator[Named]:
    """The files of a field, as they can be opened from here."""
    problems = values.problems
    for item in values.scalars(field):
        text = text_of(problems, item)
        if text is None:
            continue
        path = str(Path(paths.join(paths.folder_of(problems.source.file), text)))
        try:
            check_inside(path, project)
        except SourceError as error:
            problems.add(error.code, error.message, item, error.hint)
        else:
            yield Named(path, problems.span(item))


def _severities(values: Values) -> Iterator[tuple[Selector, Severity]]:
    for key, value in pairs_of(values.get("severity")):
        if fits(values.problems, value, _A_SEVERITY) and type(value) is Scalar:
            yield Selector(key.text, values.problems.span(key)), Severity(value.text)


def _named(values: Values, field: str) -> Named | None:
    text, node = values.text(field), values.get(field)
    return None if text is None or node is None else Named(text, values.problems.span(node))


def _base(values: Values) -> Named | None:
    """The embedded state to start from; None, noting it, where the field names none."""
    base, node = _named(values, "base"), values.get("base")
    if base is None or node is None:
        return None
    name = bases.resolve(base.text).name
    if name in (*bases.names(), NO_BASE):
        return base._replace(text=name)
    hint = f"the embedded states are {', '.join(bases.names())}; {NO_BASE} is for none"
    values.problems.add("unknown-state", f"base names no embedded state: {quoted(base.text)}", node, hint)
    return None


def _extract(settings: Values, project: str | None) -> SourceSettings:
    values = read_record(settings.problems, settings.get("extract"), _EXTRACT)
    if values is None:
        return NO_SOURCE_SETTINGS
    backends = [part for text in values.texts("codegen-backends") for part, _ in parts(text) if part]
    return SourceSettings(
        every=_file_settings(values),
        files=tuple(map(_file_settings, read_records(values.problems, values.get("files"), _FILES))),
        include=tuple(paths.normal(file.text) for file in _files(values, "include", project)),
        exclude=values.texts("exclude"),
        codegen_backends=None if values.get("codegen-backends") is None else tuple(backends),
        derivatives=next((paths.normal(file.text) for file in _files(values, "derivatives", project)), None),
        folder=paths.absolute(paths.folder_of(values.problems.source.file)),
        tests=values.flag("tests"),
    )


def _file_settings(values: Values) -> FileSettings:
    return FileSettings(
        values.texts("glob"),
        tuple(_each(values, "define", definition)),
        tuple(_each(values, "undefine", macro_name)),
        tuple(_each(values, "set", assignment)),
        tuple(_each(values, "when", parse_condition)),
    )


def _each(values: Values, field: str, read: Callable[[str], _Value]) -> Iterator[_Value]:
    for item in values.scalars(field):
        text = text_of(values.problems, item)
        try:
            if text is not None:
                yield read(text)
        except ValueError as error:
            values.problems.add("bad-value", f"{field} has {quoted(text or '')}: {error}", item)
