"""Requests without a command: completion in each shell, help, the version, commands that there are not."""

from __future__ import annotations

import random

from tests.fuzz import calls, words

COMPLETE, HELP = "complete", "help"
SHELLS = ("bash", "zsh", "fish")
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
    return [*places, *some, calls.tensor(dice), calls.context(dice), words.device(dice), f"--key={words.key(dice)}"]


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
