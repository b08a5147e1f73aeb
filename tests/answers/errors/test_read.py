"""Error texts that live PyTorch printed: the operator and the key are found, however the text was treated since."""

from __future__ import annotations

import html
import json
import re
import textwrap
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import pytest

from dispatch_cli.answers.errors.answer import answer
from dispatch_cli.answers.errors.messages import AMBIGUOUS, NO_KERNEL
from dispatch_cli.answers.errors.read import (
    MAX_ERRORS,
    ErrorText,
    find_errors,
    unescaped,
)
from dispatch_cli.api import load_state
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.text.debug_text import source_file
from tests.cli.support import ROOT
from tests.ends import ends
from tests.support import UNIVERSE_OF, slot_errors

VERSIONS = ("2.4.1", "2.13.0", "2.15.0")
RECORDED = [
    pytest.param(error, id=f"{version}-{number}")
    for version in VERSIONS
    for number, error in enumerate(slot_errors(version)[:12])
]
ARGUMENTS = "Could not run '{0}' with arguments from the '{1}' backend."


def message(text: str) -> str:
    """The message of PyTorch, without the traceback before it."""
    for pattern in (r"^\w*Error: |^[\w.]*UnsupportedOperatorException: ", r"^\S+ UserWarning: |^\[W"):
        start = re.search(pattern, text, re.MULTILINE)
        if start is not None:
            return text[start.start() :]
    raise AssertionError(text)


def first_line(text: str) -> str:
    return message(text).splitlines()[0]


def without_table(text: str) -> str:
    return first_line(text).partition(" This could be because")[0]


def logged(text: str) -> str:
    lines = [f"ERROR 07-23 07:21:49 [core.py:586] {line}" for line in text.splitlines()]
    return "\n".join(["INFO Could not run the server", *lines, "ERROR 07-23 07:21:50 [core.py:590] exit code: 1"])


def wrapped(text: str) -> str:
    return "\n".join(textwrap.fill(line, 60, break_long_words=False) for line in text.splitlines())


def cut_hard(text: str) -> str:
    return "\n".join(line[start : start + 80] for line in text.splitlines() for start in range(0, len(line) + 1, 80))


def quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in wrapped(text).splitlines())


def escaped(text: str) -> str:
    return json.dumps({"message": text})


def escaped_for_html(text: str) -> str:
    return escaped(text).translate({ord(sign): f"\\u{ord(sign):04x}" for sign in "'<>&"})


def escaped_twice(text: str) -> str:
    return json.dumps({"log": f"\u001b[31m{escaped(text)}\u001b[0m\n", "stream": "stderr"})


def escaped_and_cut(text: str) -> str:
    return cut_hard(repr(f"{text!r}"))


def coloured(text: str) -> str:
    return "\n".join(f"\x1b[31m{line}\x1b[0m\r" for line in text.splitlines())


def on_windows(text: str) -> str:
    """With paths as Windows builds print them, whose parts begin like escape sequences."""
    return re.sub(
        r"registered at (?:[^\s:]*/)?(\S+:\d+)",
        lambda match: rf"registered at D:\a\nightly\builder\windows\tools\u0041\x41\'n\ops\cuda\n{match[1]}",
        text,
    )


def logged_by_level(text: str) -> str:
    levels = ("2026-11-22 01:00:00,123 [rank0] ERROR: ", "WARNING: ", "[Trainer: E] ", "CRITICAL: ")
    return "\n".join(f"{levels[at % len(levels)]}{line}" for at, line in enumerate(text.splitlines()))


def typeset(text: str) -> str:
    return re.sub(r"'([\w:.]+)'", "\u2018\\1\u2019", text)


def in_html(text: str) -> str:
    return html.escape(html.escape(text).replace("&gt;", ">"))


TREATMENTS: tuple[Callable[[str], str], ...] = (
    *(str, message, first_line, without_table, logged, logged_by_level, wrapped, cut_hard),
    *(quoted, escaped, escaped_for_html, escaped_twice, escaped_and_cut, repr, coloured, typeset, in_html),
)


