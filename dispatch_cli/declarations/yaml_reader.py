"""YAML to a tree of positioned nodes, event by event.

The parser's events are all that is used of PyYAML: no constructor, no resolver, no recursion. So nothing in a file can
make an object, and nothing in it can be deeper than the stack of this module.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeGuard

from dispatch_cli.declarations.problems import Place, Problems
from dispatch_cli.declarations.source import place_behind
from dispatch_cli.declarations.tree import Mapping, Node, Scalar, Sequence
from dispatch_cli.model.budget import CHARACTERS, MAX_TEXT, weight
from dispatch_cli.model.problem import Related
from dispatch_cli.model.text.quoting import quoted

MAX_DEPTH = 64
"""Greatest depth of lists and mappings in each other; the format itself needs nine."""
_QUOTE = "while scanning a quoted scalar"
_BRACKETS = ("while parsing a flow sequence", "while parsing a flow mapping")
_CODE = "yaml-syntax"
_UNPRINTABLE = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
"""Characters that YAML does not allow in a file, and byte order marks, which have no business in the middle of one."""
_NOT_YAML = re.compile(r"^(?:(<{7}|\|{7}|={7}|>{7})(?= |$)|%TAG)", re.MULTILINE)
"""A mark of a merge conflict, or a directive for tags."""
_INDENT_WITH_TABS = re.compile("^[ \t]*\t", re.MULTILINE)
_TAGS = {Scalar: "str", Sequence: "seq", Mapping: "map"}


def explain(problems: Problems, error: Any) -> None:
    """Note the problem that *error*, a ``yaml.YAMLError``, is about."""
    problem = str(getattr(error, "problem", None) or error)
    context = str(getattr(error, "context", None) or "")
    place = (
        _marked_place(getattr(error, "problem_mark", None))
        or _marked_place(getattr(error, "context_mark", None))
        or Place(1, 1)
    )
    start = _marked_place(getattr(error, "context_mark", None)) or place
    line = problems.source.line(place.line)
    at_end = place.line >= len(problems.source.lines) and not line[place.column - 1 :].strip()
    if context == _QUOTE and "end of stream" in problem:
        problems.add(_CODE, "the string that starts here has no closing quote", start)
        return
    if context in _BRACKETS and at_end:
        problems.add(_CODE, "the bracket that opens here is never closed", start)
        return
    if line[place.column - 1 : place.column] == "\t" and "cannot start any token" in problem:
        problems.add(_CODE, "a tab cannot indent YAML", place, "indent with spaces")
        return
    if "maximum nesting depth" in problem:  # libyaml 0.2.6 looks ahead
        problems.add("too-deep", f"lists and mappings are nested more than {MAX_DEPTH} deep", place)
        return
    message = f"{context}, {problem}" if context else problem
    problems.add(_CODE, f"this is not valid YAML: {message}", place, _hint(problem))


def _hint(problem: str) -> str | None:
    if "mapping values are not allowed" in problem:
        return "quote a string that contains ': ', and check the indentation"
    if "cannot start any token" in problem:
        return "quote a string that begins with this character"
    return None


def _marked_place(mark: Any) -> Place | None:
    return Place(mark.line + 1, mark.column + 1) if mark is not None else None


class EventParser(Protocol):
    """The part of PyYAML's parsers that is used."""

    def get_event(self) -> Any:
        """The next event, or None at the end."""


def make_parser(text: str) -> EventParser:
    """PyYAML's C parser where PyYAML has it, else the one written in Python, whose constructor is not used."""
    parser: EventParser
    try:
        from yaml._yaml import CParser
    except ImportError:
        from yaml import SafeLoader

        parser = SafeLoader(text)
    else:
        parser = CParser(text)
    return parser


def parse(problems: Problems) -> Node | None:
    """The tree of a file; problems go to *report*. None when there is no tree to go on with."""
    from yaml import YAMLError

    text = problems.source.text
    if not _is_fit(problems):
        return None
    if "\t" in text and text.lstrip().startswith(("{", "[")):
        text = _without_tabs(text)
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
        problems.add(
            "control-character",
            f"the file contains the character U+{ord(match[0]):04X}, which YAML does not allow",
            _place(text, match.start()),
        )
    elif (match := _NOT_YAML.search(text)) is not None and match[1] is not None:
        problems.add(
            "merge-conflict",
            f"the file contains a merge conflict: {match[1]}",
            _place(text, match.start()),
            "resolve the conflict and remove its markers",
        )
    elif match is not None:
        problems.add("yaml-tag", "YAML tags are not supported, so %TAG is not allowed", _place(text, match.start()))
    return not problems


def _place(text: str, offset: int) -> Place:
    return Place(*place_behind(text[:offset]))


def _without_tabs(text: str) -> str:
    """JSON is often indented with tabs, which YAML does not take everywhere; a space is as wide as a tab here."""
    return _INDENT_WITH_TABS.sub(lambda match: " " * len(match[0]), text)


class _Stop(Exception):
    """The file is beyond a limit; the problem is noted."""


@dataclass(slots=True)
class _Open:
    """A list or mapping that is being read.

    before: how many nodes there were before it. around: the nodes of what it is in, which it is added to at its end.
    """

    is_mapping: bool
    anchor: str | None
    line: int
    column: int
    before: int
    around: list[Node]


