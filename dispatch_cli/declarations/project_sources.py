"""Reading ``[tool.dispatch-cli.extract]`` in a project's ``pyproject.toml``: settings for reading sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from dispatch_cli.declarations.limits import MAX_PROJECT_ENTRIES
from dispatch_cli.declarations.problems import Place, Problems
from dispatch_cli.declarations.source import SourceError, check_inside
from dispatch_cli.declarations.text import quoted
from dispatch_cli.declarations.toml_reader import TomlSource
from dispatch_cli.files import paths
from dispatch_cli.model.condition import parse_condition
from dispatch_cli.model.source_settings import FileSettings, SourceSettings, assignment, definition, macro_name
from dispatch_cli.model.suggest import suggestion

FIELDS = ("define", "undefine", "set", "include", "exclude", "codegen-backends", "derivatives", "tests", "files")
OF_FILES = ("glob", "define", "undefine", "set", "when")
_HEAD = re.compile(r"^[ \t]*\[{1,2}[^\n]*\bextract\b[^\n]*$", re.MULTILINE)
_FILES_HEAD = re.compile(r"^[ \t]*\[\[[^\n]*\bextract\b[^\n]*\bfiles\b[^\n]*$", re.MULTILINE)
_Value = TypeVar("_Value")


class SourceSettingsReader:
    """Reads the table. folder: of the project file. project: the folder that what it names has to be in."""

    def __init__(self, folder: str, source: TomlSource, project: str | None, problems: Problems) -> None:
        self._folder = folder
        self._source = source
        self._project = project
        self._problems = problems
        match = _HEAD.search(source.text)
        self._start = self._head = 0 if match is None else match.end()

    def read(self, table: object) -> SourceSettings:
        """The settings of the table; problems are noted."""
        if not isinstance(table, Mapping):
            self._add("wrong-type", "extract takes a table", "extract")
            return SourceSettings()
        self._refuse_unknown(table, FIELDS, "extract")
        backends = "codegen-backends"
        listed = [part.strip() for text in self._texts(table, backends) for part in text.split(",")]
        return SourceSettings(
            every=self._file_settings(table, (), ()),
            include=tuple(self._paths(table, "include")),
            exclude=tuple(self._texts(table, "exclude")),
            codegen_backends=tuple(filter(None, listed)) if backends in table else None,
            derivatives=next(self._paths(table, "derivatives"), None),
            files=tuple(self._files(table.get("files", []))),
            folder=paths.absolute(self._folder),
            tests=self._truth(table, "tests"),
        )

    def _files(self, tables: object) -> Iterator[FileSettings]:
        if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
            self._add("wrong-type", "files takes tables: [[tool.dispatch-cli.extract.files]]", "files")
            return
        if len(tables) > MAX_PROJECT_ENTRIES:
            self._add("too-large", f"files has more than {MAX_PROJECT_ENTRIES} tables", "files")
            return
        heads = [match.end() for match in _FILES_HEAD.finditer(self._source.text)]
        for number, table in enumerate(tables):
            self._start = heads[number] if number < len(heads) else self._head
            self._refuse_unknown(table, OF_FILES, "files")
            globs = tuple(self._texts(table, "glob"))
            if not globs:
                self._add("missing-field", "a table of files needs glob", "files")
            when = tuple(self._each(table, "when", parse_condition))
            yield self._file_settings(table, globs, when)
        self._start = self._head

    def _file_settings(self, table: Mapping[str, Any], globs: tuple[str, ...], when: tuple[Any, ...]) -> FileSettings:
        return FileSettings(
            globs,
            tuple(self._each(table, "define", definition)),
            tuple(self._each(table, "undefine", macro_name)),
            tuple(self._each(table, "set", assignment)),
            when,
        )

    def _each(self, table: Mapping[str, Any], field: str, read: Callable[[str], _Value]) -> Iterator[_Value]:
        for text in self._texts(table, field):
            try:
                yield read(text)
            except ValueError as error:  # noqa: PERF203
                self._add("bad-value", f"{field} has {quoted(text)}: {error}", text)

    def _paths(self, table: Mapping[str, Any], field: str) -> Iterator[str]:
        for text in self._texts(table, field):
            path = paths.normal(paths.join(self._folder, text))
            try:
                check_inside(path, self._project)
            except SourceError as error:
                self._add(error.code, error.message, text, error.hint)
            else:
                yield path

    def _texts(self, table: Mapping[str, Any], field: str) -> Iterator[str]:
        value = table.get(field, [])
        values = value if isinstance(value, list) else [value]
        if len(values) > MAX_PROJECT_ENTRIES:
            self._add("too-large", f"{field} has more than {MAX_PROJECT_ENTRIES} entries", field)
            return
        for item in values:
            if isinstance(item, str) and item:
                yield item
            else:
                self._add("wrong-type", f"{field} takes a string or a list of strings", field)

    def _truth(self, table: Mapping[str, Any], field: str) -> bool | None:
        value = table.get(field)
        if value is None or isinstance(value, bool):
            return value
        self._add("wrong-type", f"{field} takes true or false", field)
        return None

    def _refuse_unknown(self, table: Mapping[str, Any], fields: tuple[str, ...], name: str) -> None:
        for field in list(table)[:MAX_PROJECT_ENTRIES]:
            if field not in fields:
                hint = suggestion(field, fields) or f"the fields are {', '.join(fields)}"
                self._add("unknown-field", f"{name} has no field {quoted(field)}", field, hint)

    def _add(self, code: str, message: str, word: str, hint: str | None = None) -> None:
        self._problems.add(code, message, Place(*self._source.place_of(word, self._start)), hint)