@pytest.mark.parametrize("error", RECORDED)
def test_the_operator_and_the_key_are_found(error: dict[str, Any]) -> None:
    for before, treatment in product((str, on_windows), TREATMENTS):
        errors = find_errors(treatment(before(error["text"])))
        places = {(text.operator, text.key) for text in errors}
        assert places == {(error["operator"], error["key"])}, (before.__name__, treatment.__name__)


def keys_and_rules(lines: Iterable[str]) -> list[tuple[str, str]]:
    return [(line.partition(":")[0], line.rpartition(" [")[2].rstrip("]")) for line in lines]


def lines_of_table(error: ErrorText) -> list[tuple[str, str]]:
    return [(key, rule.dump_text) for key, rule in error.dump.items()]


@pytest.mark.parametrize("before", [str, on_windows], ids=lambda function: function.__name__)
@pytest.mark.parametrize("version", VERSIONS)
def test_the_table_that_a_text_prints(version: str, before: Callable[[str], str]) -> None:
    """Against the lines as they are in the recording; prefixes, colours and escapes take nothing away."""
    printed = 0
    for error in slot_errors(version):
        text = before(error["text"])
        lines = [line for line in text.splitlines() if re.fullmatch(r"[A-Z]\w+: .* \[[a-z ]+\]", line)]
        for treatment in (
            str,
            logged,
            logged_by_level,
            escaped,
            escaped_for_html,
            escaped_twice,
            repr,
            ascii,
            coloured,
        ):
            (first,) = {match.operator: match for match in reversed(find_errors(treatment(text)))}.values()
            assert lines_of_table(first) == keys_and_rules(line for line in lines if " :: " not in line)
        printed += len(lines)
    assert printed > 100


def test_a_path_that_is_made_of_escapes_stays_whole() -> None:
    """A drive before single backslashes tells a path, although each of them begins an escape."""
    path = r"registered at C:\new\tools\build\nms_kernel.cu:169"
    log = f"{ARGUMENTS.format('a::b', 'XLA')}\n\nCPU: {path} [kernel]"
    (match,) = find_errors(log)
    assert lines_of_table(match) == [("CPU", "kernel")]
    assert unescaped(path) == path


def test_how_often_a_text_may_be_escaped() -> None:
    for times, is_read in ((4, True), (5, False)):
        text = "first\nsecond"
        for _ in range(times):
            text = json.dumps(text)[1:-1]
        assert (unescaped(text) == "first\nsecond") is is_read


def test_plain_and_escaped_texts_in_one_log() -> None:
    """A line is escaped as a whole or not at all, whatever the lines beside it are."""
    table = [f"CPU: registered at C:\\new\\ops\\cuda\\nms_kernel.cu:{line} [kernel]" for line in (1, 2, 3)]
    texts = [f"{ARGUMENTS.format(f'a::b{line}', 'XLA')}\n\n{text}" for line, text in enumerate(table)]
    log = "\n".join([texts[0], rf"trainer: {json.dumps({'message': texts[1]})}", texts[2]])
    assert [lines_of_table(match) for match in find_errors(log)] == [keys_and_rules([line]) for line in table]


def differing(state: State, text: str) -> list[str]:
    """The slots at which a printed table is not that of the state."""
    error, *_ = find_errors(text)
    table = state.dispatcher.table(OperatorName.parse(error.operator or ""))
    slots = []
    for key, rule in error.dump.items():
        entry = table[key]
        (line,) = re.findall(rf"(?m)^{key}: (.*) \[[a-z ]+\]", text)
        files = (source_file(line), entry.kernel and source_file(entry.kernel.debug))
        same = (rule, line.startswith("fallthrough ")) == (entry.rule, entry.is_fallthrough)
        if not same or (all(files) and files[0] != files[1]):
            slots.append(key)
    return slots


@pytest.mark.slow
@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_an_embedded_state_says_what_its_build_said(version: str) -> None:
    """The state reproduces the text, and every slot of the printed table agrees."""
    state = load_state([], bases=[UNIVERSE_OF[version]])
    compared = 0
    for error in slot_errors(version):
        for text in (error["text"], first_line(error["text"])):
            if error["operator"].startswith("aten::"):
                report = answer(text, find_errors(text), state)
                assert (report.reproduced, differing(state, text)) == (True, [])
                compared += 1
    assert compared > 40


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_operators_of_a_file(version: str) -> None:
    """The files give the error, and the printed table."""
    state = load_state([str(ROOT / "tests/answers/broken.yaml")], universe=UNIVERSE_OF[version])
    compared = 0
    for error in slot_errors(version):
        if error["operator"].startswith("broken::"):
            report = answer(error["text"], find_errors(error["text"]), state)
            assert report.reproduced
            assert report.explained is not None
            assert differing(state, error["text"]) == []
            compared += 1
    assert compared > 5


