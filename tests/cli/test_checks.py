"""Choosing checks, what makes a run fail, suppressions, configuration and baselines, on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dispatch_cli.checks.all_checks import CHECKS
from tests.cli.support import Result, call
from tests.cli.transcripts import EXPECTED

DANGLING = """\
dispatch: 1
operators:
  - name: demo::a
    dispatch: {CompositeImplicitAutograd: a}
  - name: demo::b
    dispatch: {CompositeImplicitAutograd: b}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write("a.yaml", DANGLING)
    return tmp_path


def write(name: str, text: str) -> None:
    Path(name).write_text(text, encoding="utf-8")


def check(*args: str) -> Result:
    return call("check-invariants", *args)


def finding_rows(*args: str) -> list[tuple[str, str | None]]:
    """The findings of a run: check and operator."""
    return [(finding["check"], finding["operator"]) for finding in document(*args)["findings"]]


def document(*args: str) -> dict[str, list[dict[str, str]]]:
    result: dict[str, list[dict[str, str]]] = json.loads(check(*args, "--format", "json").out)
    return result


def ran(*args: str) -> list[str]:
    return [row["id"] for row in document(*args)["checks"]]


# choosing


@pytest.mark.parametrize(
    ("args", "checks"),
    [
        ((), [check.id for check in CHECKS if check.default]),
        (("--select", "all"), [check.id for check in CHECKS]),
        (("--select", "DC901"), ["guard"]),
        (("--select", "dc90"), ["guard", "unmatched-guard", "unused-suppression", "broken-promise"]),
        (("--select", "stale"), ["stale-live-table"]),
        (("--select", "DC004,guard"), ["stale-live-table", "guard"]),
        (("--select", "guard", "--select", "DC004"), ["stale-live-table", "guard"]),
        (("--select", "DC9", "--ignore", "guard"), ["unmatched-guard", "unused-suppression", "broken-promise"]),
        (("--ignore", "all"), []),
    ],
)
def test_checks_are_chosen_by_id_code_and_prefix(args: tuple[str, ...], checks: list[str]) -> None:
    assert ran("a.yaml", *args) == checks


def test_all_unknown_checks_are_told_at_once() -> None:
    write(
        "b.yaml",
        f"{DANGLING}suppress:\n  - {{checks: [stail-live-table], reason: x}}\n"
        "  - {checks: [gaurd, DC9], reason: y}\n",
    )
    result = check("b.yaml", "--config", "none")
    assert (result.code, result.out) == (2, "")
    unknown = re.findall(r"unknown-check\]: there is no check '([\w-]+)'", result.err)
    assert sorted(unknown) == ["gaurd", "stail-live-table"]
    assert result.err.endswith("2 errors; nothing was done.\n")


# what makes a run fail


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ((), 1),
        (("--fail-on", "none"), 0),
        (("--fail-on", "error"), 1),
        (("--fail-on", "info"), 1),
        (("--ignore", "dangling-implementation"), 0),
    ],
)
@pytest.mark.parametrize("format_", ["text", "json", "html", "raw", "sarif", "junit"])
def test_exit_codes_are_the_same_in_every_format(args: tuple[str, ...], code: int, format_: str) -> None:
    assert check("a.yaml", *args, "--format", format_).code == code


def test_a_severity_can_be_overruled() -> None:
    write("b.yaml", DANGLING)
    write("pyproject.toml", '[tool.dispatch-cli.severity]\ndangling-implementation = "info"\n')
    assert check("b.yaml", "--select", "DC101").code == 0
    assert check("b.yaml", "--select", "DC101", "--fail-on", "info").code == 1


# configuration


def test_the_command_line_comes_before_the_project() -> None:
    write("b.yaml", DANGLING)
    write("pyproject.toml", '[tool.dispatch-cli]\nselect = ["DC9"]\nignore = ["DC903", "DC904"]\nfail-on = "info"\n')
    assert ran("b.yaml") == ["guard", "unmatched-guard"]
    assert ran("b.yaml", "--ignore", "guard") == ["unmatched-guard"]
    assert ran("b.yaml", "--select", "unused-suppression") == ["unused-suppression"]
    assert len(ran("b.yaml", "--config", "none")) > 2
    assert document("b.yaml")["fail_on"] == "info"
    assert document("b.yaml", "--config", "none")["fail_on"] == "warning"
    assert document("b.yaml", "--fail-on", "warning")["fail_on"] == "warning"


