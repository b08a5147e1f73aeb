"""Evidence in a text beside its sentences: the layer of PyTorch that was at work, and names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from dispatch_cli.answers.errors.messages import OTHER_TEXT
from dispatch_cli.answers.errors.read import MAX_CHARACTERS, NO_ERROR, ErrorText
from dispatch_cli.answers.errors.reading.pasted import plain
from dispatch_cli.model.names import OperatorName

IN, AT = "in_", "at_"
"""Begin the details that name the layers at work, and the one that raised the error."""
EXCEPTION, DURING = "exception", "during"
"""Details in words: the class of the error, and the layer."""
FRAME, CALL, RAISER = "frame", "call", "raiser"
"""Places: the innermost frame of PyTorch, the traced call, and the line outside of PyTorch that raises the error."""
CALLED, CUSTOM = "called", "custom"
"""The details of a text about a call, and of one that need not be about an operator of PyTorch."""
PYTORCHS = ("aten", "prim", "prims", "quantized")
"""Namespaces of PyTorch's own operators."""
_NO_DISPATCH = re.compile(
    r"(?:Import|ModuleNotFound|Name|FileNotFound|Permission|OS|Syntax|Connection|Unpickling)Error"
)
"""Errors that no call of an operator and no registration raises."""
OF_PYTORCH = frozenset(("exported", "layout", "autocast", "twice", "script"))
"""Layers for which it does not matter who wrote an operator."""
ALONE = frozenset(("functional", "vmap", "transform", "fake", "traced", "autocast", "layout"))
"""Layers without which the same call shows their error, or its cause."""
NEAR = 1 << 16
"""Characters before an error, and after it, in which its traceback and its message are looked for."""
_RAISED = re.compile(
    r"(?<![\w.])(?<!::)[\w.]{0,200}?(?:Error|Exception|Warning|Unsupported|Failed)(?:\(|:(?!:))|"
    r"\bterminate called after|\n[^\n]{0,80}?\bwhat\(\):"
)
_ERROR = re.compile(r"\bERROR\b|\berror:")
_ASYNCHRONOUS = "asynchronously reported"
"""In errors of CUDA, which are raised by a later call than the one that failed."""
_FRAMES = re.compile(r"\n[ \t>|]{0,40}(?:Traceback \(|File \"|frame #|from user code)")
_TRACEBACK = re.compile(r"Traceback \(most recent call last\)")
_FRAME = re.compile(r"[/\\](torch(?:gen)?[/\\][\w/\\.-]{1,200}\.py)[\"']?(?:, line |:)(\d{1,6})(?:,? in (\w{1,80}))?")
_RAISER = re.compile(r"File ['\"]([^'\"\n]{1,300})['\"], line (\d{1,6})[^\n]{0,200}\n[^\n]{0,100}?\braise\b")
"""A frame whose own code raises the error."""
_OF_TORCH = re.compile(r"(?:^|[/\\])torch(?:gen)?[/\\]")
_THROUGH = re.compile(
    r"torch[/\\](?:_ops|_tensor|_utils\w*|_compile|functional|overrides|_dynamo[/\\](?:exc|output_graph|eval_frame|convert_frame|utils))\.py|torch[/\\](?:nn|utils)[/\\]"
)
"""Files that each call passes, whatever refuses it."""
_CALL = re.compile(
    r"(?:Failed running|run FX node with fake tensors:) call_\w{1,20} (?:<(?:built-in )?(?:function |method )?)?"
    r"([\w.]{1,120})"
)
_PRINTED = re.compile(
    r"\b\w{1,60}\((?:\.\.\., |FakeTensor)[^()]{0,2000}(?:\([^()]{0,200}\)[^()]{0,200}){0,40}\)|"
    r"\btensor\([^()]{0,4000}\)|\n[ \t]{0,40}(?:target|args\[\d{1,3}\]|kwargs): [\s\S]*"
)
"""Tensors, and the arguments that are printed with a call."""
_REFUSES = re.compile(
    r"(?i)\b(?:not|never)\b[\w ]{0,30}?\b(?:support|implement|allow|availab|register|handle|recogni[sz]|possible)|"
    r"\b(?:unsupported|unimplemented|unrecognized|unexpected|could(?: not|n't)|cannot|can't|missing|failed|NYI)\b|"
    r"\bno (?:kernel|rule)\b"
)
_CUSTOM = re.compile(r"torch\.ops\.|torch[/\\]_library[/\\]|\bTORCH_LIBRARY|(?i:\bcustom.?op)")
_OPERATORS = tuple(
    re.compile(pattern)
    for pattern in (
        # a schema, and the names of PyTorch's own operators
        r"(?<![\w:.])(\w{1,100}::\w{1,100}(?:\.\w{1,100})?)\((?:Tensor|Scalar|(?:Sym)?[Ii]nt|float|bool|str)\b",
        r"(?<![\w:.])((?:aten|prims|quantized)(?:::|\.)[a-z_]\w{1,100}(?:\.\w{1,100})?)\b(?!\.py)",
        r"\btorch\.ops\.(\w{1,100}\.\w{1,100}(?:\.\w{1,100})?)",
        r"\bOpOverload\w{0,6}\(op='(\w[\w.]{0,199})'",
        r"\bcall_function (?!torch\.)(\w{1,100}\.\w{1,100}(?:\.\w{1,100})?)\(",
        r"['\"`](?!(?:std|at|c10|torch|caffe2)::)(\w{1,100}::\w{1,100}(?:\.\w{1,100})?)['\"`]",
    )
)