def test_several_errors_each_once_in_order() -> None:
    pairs = [("a::b", "CPU"), ("a::c", "CUDA"), ("a::b", "CPU"), ("a::b", "Meta")]
    text = "\n".join(["Traceback", *(ARGUMENTS.format(*pair) for pair in pairs)])
    texts = [ErrorText(NO_KERNEL, op, key, line, {}, None) for line, (op, key) in enumerate(pairs, start=2)]
    assert find_errors(text) == [texts[0], texts[1], texts[3]]
    many = "\n".join(ARGUMENTS.format(f"a::b{number}", "CPU") for number in range(3 * MAX_ERRORS))
    assert len(find_errors(many)) == MAX_ERRORS


def test_the_line_is_that_of_the_file() -> None:
    """A line of a log in JSON holds the line breaks of its message escaped."""
    texts = [f"Traceback:\n  in f\n{ARGUMENTS.format(name, 'XLA')}\n" for name in ("a::b", "c::d")]
    log = "\n".join(json.dumps({"message": text}) for text in texts)
    assert [match.line for match in find_errors(log)] == [1, 2]


def test_a_table_belongs_to_the_error_before_it() -> None:
    text = (
        f"{ARGUMENTS.format('a::b', 'CPU')}\n\nCUDA: k1 [kernel]\n{ARGUMENTS.format('a::c', 'CPU')}\nXLA: k2 [kernel]"
    )
    first, second = find_errors(text)
    assert first.dump == {"CUDA": Rule.KERNEL}
    assert second.dump == {"XLA": Rule.KERNEL}


@pytest.mark.parametrize(
    "text",
    [
        *("", "hello", "Could not run 'a::b'", "\x00" * 1000, "Could not run " * 100_000),
        # lines of logs that begin as PyTorch's messages do, or end like them
        *("Now compiled with GPU support: yes", "[debug] dispatch key: CUDA", "aten::convolution_overrideable 0.40%"),
        *("DispatchStub: registering kernel for CPU done", "vmap: It looks like you're using an old version"),
        *("ONNX export failed torch.export.export step", "Sharding propagation failed unexpectedly.please"),
        # what Python and PyTorch's own kernels say is about no compiled module and no function of a package
        *("NameError: name 'use_cuda' is not defined", "NameError: name 'x_cpu' is not defined"),
        *("NameError: name '__file__' is not defined", "numpy: no implementation found for 'numpy.sum'"),
        "TypeError: get_meta() missing 1 required positional argument: 'self'",
        "TypeError: fake_data() takes 0 positional arguments but 1 was given",
        "RuntimeError: linalg.lu_factor: LU without pivoting is not implemented on the CPU",
        # other packages have names, functions and modes that are called alike
        "ImportError: cannot import name 'dice' from 'torchmetrics.functional' (/torchmetrics/__init__.py)",
        "RuntimeError: FlexAttention backward is not yet supported for torch.compile",
        *("RuntimeError: this method can only be called in training mode", "RuntimeError: call aclose failed"),
        "ImportError: cannot import name 'kernel' from 'triton_utils' (/triton_utils.py)",
        *("RuntimeError: the script failed in interpreter /bin/python3", "OSError: Invalid buffer size: 1024"),
    ],
)
def test_nothing_is_found(text: str) -> None:
    assert find_errors(text) == []


@pytest.mark.parametrize(
    ("name", "kinds"), [("npu", ["no-device-module"]), ("tensr", ["no-api"]), ("npus", ["no-api"])]
)
def test_a_name_that_torch_lacks_may_be_that_of_a_backend(name: str, kinds: list[str]) -> None:
    errors = find_errors(f"AttributeError: module 'torch' has no attribute '{name}'")
    assert [error.kind for error in errors] == kinds


