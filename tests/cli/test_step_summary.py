"""--step-summary: a short Markdown page that is appended to a file, whatever the format of the answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import call

TEXT = """\
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd}
guards:
  - {op: "demo::*", key: CUDA, rule: kernel}
"""
PAGE = """\
## dispatch-cli check-invariants

| Check | Severity | Findings | What should hold |
| --- | --- | ---: | --- |
| guard | error | 1 | the guards of the declarations hold |

1 error in 1 operator; checked: 1 operator, 1 check (torch-2.15)

| Severity | Place | Finding |
| --- | --- | --- |
| error | a.yaml:6:26 | demo::op: the guard requires rule kernel at CUDA, but it holds nothing (missing) |

"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(TEXT, encoding="utf-8")
    return tmp_path


def check(*args: str, file: str = "page.md") -> int:
    return call("check-invariants", "a.yaml", "--select", "guard", "--step-summary", file, *args).code


@pytest.mark.parametrize("format_", ["text", "github"])
def test_a_page_is_appended_beside_the_answer(format_: str) -> None:
    Path("page.md").write_text("before\n\n", encoding="utf-8")
    assert check("--format", format_) == 1
    assert Path("page.md").read_text(encoding="utf-8") == f"before\n\n{PAGE}"
    assert check("--format", format_) == 1
    assert Path("page.md").read_text(encoding="utf-8") == f"before\n\n{PAGE}{PAGE}"


def test_a_run_without_findings() -> None:
    Path("a.yaml").write_text(TEXT.partition("guards:")[0], encoding="utf-8")
    assert check() == 0
    assert Path("page.md").read_text(encoding="utf-8") == (
        "## dispatch-cli check-invariants\n\nAll checks passed: 1 operator, 1 check (torch-2.15)\n\n"
    )


def test_bad_input() -> None:
    Path("a.yaml").write_text(TEXT.replace("CPU", "CPPU"), encoding="utf-8")
    assert check("--format", "github") == 2
    assert Path("page.md").read_text(encoding="utf-8") == (
        "## dispatch-cli check-invariants\n\n"
        "Nothing was checked: 1 error in the input\n\n"
        "| Place | Error | Help |\n| --- | --- | --- |\n"
        "| a.yaml:4:16 | could not parse dispatch key: CPPU | did you mean CPU? |\n\n"
    )


def test_a_page_is_short() -> None:
    guards = "".join(f'  - {{op: "demo::*", key: CUDA, kernel: "k{number}{"x" * 2000}"}}\n' for number in range(200))
    Path("a.yaml").write_text(TEXT.partition("  - {op")[0] + guards, encoding="utf-8")
    assert check() == 1
    page = Path("page.md").read_text(encoding="utf-8")
    assert page.count("| error | a.yaml:") == 50
    assert page.endswith("\n\nand 150 findings more, not listed here: 150 errors\n\n")
    assert len(page) < 100_000


def test_no_file() -> None:
    """Outside of GitHub the variable is empty."""
    assert check(file="") == 1
    assert call("check-invariants", "a.yaml", "--step-summary", "none/page.md").code == 2


def test_a_comparison_with_pytorch_has_no_page() -> None:
    result = call("crossref", "--against", "live", "--python", "/nowhere", "--step-summary", "page.md")
    assert (result.code, "--step-summary works only when findings are shown" in result.err) == (2, True)
