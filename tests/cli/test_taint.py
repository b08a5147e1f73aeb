"""Harmful text in every text field of every input, and every format of every command read for it.

Which fields of declarations there are comes from the JSON Schema; those of universes, recordings, baselines and answers
of the probe from good ones: each of their texts and names in turn.
"""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import category

import pytest
import yaml

from dispatch_cli.capture.write import json_text, yaml_text
from dispatch_cli.cli.output import FOR_CI
from dispatch_cli.declarations.loader import load
from dispatch_cli.model.problem import InputError
from dispatch_cli.render.printed import printed
from tests.capture.support import universe_data
from tests.cli.support import Result, call
from tests.cli.test_untrusted_names import DANGEROUS, IGNORABLE, NO_CHARACTERS, dangerous
from tests.declarations.test_format import EVERY_FIELD
from tests.fuzz.documents import schema, seeds, spots
from tests.fuzz.verdict import COLOUR, WORKFLOW, unreadable
from tests.trace.support import every

pytestmark = pytest.mark.slow

TAINTS = {
    "control": "\x1b]0;owned\x07\x9b31m\x7f\r\n::error::pwned",
    "unseen": "::error::pwned ##[error]pwned ##vso[task.x]y"
    "\u202eb\u2066c\u200bd\ufeffe\U000e0041"
    "\u034fa\u115f\u17b4\u180b\u180f\u2065\u3164\ufe0f\uffa0\ufff0b\U000e0100\ufdd0a\ufffe\U0001ffff",
}
"""Text with control characters, which YAML refuses; and text with commands of CI systems, and characters that turn the
direction of writing or cannot be seen."""
SUFFIX = "\u202e::error::\u200b##[error]\u3164\ufe0f\ufffe\U000e0100"
"""Harmful characters that the texts of declarations can have."""
PAIR = re.compile(r"\\ud[89ab]..\\ud[c-f]..")
MARK = re.compile(r"##[\w.-]*\[")
FORMATS = ("text", "json", "csv", "markdown", "html")
ONE = ("--op", "*::*")
CLEAN = "clean.yaml"
"""A file to compare others with."""
COMMANDS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("register",): (*FORMATS, "raw"),
    ("register", "--key", "*"): (*FORMATS, "raw"),
    ("register", "--view", "fallbacks"): FORMATS,
    ("register", "--view", "order"): FORMATS,
    ("table",): (*FORMATS, "raw"),
    ("table", "--view", "grid"): ("svg",),
    ("support", "--device", "cpu", "--device", "cuda"): (*FORMATS, "svg"),
    ("coverage", "PrivateUse1"): FORMATS,
    ("coverage",): (*FORMATS, "svg"),
    ("check-invariants", "--select", "all", "--config", "none"): (*FORMATS, "raw", *FOR_CI),
    ("check-invariants", "--view", "summary", "--config", "none"): FORMATS,
    ("check-invariants", "--select", "all", "--config", "none", "--step-summary", "page.md"): ("text", "github"),
    ("diff", CLEAN): FORMATS,
    ("diff", CLEAN, "--op", "*"): ("text", "html"),
    ("page",): ("html",),
    ("guards",): FORMATS,
    ("guards", "--record"): ("text",),
}
RUNS = [(*command, "--format", format_) for command, formats in COMMANDS.items() for format_ in formats]


def assert_harmless(result: Result, arguments: tuple[str, ...]) -> None:
    """Nothing in an output commands a terminal or a CI system, or cannot be seen."""
    assert result.code in (0, 1, 2), (arguments, result.err[:500])
    for stream, text in (("stdout", COLOUR.sub("", result.out)), ("stderr", COLOUR.sub("", result.err))):
        match = DANGEROUS.search(text) if dangerous(stream, text) else None
        assert match is None, (arguments, stream, text[max(0, match.start() - 60) : match.end() + 20])
        for line in text.split("\n"):
            if stream == "stdout" and "github" in arguments:
                assert WORKFLOW.fullmatch(line) or not line, (arguments, line)
            else:
                assert not line.lstrip().startswith("::"), (arguments, stream, line)
                assert MARK.search(line) is None, (arguments, stream, line)