def test_the_project_is_the_nearest_above_that_speaks_of_this_program(monkeypatch: pytest.MonkeyPatch) -> None:
    write("pyproject.toml", "[tool.dispatch-cli]\nselect = 'DC901'\nbaseline = 'known.json'\n")
    assert check("a.yaml", "--update-baseline").code == 0
    Path("inner/most").mkdir(parents=True)
    write("inner/pyproject.toml", "[project]\nname = 'dispatch-cli'\n")
    monkeypatch.chdir("inner/most")
    assert ran("../../a.yaml") == ["guard"]
    assert check("../../a.yaml", "--update-baseline").err == "../../known.json: 0 findings\n"
    write("other.toml", "[tool.dispatch-cli]\nselect = ['DC902']\n")
    assert ran("../../a.yaml", "--config", "other.toml") == ["unmatched-guard"]


def test_what_is_wrong_with_a_project_file() -> None:
    write(
        "pyproject.toml",
        "[project]\nselect = 1\n\n[tool.dispatch-cli]\nselekt = ['x']\nignore = [1]\nfail-on = 'warn'\n"
        "[tool.dispatch-cli.severity]\nguard = 'bad'\n",
    )
    result = check("a.yaml")
    assert (result.code, result.out) == (2, "")
    assert [line for line in result.err.splitlines() if "error[" in line or "help" in line] == [
        "pyproject.toml:5:1: error[unknown-field]: [tool.dispatch-cli] has no field 'selekt'",
        "  help: did you mean select?",
        "pyproject.toml:6:11: error[wrong-type]: expected a string, found 1, which is a number",
        '  help: write "1" with quotes if you mean the string',
        "pyproject.toml:7:11: error[bad-value]: expected one of error, warning, info, found the string 'warn'",
        "  help: did you mean warning?",
        "pyproject.toml:9:9: error[bad-value]: expected one of error, warning, info, found the string 'bad'",
    ]
    write("pyproject.toml", "[tool.dispatch-cli]\nselect = [\n")
    assert check("a.yaml").err.startswith("pyproject.toml:2:1: error[toml-syntax]: ")
    write("pyproject.toml", "[tool.dispatch-cli]\nselect = ['x1', 'guard']\n")
    assert check("a.yaml").err.startswith("pyproject.toml:2:11: error[unknown-check]: there is no check 'x1'\n")
    assert check("a.yaml", "--config", "none.toml").err.startswith("error[file-not-found]: none.toml does not exist\n")
    Path("pyproject.toml").write_bytes(b"[tool.dispatch-cli]\n\xff\n")
    assert "is not valid UTF-8" in check("a.yaml").err


def test_guards_of_the_project() -> None:
    write("pyproject.toml", "[tool.dispatch-cli]\nguards = ['g.yaml']\n")
    write("g.yaml", "dispatch: 1\nguards:\n  - {op: demo::a, key: CPU, rule: kernel}\n")
    assert ("guard", "demo::a") in finding_rows("a.yaml")
    assert ("guard", "demo::a") not in finding_rows("a.yaml", "--config", "none")
    assert ("guard", "demo::a") in finding_rows("a.yaml", "--config", "none", "--guards", "g.yaml")


def test_files_over_a_base_are_checked_and_not_the_base() -> None:
    own = "operators:\n  - {name: 'aten::relu', dispatch: {CPU: a}}\n"
    texts = {
        "own": (f"extends: [torch-2.15]\n{own}", 1),
        "guards": ("extends: [torch-2.15]\nguards:\n  - {op: aten::relu, key: CPU, rule: math}\n", 1),
        "fallback": ("extends: [torch-2.15]\nfallbacks: {PrivateUse1: a}\n", 0),
        "file": (f"extends: [./a.yaml]\n{own}", 1),
    }
    for name, (text, operators) in texts.items():
        write("b.yaml", f"dispatch: 1\n{text}")
        result = document("b.yaml", "--select", "DC004,guard")
        assert (name, result["operators"]) == (name, operators)
        assert [finding["check"] for finding in result["findings"]] == (["guard"] if name == "guards" else [])


# suppressions


def test_comments_suppress_findings_of_their_line_and_of_the_operator_defined_there() -> None:
    write(
        "b.yaml",
        "dispatch: 1\noperators:\n"
        "  - name: demo::a\n"
        "    dispatch: {CompositeImplicitAutograd: a}  # dispatch-cli: ignore[dangling] defined elsewhere\n"
        "  # dispatch-cli: ignore[DC004, ambiguous-autogradother, DC2] our build fixes the order\n"
        "  - func: demo::b(Tensor x) -> Tensor\n"
        "    dispatch:\n"
        "      CompositeImplicitAutograd: math\n"
        "      QuantizedCPU: quantized\n",
    )
    result = document("b.yaml", "--select", "DC101,DC004,unused")
    assert result["findings"] == []
    assert [(finding["check"], finding["operator"], finding["reason"]) for finding in result["suppressed"]] == [
        ("dangling-implementation", "demo::a", "defined elsewhere"),
        ("stale-live-table", "demo::b", "our build fixes the order"),
    ]
    assert check("b.yaml", "--select", "DC101,DC004").out == (
        "2 suppressed\nAll checks passed: 2 operators, 2 checks (torch-2.15)\n"
    )


