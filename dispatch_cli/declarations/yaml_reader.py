"""YAML to a tree of positioned nodes, event by event.

The parser's events are all that is used of PyYAML: no constructor, no resolver. So nothing in a file can make an
object, and how deep lists and mappings nest is bounded here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn, TypeGuard

from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.source import Place, place_behind
from dispatch_cli.declarations.tree import Mapping, Node, Scalar, Sequence
from dispatch_cli.model.budget import CHARACTERS, MAX_TEXT, weight
from dispatch_cli.model.problem import Related
from dispatch_cli.model.text.quoting import quoted

MAX_DEPTH = 64
"""Greatest depth of lists and mappings in each other; the format itself needs nine."""
_QUOTE = "while scanning a quoted scalar"
_BRACKETS = ("while parsing a flow sequence", "while parsing a flow mapping")
_CODE = "yaml-syntax"
_HINTS = {
    "mapping values are not allowed": "quote a string that contains ': ', and check the indentation",
    "cannot start any token": "quote a string that begins with this character",
}
"""Hints for the words of PyYAML's errors."""
_UNPRINTABLE = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
"""Characters that YAML does not allow in a file, and byte order marks, which have no business in the middle of one."""
ENDINGS = (".yaml", ".yml", ".json", ".gz")
_HEAD = re.compile(r"(?:^|[{,])[^\w\n]{0,20}dispatch[^\w\n]{0,20}:", re.MULTILINE)
"""The field that every declaration file has."""
_OTHERS = "name sources in C++ or Python, their folders, or declarations; settings in pyproject.toml need no naming"
_CONFLICT = re.compile(r"^(?:<{7}|\|{7}|={7}|>{7})(?= |$)", re.MULTILINE)
"""A mark of a merge conflict."""


def explain(problems: Problems, error: Any) -> None:
    """Note the problem that *error*, a ``yaml.YAMLError``, is about."""
    problem = str(getattr(error, "problem", None) or error)
    context = str(getattr(error, "context", None) or "")
    at, began = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    place = _marked_place(at or began)
    start = place if began is None else _marked_place(began)
    line = problems.source.line(place.line)
    at_end = place.line >= len(problems.source.lines) and not line[place.column - 1 :].strip()
    if context == _QUOTE and "end of stream" in problem:
        problems.add(_CODE, "the string that starts here has no closing quote", start)
    elif context in _BRACKETS and at_end:
        problems.add(_CODE, "the bracket that opens here is never closed", start)
    elif line[place.column - 1 : place.column] == "\t" and "cannot start any token" in problem:
        problems.add(_CODE, "a tab cannot indent YAML", place, "indent with spaces")
    elif "maximum nesting depth" in problem:  # libyaml 0.2.6 looks ahead
        problems.add("too-deep", f"lists and mappings are nested more than {MAX_DEPTH} deep", place)
    else:
        message = f"{context}, {problem}" if context else problem
        hint = next((hint for words, hint in _HINTS.items() if words in problem), None)
        problems.add(_CODE, f"this is not valid YAML: {message}", place, hint)


def _marked_place(mark: Any) -> Place:
    """The place of a mark; the start of the file where there is none."""
    return Place(1, 1) if mark is None else Place(mark.line + 1, mark.column + 1)


def make_parser(text: str) -> Any:
    """PyYAML's C parser where PyYAML has it, else the one written in Python, whose constructor is not used."""
    try:
        from yaml._yaml import CParser
    except ImportError:
        from yaml import SafeLoader

        return SafeLoader(text)
    return CParser(text)


def parse(problems: Problems) -> Node | None:
    """The tree of a file; None, noting why, when there is no tree to go on with."""
    from yaml import YAMLError

    text = problems.source.text
    if not _is_fit(problems):
        return None
    builder = _Builder(problems, make_parser(text))
    try:
        return builder.build()
    except _Stop:
        return None
    except (YAMLError, ValueError, OverflowError) as error:  # the Python parser lets bare ones out for huge numbers
        explain(problems, error)
        return None
    finally:
        problems.source.budget.spent += builder.nodes


def _is_fit(problems: Problems) -> bool:
    """Look for what is better said before the parser stumbles over it."""
    text = problems.source.text
    if (match := _UNPRINTABLE.search(text)) is not None:
        message = f"the file contains the character U+{ord(match[0]):04X}, which YAML does not allow"
        problems.add("control-character", message, place_behind(text[: match.start()]))
    elif (match := _CONFLICT.search(text)) is not None:
        message, hint = f"the file contains a merge conflict: {match[0]}", "resolve the conflict and remove its markers"
        problems.add("merge-conflict", message, place_behind(text[: match.start()]), hint)
    elif os.path.splitext(problems.source.file)[1] not in ("", *ENDINGS) and not _HEAD.search(text):  # noqa: PTH122
        message = "this is not a declaration file: it has no field dispatch, as in dispatch: 1"
        problems.add("not-declarations", message, Place(1, 1), _OTHERS)
    return not problems


class _Stop(Exception):
    """The file is beyond a limit; the problem is noted."""


