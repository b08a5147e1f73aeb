"""What PyTorch's error texts say: which operator, at which key, and the dispatch table that some of them print.

The texts come out of logs, trackers and terminals: with prefixes and quote marks before each line, wrapped, escaped, in
colour. Nothing here believes them; names are data, and lengths are bounded.

Sources of the wording: ``OperatorEntry::reportError``, ``KernelFunction.cpp``, ``MetaFallbackKernel.cpp``,
``autograd_not_implemented_fallback.cpp``, ``BatchedFallback.cpp``, ``torch/_ops.py``,
``torch/_subclasses/fake_tensor.py``.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from enum import Enum
from itertools import islice
from typing import NamedTuple

from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import AUTOGRAD_OTHER, PYTHON, UNDEFINED
from dispatch_cli.report.pasted_text import Plain, plain, uncoloured

MAX_CHARACTERS = 8 << 20
"""Characters of a text that is searched; PyTorch's longest errors are a thousandth of that."""
MAX_ERRORS = 20
"""Different errors that are taken from one text."""
MAX_LINE = 4000
"""Characters of a line of a dump."""
MAX_LINES = 1000
"""Lines of a dump; a whole table has some 140."""
META = "Meta"
FUNC_TORCH_BATCHED = "FuncTorchBatched"


class TextKind(Enum):
    """Which of PyTorch's texts it is; the value is the name in machine formats."""

    NO_KERNEL = "no-kernel"
    NO_TENSORS = "no-tensors"
    NO_META = "no-meta"
    AMBIGUOUS = "ambiguous"
    NO_AUTOGRAD = "no-autograd"
    NO_PYTHON_KERNEL = "no-python-kernel"
    NO_BATCHING_RULE = "no-batching-rule"
    NO_IMPL = "no-impl"
    """A higher-order operator has no implementation for a mode or a subclass."""


class DumpLine(NamedTuple):
    """A line of a printed dispatch table."""

    kernel: str
    fallthrough: bool
    rule: Rule


class StateLine(NamedTuple):
    """A line of printed registrations; *active* is False for an overridden one."""

    key: str
    kernel: str
    fallthrough: bool
    active: bool


class ErrorText(NamedTuple):
    """An error found in a text.

    key: None where the text names none. line: where it begins, 1-based. dump: the dispatch table that it prints, by
    key; empty where it prints none. available: the keys that it lists as available; None where it lists none.
    state: the registrations that it prints, newest first.
    """

    kind: TextKind
    operator: str
    key: str | None
    line: int
    dump: dict[str, DumpLine]
    available: tuple[str, ...] | None
    state: tuple[StateLine, ...] = ()


# a name begins where nothing of a name is before it, so that a long word is not tried from each of its letters
_NAME = r"(?<![\w:.])(?P<op>[\w:.]{1,500})"
_KEY = r"(?P<key>\w{1,100})"
_QUOTE = "['\"`\u2018\u2019\u201c\u201d]"
_PATTERNS = (
    (
        TextKind.NO_KERNEL,
        f"Could not run {_QUOTE}{_NAME}{_QUOTE} with arguments from the {_QUOTE}{_KEY}{_QUOTE}",
        None,
    ),
    (TextKind.NO_TENSORS, f"no fallback function is registered for schema {_NAME}", UNDEFINED),
    (TextKind.NO_META, rf"{_NAME}: (?:while )?attempt(?:ed|ing) to run this operator with Meta [Tt]ensors", META),
    (TextKind.NO_META, rf"{_NAME}: We could not find the (?:fake|abstract) impl for this operator", META),
    (TextKind.NO_META, rf"UnsupportedOperatorException: {_NAME}", META),
    (
        TextKind.AMBIGUOUS,
        f"{_NAME} has kernels registered to both CompositeImplicitAutograd and a backend mapped to AutogradOther",
        AUTOGRAD_OTHER,
    ),
    (TextKind.NO_AUTOGRAD, f"{_NAME}: an autograd kernel was not registered to the Autograd key", None),
    (
        TextKind.NO_PYTHON_KERNEL,
        f"could not find kernel for (?:HigherOrderOperator )?{_NAME} at dispatch key "
        rf"(?:DispatchKey[.])?(?!DispatchKey\b){_KEY}",
        None,
    ),
    (
        TextKind.NO_BATCHING_RULE,
        f"(?:atching rule not implemented|not yet implemented the batching rule) for {_NAME}",
        FUNC_TORCH_BATCHED,
    ),
    (TextKind.NO_IMPL, f"There was no rule registered for (?:HigherOrderOperator|HOP) {_NAME}", PYTHON),
    (TextKind.NO_IMPL, f"HigherOrderOperator {_QUOTE}{_NAME}{_QUOTE} is not supported for the given", PYTHON),
)
LOOKED_FOR = (
    "Could not run 'OPERATOR' with arguments from the 'KEY' backend",
    "no fallback function is registered for schema OPERATOR",
    "OPERATOR: attempted to run this operator with Meta tensors",
    "OPERATOR has kernels registered to both CompositeImplicitAutograd and a backend mapped to AutogradOther",
    "OPERATOR: an autograd kernel was not registered to the Autograd key(s)",
    "could not find kernel for OPERATOR at dispatch key KEY",
    "batching rule not implemented for OPERATOR",
    "There was no rule registered for HigherOrderOperator OPERATOR",
)
"""The beginnings of the texts, as a person may look for them."""

