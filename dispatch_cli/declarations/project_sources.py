"""Reading ``[tool.dispatch-cli.extract]`` in a project's ``pyproject.toml``: settings for reading sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.text import quoted
from dispatch_cli.declarations.toml_reader import TableReader, TomlSource
from dispatch_cli.files import paths
from dispatch_cli.model.condition import parse_condition
from dispatch_cli.model.source_settings import FileSettings, SourceSettings, assignment, definition, macro_name

FIELDS = ("define", "undefine", "set", "include", "exclude", "codegen-backends", "derivatives", "tests", "files")
OF_FILES = ("glob", "define", "undefine", "set", "when")
_HEAD = re.compile(r"^[ \t]*\[{1,2}[^\n]*\bextract\b[^\n]*$", re.MULTILINE)
_FILES_HEAD = re.compile(r"^[ \t]*\[\[[^\n]*\bextract\b[^\n]*\bfiles\b[^\n]*$", re.MULTILINE)
_Value = TypeVar("_Value")


class SourceSettingsReader(TableReader):
    """Reads the table."""

    def __init__(self, folder: str, source: TomlSource, project: str | None, problems: Problems) -> None:
        match = _HEAD.search(source.text)
        super().__init__(folder, source, project, problems, 0 if match is None else match.end())
        self._head = self.start

    def read(self, table: object) -> SourceSettings:
        """The settings of the table; problems are noted."""
        if not isinstance(table, Mapping):
            self.add("wrong-type", "extract takes a table", "extract")
            return SourceSettings()
        self.refuse_unknown(table, FIELDS, "extract")
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