class _Builder:
    """Builds the tree of one file out of the parser's events, with a stack of its own. nodes: things, so far.

    The nodes of a mapping are its keys and values in turn.
    """

    def __init__(self, problems: Problems, parser: EventParser) -> None:
        self._problems = problems
        self._parser = parser
        self._stack: list[_Open] = []
        self._anchors: dict[str, tuple[Node, int]] = {}
        self.nodes = 0
        budget = problems.source.budget
        self._most = budget.things - budget.spent
        self._documents = 0
        self._items: list[Node] = []
        self._is_usable = True

    def build(self) -> Node | None:
        """Read every event of the file. None when it has keys or tags that leave its meaning open."""
        from yaml import events

        handlers: dict[type, Callable[[Any], None]] = {
            events.ScalarEvent: self._scalar,
            events.MappingStartEvent: partial(self._start, True),
            events.SequenceStartEvent: partial(self._start, False),
            events.MappingEndEvent: self._end,
            events.SequenceEndEvent: self._end,
            events.AliasEvent: self._alias,
            events.DocumentStartEvent: self._start_document,
        }
        get_event = self._parser.get_event
        while (event := get_event()) is not None:
            handler = handlers.get(type(event))
            if handler is not None:
                handler(event)
        return self._items[0] if self._items and self._is_usable else None

    def _scalar(self, event: Any) -> None:
        mark, text, size = event.start_mark, event.value, 1
        line, column = mark.line + 1, mark.column + 1
        if len(text) >= CHARACTERS or "," in text:
            size = weight(text)
            if len(text) > MAX_TEXT:
                self._stop("too-large", f"a string is longer than {MAX_TEXT} characters", Place(line, column))
        plain = not event.style
        if event.tag is not None:
            plain = False
            self._check_tag(event, Scalar, line, column)
        node = Scalar(text, plain, line, column)
        self.nodes += size
        if self.nodes > self._most:
            self._count(0, node)
        if event.anchor is not None:
            self._anchors[event.anchor] = (node, size)
        self._items.append(node)

    def _start(self, is_mapping: bool, event: Any) -> None:
        mark = event.start_mark
        line, column = mark.line + 1, mark.column + 1
        if len(self._stack) >= MAX_DEPTH:
            self._stop(
                "too-deep",
                f"lists and mappings are nested more than {MAX_DEPTH} deep",
                Place(line, column),
            )
        if event.tag is not None:
            self._check_tag(event, Mapping if is_mapping else Sequence, line, column)
        self._stack.append(_Open(is_mapping, event.anchor, line, column, self.nodes, self._items))
        self._items = []
        self._count(1, Place(line, column))

    def _end(self, _event: Any) -> None:
        done, items = self._stack.pop(), self._items
        node: Node
        if done.is_mapping:
            pairs = [(key, value) for key, value in zip(items[::2], items[1::2], strict=True) if self._is_key(key)]
            node = Mapping(self._unique(pairs), done.line, done.column)
        else:
            node = Sequence(tuple(items), done.line, done.column)
        if done.anchor is not None:
            self._anchors[done.anchor] = (node, self.nodes - done.before)
        self._items = done.around
        self._items.append(node)

    def _alias(self, event: Any) -> None:
        place = Place(event.start_mark.line + 1, event.start_mark.column + 1)
        name = event.anchor
        if any(opened.anchor == name for opened in self._stack):
            self._stop("yaml-alias", f"the alias *{name} contains itself", place)
        if name not in self._anchors:
            self._stop("yaml-alias", f"the alias *{name} has no anchor &{name} before it", place)
        node, size = self._anchors[name]
        self._count(size, place)
        self._items.append(node)

    def _start_document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            self._stop(
                "several-documents",
                "a second YAML document begins here, but a declaration file has only one",
                Place(event.start_mark.line + 1, event.start_mark.column + 1),
                "put it into a file of its own",
            )

    def _is_key(self, key: Node) -> TypeGuard[Scalar]:
        """True if a node can be a key; noted where not."""
        if type(key) is Scalar and key.text and not (key.plain and key.text == "<<"):
            return True
        self._is_usable = False
        if not isinstance(key, Scalar):
            kind = "a mapping" if isinstance(key, Mapping) else "a list"
            self._problems.add("key-not-text", f"{kind} cannot be a field name", key, "a field name must be a string")
        elif not key.text:
            self._problems.add("key-not-text", "the field name before the colon is missing", key)
        else:
            self._problems.add(
                "yaml-merge-key", "merge keys (<<) are not supported", key, "use an alias for a whole value instead"
            )
        return False

    def _unique(self, pairs: list[tuple[Scalar, Node]]) -> tuple[tuple[Scalar, Node], ...]:
        if len({key.text for key, _ in pairs}) == len(pairs):
            return tuple(pairs)
        first: dict[str, tuple[Scalar, Node]] = {}
        for pair in pairs:
            key = pair[0]
            kept = first.setdefault(key.text, pair)
            if kept is not pair:
                related = (Related("it is first written here", self._problems.span(kept[0])),)
                self._problems.add("duplicate-key", f"{quoted(key.text)} is written twice", key, related=related)
        return tuple(first.values())

    def _check_tag(self, event: Any, kind: type[Node], line: int, column: int) -> None:
        tag = event.tag
        if tag not in ("!", f"tag:yaml.org,2002:{_TAGS[kind]}"):
            self._is_usable = False
            shown = tag.replace("tag:yaml.org,2002:", "!!")
            self._problems.add(
                "yaml-tag", f"the YAML tag {quoted(shown)} is not supported", Place(line, column), "remove it"
            )

    def _count(self, nodes: int, at: Node | Place) -> None:
        self.nodes += nodes
        if self.nodes > self._most:
            over = self._problems.source.budget.over()
            self._stop("too-large", over.message, at, over.hint)

    def _stop(self, code: str, message: str, at: Node | Place, hint: str | None = None) -> None:
        self._problems.add(code, message, at, hint)
        raise _Stop
