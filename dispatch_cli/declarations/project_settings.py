"""Settings in ``[tool.dispatch-cli]`` of a project's ``pyproject.toml``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from dispatch_cli import bases
from dispatch_cli.declarations.fields import (
    Values,
    fits,
    is_true,
    parts,
    read_record,
    read_records,
    scalars,
    text_of,
    texts_of,
)
from dispatch_cli.declarations.formats.file_format import SUPPORT
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
from dispatch_cli.declarations.problems import Place
from dispatch_cli.declarations.project import NO_BASE, TABLE, within
from dispatch_cli.declarations.sections.suppressions import read_selectors
from dispatch_cli.declarations.source import MAX_PROJECT_BYTES, Source, SourceError, check_inside, read_plain
from dispatch_cli.declarations.toml_reader import read_table
from dispatch_cli.declarations.tree import Mapping, Node, Scalar
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
from dispatch_cli.model.text.suggest import suggested_version

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
        SUPPORT,
        Field("privateuse1", TEXT, "The name of the backend at PrivateUse1."),
        Field("base", TEXT, f"The embedded state to start from; `{NO_BASE}` for none."),
        Field("extract", record("extract"), _EXTRACT.doc),
    ),
)
Complaint = Callable[[Selector], tuple[str, Callable[[], str | None]] | None]
"""Says what is wrong with the name of a check, and gives its hint; None where nothing is."""
_Value = TypeVar("_Value")


def read_project(
    path: Path, allow_outside: bool = False, complaint: Complaint | None = None, only: tuple[str, ...] = ()
) -> CheckSettings:
    """The settings in a project file; none where it has no such table. Paths in it are relative to its folder.

    allow_outside: whether it, and files that it names, may lead out of the project that it is in. complaint: of names
    of checks; None takes them all. only: the fields to read, without a look at the others; none for all.
    Errors: InputError, for everything that is not a setting.
    """
    project = _Project(path, allow_outside)
    values = project.values(only)
    select, severest = values.get("select"), text_of(project.problems, values.get("fail-on"))
    settings = CheckSettings(
        select=None if select is None else read_selectors(project.problems, select),
        ignore=read_selectors(project.problems, values.get("ignore")),
        severities=tuple(project.severities(values.get("severity"))),
        fail_on=None if severest is None else Severity(severest),
        baseline=next(project.files(values.get("baseline")), None),
        guards=(*project.files(values.get("guards")), *project.promising(values.get(SUPPORT.name))),
        privateuse1=project.named(values.get("privateuse1")),
        base=project.base(values.get("base")),
        extract=project.extract(values.get("extract")),
    )
    if complaint is not None:
        for selector in (*(settings.select or ()), *settings.ignore, *(item for item, _ in settings.severities)):
            project.complain(selector, complaint)
    project.refuse()
    return settings


class _Project:
    """A project file that is read, and its problems. Errors: InputError where it cannot be read."""

    def __init__(self, path: Path, allow_outside: bool) -> None:
        name = str(path)
        self._folder = paths.folder_of(name)
        self._within = within(name, allow_outside)
        try:
            text = read_plain(name, MAX_PROJECT_BYTES, self._within).decode("utf-8")
        except SourceError as error:
            raise InputError((Problem(error.code, error.message, hint=error.hint),)) from None
        except UnicodeDecodeError:
            raise InputError((Problem("not-utf8", f"{name} is not valid UTF-8"),)) from None
        self.problems, self._table = read_table(Source(name, text, Budget(len(text))), TABLE)
        source = self.problems.source
        read_files.keep_lines(name, len(text), lambda: source.lines)

    def values(self, fields: tuple[str, ...]) -> Values:
        """The settings of these fields; of all where there are none."""
        self.refuse()
        table = self._table
        if table is None or not table.pairs:
            return {}
        if fields:
            table = table._replace(pairs=tuple(pair for pair in table.pairs if pair[0].text in fields))
        return read_record(self.problems, table, PROJECT) or {}

    def refuse(self) -> None:
        """Raise the problems so far."""
        if self.problems:
            raise InputError(self.problems.problems)

    def complain(self, selector: Selector, complaint: Complaint) -> None:
        """Note what is wrong with the name of a check."""
        problem = complaint(selector)
        if problem is not None and selector.span is not None:
            message, hint = problem
            self.problems.add("unknown-check", message, Place(selector.span.line, selector.span.column), hint)

    def files(self, node: Node | None) -> Iterator[Named]:
        """The files of a field, as they can be opened from here."""
        for item in scalars(self.problems, node):
            text = text_of(self.problems, item)
            if text is None:
                continue
            path = str(Path(paths.join(self._folder, text)))
            try:
                check_inside(path, self._within)
            except SourceError as error:
                self.problems.add(error.code, error.message, item, error.hint)
            else:
                yield Named(path, self.problems.span(item))

    def severities(self, node: Node | None) -> Iterator[tuple[Selector, Severity]]:
        """The severity of each check that a field names."""
        for key, value in node.pairs if type(node) is Mapping else ():
            if fits(self.problems, value, _A_SEVERITY) and type(value) is Scalar:
                yield Selector(key.text, self.problems.span(key)), Severity(value.text)

    def promising(self, node: Node | None) -> Iterator[Named]:
        """This file, where it promises something: it is read as a file of guards, when its keys are known."""
        if node is not None:
            yield Named(self.problems.source.file, self.problems.span(node))

    def named(self, node: Node | None) -> Named | None:
        """The text of a field."""
        text = text_of(self.problems, node)
        return None if text is None or node is None else Named(text, self.problems.span(node))

    def base(self, node: Node | None) -> Named | None:
        """The embedded state that a field names; None, noting it, where it names none."""
        base = self.named(node)
        if base is None or node is None:
            return None
        name = bases.resolve(base.text).name
        if name in (*bases.names(), NO_BASE):
            return base._replace(text=name)
        hint = suggested_version(base.text, bases.names()) or f"the states are {', '.join(bases.names())}; or {NO_BASE}"
        self.problems.add("unknown-state", f"base names no embedded state: {quoted(base.text)}", node, hint)
        return None

    def extract(self, node: Node | None) -> SourceSettings:
        """The settings for reading sources."""
        values = None if node is None else read_record(self.problems, node, _EXTRACT)
        if values is None:
            return NO_SOURCE_SETTINGS
        backends = values.get("codegen-backends")
        listed = [part for text in texts_of(self.problems, backends) for part, _ in parts(text)]
        files = values.get("files")
        return SourceSettings(
            every=self._file_settings(values),
            files=() if files is None else tuple(self._of_files(files)),
            include=tuple(paths.normal(file.text) for file in self.files(values.get("include"))),
            exclude=tuple(texts_of(self.problems, values.get("exclude"))),
            codegen_backends=None if backends is None else tuple(filter(None, listed)),
            derivatives=next((paths.normal(file.text) for file in self.files(values.get("derivatives"))), None),
            folder=paths.absolute(self._folder),
            tests=is_true(values.get("tests")),
        )

    def _of_files(self, node: Node) -> Iterator[FileSettings]:
        for _, values in read_records(self.problems, node, _FILES):
            yield self._file_settings(values)

    def _file_settings(self, values: Values) -> FileSettings:
        return FileSettings(
            tuple(texts_of(self.problems, values.get("glob"))),
            tuple(self._each(values, "define", definition)),
            tuple(self._each(values, "undefine", macro_name)),
            tuple(self._each(values, "set", assignment)),
            tuple(self._each(values, "when", parse_condition)),
        )

    def _each(self, values: Values, field: str, read: Callable[[str], _Value]) -> Iterator[_Value]:
        for item in scalars(self.problems, values.get(field)):
            text = text_of(self.problems, item)
            try:
                if text is not None:
                    yield read(text)
            except ValueError as error:
                self.problems.add("bad-value", f"{field} has {quoted(text or '')}: {error}", item)