@pytest.mark.slow
def test_large_texts_take_no_longer_than_they_are() -> None:
    for part in (
        *("a::b", "a: ", "[kernel] ", ": attempted to run this operator with ", "'", "\n> "),
        *("could not find kernel ", "\\\\", r"\n", "\\\n", r"CPU: C:\n\x [kernel]"),
    ):
        assert find_errors(part * (400_000 // len(part))) == []


def test_an_ambiguity_without_a_name() -> None:
    (match,) = find_errors("RuntimeError: ambiguous autogradother kernel")
    assert (match.kind, match.operator, match.key) == (AMBIGUOUS, None, "AutogradOther")
    assert find_errors("RuntimeError: ambiguous") == []


WORDS = (
    *("loading", "the", "model", "weights", "epoch", "loss", "gradient", "rank"),
    *("tensor", "kernel", "operator", "dispatch", "backend", "device", "registered", "schema"),
)


def log_line(number: int) -> str:
    words = [WORDS[(number * 7 + at * (number % 5 + 1)) % len(WORDS)] for at in range(12)]
    return f"2026-11-22 01:00:{number % 60:02d},123 INFO [rank{number % 8}] worker.py:{number % 900}] {' '.join(words)}"


LARGE: dict[str, Callable[[], str]] = {
    "backslashes": lambda: "\\" * (1 << 20),
    "line breaks": lambda: '{"m":"' + "\\\\n" * 300_000,
    "letters": lambda: "\\u0041" * 200_000,
    "beginnings": lambda: "Could not run\\n" * 80_000,
    "a table": lambda: ARGUMENTS.format("a::b", "CUDA") + "\n" + "CPU: registered at /x.cpp:1 [kernel]\\n" * 30_000,
    "errors": lambda: "\n".join(ARGUMENTS.format("a::b", "CUDA") for _ in range(20_000)),
    "a log": lambda: "\n".join(log_line(number) for number in range(6_000)),
    "lines of JSON": lambda: "\n".join(json.dumps({"m": f"{log_line(at)}\n{log_line(at + 1)}"}) for at in range(3_000)),
}
"""Texts of about a megabyte, made when a test asks for them."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", LARGE)
def test_time_grows_with_length_alone(kind: str) -> None:
    text = LARGE[kind]()
    with ends():
        find_errors(text)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a log", "lines of JSON"])
def test_an_error_at_the_end_of_a_long_log_is_found(kind: str) -> None:
    end = ARGUMENTS.format("a::b", "CUDA") if kind == "a log" else escaped(ARGUMENTS.format("a::b", "CUDA"))
    log = LARGE[kind]()
    (match,) = find_errors(f"{log}\n{end}")
    assert (match.operator, match.key, match.line) == ("a::b", "CUDA", log.count("\n") + 2)


@pytest.mark.slow
def test_an_escaped_error_is_found_at_the_end_of_a_long_escaped_log() -> None:
    """Lines without any word of an error are not unescaped, so they do not use up what may be."""
    noise = json.dumps({"message": "\n".join(["all is well"] * 100)})
    log = "\n".join([*[noise] * 500, escaped(ARGUMENTS.format("a::b", "CUDA"))])
    assert [(match.operator, match.key, match.line) for match in find_errors(log)] == [("a::b", "CUDA", 501)]


def test_the_code_in_a_traceback_is_no_message() -> None:
    """The line that raises has the words of the message, with names of Python in it."""
    text = (
        'Traceback (most recent call last):\n  File "f.py", line 3, in f\n'
        '    raise RuntimeError(f"operator {name} does not exist")\nRuntimeError: operator a::b does not exist\n'
    )
    (error,) = find_errors(text)
    assert (error.operator, error.line) == ("a::b", 4)


def test_an_error_comes_before_a_warning_of_vmap_about_the_same_operator() -> None:
    text = (
        "UserWarning: There is a performance drop because we have not yet implemented the batching rule for m::f.\n"
        "RuntimeError: Trying to backward through m.f.default but no autograd formula was registered.\n"
    )
    errors = find_errors(text)
    assert [(error.kind, error.line) for error in errors] == [("no-derivative", 2), ("no-batching-rule", 1)]
