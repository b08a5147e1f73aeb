"""The command line of a case: a good one, in which files are broken, words replaced and options added."""

from __future__ import annotations

import json
import random
import shutil
from functools import cache
from pathlib import Path

import click
import yaml

from dispatch_cli.cli import cli
from tests.cli.support import ROOT
from tests.cli.transcripts import CASES
from tests.fuzz import documents, words

LEFT_OUT = ("capture", "explore", "help")
"""Commands that need a PyTorch, or a terminal, or have no answer."""
NOT_GIVEN = ("format_", "help", "python", "is_module", "modules", "last", "save", "output", "file")
"""Parameters that ask a PyTorch, run a program, write a file or take half a minute."""
COMPLETE = "complete"
"""A request that is no command, and that the program answers as well."""
SEEDS = (
    *CASES.values(),
    *(("bases",), ("schema",), ("schema", "table"), ("page", "examples/stale.yaml"), ("trace", "TRACE")),
    *(("guards", "examples/stale.yaml"), ("check-invariants", "examples/custom_ops.yaml", "--select", "all")),
    *(("check-invariants", "examples/stale.yaml", "--baseline", "baseline.json"), ("table", "examples/add.yaml")),
    *(("extract", "examples/extension"), ("check-invariants", "examples/backend"), ("resolve", "a::f", "DECLARED")),
    *(("register", "DECLARED"), ("table", "DECLARED"), ("support", "DECLARED"), ("diff", "DECLARED", "DECLARED")),
    *(("check-invariants", "DECLARED", "--config", "SETTINGS"), ("explain", "--from-error", "ERROR", "DECLARED")),
)
"""Good command lines. A word in capitals is a file of that kind that the case makes."""
TRACE, ERROR = "tests/trace/recordings/own.trace", "tests/cli/error.txt"
SETTINGS = '[tool.dispatch-cli]\nselect = ["DC1", "guard"]\nfail-on = "error"\nseverity = {guard = "info"}\n'
CAREFUL = 0.5
"""Share of cases in which nothing is broken: their options go together, mostly."""
OPTIONS = 0.4
"""Share of cases with one more option."""


@cache
def commands() -> dict[str, click.Command]:
    """The commands that can be tried without a PyTorch."""
    context = click.Context(cli)
    by_name = {name: cli.get_command(context, name) for name in cli.list_commands(context) if name not in LEFT_OUT}
    return {name: command for name, command in by_name.items() if command is not None}


@cache
def formats(command: str) -> tuple[str, ...]:
    """The formats of a command; one that has none has an empty one. Those of completion are the shells."""
    if command == COMPLETE:
        return words.SHELLS
    for parameter in commands()[command].params:
        if parameter.name == "format_":
            assert isinstance(parameter.type, click.Choice)
            return tuple(parameter.type.choices)
    return ("",)


def command_line(command: str, dice: random.Random, folder: Path) -> list[str]:
    """The arguments of a case, without its command and its format; its files are written to the folder."""
    careful = dice.random() < CAREFUL
    seed = dice.choice([seed for seed in SEEDS if seed[0] == command])
    line = [_argument(dice, word, folder, careful) for word in seed[1:]]
    if line and not careful and dice.random() < 0.5:
        at = dice.randrange(len(line))
        line[at] = dice.choice([words.any_word(dice), words.broken(dice, line[at]), dice.choice(words.HARMFUL)])
    if dice.random() < OPTIONS:
        line += _option(dice, commands()[command], careful)
    # no system can give a process a null character
    return [word.replace("\0", "") for word in line]


def _argument(dice: random.Random, word: str, folder: Path, careful: bool) -> str:
    """A word as it is, or a copy of the file or folder that it names, in the folder of the case, perhaps broken."""
    kinds = {"TRACE": TRACE, "ERROR": ERROR}
    source = ROOT / kinds.get(word, word)
    if word in ("DECLARED", "SETTINGS"):
        name = dice.choice(words.FILES) if word == "DECLARED" else "pyproject.toml"
        text = SETTINGS if word == "SETTINGS" else _declared(dice, careful)
        (folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))
    elif source.is_dir():
        name = source.name
        shutil.copytree(source, folder / name, dirs_exist_ok=True)
    elif source.is_file() and "/" in str(kinds.get(word, word)):
        name = source.name
        shutil.copyfile(source, folder / name)
    else:
        return word
    files = [path for path in (folder / name).rglob("*") if path.is_file()] or [folder / name]
    if not careful and word != "DECLARED":
        _break(dice, dice.choice(sorted(files)))
    elif not careful and dice.random() < 0.1:
        _break(dice, folder / name)
    return name


def _declared(dice: random.Random, careful: bool) -> str:
    """A document of declarations, as YAML or as JSON, which is YAML too."""
    data = documents.document(dice, careful)
    written = json.dumps(data)
    if "\\udcff" in written or dice.random() < 0.3:  # no YAML has a half of a character
        return written
    flow = dice.choice([None, True, False])
    return yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False, default_flow_style=flow, allow_unicode=True)


def _break(dice: random.Random, path: Path) -> None:
    raw = path.read_bytes()
    if dice.random() < 0.2:
        path.write_bytes(words.odd_bytes(dice, raw))
        return
    text = raw.decode("utf-8", "replace")
    for _ in range(dice.randrange(1, 4)):
        text = words.broken(dice, text)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))


def _option(dice: random.Random, command: click.Command, careful: bool) -> list[str]:
    """An option of the command, with a value, which is any word where no care is taken."""
    options = [param for param in command.params if isinstance(param, click.Option) and param.name not in NOT_GIVEN]
    if not options:
        return []
    option = dice.choice(options)
    if option.is_flag:
        return [option.opts[0]]
    if isinstance(option.type, click.Choice):
        return [option.opts[0], str(dice.choice(option.type.choices))]
    make = words.OF_OPTION.get(option.name or "", words.any_word) if careful else words.any_word
    return [option.opts[0], make(dice)]


# completion in each shell

VARIABLE, LINE, WORD = "_DISPATCH_CLI_COMPLETE", "_DISPATCH_CLI_LINE", "_DISPATCH_CLI_WORD"


def completion(dice: random.Random, shell: str) -> dict[str, str]:
    """The variables of the environment with which a shell asks: for a line that is cut somewhere."""
    line = list(dice.choice(SEEDS))
    line = [*line[: dice.randrange(1, len(line) + 1)], dice.choice([*words.STARTS, words.any_word(dice)])]
    line = [words.sometimes_harmful(dice, word, 0.05) for word in line]
    last = line[-1][: dice.randrange(len(line[-1]) + 1)]
    asked = " ".join(["dispatch-cli", *line[:-1], dice.choice(["", "", "'", '"']) + last]).replace("\0", "")
    return {VARIABLE: f"{shell}_complete", LINE: asked, WORD: last.rpartition(":")[2].replace("\0", "")}