_GAP = r"[\s>|]{1,40}"
_WRAPPED = tuple((kind, re.compile(text.replace(" ", _GAP)), key) for kind, text, key in _PATTERNS)
_GAPLESS = tuple((kind, re.compile(text.replace(" ", r" {0,3}")), key) for kind, text, key in _PATTERNS)
_HARD_BREAK = re.compile(r"\n[ \t>|]{0,40}")
_LINE_HEAD = r"\b(?P<key>[A-Z]\w{1,60})(?:\[alias\])?(?P<inactive> \(inactive\))?: "
_LINE = re.compile(rf"{_LINE_HEAD}(?P<rest>\S.*)")
_REGISTERED_LINE = re.compile(rf"{_LINE_HEAD}(?P<rest>(?:fallthrough )?registered at .*)")
_CLOSING = " \t\r'\"`)}"
"""What may stand after the last line of a table that was quoted: ``…[kernel]")``."""
_FALLTHROUGH = "fallthrough "
_RULES = {f"{rule.dump_text}]": rule for rule in Rule}
_AVAILABLE = re.compile(r"(?:available for these backends: |Available functions are )\[([\w, ]{0,10000})\]")


def find_errors(text: str) -> list[ErrorText]:
    """The errors in a text, in order, each operator and key once.

    A text that a terminal broke inside of words is read as well, where nothing is found otherwise.
    """
    text = text[:MAX_CHARACTERS]
    found = list(_found(plain(text, _worth), _WRAPPED))
    if not found:
        joined = plain(_HARD_BREAK.sub("", uncoloured(text)), _worth)
        found = [error._replace(line=1) for error in _found(joined, _GAPLESS)]
    return found


def names_only_the_key(text: str) -> bool:
    """Whether the text is the Python dispatcher's complaint of an ambiguity, which names no operator."""
    return re.search(r"ambiguous\s{1,40}autogradother\s{1,40}kernel", text[:MAX_CHARACTERS]) is not None


def _worth(text: str) -> int:
    """How many errors, lines of a table and registrations can be read in a text."""
    errors = sum(1 for _, pattern, _ in _WRAPPED for _ in pattern.finditer(text))
    return errors + sum(1 for _ in _dump(text)) + sum(1 for _ in _state(text))


def _found(pasted: Plain, patterns: tuple[tuple[TextKind, re.Pattern[str], str | None], ...]) -> Iterator[ErrorText]:
    text = pasted.text
    matches = sorted(
        ((match, kind, key) for kind, pattern, key in patterns for match in pattern.finditer(text)),
        key=lambda one: one[0].start(),
    )
    seen: set[tuple[OperatorName, str | None]] = set()
    starts = [match.start() for match, _, _ in matches] + [len(text)]
    for position, (match, kind, key) in enumerate(matches):
        key = key or match.groupdict().get("key")
        operator = OperatorName.parse_printed(match["op"])
        if not operator.name or (operator, key) in seen:
            continue
        seen.add((operator, key))
        rest = text[match.end() : starts[position + 1]]
        listed = _AVAILABLE.search(re.sub(r"[\s>|]+", " ", rest[:40000]))
        available = None if listed is None else tuple(one.strip() for one in listed[1].split(",") if one.strip())
        line = pasted.line_at(match.start("op"))
        yield ErrorText(kind, str(operator), key, line, dict(_dump(rest)), available, tuple(_state(rest)))
        if len(seen) == MAX_ERRORS:
            return


def _lines(text: str) -> Iterator[str]:
    """The lines that may be part of a dump, as many as one can have."""
    stripped = (line.rstrip(_CLOSING) for line in text.splitlines())
    return islice((line for line in stripped if len(line) <= MAX_LINE and line.endswith("]")), MAX_LINES)


def _line(text: str) -> re.Match[str] | None:
    """A key and what is registered there; the words of a log before it, such as ``ERROR: ``, are no key."""
    match = _REGISTERED_LINE.search(text) or _LINE.search(text)
    while match is not None and (inner := _LINE.match(text, match.start("rest"))) is not None:
        match = inner
    return match


def _dump(text: str) -> Iterator[tuple[str, DumpLine]]:
    """The lines of a printed table, whatever stands before each."""
    for line in _lines(text):
        head, _, tail = line.rpartition(" [")
        rule = _RULES.get(tail)
        match = _line(head) if rule is not None else None
        if rule is not None and match is not None:
            kernel = match["rest"]
            yield match["key"], DumpLine(kernel.removeprefix(_FALLTHROUGH), kernel.startswith(_FALLTHROUGH), rule)


def _state(text: str) -> Iterator[StateLine]:
    """The lines of printed registrations, whatever stands before each."""
    for line in _lines(text):
        head, _, flags = line.removesuffix("]").rpartition(" [ ")
        match = _line(head.partition(" :: ")[0]) if " :: " in head else None
        if match is not None:
            yield StateLine(match["key"], match["rest"], "fallthrough" in flags.split(), match["inactive"] is None)


def known_lines(dump: dict[str, DumpLine], slots: Container[str]) -> dict[str, DumpLine]:
    """The lines of keys that have a slot; a table of another version may have others."""
    return {key: line for key, line in dump.items() if key in slots}
