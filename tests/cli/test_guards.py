"""The command ``guards``: the list of them, and guards that freeze what is true now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import Result, call

TEXT = """\
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: "op [alias]*", CompositeImplicitAutograd: op_math}
  - func: demo::fill(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: fill, AutogradCPU: fallthrough}
guards:
  - {op: "demo::*", key: CUDA, rule: math}
  - {op: demo::op, key: [CPU, XLA], rule: kernel, reason: as before}
  - {op: demo::none, backend: CPU}
  - {op: "demo::*", rule: math, key: CUDA}
  - {op: demo::op, tensors: [cpu], contexts: [inference_mode], resolves: {key: CPU}}
"""


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(TEXT, encoding="utf-8")
    return tmp_path


def test_the_list() -> None:
    assert call("guards", "a.yaml") == Result(
        1,
        "                Guard                                              Applies to            Declared at\n"
        "holds           demo::* at CUDA: rule: math                        2 operators, 2 slots  "
        "a.yaml:8:5\n                  also declared at a.yaml:11:5\nbroken          demo::op at CPU, XLA: rule: "
        "kernel                 1 operator, 2 slots   a.yaml:9:5\n                  demo::op at XLA: op_math by rule "
        "math\nguards nothing  demo::none: backend: CPU                           0 operators           "
        "a.yaml:10:5\n                  demo::none matches no operator\nholds           demo::op: "
        "[cpu; inference_mode] resolves.key: CPU  1 operator            a.yaml:12:5\n\n"
        "2 of 4 guards do not hold (torch-2.15)\n1 other guard requires the same as one of these\n",
        "",
    )


def test_the_list_as_csv_and_markdown() -> None:
    lines = call("guards", "a.yaml", "--format", "csv").out.splitlines()
    assert lines[0] == "verdict,guard,operators,slots,broken,declared_at"
    assert lines[2] == 'broken,"demo::op at CPU, XLA: rule: kernel",1,2,1,a.yaml:9:5'
    assert lines[3].startswith("guards-nothing,demo::none")
    table, closing = call("guards", "a.yaml", "--format", "markdown").out.split("\n\n", 1)
    assert len(table.splitlines()) == 6
    assert "demo::\\* at CUDA: rule: math<br>&nbsp;&nbsp;also declared at a.yaml:11:5 |" in table.splitlines()[2]
    assert table.splitlines()[3] == (
        "| broken | demo::op at CPU, XLA: rule: kernel<br>&nbsp;&nbsp;demo::op at XLA: op\\_math by rule math "
        "| 1 operator, 2 slots | a.yaml:9:5 |"
    )
    assert closing == "2 of 4 guards do not hold (torch-2.15)\n\n1 other guard requires the same as one of these\n"


def test_no_guards() -> None:
    Path("b.yaml").write_text("dispatch: 1\n", encoding="utf-8")
    assert call("guards", "b.yaml") == Result(0, "No guards (torch-2.15)\n", "")


@pytest.mark.parametrize("name", ["no", "on", "Off", "YES", "null", "true", "12", "1e3", "0x1F", "~", ".inf", "-1"])
def test_recorded_guards_of_kernels_with_names_that_yaml_takes_for_something_else(name: str) -> None:
    Path("a.yaml").write_text(TEXT.partition("guards:")[0].replace("op_math", f'"{name}"'), encoding="utf-8")
    assert call("guards", "a.yaml", "--record", "-o", "g.yaml") == Result(0, "", "")
    assert call("guards", "a.yaml", "--guards", "g.yaml").code == 0


def test_a_recording() -> None:
    assert call("guards", "a.yaml", "--record", "--op", "demo::op", "--key", "CPU", "--key", "*CUDA").out == (
        "# Written by `dispatch-cli guards --record`: what was true at that time.\ndispatch: 1\nguards:\n  - op: "
        'demo::op\n    key: CPU\n    rule: kernel\n    kernel: "op [alias]*"\n  - op: demo::op\n    key: "CUDA, '
        'QuantizedCUDA, SparseCUDA, SparseCsrCUDA, NestedTensorCUDA, AutogradCUDA"\n    rule: math\n    kernel: '
        "op_math\n"
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--key", "CPU"), "--key needs --record."),
        (("--record", "--format", "json"), "--record writes a declaration file; it takes no --format."),
        (("--record", "--guards", "a.yaml"), "--record and --guards exclude each other; give one of them."),
    ],
)
def test_usage(args: tuple[str, ...], message: str) -> None:
    result = call("guards", "a.yaml", *args)
    assert result.code == 2
    assert (message in result.out) == ("json" in args)
    assert result.err.endswith(f"Error: {message}\n")


def test_a_file_of_guards_may_not_register() -> None:
    result = call("guards", "--base", "torch-2.15", "--guards", "a.yaml")
    assert result.code == 2
    assert "a.yaml:3:3: error[only-guards]: a guards file cannot have 'operators'" in result.err


SUPPRESSED = """\
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu}
  - func: demo::fill(Tensor x) -> Tensor
    dispatch: {CPU: fill_cpu}
guards:
  - {op: demo::op, key: CUDA, rule: kernel} # dispatch-cli: ignore[guard] until the kernel is there
  - {op: "demo::*", key: XLA, rule: kernel}
  - {op: demo::none, key: CPU, rule: kernel} # dispatch-cli: ignore[unmatched-guard] comes with the next version
suppress:
  - {checks: guard, op: demo::op, reason: not on XLA}
"""


def test_what_check_invariants_suppresses_fails_no_guard() -> None:
    Path("s.yaml").write_text(SUPPRESSED.replace('"demo::*"', "demo::op"), encoding="utf-8")
    assert call("guards", "s.yaml") == Result(
        0,
        "            Guard                                      Applies to          Declared at\n"
        "suppressed  demo::op at CUDA: rule: kernel             1 operator, 1 slot  s.yaml:8:5\n"
        "              suppressed: until the kernel is there\n"
        "suppressed  demo::op at XLA: rule: kernel              1 operator, 1 slot  s.yaml:9:5\n"
        "              suppressed: not on XLA\n"
        "suppressed  demo::none at CPU: rule: kernel            0 operators         s.yaml:10:5\n"
        "              suppressed: comes with the next version\n"
        "\n0 of 3 guards hold (torch-2.15)\n3 suppressed, as in check-invariants\n",
        "",
    )
    assert call("check-invariants", "s.yaml", "--select", "DC9").code == 0


def test_a_guard_that_is_suppressed_for_one_operator_fails_for_another() -> None:
    Path("s.yaml").write_text(SUPPRESSED, encoding="utf-8")
    result = call("guards", "s.yaml", "--format", "json")
    assert result.code == 1
    row = json.loads(result.out)["guards"][1]
    assert (row["verdict"], [finding["operator"] for finding in row["broken"]]) == ("broken", ["demo::fill"])
    assert row["suppressed"] == [
        {
            "message": "demo::op: the guard requires rule kernel at XLA, but it holds nothing (missing)",
            "reason": "not on XLA",
            "by": {"file": "s.yaml", "line": 12, "column": 5},
        }
    ]
    report = json.loads(call("check-invariants", "s.yaml", "--select", "DC9", "--format", "json").out)
    assert [finding["operator"] for finding in report["findings"]] == ["demo::fill"]
    assert row["suppressed"][0]["message"] in [finding["message"] for finding in report["suppressed"]]