def test_a_comment_without_a_reason_is_an_error_of_the_checks_alone() -> None:
    text = "dispatch: 1\noperators:\n  - func: m::a(Tensor x) -> Tensor  # dispatch-cli: ignore[guard]\n"
    Path("x.yaml").write_text(text, encoding="utf-8")
    for command in ("check-invariants", "guards"):
        result = call(command, "x.yaml")
        assert result.code == 2
        assert "x.yaml:3:37: error[missing-reason]: the comment gives no reason" in result.err
        assert "help: write # dispatch-cli: ignore[guard] REASON" in result.err
    assert [call(command, "x.yaml").code for command in ("table", "register")] == [0, 0]


def test_the_section_suppresses_by_operator_and_key() -> None:
    write("b.yaml", f"{DANGLING}suppress:\n  - {{checks: DC1, op: 'demo::a', reason: defined elsewhere}}\n")
    assert finding_rows("b.yaml", "--select", "DC101,DC903") == [("dangling-implementation", "demo::b")]
    write("b.yaml", f"{DANGLING}suppress:\n  - {{checks: DC1, op: 'demo::*', key: CPU, reason: defined elsewhere}}\n")
    assert finding_rows("b.yaml", "--select", "DC101") == [
        ("dangling-implementation", "demo::a"),
        ("dangling-implementation", "demo::b"),
    ]


def test_suppressions_of_nothing_are_reported_when_the_run_can_know() -> None:
    write("b.yaml", f"{DANGLING}suppress:\n  - {{checks: [guard, DC004], op: 'demo::a', reason: long ago}}\n")
    assert ("unused-suppression", None) in finding_rows("b.yaml", "--select", "DC0,DC9")
    assert ("unused-suppression", None) not in finding_rows("b.yaml", "--select", "DC9"), "DC004 did not run"
    assert ("unused-suppression", None) not in finding_rows("b.yaml", "--select", "DC0,DC9", "--op", "demo::b")


def test_suppressions_travel_with_files_that_are_extended() -> None:
    write("base.yaml", f"{DANGLING}suppress:\n  - {{checks: DC1, op: 'demo::*', reason: defined elsewhere}}\n")
    own = "operators:\n  - {name: 'demo::a', dispatch: {CPU: c}}\n  - {name: 'other::a', dispatch: {CPU: c}}\n"
    write("b.yaml", f"dispatch: 1\nextends: [./base.yaml]\n{own}")
    assert finding_rows("b.yaml", "--select", "DC101,DC9") == [("dangling-implementation", "other::a")]
    write("b.yaml", f"dispatch: 1\nextends: [./base.yaml]\n{own}".replace("demo::a", "other::b"))
    assert ("unused-suppression", None) not in finding_rows("b.yaml", "--select", "DC101,DC9"), "it is not of this file"


# baselines


def test_a_baseline_lets_old_findings_pass_and_shrinks() -> None:
    only = ("--select", "DC101", "--baseline", "known.json")
    missing = check("a.yaml", *only)
    assert (missing.code, missing.out) == (2, "")
    assert missing.err.endswith(
        "Error: Invalid value for '--baseline': known.json does not exist. Create it with --update-baseline.\n"
    )
    assert check("a.yaml", *only, "--update-baseline") == Result(0, "", "known.json: 2 findings\n")
    assert Path("known.json").read_text(encoding="utf-8") == (
        '{\n  "schema_version": 1,\n  "report": "baseline",\n  "findings": [\n'
        '    {"check": "dangling-implementation", "operator": "demo::a"},\n'
        '    {"check": "dangling-implementation", "operator": "demo::b"}\n'
        "  ]\n}\n"
    )
    assert check("a.yaml", *only).code == 0
    write(
        "a.yaml",
        f"\n# moved\n{DANGLING}  - {{name: demo::c, dispatch: {{CPU: c}}}}\n".replace(
            "name: demo::b", "func: demo::b() -> ()"
        ),
    )
    result = check("a.yaml", *only)
    assert result.code == 1
    assert result.out.splitlines()[-2:] == [
        "1 in the baseline; 1 of the baseline fixed (--update-baseline removes it)",
        "1 error in 1 operator; checked: 3 operators, 1 check (torch-2.15)",
    ]
    assert document("a.yaml", *only)["baseline"] == {
        "known": 1,
        "fixed": [
            {"check": "dangling-implementation", "operator": "demo::b", "key": None, "subject": "", "count": 1},
        ],
    }
    assert check("a.yaml", *only, "--update-baseline").err == "known.json: 2 findings\n"
    assert check("a.yaml", *only).out == "2 in the baseline\nAll checks passed: 3 operators, 1 check (torch-2.15)\n"


