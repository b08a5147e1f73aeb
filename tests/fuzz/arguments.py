"""The command line of a case, by what click says that the command takes. A new option must be named in `OPTIONS`."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from functools import cache

import click

from dispatch_cli.cli import cli
from dispatch_cli.trace.recording import begins_so
from tests.fuzz import words
from tests.fuzz.inputs import OUT, PAGE, Inputs

LEFT_OUT = ("capture", "crossref", "explore", "help")
"""Commands that need a PyTorch, or a terminal; `HELP` asks for help."""
NOT_GIVEN = {
    "trace": {"python", "is_module", "last"},
    "resolve": {"tensors"},
    "keys": {"tensors"},
    "page": {"all_versions"},
}
"""Parameters that ask a PyTorch, run a program, or take long; and tensors, which `_call` and `_keys` choose."""
COMPLETE, HELP = "complete", "help"
EXTRA = {COMPLETE: words.SHELLS, HELP: ("",)}
"""Requests that are no command, and that the program answers as well."""
Maker = Callable[[Inputs], str]


def _words(make: words.Maker) -> Maker:
    return lambda inputs: make(inputs.dice)


CHOICES = ("A", "C=2", "C=undefined", "B=0", "=", "nothing=1", "or", "C=\x1b[31m", "defined(A)=false")
"""Choices for names in conditions; the conditions of random files have some of these names."""
OPTIONS: dict[str, tuple[float, Maker]] = {
    "keys": (0.04, _words(words.key)),
    "bases": (0.12, lambda inputs: words.base(inputs.dice) if inputs.dice.random() < 0.9 else inputs.trace()),
    "universe": (0.05, lambda inputs: inputs.universe() if inputs.dice.random() < 0.3 else words.universe(inputs.dice)),
    "against": (0.2, lambda inputs: inputs.universe() if inputs.dice.random() < 0.3 else words.universe(inputs.dice)),
    "privateuse1": (0.06, lambda inputs: "npu" if inputs.careful else words.backend_name(inputs.dice)),
    "ops": (0.2, lambda inputs: inputs.operator() if inputs.careful else words.operator_glob(inputs.dice)),
    "when": (0.06, _words(lambda dice: dice.choice(CHOICES))),
    "further_old": (0.1, lambda inputs: inputs.declarations()),
    "further_new": (0.1, lambda inputs: inputs.declarations()),
    "key_globs": (0.3, _words(words.key_glob)),
    "tensors": (0.1, _words(words.tensor)),
    "contexts": (0.4, _words(words.context)),
    "options": (0.2, _words(words.argument)),
    "keyset": (0.1, _words(words.expression)),
    "devices": (0.3, _words(words.key)),
    "source_url": (
        0.2,
        lambda inputs: inputs.dice.choice(["https://github.com/a/b", "https://u:p@github.com/a", "file:///x", "[->["]),
    ),
    "select": (0.3, _words(words.check)),
    "ignore": (0.1, _words(words.check)),
    "guards": (0.15, lambda inputs: inputs.guards()),
    "baseline": (0.1, lambda inputs: inputs.baseline()),
    "config": (0.08, lambda inputs: inputs.settings()),
    "output": (0.04, lambda inputs: inputs.dice.choice([OUT, OUT, "no/such/folder/out.txt", "a.yaml", ".", "", "-"])),
    "step_summary": (0.1, lambda inputs: inputs.dice.choice([PAGE, PAGE, PAGE, "no/such/folder/out.md", "a.yaml", ""])),
    "file": (0.1, lambda inputs: inputs.dice.choice([OUT, OUT, "no/such/folder/out.txt"])),
    "error_file": (0.01, lambda inputs: inputs.error_text()),
    "source_defines": (0.03, _words(words.macro)),
    "source_undefines": (0.03, _words(words.macro)),
    "source_include": (0.02, lambda inputs: inputs.dice.choice([".", ".", "no/such/folder", "a.yaml"])),
    "source_values": (0.03, _words(words.value_of_name)),
    "source_exclude": (0.03, _words(words.file_glob)),
    "tags": (0.2, lambda inputs: inputs.dice.choice(["core", "pointwise", "generated", "nosuch", "\x1b[31m"])),
    "fail_under": (
        0.2,
        lambda inputs: inputs.dice.choice(["0", "50.5", "100"] if inputs.careful else ["-1", "nan", "x"]),
    ),
    "older": (0.1, _words(words.base)),
    "lines": (0.1, _words(lambda dice: dice.choice(("train.py", "train.py:1", "me/train.py:4", "x", ":", "\x1b[31m")))),
    "where": (
        0.1,
        _words(lambda dice: dice.choice(("cpu->*", "*->npu", "CPU->CPU", "cpu->nosuch", "cpu", "->", "[->["))),
    ),
    "depth": (0.1, lambda inputs: str(inputs.dice.choice([1, 2, 10**9] if inputs.careful else [0, -1]))),
    "explain": (0.2, lambda inputs: str(inputs.dice.choice([0, 1, 5] if inputs.careful else [-1, 10**9]))),
    "limit": (0.1, lambda inputs: str(inputs.dice.choice([0, 1, 5]))),
    "trace": (0.15, lambda inputs: inputs.trace()),
    "save": (0.02, lambda inputs: inputs.dice.choice([OUT, "no/such/folder/out.trace", "."])),
    "max_size": (0.02, lambda inputs: str(inputs.dice.choice([1, 256, 0, 10**9]))),
    "kernels": (0.1, lambda inputs: inputs.declarations()),
}
"""Option → how often it is given, and what it takes. A flag and a choice say so themselves.