def run(*arguments: str, stdin: bytes = b"") -> Result:
    page = Path("page.md")
    page.unlink(missing_ok=True)
    result = call(*arguments, stdin=stdin)
    assert_harmless(result, arguments)
    if page.exists():
        text = page.read_bytes().decode()
        assert_harmless(Result(0, text, ""), ("--step-summary",))
        assert unreadable(text, "check-invariants", "markdown", False) is None, arguments
    return result


class Planted(NamedTuple):
    """A document with a taint in one place. field: where."""

    field: str
    document: Any


def planted(document: Any, taint: str, step: int = 1) -> Iterator[Planted]:
    """The document with a taint of `TAINTS` in each text and each name in turn.

    It stands behind the text and in its place by turns.

    step: only in every so many of them; those of one taint are beside those of the other.
    """
    text, start = TAINTS[taint], [*TAINTS].index(taint)
    for number, (path, is_name) in enumerate(list(_texts(document, ()))[start % step :: step]):
        tainted = (lambda _: text) if number % 2 else (lambda before: f"{before}{text}")
        yield Planted(".".join(map(str, path)), _changed(document, path, is_name, tainted))


def _changed(value: Any, path: tuple[Any, ...], is_name: bool, tainted: Callable[[str], str]) -> Any:
    """The value with another text at *path*. What lies beside the path is shared, not copied."""
    if not path:
        return tainted(value)
    first, *others = path
    if not others and is_name:
        return {tainted(key) if key == first else key: below for key, below in value.items()}
    changed = copy.copy(value)
    changed[first] = _changed(value[first], tuple(others), is_name, tainted)
    return changed