def test_a_baseline_keeps_what_a_run_does_not_judge() -> None:
    only = ("a.yaml", "--baseline", "known.json")
    check(*only, "--select", "DC101", "--update-baseline")
    before = Path("known.json").read_text(encoding="utf-8")
    assert document(*only, "--select", "DC9")["baseline"] == {"known": 0, "fixed": []}
    assert document(*only, "--select", "DC101", "--op", "demo::a")["baseline"] == {"known": 1, "fixed": []}
    check(*only, "--select", "DC9", "--update-baseline")
    check(*only, "--select", "DC101", "--op", "demo::b", "--update-baseline")
    assert Path("known.json").read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "it is not a baseline written by dispatch-cli"),
        (
            '{"report": "baseline", "schema_version": 2}',
            "its schema_version is 2, but this dispatch-cli reads version 1",
        ),
        ('{"report": "baseline", "schema_version": 1}', "it has no list of findings"),
        (
            '{"report": "baseline", "schema_version": 1, "findings": [{"check": 1}]}',
            "findings[0] is not a valid entry",
        ),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_what_is_no_baseline(text: str, message: str) -> None:
    write("known.json", text)
    result = check("a.yaml", "--baseline", "known.json")
    assert (result.code, result.out) == (2, "")
    assert f"Invalid value for '--baseline': known.json: {message}" in result.err


# the summary


def test_promises_that_cannot_be_checked_are_in_the_summary() -> None:
    """By default they are not listed: a reader would take them for kept."""
    write(
        "p.yaml",
        "dispatch: 1\noperators:\n  - {func: 'demo::f(Tensor x) -> Tensor', dispatch: {CPU: f, Meta: f_meta}}\n"
        "support:\n  - {op: demo::f, backends: cpu, contexts: [eager, train]}\n",
    )
    args = ("check-invariants", "p.yaml", "--config", "none", "--select", "broken-promise")
    passed = call(*args)
    assert passed.code == 0
    assert "All checks passed but for 1 info (1 promise could not be checked; --severity info shows it): " in passed.out
    shown = call(*args, "--severity", "info").out
    assert "the promise of train on CPU cannot be checked" in shown
    assert "could not be checked" not in shown


# the page of --step-summary


GUARDED = """\
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd}
guards:
  - {op: "demo::*", key: CUDA, rule: kernel}
"""
PAGE = (EXPECTED / "step_summary.md").read_text(encoding="utf-8")


def summarized(text: str, *args: str) -> tuple[int, str]:
    """The exit code of a run, and the page that it leaves."""
    write("a.yaml", text)
    code = check("a.yaml", "--select", "guard", "--step-summary", "page.md", *args).code
    return code, Path("page.md").read_text(encoding="utf-8")


def test_a_page_is_appended_beside_the_answer() -> None:
    write("page.md", "before\n\n")
    for format_, page in (("text", f"before\n\n{PAGE}"), ("github", f"before\n\n{PAGE}{PAGE}")):
        assert summarized(GUARDED, "--format", format_) == (1, page)


def test_a_page_without_findings_or_for_bad_input() -> None:
    code, page = summarized(GUARDED.partition("guards:")[0])
    assert (code, "All checks passed: 1 operator, 1 check (torch-2.15)\n\n" in page) == (0, True)
    code, page = summarized(GUARDED.replace("CPU", "CPPU"))
    assert (code, "1 error; nothing was done.\n\n" in page) == (2, True)
    assert "could not parse dispatch key: CPPU" in page and "did you mean CPU?" in page


def test_a_page_is_short() -> None:
    guards = "".join(f'  - {{op: "demo::*", key: CUDA, kernel: "k{number}{"x" * 2000}"}}\n' for number in range(200))
    code, page = summarized(GUARDED.partition("  - {op")[0] + guards)
    assert (code, page.count("| error | a.yaml:")) == (1, 50)
    assert page.endswith("\n\nand 150 findings more, not listed here: 150 errors\n\n")
    assert len(page) < 100_000


def test_annotations_show_what_text_shows_the_worst_first() -> None:
    write("a.yaml", GUARDED.replace("guards:", "  - {func: demo::g(Tensor x) -> Tensor, dispatch: {CPU: g}}\nguards:"))
    for arguments, kinds in (((), ["error"]), (("--severity", "info"), ["error", "notice", "notice"])):
        lines = check("a.yaml", "--format", "github", "--config", "none", *arguments).out.splitlines()
        assert [line.split()[0].strip(":") for line in lines] == kinds


def test_no_page() -> None:
    """Outside of GitHub the variable is empty."""
    write("a.yaml", GUARDED)
    assert check("a.yaml", "--select", "guard", "--step-summary", "").code == 1
    assert check("a.yaml", "--step-summary", "none/page.md").code == 2