Tensors are given by `_call` and `_keys`.
"""
SOURCES = 0.15
"""Share of cases with sources beside declarations."""
FLAG = 0.12
CHOICE = 0.25


@cache
def report_names() -> list[str]:
    """The reports that have a JSON Schema."""
    from dispatch_cli.cli.report_schemas import report_types

    return [*report_types(), "nosuch"]


@cache
def commands() -> dict[str, click.Command]:
    """The commands that can be tried without a PyTorch."""
    context = click.Context(cli)
    by_name = {name: cli.get_command(context, name) for name in cli.list_commands(context) if name not in LEFT_OUT}
    return {name: command for name, command in by_name.items() if command is not None}


@cache
def formats(command: str) -> tuple[str, ...]:
    """The formats of a command; one that has none has an empty one. Those of completion are the shells."""
    if command in EXTRA:
        return EXTRA[command]
    for parameter in commands()[command].params:
        if parameter.name == "format_":
            assert isinstance(parameter.type, click.Choice)
            return tuple(parameter.type.choices)
    return ("",)


def command_line(command: str, format_: str, inputs: Inputs) -> list[str]:
    """The arguments of a case, without its command and its format."""
    if command == HELP:
        return help_line(inputs.dice, inputs.dice.choice([*commands()]))
    if command == COMPLETE:
        its = inputs.dice.choice([*commands()])
        line = [its, *command_line(its, formats(its)[0], inputs)]
        inputs.asked = completion(inputs.dice, format_, line, inputs.careful)
        return []
    dice, arguments = inputs.dice, _positional(command, inputs)
    options = [param for param in commands()[command].params if isinstance(param, click.Option)]
    given: list[list[str]] = []
    for option in options:
        if option.name not in {"format_", "help", *NOT_GIVEN.get(command, ())}:
            given += _given(option, inputs)
    if inputs.careful:  # of many options, two seldom go together
        given = dice.sample(given, min(len(given), dice.choice([0, 1])))
    if "--baseline" not in [option[0] for option in given]:
        given = [option for option in given if option != ["--update-baseline"]]
    if not inputs.operators and ["--op"] not in [option[:1] for option in given] and inputs.seldom():
        given = [option for option in given if option[0] != "--base"]
    # no system can give a process a null character
    return [part.replace("\0", "") for part in (*arguments, *(part for option in given for part in option))]


def _given(option: click.Option, inputs: Inputs) -> list[list[str]]:
    """Arguments for an option: nothing, or a flag, or a flag with a value, perhaps twice."""
    dice, flag = inputs.dice, option.opts[0]
    if option.is_flag:
        return [[flag]] if dice.random() < FLAG else []
    if isinstance(option.type, click.Choice):
        return [[flag, str(dice.choice(option.type.choices))]] if dice.random() < CHOICE else []
    assert option.name in OPTIONS, f"say in OPTIONS what {flag} takes"
    chance, make = OPTIONS[option.name]
    times = dice.choice([1, 1, 2]) if option.multiple else 1
    if flag == "--op" and not inputs.operators and inputs.seldom():
        make = _words(words.operator)
    values = [make(inputs) for _ in range(times) if dice.random() < chance]
    return [
        [flag, inputs.word(value)]
        for value in values
        if not inputs.careful or value not in words.WRONG or flag[2:4] == "pr"
    ]


def _call(inputs: Inputs, files: list[str]) -> list[str]:
    operator = inputs.operator()
    tensors = [part for text in inputs.tensors(operator) for part in ("--tensor", inputs.word(text))]
    return [inputs.word(operator), *files, *tensors]


def _question(inputs: Inputs, files: list[str]) -> list[str]:
    operator = inputs.operator()
    make = words.place if "::" not in operator and inputs.dice.random() < 0.7 else words.key
    return [inputs.word(operator), inputs.word(make(inputs.dice)), *files]


def _keys(inputs: Inputs) -> list[str]:
    dice = inputs.dice
    kind = dice.choice(["universe", "expression", "expression", "call"])
    if kind == "call":
        return [part for text in inputs.tensors("") for part in ("--tensor", inputs.word(text))]
    make = words.expression if inputs.careful or dice.random() < 0.7 else words.odd_expression
    return [inputs.word(make(dice))] if kind == "expression" else []


def _history(inputs: Inputs) -> list[str]:
    dice = inputs.dice
    make = words.embedded_operator if inputs.careful or dice.random() < 0.7 else words.operator_glob
    key = dice.choice(("CPU", "Meta", "Autograd", "Dense", "Named")) if inputs.careful else words.key(dice)
    return [inputs.word(make(dice)), *([inputs.word(key)] if dice.random() < 0.5 else [])]


def _sides(inputs: Inputs, files: list[str]) -> list[str]:
    """Arguments of ``diff``: two sides; now and then another number of them."""
    dice = inputs.dice
    others = [inputs.declarations() if dice.random() < 0.6 else words.base(dice) for _ in range(2)]
    sides = (files + others)[:2]
    dice.shuffle(sides)
    return sides if inputs.careful or dice.random() < 0.9 else sides[: dice.randrange(2)]


def _trace(inputs: Inputs) -> str:
    """A recording, or a script that is not there: any other file would be run."""
    file = inputs.trace()
    if begins_so(os.fspath(inputs.folder / file)) and (inputs.careful or inputs.dice.random() < 0.9):
        return file
    return inputs.dice.choice(["no/such/program.py", "program", "-", ".", "no\x1b[31m.py"])


def _positional(command: str, inputs: Inputs) -> list[str]:
    dice = inputs.dice
    count = dice.choice([1, 1, 1, 1, 2]) if inputs.careful or dice.random() < 0.9 else 0
    files = [inputs.declarations() for _ in range(count if not inputs.careful else 1)]
    files += [inputs.sources()] if dice.random() < SOURCES else []
    rule = words.rule_number if inputs.careful else words.rule
    if command in ("explain", "resolve") and inputs.careful and not inputs.operators:
        files = []
    makers: dict[str, Callable[[], list[str]]] = {
        "extract": lambda: [inputs.sources()],
        "explain": lambda: _question(inputs, files),
        "resolve": lambda: _call(inputs, files),
        "rules": lambda: [inputs.word(rule(dice)) for _ in range(dice.choice([0, 1, 2]))],
        "keys": lambda: _keys(inputs),
        "coverage": lambda: [inputs.word(words.backend(dice)), *files],
        "history": lambda: _history(inputs),
        "checks": lambda: [inputs.word(words.check(dice)) for _ in range(dice.choice([0, 1, 2]))],
        "bases": list,
        "schema": lambda: [dice.choice(report_names())] if dice.random() < 0.8 else [],
        "diff": lambda: _sides(inputs, files),
        "trace": lambda: [_trace(inputs)],
    }
    if command == "explain" and dice.random() < 0.3:
        return ["--from-error", inputs.error_text(), *files[: dice.randrange(2)]]
    return makers.get(command, lambda: files)()


# requests without a command: completion in each shell, help, the version, commands that there are not

VARIABLE, LINE, WORD = "_DISPATCH_CLI_COMPLETE", "_DISPATCH_CLI_LINE", "_DISPATCH_CLI_WORD"


def completion(dice: random.Random, shell: str, line: list[str], careful: bool) -> dict[str, str]:
    """The variables of the environment with which a shell asks: for a line that is cut somewhere."""
    words_ = [*line[: dice.randrange(1, len(line) + 1)], dice.choice(_starts(dice))] if line else [""]
    if not careful:
        words_ = [words.sometimes_harmful(dice, word, 0.1) for word in words_]
    quote = dice.choice(["", "", "", "'", '"'])
    last = words_[-1][: dice.randrange(len(words_[-1]) + 1)]
    asked = " ".join(["dispatch-cli", *words_[:-1], quote + last]).replace("\0", "")
    return {VARIABLE: f"{shell}_complete", LINE: asked, WORD: last.rpartition(":")[2].replace("\0", "")}


def _starts(dice: random.Random) -> list[str]:
    """Texts whose beginnings are completed."""
    places = ["higher_order::", "mode=", "transform=", "aten::", "torch.ops.", "--", "-", "", "a.y", "--op=aten::", "@"]
    some = [words.operator(dice), words.key(dice), words.check(dice), words.base(dice), words.universe(dice)]
    return [*places, *some, words.tensor(dice), words.context(dice), words.device(dice), f"--key={words.key(dice)}"]


def help_line(dice: random.Random, command: str) -> list[str]:
    """The arguments of a question about the program itself."""
    lines = [
        ["--help"],
        ["-h"],
        ["--version"],
        [command, "--help"],
        [command, "-h"],
        ["--traceback", command, "--help"],
        ["help"],
        ["help", command],
        ["help", dice.choice(("input", "sources", "output"))],
    ]
    odd = [[], [command[:-1]], [f"{command}s"], ["--nosuch"], ["-x"], ["--version=1"], [command, "--nosuch"]]
    odd.append(["help", f"{command}s"])
    odd.append([dice.choice(words.HARMFUL).replace("\0", "")])
    return dice.choice(lines if dice.random() < 0.85 else odd)