def _texts(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], bool]]:
    """The way to each text, and whether it is a name in a mapping."""
    if isinstance(value, str):
        yield path, False
    elif isinstance(value, Mapping):
        for key, below in value.items():
            yield (*path, key), True
            yield from _texts(below, (*path, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from _texts(below, (*path, index))


def written(document: Any) -> bytes:
    """A document as JSON, whose escapes YAML reads too, but for pairs of surrogates: what they are is written."""
    return PAIR.sub(lambda pair: json.loads(f'"{pair[0]}"'), json.dumps(document)).encode()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path(CLEAN).write_text("dispatch: 1\noperators:\n- func: demo::op(Tensor x) -> Tensor\n", encoding="utf-8")
    return tmp_path


# declarations


@pytest.mark.parametrize("taint", TAINTS)
def test_each_field_of_declarations(taint: str, folder: Path) -> None:
    """Commands, formats and taints take turns: most of such files are refused, and all show problems in one way."""
    runs = itertools.cycle(RUNS)
    document = yaml.safe_load(EVERY_FIELD)
    count = 0
    for plant in planted(document, taint, 2):
        (folder / "d.json").write_bytes(written(plant.document))
        command, *options = next(runs)
        run(command, "d.json", *options)
        count += 1
    assert count > 62


@cache
def free_fields() -> frozenset[str]:
    """The fields of declarations whose texts can be anything visible, by trying each."""
    problems: set[str] = set()
    path = Path("free.json")
    document = yaml.safe_load(EVERY_FIELD)
    del document["extracted"]  # in what was extracted, PyTorch's refusals are findings
    document["operators"] = [operator for operator in document["operators"] if "refused" not in operator]
    for spot in spots(document, schema()):
        value = spot.holder[spot.key]
        if isinstance(value, str):
            spot.holder[spot.key] = f"{value}{SUFFIX}"
            path.write_bytes(written(document))
            try:
                load([str(path)])
                problems.add(spot.field)
            except InputError:
                pass
            spot.holder[spot.key] = value
    return frozenset(problems)


def test_the_fields_that_can_be_anything() -> None:
    assert {"kernel", "dispatch#value", "debug", "tags", "reason", "notes", "fallbacks#value"} <= free_fields()
    assert {"func", "dispatch_key", "namespace", "rule", "extends"}.isdisjoint(free_fields())


def test_every_format_of_files_that_are_good() -> None:
    """The texts of a file get the same end everywhere, so that what it says of them still holds."""
    good = 0
    for seed in [seed for seed in seeds() if "extends" not in seed][::3]:
        document = copy.deepcopy(seed)
        document.pop("universe", None)
        for spot in list(spots(document, schema())):
            value = spot.holder[spot.key]
            if isinstance(value, str) and spot.field in free_fields() and value != "fallthrough":
                spot.holder[spot.key] = f"{value}{SUFFIX}"
        Path("d.json").write_bytes(written(document))
        if run("register", "d.json", *ONE).code != 0 or SUFFIX not in json.dumps(document, ensure_ascii=False):
            continue
        good += 1
        for command, *options in RUNS:
            run(command, "d.json", *options)
    assert good >= 4


def test_explanations_and_calls() -> None:
    dispatch = {"CPU": f"k{SUFFIX}", "CompositeImplicitAutograd": f"m{SUFFIX}"}
    operator = {"func": "m::a(Tensor x) -> Tensor", "dispatch": dispatch, "tags": [f"t{SUFFIX}"], "debug": SUFFIX}
    Path("d.json").write_bytes(written({"dispatch": 1, "operators": [operator]}))
    call = ("resolve", "m::a", "d.json", "--tensor", "cpu requires_grad")
    for format_ in ("text", "json", "markdown", "html"):
        for key in ("CPU", "AutogradCPU", "CUDA", "CompositeImplicitAutograd", "Dense"):
            run("explain", "m::a", key, "d.json", "--format", format_)
        for context in ("vmap", "inference_mode", "mode=FakeTensorMode"):
            run(*call, "--context", context, "--format", format_)
        run("explain", "m::a", "CPU", "d.json", "--format", format_, "--color", "always")
    for options in ((), ("--format", "html"), ("--format", "svg")):
        assert "k\\u202e" in run(*call, *options).out.replace("<wbr>", "")


def test_recorded_guards_say_what_held() -> None:
    """Harmful characters are escapes in them, and read back as they were."""
    operator = {"func": "m::a(Tensor x) -> Tensor", "dispatch": {"CPU": f"k{SUFFIX}"}}
    Path("d.json").write_bytes(written({"dispatch": 1, "operators": [operator]}))
    recorded = run("guards", "d.json", "--record")
    assert recorded.code == 0
    assert all(escape in recorded.out for escape in ("\\u202e", "\\u3164", "\\ufe0f", "\\ufffe", "\\U000e0100"))
    Path("g.yaml").write_text(recorded.out, encoding="utf-8")
    assert run("guards", "d.json", "--guards", "g.yaml").code == 0
    operator["dispatch"] = {"CPU": "k"}
    Path("d.json").write_bytes(written({"dispatch": 1, "operators": [operator]}))
    assert run("guards", "d.json", "--guards", "g.yaml").code == 1


# other inputs


@pytest.mark.parametrize("taint", TAINTS)
def test_recordings_of_programs(taint: str) -> None:
    """Each text of a recording in turn; every format shows it or refuses it harmlessly."""
    lines = [json.loads(line) for line in every().splitlines()]
    lines.insert(
        -1, ["r", 0, [["CPU", [["CPU", "registered at then.py:7", False]], False], ["AutogradCPU", None, True]]]
    )
    explained = [("--format", form, "--explain", "0") for form in ("text", "json")]
    runs = itertools.cycle([*(("--format", form) for form in FORMATS), *explained])
    count = 0
    for plant in planted(lines, taint, 2):
        text = "".join(f"{json.dumps(line)}\n" for line in plant.document)
        Path("x.trace").write_text(text, encoding="utf-8")
        run("trace", "x.trace", *next(runs))
        count += 1
    assert count > 50


@pytest.mark.parametrize("taint", TAINTS)
def test_universes(taint: str) -> None:
    """Names of keys are many and alike: a part of them is tried."""
    commands = itertools.cycle([("keys",), ("guards", "d.json")])
    formats = itertools.cycle(FORMATS)
    Path("d.json").write_bytes(written({"dispatch": 1, "operators": [{"func": "m::a() -> ()"}]}))
    for plant in planted(universe_data("torch-2.15"), taint, 61):
        Path("u.json").write_bytes(written(plant.document))
        arguments = (*next(commands), "--universe", "u.json", "--format", next(formats))
        run(*arguments)


@pytest.mark.parametrize("taint", TAINTS)
def test_projects_and_baselines(taint: str, folder: Path) -> None:
    Path("d.json").write_bytes(written({"dispatch": 1, "operators": [{"func": "m::a() -> ()"}]}))
    text = json.dumps(TAINTS[taint])
    for line in (
        f"ignore = [{text}]",
        f"fail-on = {text}",
        f"baseline = {text}",
        f"guards = [{text}]",
        f"severity = {{{text} = 'error'}}",
        f"{text} = 1",
        f"select = {TAINTS[taint]}",
    ):
        (folder / "pyproject.toml").write_text(f"[tool.dispatch-cli]\n{line}\n", encoding="utf-8")
        for format_ in (*FORMATS, *FOR_CI):
            run("check-invariants", "d.json", "--format", format_, "--step-summary", "page.md")
    (folder / "pyproject.toml").unlink()
    entry = {"check": "guard", "operator": "m::a", "key": "CPU", "subject": "s"}
    baseline = {"report": "baseline", "schema_version": 1, "findings": [entry]}
    for plant in planted(baseline, taint):
        for format_ in (*FORMATS, *FOR_CI):
            Path("b.json").write_bytes(written(plant.document))
            run("check-invariants", "d.json", "--baseline", "b.json", "--format", format_)
        if run("check-invariants", "d.json", "--baseline", "b.json", "--update-baseline").code == 0:
            assert_harmless(Result(0, Path("b.json").read_text(encoding="utf-8"), ""), ("baseline",))


ERROR = (
    "NotImplementedError: Could not run 'm::{0}' with arguments from the '{0}' backend. '{0}' is only available for "
    "these backends: [{0}, CPU].\n\n{0}: registered at {0}:1 [kernel]\nCPU: registered at {0} [kernel]\n"
)


@pytest.mark.parametrize("taint", TAINTS)
def test_error_texts(taint: str) -> None:
    parts = ERROR.split("{0}")
    texts = [ERROR.replace("{0}", TAINTS[taint])]
    texts += ["x".join(parts[:place]) + TAINTS[taint] + "x".join(parts[place:]) for place in range(1, len(parts))]
    texts += [f"RuntimeError: {TAINTS[taint]}", TAINTS[taint]]
    for text in texts:
        for format_ in ("text", "json", "markdown", "html"):
            run("explain", "--from-error", "-", "--format", format_, stdin=text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("taint", TAINTS)
@pytest.mark.parametrize("ending", [".yaml", ".json"])
def test_what_a_capture_writes(taint: str, ending: str) -> None:
    """It reads back as it was, and what is harmful is in quotes."""
    text = TAINTS[taint]
    kernel = {"debug": text, "signature": text}
    operator = {
        "func": text,
        "debug": f"k{text}",
        "tags": [text, f"t{text}"],
        "dispatch": {"CPU": kernel, f"C{text}": "k"},
    }
    document = {"dispatch": 1, "notes": [text], "operators": [operator]}
    out = "".join(printed((yaml_text if ending == ".yaml" else json_text)(document), "data"))
    assert_harmless(Result(0, out, ""), ("capture", ending))
    assert (yaml.safe_load(out) if ending == ".yaml" else json.loads(out)) == document


NAMES = (
    "::error::x.yaml",
    "  ::error::y.yaml",
    "\x1b]0;x\x07.yaml",
    "a\n::error::z.yaml",
    "\u202ee.yaml",
    "##[error]q.yaml",
)


@pytest.mark.parametrize("name", NAMES)
def test_names_of_files(name: str, folder: Path) -> None:
    guard = {"op": "m::*", "key": "CPU", "kernel": "other"}
    operator = {"func": "m::a(Tensor x) -> Tensor", "dispatch": {"CPU": ["k", "l"], "CompositeImplicitAutograd": "m"}}
    good, bad, lost = (folder / f"{head}{name}" for head in ("", "b", "l"))
    good.write_bytes(written({"dispatch": 1, "operators": [operator], "guards": [guard]}))
    bad.write_bytes(written({"dispatch": 1, "foo": 1, "extends": [f"./{name}", "./no.yaml"]}))
    for command, *options in RUNS:
        for file in (good, bad, lost):
            run(command, file.name, *options)
    for arguments in (
        ("explain", "--from-error", name),
        ("crossref", name),
        ("keys", "--universe", name),
        ("register", good.name, "-o", f"none/{name}"),
        ("check-invariants", good.name, "--baseline", name),
        ("check-invariants", good.name, "--baseline", f"new{name}", "--update-baseline"),
        ("check-invariants", good.name, "--config", name),
    ):
        run(*arguments)


@pytest.mark.parametrize("taint", TAINTS)
def test_arguments(taint: str) -> None:
    text = TAINTS[taint]
    Path("d.json").write_bytes(written({"dispatch": 1, "operators": [{"func": "m::a(Tensor x) -> Tensor"}]}))
    for arguments in (
        (text,),
        ("register", text),
        ("register", "--base", text),
        ("register", "d.json", "--op", text),
        ("register", "d.json", f"--{text}"),
        ("register", "d.json", "--format", text),
        ("table", "d.json", "--key", text),
        ("explain", text, "CPU", "d.json"),
        ("explain", "m::a", text, "d.json"),
        ("resolve", text, "d.json"),
        ("resolve", "m::a", "d.json", "--tensor", f"cpu {text}"),
        ("resolve", "m::a", "d.json", "--tensor", "cpu", "--context", text),
        ("resolve", "m::a", "d.json", "--tensor", "cpu", "--argument", f"device={text}"),
        ("keys", f"CPU | {text}"),
        ("keys", "--universe", text),
        ("check-invariants", "d.json", "--select", text),
        ("checks", text),
        ("schema", text),
        ("capture", "--import", text),
        ("capture", "-o", text),
        ("crossref", text),
    ):
        run(*(argument.replace("\0", "") for argument in arguments))
        if arguments[0] in ("register", "table", "explain", "resolve", "check-invariants"):
            run(*arguments, "--format", "json")


# the way out


def test_what_is_harmful() -> None:
    """`printed` leaves no character that controls, formats, separates or is not seen, but line feeds and tabs."""
    unseen = re.compile(f"[{IGNORABLE}{NO_CHARACTERS}\U00013430-\U0001343f]")  # the last: Cf since Unicode 15
    for number in range(0x110000):
        sign = chr(number)
        out = "".join(printed([f"a{sign}b"]))
        harmful = category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp") or unseen.match(sign) is not None
        harmful = harmful and sign not in "\t\n"
        assert (out != f"a{sign}b") is harmful, hex(number)
        if harmful:
            assert out.isprintable()
            data = "".join(printed([f'"a{sign}b"'], "data"))
            assert data.isprintable()
            assert json.loads(data) == f"a{sign}b"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1_000])
def test_commands_are_seen_however_the_text_is_cut(size: int) -> None:
    text = "x\n::a\n \t::b ::c\n##[d]\n##vso[e] ::\n\x1b[1m::f\u3000\n\u3000::g\n:h\nk##[l\n::"
    chunks = [text[start : start + size] for start in range(0, len(text), size)]
    assert "".join(printed(chunks)) == (
        "x\n\\x3a:a\n \t\\x3a:b ::c\n#\\x23[d]\n#\\x23vso[e] ::\n\\x1b[1m::f\u3000\n"
        "\u3000\\x3a:g\n:h\nk#\\x23[l\n\\x3a:"
    )
    assert "\x1b[1m\\x3a:f" in "".join(printed(chunks, colored=True))
    assert "".join(printed(['{"a": "##[b"}\n'], "data")) == '{"a": "#\\u0023[b"}\n'


# sources

TEMPLATES = Path(__file__).parent / "taints"
SOURCE_FILES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(TEMPLATES.iterdir())}
"""Sources by their names, with ``@`` where a text is harmful."""
SOURCE_RUNS = [
    ("extract", "src"),
    ("extract", "src", "--format", "json"),
    ("extract", "src", "--strict", "--color", "always"),
    ("extract", "src", "--against", "torch-2.15"),
    *(("table", "src", "--format", format_) for format_ in (*FORMATS, "raw")),
    *(("check-invariants", "src", "--config", "none", "--format", format_) for format_ in (*FORMATS, *FOR_CI)),
    ("register", "src"),
    *(("diff", CLEAN, "src", "--format", format_) for format_ in FORMATS),
]


