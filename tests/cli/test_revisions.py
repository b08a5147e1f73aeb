"""Files at a git revision on the command line, and a pull request as it is shown in a comment."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dispatch_cli.files import paths
from tests.cli.support import assert_valid, call
from tests.cli.transcripts import EXPECTED
from tests.files.support import commit, git, repository, write

PROJECT = "[tool.dispatch-cli]\nprivateuse1 = 'npu'\n\n[tool.dispatch-cli.extract]\ninclude = ['include']\n"
BEFORE = {
    "pyproject.toml": PROJECT,
    "decl.yaml": """\
dispatch: 1
extends: [torch-2.15, more.yaml]
operators:
- func: npu::fused_add(Tensor a, Tensor b) -> Tensor
  dispatch: {PrivateUse1: fused_add_npu, CompositeImplicitAutograd: fused_add_math}
- func: npu::rotary(Tensor x, Tensor cos) -> Tensor
  dispatch: {PrivateUse1: rotary_npu, AutogradPrivateUse1: rotary_autograd}
""",
    "more.yaml": """\
dispatch: 1
libraries:
- {kind: IMPL, namespace: aten, dispatch_key: PrivateUse1, impl: {relu: r}}
""",
    "include/keys.h": "#define KEY PrivateUse1\n",
    "csrc/ops.cpp": """\
#include <keys.h>
TORCH_LIBRARY_IMPL(aten, KEY, m) {
  m.impl("bmm", TORCH_FN(bmm_npu));
  m.impl("mul.Tensor", [](const Tensor& a, const Tensor& b) { return a; });
}
""",
}
AFTER = {
    "decl.yaml": """\
dispatch: 1
extends: [torch-2.15]
operators:
- func: npu::fused_add(Tensor a, Tensor b, *, Scalar alpha=1) -> Tensor
  dispatch: {PrivateUse1: fused_add_npu}
- func: npu::rotary(Tensor x, Tensor cos) -> Tensor
  dispatch: {PrivateUse1: rotary_npu, Autograd: rotary_autograd}
- func: npu::swiglu(Tensor x) -> Tensor
  dispatch: {PrivateUse1: swiglu_npu}
""",
    "csrc/ops.cpp": """\
#include <keys.h>
// one line more
TORCH_LIBRARY_IMPL(aten, KEY, m) {
  m.impl("bmm", TORCH_FN(bmm_npu_v2));
  m.impl("mul.Tensor", [](const Tensor& a, const Tensor& b) { return a; });
}
""",
}
COMMENT = (EXPECTED / "pull_request.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory is a repository with a pull request that is checked out."""
    folder = repository(tmp_path / "repo")
    commit(folder, BEFORE)
    git(folder, "checkout", "-q", "-b", "change")
    commit(folder, AFTER)
    monkeypatch.chdir(folder)
    yield folder
    assert not paths.TREES, "they are closed when a command ends"


def test_a_pull_request_as_a_comment() -> None:
    result = call("diff", "main:decl.yaml", "decl.yaml", "--format", "markdown")
    assert (result.code, result.err) == (1, "")
    assert result.out == COMMENT


def test_the_merge_of_a_pull_request_in_a_clone_of_depth_2(repo: Path, tmp_path: Path) -> None:
    """As a workflow has it: what is compared is the branch that it goes into, with what came to it since."""
    git(repo, "checkout", "-q", "main")
    commit(repo, {"later.yaml": BEFORE["more.yaml"]})
    git(repo, "checkout", "-q", "-b", "merged")
    git(repo, "merge", "-q", "--no-edit", "change")
    git(tmp_path, "clone", "-q", "--depth=2", "--branch=merged", f"file://{repo}", "clone")
    os.chdir(tmp_path / "clone")
    result = call("diff", "HEAD^1:decl.yaml", "decl.yaml", "--format", "markdown")
    assert result.out == COMMENT.replace("main:", "HEAD^<!-- -->1:")  # which shows HEAD^1
    assert call("diff", "HEAD^1:later.yaml", "later.yaml", "--base", "torch-2.15").code == 0


def test_sources_are_compared_across_revisions() -> None:
    """The lambda is the same: what was put above it changed its line alone."""
    result = call("diff", "main:csrc", "csrc", "--base", "torch-2.15", "--format", "json")
    report = json.loads(result.out)
    (replaced,) = report["registrations"]
    assert (result.code, report["counts"]["slots"]) == (1, 1)
    assert [replaced[side][0]["declared_at"] for side in ("before", "after")] == [
        {"file": "main:csrc/ops.cpp", "line": 3, "column": 3},
        {"file": "csrc/ops.cpp", "line": 4, "column": 3},
    ]
    assert report["old"]["named"] == ["main:csrc"]


def test_everything_about_a_revision_is_read_there(repo: Path) -> None:
    """Its project file names the backend, and the folder of headers; the working tree has other ones, or none."""
    write(repo, {"pyproject.toml": "[tool.dispatch-cli]\nprivateuse1 = 'xyz'\n", "csrc/ops.cpp": "broken("})
    (repo / "include" / "keys.h").unlink()
    result = call("register", "main:csrc", "--base", "torch-2.15", "--op", "aten::bmm")
    assert "bmm_npu" in result.out
    for file, backend in (("main:decl.yaml", "npu"), ("decl.yaml", "xyz")):
        result = call("explain", "npu::rotary", f"Autograd{backend.upper()}", file, "--format", "json")
        assert result.code in (0, 1), (file, result.err)


@pytest.mark.parametrize(
    ("old", "new", "change", "missing"),
    [
        ("main:new.yaml", "new.yaml", "added", "main:new.yaml"),
        ("main:more.yaml", "more.yaml", "removed", "more.yaml"),
        ("main:new.yaml", "HEAD:new.yaml", "added", "main:new.yaml"),
    ],
)
def test_a_file_that_is_new_or_was_deleted(old: str, new: str, change: str, missing: str, repo: Path) -> None:
    """It is compared with what it starts from, so that all of it is added, or removed."""
    commit(repo, {"new.yaml": BEFORE["more.yaml"].replace("libraries", "extends: [torch-2.14]\nlibraries")})
    write(repo, {"more.yaml": ""})
    (repo / "more.yaml").unlink()
    result = call("diff", old, new, "--format", "json", *(("--base", "torch-2.14") if "more" in old else ()))
    assert (result.code, missing in result.err) == (1, True)
    report = json.loads(result.out)
    assert [(row["operator"], row["change"]) for row in report["registrations"]] == [("aten::relu", change)]
    assert report["counts"]["operators_added"] == report["counts"]["operators_removed"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("decl.yaml", "--", "--output=x:decl.yaml"), "no revision '--output=x'"),
        (("nofile.yaml", "HEAD:decl.yaml"), "nofile.yaml does not exist"),
        (("HEAD~1", "HEAD"), "to read a git revision, add a path: HEAD~1:decl.yaml, or HEAD~1:. for all of it"),
        (("main:include", "decl.yaml", "--universe", "main:u.json"), "main:u.json"),
    ],
)
def test_what_is_wrong_is_bad_input(arguments: tuple[str, ...], message: str) -> None:
    result = call("diff", "--format", "json", *arguments)
    assert result.code == 2
    assert message in result.err
    assert_valid(json.loads(result.out))