class Layer(NamedTuple):
    """A layer of ``layers.txt``. pattern: proves that it was at work. clause: in words."""

    pattern: re.Pattern[str]
    clause: str


def layers_in(text: str) -> Iterator[tuple[str, Layer]]:
    """The layers of a file such as ``layers.txt``, by name."""
    for part in re.split(r"(?m)^(?=\w+ \| )", text)[1:]:
        head, *lines = part.rstrip().split("\n")
        name, clause = head.split(" | ")
        yield (
            name,
            Layer(re.compile("|".join(line.removeprefix("  ") for line in lines).replace("/", r"[/\\]")), clause),
        )


LAYERS = dict(layers_in(Path(__file__).parents[1].joinpath("layers.txt").read_text(encoding="utf-8")))
"""Layers that may be at work, the most special first."""


def evidence(text: str) -> tuple[ErrorText, ...]:
    """The last error of a text by what its sentence and its traceback prove; none where they prove nothing."""
    shown = plain(text[:MAX_CHARACTERS])
    shown = shown._replace(text=NO_ERROR.sub("", shown.text))
    raised = [match.start() for match in _RAISED.finditer(shown.text)]
    starts = raised or [match.start() for match in _ERROR.finditer(shown.text)]
    if not starts:
        return ()
    begin = shown.text.rfind("\n", 0, starts[-1]) + 1
    message, frames = _message(shown.text, begin), _frames(shown.text, begin)
    name = _exception(message)
    if name.endswith("Warning") or _NO_DISPATCH.fullmatch(name) or not (raised or _REFUSES.search(message)):
        return ()
    raiser = _raiser(shown.text, begin)
    # words of a program about PyTorch tell nothing of what PyTorch did
    of_message, of_frames = () if raiser else _of_sentence(message), _of_frames(frames)
    operator = _first(_OPERATORS, message)
    layers = (*of_message, *of_frames)
    if not (operator or layers):
        return ()
    parsed = None if operator is None else OperatorName.parse_printed(operator)
    flags = [*context_flags(of_message), *(f"{AT}{name}" for name in layers[:1] if not of_message)]
    flags += [CALLED] if ALONE & {*of_message[:1]} else []
    is_custom = parsed.namespace not in PYTORCHS if parsed is not None else bool(_CUSTOM.search(message))
    flags += [CUSTOM] if is_custom and not OF_PYTORCH & {*layers} else []
    layer = LAYERS[layers[0]] if layers else None
    words = {
        EXCEPTION: _with_article(name),
        DURING: None if layer is None else layer.clause,
        CALL: _first((_CALL,), message),
        FRAME: _frame_in_words(frames),
        RAISER: raiser,
    }
    details = (*((flag, "") for flag in flags), *((key, value) for key, value in words.items() if value is not None))
    named = None if parsed is None else str(parsed)
    return (ErrorText(OTHER_TEXT, named, None, shown.line_at(begin), {}, None, details),)


