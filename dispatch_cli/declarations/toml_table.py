"""Tables of a project file: what all readers of its settings share."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from dispatch_cli.declarations.limits import MAX_PROJECT_ENTRIES
from dispatch_cli.declarations.problems import Place, Problems
from dispatch_cli.declarations.source import SourceError, check_inside
from dispatch_cli.declarations.text import quoted
from dispatch_cli.declarations.toml_reader import TomlSource
from dispatch_cli.files import paths
from dispatch_cli.model.settings import Named
from dispatch_cli.model.span import Span
from dispatch_cli.model.suggest import suggestion


class TableReader:
    """Reads fields of a table, and notes mistakes.

    folder: of the project file. project: the folder that what it names has to be in. start: the offset of the table,
    from which a word is looked for. There are few entries, so that this is not done often.
    """

    def __init__(self, folder: str, source: TomlSource, project: str | None, problems: Problems, start: int) -> None:
        self.folder = folder
        self.source = source
        self.project = project
        self.problems = problems
        self.start = start

    def add(self, code: str, message: str, word: str, hint: str | None = None, start: int | None = None) -> None:
        """Note a problem where *word* stands first, from the start of the table or another one on."""
        at = self.source.place_of(word, self.start if start is None else start)
        self.problems.add(code, message, Place(*at), hint)

    def refuse_unknown(self, table: Mapping[str, Any], fields: tuple[str, ...], name: str) -> None:
        """Note the fields that the table does not have. name: what messages call it."""
        for field in list(table)[:MAX_PROJECT_ENTRIES]:
            if field not in fields:
                hint = suggestion(field, fields) or f"the fields are {', '.join(fields)}"
                self.add("unknown-field", f"{name} has no field {quoted(field)}", field, hint)

    def are_few(self, entries: Collection[object], name: str, field: str) -> bool:
        """True if entries are not too many; noted where they are."""
        if len(entries) <= MAX_PROJECT_ENTRIES:
            return True
        self.add("too-large", f"{name} has more than {MAX_PROJECT_ENTRIES} entries", field)
        return False

    def texts(self, table: Mapping[str, Any], field: str) -> Iterator[str]:
        """The texts of a field that takes one or a list of them."""
        value = table.get(field, [])
        values = value if isinstance(value, list) else [value]
        for item in values if self.are_few(values, field, field) else ():
            if isinstance(item, str) and item:
                yield item
            else:
                self.add("wrong-type", f"{field} takes a string or a list of strings", field)

    def paths(self, table: Mapping[str, Any], field: str) -> Iterator[Named]:
        """The files of a field, as they can be opened from here."""
        start = self.offset(field)
        for text in self.texts(table, field):
            path = str(Path(paths.join(self.folder, text)))
            try:
                check_inside(path, self.project)
            except SourceError as error:
                self.add(error.code, error.message, text, error.hint, start)
            else:
                yield Named(path, self.span(text, start))

    def offset(self, field: str) -> int:
        """Start of a field, or else of the table."""
        start = self.source.text.find(field, self.start)
        return self.start if start < 0 else start

    def span(self, word: str, start: int) -> Span:
        """Place of a word, looked for from an offset on."""
        return Span(self.source.file, *self.source.place_of(word, start))
