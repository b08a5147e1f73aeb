"""Names of operators, kernels and files are data in every format: no markup, no terminal escapes, no extra cells."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from tests.cli.support import Result, call, in_terminal

NAMES = {
    "markup": "[bold red]x[/] [link=http://a.b]y[/link]",
    "brackets": "CPU[alias]: fn [math kernel]",
    "emoji code": ":smile: :warning:",
    "direction": "a\u202eb\u2066c\u200fd",
    "invisible": "a\u200bb\u2060d",
    "markdown": "a|b `c` *d* _e_ <b>f</b> [g](http://h) \\ ~~i~~ #1",
    "csv": 'a,b "c" ;d',
    "xml": "<a b='c'>&amp;]]>\"</a>",
    "github": "100%0A::error ::stop,title=x:y",
    "wide": "日本語カーネル👩‍🚀",
    "mention": "@octocat,@org/team a@b.org #12 GH-12",
    "address": "see https://a.b/c or www.a.b or HTTP://A.B",
    **{f"formula {start}": f"{start}1+cmd|' /C calc'!A0" for start in ("=", "+", "-", "@", "\uff1d")},
}
SAFE = {
    **NAMES,
    "direction": "a\\u202eb\\u2066c\\u200fd",
    "invisible": "a\\u200bb\\u2060d",
    "wide": "日本語カーネル👩\\u200d🚀",
}
"""Each name with the characters that command spelled out."""
COMMANDS = {
    "register": ("text", "json", "csv", "markdown", "html", "raw"),
    "table": ("text", "json", "csv", "markdown", "html", "raw"),
    "check-invariants": ("text", "json", "csv", "markdown", "html", "raw", "sarif", "github", "junit"),
}
IGNORABLE = (
    "\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Default_Ignorable_Code_Point in DerivedCoreProperties.txt of Unicode 14 to 16: what has no glyph."""
NO_CHARACTERS = "\ufdd0-\ufdef" + "".join(chr(plane << 16 | 0xFFFE) + chr(plane << 16 | 0xFFFF) for plane in range(17))
DANGEROUS = re.compile(f"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029{IGNORABLE}{NO_CHARACTERS}]")


def dangerous(_format: str, text: str) -> bool:
    """True if a text has a character that no format may have. Each character is looked at once."""
    return DANGEROUS.search("".join(set(text))) is not None


def declaration(kernel: str) -> bytes:
    """A stale operator, so that the checks find something, with *kernel* for every kernel; and a guard that breaks."""
    text = json.dumps(kernel, ensure_ascii=False)
    return (
        "dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n    dispatch:\n"
        f"      CompositeImplicitAutograd: {text}\n      Autograd: other\n      NestedTensorCPU: {text}\n"
        f'guards:\n  - {{op: "demo::*", key: CPU, kernel: other}}\n'
    ).encode()


def answer(command: str, format_: str, kernel: str, name: str = "-") -> Result:
    """Each command, of one slot where it can be."""
    key = ("--key", "CPU") if command == "table" and format_ != "raw" else ()
    return call(command, name, *key, "--format", format_, stdin=declaration(kernel))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", NAMES)
def test_no_format_lets_a_command_through(command: str, name: str) -> None:
    for format_ in COMMANDS[command]:
        result = answer(command, format_, NAMES[name])
        assert (result.code, result.err) == (int(command == "check-invariants"), "")
        assert not dangerous(format_, result.out), format_


@pytest.mark.parametrize("name", NAMES)
def test_dumps_have_the_very_name(name: str) -> None:
    assert f": {SAFE[name]} :: " in answer("register", "raw", NAMES[name]).out
    assert f"CPU: {SAFE[name]} [math kernel]\n" in answer("table", "raw", NAMES[name]).out


@pytest.mark.parametrize("name", NAMES)
def test_csv_has_it_in_one_cell(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (row,) = csv.DictReader(io.StringIO(answer("table", "csv", NAMES[name]).out, newline=""))
    assert row["kernel"] == ("'" if name.startswith("formula") or name == "mention" else "") + SAFE[name]
    assert row["declared_at"] == "'-:5:34"
    monkeypatch.setenv("DISPATCH_CLI_CSV", "exact")
    output = call("table", "-", "--key", "CPU", "--format", "csv", stdin=declaration(NAMES[name])).out
    (row,) = csv.DictReader(io.StringIO(output, newline=""))
    assert (row["kernel"], row["declared_at"]) == (SAFE[name], "-:5:34")


@pytest.mark.parametrize("name", ["markup", "brackets", "emoji code"])
def test_markup_does_not_colour_a_terminal(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(declaration(NAMES[name]))
    out = in_terminal(200, "table", str(path), "--key", "CPU", "--color", "always").out
    assert NAMES[name] in re.sub(r"\x1b\[[0-9;]*m", "", out)
    assert "\x1b]8" not in out