class _Builder:
    """Builds the tree of one file out of the parser's events. nodes: things, so far."""

    def __init__(self, problems: Problems, parser: Any) -> None:
        from yaml import events

        self._problems = problems
        self._get_event = parser.get_event
        self._document_start = events.DocumentStartEvent
        self._readers: dict[type, Callable[[Any], Node]] = {
            events.ScalarEvent: self._scalar,
            events.MappingStartEvent: partial(self._collection, Mapping),
            events.SequenceStartEvent: partial(self._collection, Sequence),
            events.AliasEvent: self._alias,
        }
        self._anchors: dict[str, tuple[Node | None, int]] = {}
        budget = problems.source.budget
        self._most = budget.things - budget.spent
        self.nodes = 0
        self._depth = 0
        self._is_usable = True

    def build(self) -> Node | None:
        """Read every event of the file. None when it has keys or tags that leave its meaning open."""
        root: Node | None = None
        while (event := self._get_event()) is not None:
            if type(event) in self._readers:
                root = self._readers[type(event)](event)
            elif type(event) is self._document_start and root is not None:
                message = "a second YAML document begins here, but a declaration file has only one"
                self._stop(
                    "several-documents", message, _marked_place(event.start_mark), "put it into a file of its own"
                )
        return root if self._is_usable else None

    def _scalar(self, event: Any) -> Scalar:
        mark, text, size = event.start_mark, event.value, 1
        line, column = mark.line + 1, mark.column + 1
        if len(text) >= CHARACTERS or "," in text:
            size = weight(text)
            if len(text) > MAX_TEXT:
                self._stop("too-large", f"a string is longer than {MAX_TEXT} characters", Place(line, column))
        if event.tag is not None:
            self._refuse_tag(event)
        node = Scalar(text, not event.style, line, column)
        self.nodes += size
        if self.nodes > self._most:
            self._count(0, node)
        if event.anchor is not None:
            self._anchors[event.anchor] = (node, size)
        return node

    def _collection(self, kind: type[Mapping] | type[Sequence], event: Any) -> Node:
        """A list or mapping, up to its end: no reader is for the event there."""
        place, before = _marked_place(event.start_mark), self.nodes
        if self._depth >= MAX_DEPTH:
            self._stop("too-deep", f"lists and mappings are nested more than {MAX_DEPTH} deep", place)
        if event.tag is not None:
            self._refuse_tag(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = (None, 0)
        self._count(1, place)
        self._depth += 1
        items: list[Node] = []
        get_event, readers = self._get_event, self._readers
        while (reader := readers.get(type(inner := get_event()))) is not None:
            items.append(reader(inner))
        self._depth -= 1
        node = Sequence(tuple(items), *place) if kind is Sequence else Mapping(self._pairs(items), *place)
        if event.anchor is not None:
            self._anchors[event.anchor] = (node, self.nodes - before)
        return node

    def _alias(self, event: Any) -> Node:
        place, name = _marked_place(event.start_mark), event.anchor
        if name not in self._anchors:
            self._stop("yaml-alias", f"the alias *{name} has no anchor &{name} before it", place)
        node, size = self._anchors[name]
        if node is None:
            self._stop("yaml-alias", f"the alias *{name} contains itself", place)
        self._count(size, place)
        return node

    def _pairs(self, items: list[Node]) -> tuple[tuple[Scalar, Node], ...]:
        """The pairs of a mapping with these keys and values in turn; each key counts once."""
        first: dict[str, tuple[Scalar, Node]] = {}
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not self._is_key(key):
                continue
            pair = (key, value)
            kept = first.setdefault(key.text, pair)
            if kept is not pair:
                related = (Related("it is first written here", self._problems.span(kept[0])),)
                self._problems.add("duplicate-key", f"{quoted(key.text)} is written twice", key, related=related)
        return tuple(first.values())

    def _is_key(self, key: Node) -> TypeGuard[Scalar]:
        """True if a node can be a key; noted where not."""
        if type(key) is Scalar and key.text and not (key.plain and key.text == "<<"):
            return True
        self._is_usable = False
        if not isinstance(key, Scalar) or not key.text:
            self._problems.add("key-not-text", "the field name before the colon must be a string", key)
        else:
            hint = "use an alias for a whole value instead"
            self._problems.add("yaml-merge-key", "merge keys (<<) are not supported", key, hint)
        return False

    def _refuse_tag(self, event: Any) -> None:
        self._is_usable = False
        message = f"the YAML tag {quoted(event.tag.replace('tag:yaml.org,2002:', '!!'))} is not supported"
        self._problems.add("yaml-tag", message, _marked_place(event.start_mark), "remove it")

    def _count(self, nodes: int, at: Node | Place) -> None:
        self.nodes += nodes
        if self.nodes > self._most:
            over = self._problems.source.budget.over()
            self._stop("too-large", over.message, at, over.hint)

    def _stop(self, code: str, message: str, at: Node | Place, hint: str | None = None) -> NoReturn:
        self._problems.add(code, message, at, hint)
        raise _Stop
