"""Reading ``[tool.dispatch-cli]`` in a project's ``pyproject.toml``, with its table for reading sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from dispatch_cli import bases
from dispatch_cli.declarations.limits import MAX_PROJECT_BYTES, MAX_QUOTED
from dispatch_cli.declarations.problems import Place, Problems
from dispatch_cli.declarations.project_folder import within
from dispatch_cli.declarations.source import SourceError, read_plain
from dispatch_cli.declarations.text import quoted
from dispatch_cli.declarations.toml_reader import TableReader, TomlError, TomlSource, parse_toml
from dispatch_cli.files import paths
from dispatch_cli.model import read_lines
from dispatch_cli.model.condition import parse_condition
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.settings import CheckSettings, Named, Selector
from dispatch_cli.model.severity import Severity
from dispatch_cli.model.source_settings import (
    NO_SOURCE_SETTINGS,
    FileSettings,
    SourceSettings,
    assignment,
    definition,
    macro_name,
)
from dispatch_cli.model.suggest import suggested_version, suggestion

EXTRACT_FIELDS = (
    "define",
    "undefine",
    "set",
    "include",
    "exclude",
    "codegen-backends",
    "derivatives",
    "tests",
    "files",
)
OF_FILES = ("glob", "define", "undefine", "set", "when")
_EXTRACT_HEAD = re.compile(r"^[ \t]*\[{1,2}[^\n]*\bextract\b[^\n]*$", re.MULTILINE)
_FILES_HEAD = re.compile(r"^[ \t]*\[\[[^\n]*\bextract\b[^\n]*\bfiles\b[^\n]*$", re.MULTILINE)
_Value = TypeVar("_Value")


class SourceSettingsReader(TableReader):
    """Reads the table."""

    def __init__(self, folder: str, source: TomlSource, project: str | None, problems: Problems) -> None:
        match = _EXTRACT_HEAD.search(source.text)
        super().__init__(folder, source, project, problems, 0 if match is None else match.end())
        self._head = self.start

    def read(self, table: object) -> SourceSettings:
        """The settings of the table; problems are noted."""
        if not isinstance(table, Mapping):
            self.add("wrong-type", "extract takes a table", "extract")
            return SourceSettings()
        self.refuse_unknown(table, EXTRACT_FIELDS, "extract")
        backends = "codegen-backends"
        listed = [part.strip() for text in self.texts(table, backends) for part in text.split(",")]
        return SourceSettings(
            every=self._file_settings(table, (), ()),
            include=tuple(self._normal_paths(table, "include")),
            exclude=tuple(self.texts(table, "exclude")),
            codegen_backends=tuple(filter(None, listed)) if backends in table else None,
            derivatives=next(self._normal_paths(table, "derivatives"), None),
            files=tuple(self._files(table.get("files", []))),
            folder=paths.absolute(self.folder),
            tests=self._truth(table, "tests"),
        )

    def _files(self, tables: object) -> Iterator[FileSettings]:
        if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
            self.add("wrong-type", "files takes tables: [[tool.dispatch-cli.extract.files]]", "files")
            return
        if not self.are_few(tables, "files", "files"):
            return
        heads = [match.end() for match in _FILES_HEAD.finditer(self.source.text)]
        for number, table in enumerate(tables):
            self.start = heads[number] if number < len(heads) else self._head
            self.refuse_unknown(table, OF_FILES, "files")
            globs = tuple(self.texts(table, "glob"))
            if not globs:
                self.add("missing-field", "a table of files needs glob", "files")
            when = tuple(self._each(table, "when", parse_condition))
            yield self._file_settings(table, globs, when)
        self.start = self._head

    def _file_settings(self, table: Mapping[str, Any], globs: tuple[str, ...], when: tuple[Any, ...]) -> FileSettings:
        return FileSettings(
            globs,
            tuple(self._each(table, "define", definition)),
            tuple(self._each(table, "undefine", macro_name)),
            tuple(self._each(table, "set", assignment)),
            when,
        )

    def _each(self, table: Mapping[str, Any], field: str, read: Callable[[str], _Value]) -> Iterator[_Value]:
        for text in self.texts(table, field):
            try:
                yield read(text)
            except ValueError as error:  # noqa: PERF203
                self.add("bad-value", f"{field} has {quoted(text)}: {error}", text)

    def _normal_paths(self, table: Mapping[str, Any], field: str) -> Iterator[str]:
        return (paths.normal(path.text) for path in self.paths(table, field))

    def _truth(self, table: Mapping[str, Any], field: str) -> bool | None:
        value = table.get(field)
        if value is None or isinstance(value, bool):
            return value
        self.add("wrong-type", f"{field} takes true or false", field)
        return None


FILE = "pyproject.toml"
NO_BASE = "none"
"""The value of `base` for no state at all, as that of ``--base``."""
TABLE = "dispatch-cli"
FIELDS = ("select", "ignore", "severity", "fail-on", "baseline", "guards", "support", "privateuse1", "base", "extract")
_SEVERITIES = {severity.value: severity for severity in Severity}

Complaint = Callable[[Selector], tuple[str, Callable[[], str | None]] | None]
"""Says what is wrong with the name of a check, and gives its hint; None where nothing is."""


def find_project(folder: Path) -> Path | None:
    """The nearest ``pyproject.toml`` that speaks of this program, in *folder* or above it.

    Errors: InputError for one that cannot be read: whether it has settings is not known.
    """
    for place in paths.above(str(folder)):
        path = Path(paths.join(place, FILE))
        if paths.exists(str(path)):
            try:
                text = read_plain(str(path), MAX_PROJECT_BYTES)
            except SourceError as error:
                message = f"{path} cannot be read: {error.message.removeprefix(f'{path} cannot be read: ')}"
                raise InputError((Problem(error.code, message, hint="--config none ignores it"),)) from None
            if _speaks(text.decode("utf-8", "replace")):
                return path
    return None


_HEAD = re.compile(rf"^[ \t]*(?:\[{{1,2}}[ \t]*)?[\"']?tool[\"']?[ \t]*\.[ \t]*[\"']?{TABLE}\b", re.M)


def _speaks(text: str) -> bool:
    """True if a project file has settings of this program, in whichever of TOML's ways they are written.

    Of a file that is not TOML, whether it seems to: settings must not be passed over because of a slip.
    """
    if TABLE not in text:
        return False
    try:
        tool = parse_toml(text).get("tool")
    except TomlError:
        return _HEAD.search(text) is not None
    return isinstance(tool, Mapping) and TABLE in tool


def read_project(path: Path, allow_outside: bool = False, complaint: Complaint | None = None) -> CheckSettings:
    """The settings in a project file; none where it has no such table. Paths in it are relative to its folder.

    allow_outside: whether it, and files that it names, may lead out of the project that it is in. complaint: of names
    of checks; None takes them all.
    Errors: InputError, for everything that is not a setting.
    """
    return _reader(path, allow_outside).settings(complaint)


def read_defaults(path: Path) -> CheckSettings:
    """The defaults of options in a project file: `privateuse1` and `base`; its other settings are not looked at.

    Errors: InputError.
    """
    return _reader(path, allow_outside=False).defaults()


def read_source_settings(path: Path, allow_outside: bool = False) -> SourceSettings:
    """Settings of a project file for reading sources; its other settings are not looked at. Errors: InputError."""
    return _reader(path, allow_outside).of_sources()


def _reader(path: Path, allow_outside: bool) -> _SettingsReader:
    name = str(path)
    project = within(name, allow_outside)
    try:
        text = read_plain(str(path), MAX_PROJECT_BYTES, project).decode("utf-8")
    except SourceError as error:
        raise InputError((Problem(error.code, error.message, hint=error.hint),)) from None
    except UnicodeDecodeError:
        raise InputError((Problem("not-utf8", f"{name} is not valid UTF-8"),)) from None
    return _SettingsReader(paths.folder_of(name), TomlSource(name, text), project)


class _SettingsReader(TableReader):
    def __init__(self, folder: str, source: TomlSource, project: str | None) -> None:
        match = _HEAD.search(source.text)
        super().__init__(folder, source, project, Problems(source), 0 if match is None else match.start())
        read_lines.keep(source.file, len(source.text), lambda: source.lines)

    def settings(self, complaint: Complaint | None) -> CheckSettings:
        table = self._table()
        self.refuse_unknown(table, FIELDS, f"[tool.{TABLE}]")
        settings = CheckSettings(
            select=self._select(table),
            ignore=tuple(self._selectors(table, "ignore")),
            severities=tuple(self._severities(table.get("severity", {}))),
            fail_on=self._severity(table["fail-on"], "fail-on", self.start) if "fail-on" in table else None,
            baseline=next(self.paths(table, "baseline"), None),
            guards=(*self.paths(table, "guards"), *self._promising(table)),
            privateuse1=self._privateuse1(table),
            base=self._base(table),
            extract=self._extract(table),
        )
        if complaint is not None:
            for selector in (*(settings.select or ()), *settings.ignore, *(item for item, _ in settings.severities)):
                self._complain(selector, complaint)
        self._refuse()
        return settings

    def defaults(self) -> CheckSettings:
        table = self._table()
        settings = CheckSettings(privateuse1=self._privateuse1(table), base=self._base(table))
        self._refuse()
        return settings

    def of_sources(self) -> SourceSettings:
        settings = self._extract(self._table())
        self._refuse()
        return settings

    def _extract(self, table: Mapping[str, Any]) -> SourceSettings:
        if "extract" not in table:
            return NO_SOURCE_SETTINGS
        return SourceSettingsReader(self.folder, self.source, self.project, self.problems).read(table["extract"])

    def _refuse(self) -> None:
        if self.problems:
            raise InputError(self.problems.problems)

    def _table(self) -> Mapping[str, Any]:
        """The settings; empty where there are none."""
        try:
            tool = parse_toml(self.source.text).get("tool")
        except TomlError as error:
            last = self.source.text.rstrip().count("\n") + 1
            at = Place(last if error.line is None else error.line, error.column)
            self.problems.add("toml-syntax", error.message, at)
            self._refuse()
            raise
        table = tool.get(TABLE, {}) if isinstance(tool, Mapping) else {}
        if not isinstance(table, Mapping):
            self.add("wrong-type", f"tool.{TABLE} is not a table", TABLE)
            return {}
        return table if self.are_few(table, f"tool.{TABLE}", TABLE) else {}

    def _select(self, table: Mapping[str, Any]) -> tuple[Selector, ...] | None:
        """The checks to run; None where nothing is said. A run without checks would find nothing wrong."""
        if "select" not in table:
            return None
        if table["select"] == []:
            self.add("wrong-type", "select takes a string or a list of strings, not an empty list", "select")
        return tuple(self._selectors(table, "select"))

    def _selectors(self, table: Mapping[str, Any], field: str) -> Iterator[Selector]:
        entries = [(text, part.strip()) for text in self.texts(table, field) for part in text.split(",")]
        if not self.are_few(entries, field, field):
            return
        start = self.offset(field)
        for text, part in entries:
            if part:
                yield Selector(part, self.span(text, start))
            else:
                self.add("wrong-type", f"{field} has an empty check id in {quoted(text)}", field)

    def _complain(self, selector: Selector, complaint: Complaint) -> None:
        problem = complaint(selector)
        if problem is not None and selector.span is not None:
            message, hint = problem
            self.problems.add("unknown-check", message, Place(selector.span.line, selector.span.column), hint)

    def _promising(self, table: Mapping[str, Any]) -> Iterator[Named]:
        """This file, where it promises something: it is read as a file of guards, when its keys are known."""
        if "support" in table:
            yield Named(self.source.file, self.span("support", self.start))

    def _privateuse1(self, table: Mapping[str, Any]) -> Named | None:
        return self._text(table, "privateuse1", "only one backend can have the key")

    def _base(self, table: Mapping[str, Any]) -> Named | None:
        base = self._text(table, "base", "it names the one embedded state to start from")
        if base is None:
            return None
        name = bases.resolve(base.text).name
        if name in (*bases.names(), NO_BASE):
            return base._replace(text=name)
        hint = suggested_version(base.text, bases.names()) or f"the states are {', '.join(bases.names())}; or {NO_BASE}"
        self.add("unknown-state", f"base names no embedded state: {quoted(base.text)}", base.text, hint)
        return None

    def _text(self, table: Mapping[str, Any], field: str, why: str) -> Named | None:
        """The one text of a field. why: there cannot be several."""
        names = list(self.texts(table, field))
        if len(names) > 1:
            self.add("wrong-type", f"{field} takes one string: {why}", field)
        return Named(names[0], self.span(names[0], self.offset(field))) if names else None

    def _severities(self, table: object) -> Iterator[tuple[Selector, Severity]]:
        if not isinstance(table, Mapping):
            self.add("wrong-type", "severity takes a table from checks to severities", "severity")
            return
        start = self.offset("severity")
        for check, value in table.items() if self.are_few(table, "severity", "severity") else ():
            severity = self._severity(value, check, start)
            # the name of a check is looked at also where its severity is none
            yield Selector(check, self.span(check, start)), severity or Severity.INFO

    def _severity(self, value: object, field: str, start: int) -> Severity | None:
        severity = _SEVERITIES.get(value) if isinstance(value, str) else None
        if severity is None:
            hint = suggestion(value, _SEVERITIES) if isinstance(value, str) else None
            name = field if field.isascii() and len(field) <= MAX_QUOTED else quoted(field)
            self.add("bad-value", f"{name} takes one of {', '.join(_SEVERITIES)}", field, hint, start)
        return severity