def context_flags(layers: Iterable[str]) -> tuple[str, ...]:
    """The details that conditions of advice ask for: each layer, and the first."""
    names = tuple(layers)
    return (*(f"{IN}{name}" for name in names), *(f"{AT}{name}" for name in names[:1]))


def _raiser(text: str, begin: int) -> str | None:
    """The line outside of PyTorch whose own ``raise`` raises an error; None where PyTorch raises it."""
    last = text.rfind('File "', max(begin - NEAR, 0), begin)
    frame = None if last < 0 else _RAISER.match(text, last, begin)
    return None if frame is None or _OF_TORCH.search(frame[1]) else f"{frame[1].replace(chr(92), '/')}, line {frame[2]}"


def layers_of(text: str, begin: int) -> tuple[str, ...]:
    """The layers at work, by the sentence of an error, then by its traceback. begin: where its line begins."""
    of_sentence = () if _raiser(text, begin) else _of_sentence(_message(text, begin))
    return tuple(dict.fromkeys((*of_sentence, *_of_frames(_frames(text, begin)))))


def _of_sentence(message: str) -> tuple[str, ...]:
    """The layers that the sentence of an error proves."""
    sentence = _PRINTED.sub("", message)
    return tuple(name for name, layer in LAYERS.items() if layer.pattern.search(sentence))


def _of_frames(frames: Iterable[re.Match[str]]) -> tuple[str, ...]:
    """The layers of the frames of a traceback, that of the innermost first."""
    names = []
    for frame in reversed([*frames]):
        if not _THROUGH.match(frame[1]):
            place = f"{frame[1]} in {frame[3]}"
            names += [name for name, layer in LAYERS.items() if layer.pattern.search(place)]
    return tuple(dict.fromkeys(names))


def _frames(text: str, begin: int) -> list[re.Match[str]]:
    """The frames of the traceback before an error; none where another call than the failed one has raised it."""
    if _ASYNCHRONOUS in _message(text, begin):
        return []
    starts = [match.end() for match in _TRACEBACK.finditer(text, max(begin - NEAR, 0), begin)]
    return [*_FRAME.finditer(text, starts[-1] if starts else max(begin - NEAR, 0), begin)]


def _exception(message: str) -> str:
    """The class of the error that a line begins with, which may name others: the last of them, without its module."""
    match = _RAISED.search(message)
    name = "" if match is None else match[0].rstrip("(: ").rpartition(".")[2]
    return name if name.isidentifier() else ""


def _with_article(name: str) -> str:
    if not name:
        return "an error"
    return f"{'an' if re.match('[AEIO]|Un(?!i)', name) else 'a'} {name}"


def _message(text: str, begin: int) -> str:
    """The sentence of an error, without the traceback that may follow."""
    return _FRAMES.split(text[begin : begin + NEAR], maxsplit=1)[0]


def _frame_in_words(frames: list[re.Match[str]]) -> str | None:
    """The innermost frame of PyTorch in a traceback."""
    if not frames or _THROUGH.match(frames[-1][1]):
        return None
    path, line, function = frames[-1].groups()
    return f"{path.replace(chr(92), '/')}, line {line}{f', in {function}' if function else ''}"


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> str | None:
    """The first name that the first of the patterns finds which finds any."""
    return next((match[1] for pattern in patterns if (match := pattern.search(text))), None)
