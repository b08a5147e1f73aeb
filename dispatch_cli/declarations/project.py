"""What a project's ``pyproject.toml`` says in ``[tool.dispatch-cli]``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dispatch_cli.declarations.limits import MAX_PROJECT_BYTES
from dispatch_cli.declarations.project_folder import within
from dispatch_cli.declarations.source import SourceError, check_inside, read_plain
from dispatch_cli.declarations.text import quoted
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.settings import CheckSettings, Selector, Severity
from dispatch_cli.model.span import Span, cut_line
from dispatch_cli.model.suggest import suggestion

FILE = "pyproject.toml"
TABLE = "dispatch-cli"
FIELDS = ("select", "ignore", "severity", "fail-on", "baseline", "guards", "privateuse1")
_SEVERITIES = {severity.value: severity for severity in Severity}
MAX_DOTS = 256
"""Dots of one name; no real name has as many."""
_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)$")


def find_project(folder: Path) -> Path | None:
    """The nearest ``pyproject.toml`` that speaks of this program, in *folder* or above it.

    Errors: InputError for one that cannot be read: whether it has settings is not known.
    """
    for place in (folder, *folder.parents):
        path = place / FILE
        if path.is_symlink() or _is_there(path):
            try:
                text = read_plain(str(path), MAX_PROJECT_BYTES)
            except SourceError as error:
                message = f"{path} cannot be read: {error.message.removeprefix(f'{path} cannot be read: ')}"
                raise InputError((Problem(error.code, message, hint="--no-config ignores it"),)) from None
            if _speaks(text.decode("utf-8", "replace")):
                return path
    return None


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # its folder cannot be looked into
        return False


_HEAD = re.compile(rf"^[ \t]*(?:\[{{1,2}}[ \t]*)?[\"']?tool[\"']?[ \t]*\.[ \t]*[\"']?{TABLE}\b", re.M)


def _speaks(text: str) -> bool:
    """Whether a project file has settings of this program, in whichever of TOML's ways they are written.

    Of a file that is not TOML, whether it seems to: settings must not be passed over because of a slip.
    """
    if TABLE not in text:
        return False
    try:
        tool = _toml(text).get("tool")
    except ValueError:
        return _HEAD.search(text) is not None
    return isinstance(tool, Mapping) and TABLE in tool


def _toml(text: str) -> Mapping[str, Any]:
    """Errors: ValueError, a TOMLDecodeError for the most part."""
    for number, line in enumerate(text.split("\n"), 1):
        # the parser's time and memory grow with the square of the parts
        if len(line) > MAX_DOTS and line.partition("=")[0].count(".") > MAX_DOTS:
            raise ValueError(f"a key has too many dotted parts (at line {number}, column 1)")
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise ValueError("tables and lists nest too deeply") from None
    except ValueError:
        raise ValueError("a number has too many digits") from None


def read_project(path: Path, allow_outside: bool = False) -> CheckSettings:
    """The settings in a project file; none where it has no such table. Paths in it are relative to its folder.

    allow_outside: whether it, and files that it names, may lead out of the project that it is in.
    Errors: InputError, for everything that is not a setting.
    """
    name = str(path)
    project = within(name, allow_outside)
    try:
        text = read_plain(str(path), MAX_PROJECT_BYTES, project).decode("utf-8")
    except SourceError as error:
        raise InputError((Problem(error.code, error.message, hint=error.hint),)) from None
    except UnicodeDecodeError:
        raise InputError((Problem("not-utf8", f"{name} is not valid UTF-8"),)) from None
    return _SettingsReader(name, path.parent, text, project).settings()


class _SettingsReader:
    def __init__(self, file: str, folder: Path, text: str, project: str | None) -> None:
        self._file = file
        self._folder = folder
        self._project = project
        self._lines = text.split("\n")
        self._text = text
        self._problems: list[Problem] = []

    def settings(self) -> CheckSettings:
        tool = self._parsed().get("tool")
        table = tool.get(TABLE) if isinstance(tool, Mapping) else None
        if table is None:
            return CheckSettings()
        if not isinstance(table, Mapping):
            self._add("wrong-type", f"tool.{TABLE} is not a table", TABLE)
            table = {}
        for field in table:
            if field not in FIELDS:
                hint = suggestion(field, FIELDS) or f"the fields are {', '.join(FIELDS)}"
                self._add("unknown-field", f"[tool.{TABLE}] has no field {quoted(field)}", field, hint)
        settings = CheckSettings(
            select=self._select(table),
            ignore=tuple(self._selectors(table, "ignore")),
            severities=tuple(self._severities(table.get("severity", {}))),
            fail_on=self._severity(table["fail-on"], "fail-on") if "fail-on" in table else None,
            baseline=next(self._paths(table, "baseline"), None),
            guards=tuple(self._paths(table, "guards")),
            privateuse1=self._backend(table),
        )
        if self._problems:
            raise InputError(tuple(self._problems))
        return settings

    def _parsed(self) -> Mapping[str, Any]:
        try:
            return _toml(self._text)
        except ValueError as error:
            found = _PLACE.search(str(error))
            last = max((number for number, line in enumerate(self._lines, 1) if line.strip()), default=1)
            span = Span(self._file, int(found[1]), int(found[2])) if found else Span(self._file, last, 1)
            message = _PLACE.sub("", str(error)).strip() or "it is not TOML"
            raise InputError((Problem("toml-syntax", message, span, self._line(span.line, span.column)),)) from None

    def _select(self, table: Mapping[str, Any]) -> tuple[Selector, ...] | None:
        """The checks to run; None where nothing is said. A run without checks would find nothing wrong."""
        if "select" not in table:
            return None
        if table["select"] == []:
            self._add("wrong-type", "select takes a string or a list of strings, not an empty list", "select")
        return tuple(self._selectors(table, "select"))

    def _selectors(self, table: Mapping[str, Any], field: str) -> Iterator[Selector]:
        for text in self._texts(table, field):
            span = self._span(text, self._span(field).line)
            for part in text.split(","):
                if part.strip():
                    yield Selector(part.strip(), span)
                else:
                    self._add("wrong-type", f"{field} has an empty check id in {quoted(text)}", field)

    def _paths(self, table: Mapping[str, Any], field: str) -> Iterator[str]:
        for text in self._texts(table, field):
            path = str(self._folder / text)
            try:
                check_inside(path, self._project)
            except SourceError as error:
                self._add(error.code, error.message, text, error.hint)
            else:
                yield path

    def _backend(self, table: Mapping[str, Any]) -> str | None:
        """The name of the backend at PrivateUse1."""
        names = list(self._texts(table, "privateuse1"))
        if len(names) > 1:
            self._add("wrong-type", "privateuse1 takes one string: only one backend can have the key", "privateuse1")
        return names[0] if names else None

    def _texts(self, table: Mapping[str, Any], field: str) -> Iterator[str]:
        value = table.get(field, [])
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str) and item:
                yield item
            else:
                self._add("wrong-type", f"{field} takes a string or a list of strings", field)

    def _severities(self, table: object) -> Iterator[tuple[Selector, Severity]]:
        if not isinstance(table, Mapping):
            self._add("wrong-type", "severity takes a table from checks to severities", "severity")
            return
        for check, value in table.items():
            severity = self._severity(value, check)
            if severity is not None:
                yield Selector(check, self._span(check, self._span("severity").line)), severity

    def _severity(self, value: object, field: str) -> Severity | None:
        found = _SEVERITIES.get(value) if isinstance(value, str) else None
        if found is None:
            hint = suggestion(value, _SEVERITIES) if isinstance(value, str) else None
            self._add("bad-value", f"{field} takes one of {', '.join(_SEVERITIES)}", field, hint)
        return found

    def _add(self, code: str, message: str, word: str, hint: str | None = None) -> None:
        span = self._span(word)
        self._problems.append(Problem(code, message, span, self._line(span.line, span.column), hint))

    def _span(self, word: str, line: int | None = None) -> Span:
        """Where *word* stands first in the table, or from *line* on; the parser does not say."""
        start = line or next((number for number, text in enumerate(self._lines, 1) if _HEAD.match(text)), 1)
        for number in range(start, len(self._lines) + 1):
            column = self._lines[number - 1].find(word)
            if column >= 0:
                return Span(self._file, number, column + 1)
        return Span(self._file, start, 1)

    def _line(self, number: int, column: int) -> str:
        return cut_line(self._lines[number - 1], column) if number <= len(self._lines) else ""
