"""The command ``rules``: the rules of the computed table, and some of them with examples."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.support import call

NAMES = [
    *("kernel", "default backend kernel", "default backend kernel", "backend kernel?", "nested kernel"),
    *("math kernel", "autograd kernel", "batched kernel", "backend fallback", "missing"),
]


def test_the_list_has_ten_rules() -> None:
    result = call("rules")
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()[3:13]
    assert [line[:4].strip() for line in lines] == [str(number) for number in range(1, 11)]
    assert all(line[4:].startswith(name) for line, name in zip(lines, NAMES, strict=True))


def test_a_rule_in_depth() -> None:
    out = call("rules", "7").out
    assert out.startswith(
        "Rule 7: autograd kernel\n"
        "looks at    Autograd\n"
        "fires when  it has a kernel, and it covers the key\n\n"
        "    dispatch: 1\n"
        "    operators:\n"
        "      - func: demo::op(Tensor x) -> Tensor\n"
        "        dispatch:\n"
        "          Autograd: op_autograd\n"
        "          CPU: op_cpu\n\n"
        "AutogradCPU holds op_autograd, from Autograd (rule 7, autograd kernel).\n"
    )
    assert "> 7  autograd kernel         Autograd                                fired\n" in out


def test_a_fallback_of_the_declarations_is_not_pytorchs_own() -> None:
    assert "PrivateUse1 holds the backend fallback cpu_fallback (rule 9, backend fallback).\n" in call("rules", "9").out


def test_every_format_has_the_rules_that_are_asked_for() -> None:
    document = json.loads(call("rules", "6", "10", "--format", "json").out)
    assert (document["schema_version"], document["report"], document["universe"]) == (3, "rules", "torch-2.15")
    assert [(rule["rule_number"], rule["rule"], rule["alias"]) for rule in document["rules"]] == [
        (6, "math", "CompositeImplicitAutograd"),
        (10, "missing", None),
    ]
    assert (document["rules"][0]["name"], document["rules"][0]["words"]["where"]) == (
        "math kernel",
        "CompositeImplicitAutograd",
    )
    rows = list(csv.DictReader(io.StringIO(call("rules", "6", "10", "--format", "csv").out)))
    assert [(row["rule_number"], row["key"], row["kernel"], row["filled_by"]) for row in rows] == [
        ("6", "AutogradCPU", "op_math", "6"),
        ("6", "AutogradOther", "ambiguous_autogradother", "6"),
        ("10", "CUDA", "", "10"),
    ]
    markdown = call("rules", "6", "10", "--format", "markdown").out
    assert markdown.startswith("## Rule 6: math kernel\n\n- looks at: CompositeImplicitAutograd\n")
    assert "\n## Rule 10: missing\n" in markdown
    assert "<h1>Rule 6: math kernel</h1>" in call("rules", "6", "--format", "html").out.replace(
        '<span class="head">', ""
    ).replace("</span>", "")


@pytest.mark.parametrize("number", ["0", "11", "x", "\x1b[31m"])
def test_there_are_ten(number: str) -> None:
    result = call("rules", number)
    assert (result.code, result.out) == (2, "")
    assert "Invalid value for '[N]...'" in result.err
    assert "\x1b" not in result.err


def test_a_number_that_is_no_rule_is_written_where_the_answer_would_be(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    result = call("rules", "99", "--format", "json", "-o", str(out))
    assert (result.code, result.out) == (2, "")
    (problem,) = json.loads(out.read_text(encoding="utf-8"))["problems"]
    assert problem["message"] == "Invalid value for '[N]...': 99 is not in the range 1<=x<=10."
