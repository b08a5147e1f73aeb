"""The files of a case: declarations, universes, guards, settings, texts with errors, recordings."""

from __future__ import annotations

import csv
import json
import lzma
import random
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from dispatch_cli import universes
from dispatch_cli.checks import CHECKS
from dispatch_cli.declarations.project import FIELDS
from tests.fuzz import code, documents, words
from tests.support import RECORDINGS, load_recording
from tests.trace.support import every

TEXTS = Path(__file__).parents[1] / "messages" / "texts.tsv"


@cache
def universe_text(name: str) -> str:
    """An embedded universe."""
    return Path(universes.__file__).with_name(f"{name}.json").read_text(encoding="utf-8")


@cache
def tensors_of(name: str) -> int:
    """Number of tensors that an operator of PyTorch takes; of others, one."""
    dump = load_recording("2.15.0.state")["ops"].get(name, {"dump": "(Tensor x) ->"})["dump"]
    return str(dump).partition("(")[2].partition("->")[0].count("Tensor")


@cache
def operator_names() -> list[str]:
    """The operators of PyTorch 2.15."""
    return sorted(load_recording("2.15.0.state")["ops"])


@cache
def error_texts() -> list[str]:
    """Texts of live PyTorch: the recorded errors and messages, and the texts of its sources."""
    results = []
    for path in sorted(RECORDINGS.glob("*.errors.json.xz")):
        results += [error["text"] for error in json.loads(lzma.decompress(path.read_bytes()))["errors"]]
    for path in sorted(RECORDINGS.glob("*.messages.json.xz")):
        results += [message["text"] for message in json.loads(lzma.decompress(path.read_bytes()))["messages"]]
    with TEXTS.open(encoding="utf-8", newline="") as file:
        results += [row["text"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return [text for text in results if text]


CAREFUL = 0.75
"""Share of cases that mean to be understood: their files are of good parts, their options go together."""
NAMES = ("a.yaml", "b.yaml", "c.json", "d.yml", "::error::.yaml", "e\u202e.yaml", "[red].yaml", "f g.yaml", "=1.yaml")
REVISIONS = ("main", "", "--output=out.txt", "-h", "@{u}", "HEAD^{/x", "a\nb", "\x1b[31m", "\u202e", "x" * 9999)
"""Revisions in git; there is no repository."""
OUT, PAGE, NEW_BASELINE = "out.txt", "out.md", "missing.json"
"""Files that a command may write: its answer, the page of a CI job, findings that are known."""
REGISTERING = frozenset({"operators", "libraries", "higher_order_operators"})
"""The fields of declarations that register something: of those that register nothing everything is shown."""


class Inputs:
    """Makes files in a folder; each method writes one, and returns its name."""

    def __init__(self, dice: random.Random, folder: Path) -> None:
        self.dice = dice
        self.folder = folder
        self.written: list[str] = []
        self.careful = dice.random() < CAREFUL
        self.operators: dict[str, int] = {}
        self.stdin = b""
        self.asked: dict[str, str] = {}

    def declarations(self) -> str:
        """A file of declarations."""
        data = documents.document(self.dice, self.careful)
        self.operators |= documents.operators_of(data)
        if isinstance(data, dict) and not REGISTERING.intersection(data) and self.seldom():
            data.pop("extends", None)
        name = self._document(data)
        if not self.careful and self.dice.random() < 0.05:
            return f"{self.dice.choice(REVISIONS)}:{name}"
        if not self.stdin and self.dice.random() < 0.04:
            self.stdin = (self.folder / name).read_bytes()
            return "-"
        return name

    def sources(self) -> str:
        """A directory of sources, or one of its files."""
        files = code.tree(self.dice, self.careful)
        for name, text in files.items():
            path = self.folder / "src" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return "src" if self.dice.random() < 0.7 else f"src/{self.dice.choice([*files])}"

    def seldom(self) -> bool:
        """True if a case that asks for all of PyTorch, for seconds, becomes a smaller one: nine times of ten."""
        return self.dice.random() < 0.9

    def variables(self) -> tuple[tuple[str, str], ...]:
        """Variables of the environment that the program looks at."""
        given = (("NO_COLOR", "1"), ("FORCE_COLOR", "1"), ("TERM", "dumb"), ("SOURCE_DATE_EPOCH", "1"))
        odd = ("SOURCE_DATE_EPOCH", self.dice.choice(["", "x", "-1", "9" * 30, "1e9", "\u0661"]))
        return (*(item for item in (*given, odd) if self.dice.random() < 0.03), *self.asked.items())

    def operator(self) -> str:
        """The name of an operator, mostly of one that a file declares."""
        if self.operators and (self.careful or self.dice.random() < 0.5):
            return self.dice.choice(list(self.operators))
        if self.careful:
            return self.dice.choice(operator_names() if self.dice.random() < 0.5 else words.OF_PYTORCH)
        return words.operator(self.dice)

    def tensors(self, operator: str) -> list[str]:
        """Tensors for a call of an operator: as many as it takes, where a file declares it."""
        count = self.operators.get(operator, tensors_of(operator)) if self.careful else self.dice.randrange(4)
        make = words.good_tensor if self.careful else words.tensor
        first = make(self.dice)
        return [first if self.dice.random() < 0.7 else make(self.dice) for _ in range(count)]

    def word(self, text: str) -> str:
        """A text for the command line: as it is, or, where no care is taken, perhaps a harmful one."""
        return text if self.careful else words.sometimes_harmful(self.dice, text, 0.05)

    def guards(self) -> str:
        """A file that holds guards alone, mostly."""
        if self.careful:
            guards = self.dice.choice([seed["guards"] for seed in documents.seeds() if "guards" in seed])
        else:
            guards = documents.make(self.dice, documents.schema()["properties"]["guards"], "guards")
        return self._document({"dispatch": 1, "guards": guards})

    def universe(self) -> str:
        """A universe in a file."""
        return self._write("universe.json", json.dumps(self._universe()))

    def _universe(self) -> Any:
        """An embedded universe, perhaps with a part dropped or replaced."""
        data = json.loads(universe_text(self.dice.choice(universes.names())))
        if not self.careful:
            name = self.dice.choice(list(data))
            data[name] = self.dice.choice([data[name], None, 0, "x", [], {}, [[]], self.dice.choice(words.HARMFUL)])
        return data

    def baseline(self) -> str:
        """A baseline: one that is written by the case, or one that may be broken."""
        dice = self.dice
        entry = {"check": dice.choice(CHECKS).id, "operator": words.operator(dice), "key": None, "subject": ""}
        data: Any = {"report": "baseline", "schema_version": 1, "findings": [entry] * dice.choice([0, 1, 5])}
        if not self.careful and dice.random() < 0.3:
            data[dice.choice([*data])] = dice.choice([None, 2, [1], {}, "x", [{}], [{"check": 1}]])
        return NEW_BASELINE if dice.random() < 0.5 else self._write("baseline.json", self._bent(json.dumps(data)))

    def settings(self) -> str:
        """A pyproject.toml."""
        dice, lines = self.dice, ["[tool.dispatch-cli]"]
        if self.careful:
            fields = (f"select = [{json.dumps(words.check(dice))}]", "fail-on = 'error'", 'severity = {guard = "info"}')
            lines += dice.sample([*fields, "ignore = 'DC1'", "privateuse1 = 'npu'"], 2)
            return self._write("pyproject.toml", "\n".join(lines) + "\n")
        for name in dice.sample([*FIELDS, "nosuch"], 2):
            value = dice.choice([words.check(dice), "warning", words.base(dice), "x.json"])
            written = json.dumps(dice.choice([value, [value], {value: "error"}, 1])).replace(": ", " = ")
            lines.append(f"{name} = {written}")
        return self._write("pyproject.toml", self._bent("\n".join(lines) + "\n"))

    def error_text(self) -> str:
        """A text with an error that a PyTorch raised, perhaps in a log, cut, or with words replaced."""
        dice = self.dice
        text = dice.choice(error_texts())
        if dice.random() < 0.3:
            text = f"12:00:01 INFO start\n{text}\n{dice.choice(error_texts())[:2000]}"
        if dice.random() < 0.2:
            text = "".join(f"2026-01-01T00:00:00Z {line}\n" for line in text.splitlines())
        if dice.random() < 0.15:
            text = json.dumps({"log": text})
        if dice.random() < 0.2:
            at = dice.randrange(len(text))
            text = text[at : at + dice.randrange(1, 3000)]
        if dice.random() < 0.3:
            name = words.operator(dice) if self.careful else dice.choice(words.HARMFUL)
            text = text.replace(
                dice.choice(["aten::", "CPU", "CUDA", "'", "Tensor", "broken::"]), name[:50], dice.randrange(1, 4)
            )
        return self._write("error.txt", self._bent(text, 0.2))

    def trace(self) -> str:
        """A recording of a program: the lines of a good one, some of them changed, or left out."""
        lines = every().splitlines(keepends=True)
        if not self.careful:
            for _ in range(self.dice.randrange(4)):
                at = self.dice.randrange(len(lines))
                lines[at] = words.broken(self.dice, lines[at]) if self.dice.random() < 0.7 else ""
        elif self.dice.random() < 0.3:
            lines = lines[: self.dice.randrange(1, len(lines))]
        return self._write("program.trace", "".join(lines))

    def _document(self, data: Any) -> str:
        dice = self.dice
        if not self.careful and dice.random() < 0.04:
            data = documents.other_file(dice, data)
        elif not self.careful and dice.random() < 0.1:
            data["universe"] = self._universe()
        if self.written and isinstance(data, dict) and dice.random() < 0.1:
            data["extends"] = [self.written[0]]
        name = dice.choice(NAMES) if dice.random() < 0.2 else dice.choice(NAMES[:3])
        if name.endswith(".json") or "\\udcff" in json.dumps(data):  # no YAML has a half of a character
            text = json.dumps(data, indent=dice.choice([None, 2]))
        else:
            flow = dice.choice([None, None, True, False])
            text = yaml.dump(
                data, Dumper=yaml.CSafeDumper, sort_keys=False, default_flow_style=flow, allow_unicode=True
            )
            if dice.random() < (0.05 if self.careful else 0.3):
                comment = f"# dispatch-cli: ignore[{words.check(dice)}] {dice.choice(['meant so', '', 'x'])}"
                lines = text.split("\n")
                lines.insert(dice.randrange(len(lines)), comment)
                text = "\n".join(lines)
        return self._write(name, self._bent(text))

    def _bent(self, text: str, chance: float = 0.06) -> str:
        """The text, or, with that chance, a broken one."""
        for _ in range(self.dice.randrange(1, 4) if not self.careful and self.dice.random() < chance else 0):
            text = words.broken(self.dice, text)
        return text

    def _write(self, name: str, content: str | bytes) -> str:
        raw = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
        if not self.careful and self.dice.random() < 0.02:
            raw = words.odd_bytes(self.dice, raw)
        (self.folder / name).write_bytes(raw)
        self.written.append(name)
        return name