def planted_in(text: str, taint: str) -> Iterator[str]:
    """The text with the taint in the place of each ``@`` in turn, and plain words in the others."""
    parts = text.split("@")
    for at in range(1, len(parts)):
        if not parts[at].startswith("torch.library"):  # a decorator
            words = ["" if number == at else "w" for number in range(1, len(parts))]
            words[at - 1] = taint
            kept = [
                "@" if part.startswith("torch.library") else word for part, word in zip(parts[1:], words, strict=True)
            ]
            yield parts[0] + "".join(word + part for part, word in zip(parts[1:], kept, strict=True))


@pytest.mark.parametrize("taint", TAINTS)
@pytest.mark.parametrize("name", SOURCE_FILES)
def test_sources(name: str, taint: str) -> None:
    runs = itertools.cycle(SOURCE_RUNS)
    Path("src").mkdir()
    count = 0
    for text in planted_in(SOURCE_FILES[name], TAINTS[taint]):
        Path("src", name).write_bytes(text.encode("utf-8", "surrogatepass"))
        for _ in range(2):
            run(*next(runs))
        count += 1
    assert count >= 4


@pytest.mark.parametrize("taint", TAINTS)
def test_names_of_sources(taint: str) -> None:
    """Names of files that are read or left out, and of entries in ``.gitignore`` and the settings."""
    text = TAINTS[taint].replace("/", "_")
    for folder in ("src", f"src/{text[:60]}", f"src/third_party/{text[:60]}", "src/third_party"):
        Path(folder).mkdir(parents=True, exist_ok=True)
    for folder in ("src", f"src/{text[:60]}"):
        Path(folder, f"{text[:60]}.cpp").write_text(SOURCE_FILES["f.cpp"].replace("@", "w"), encoding="utf-8")
        Path(folder, f"{text[:60]}.py").write_bytes(b"\0")
        Path(folder, f"{text[:60]}.yaml").write_text("dispatch: 1\noperators: [\n", encoding="utf-8")
    Path("src", ".gitignore").write_text(f"{text}\n*.o\n", encoding="utf-8")
    for arguments in SOURCE_RUNS:
        run(*arguments)
    for option in ("-D", "-U", "-I", "--set", "--exclude"):
        for value in (text, f"A={text}"):
            run("extract", "src", option, value)
            run("table", "src", option, value, "--format", "json")
    quoted = json.dumps(text)
    for line in (
        *(f"{field} = [{quoted}]" for field in ("define", "undefine", "set", "include", "exclude", "codegen-backends")),
        f"derivatives = {quoted}",
        f"{quoted} = 1",
        f"[[tool.dispatch-cli.extract.files]]\nglob = '*'\nwhen = {quoted}\ndefine = ['A=' + {quoted}]",
    ):
        Path("pyproject.toml").write_text(f"[tool.dispatch-cli.extract]\n{line}\n", encoding="utf-8")
        run("extract", "src")
        run("check-invariants", "src", "--format", "github")
