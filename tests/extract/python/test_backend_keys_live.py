"""Keys by the name of the backend at PrivateUse1: what is refused of sources is what a live PyTorch refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import in_pytorch
from tests.capture.support import torch_python
from tests.cli.support import call

KEYS = ("NPU", "AutogradNPU", "SparseNPU", "AutocastNPU", "npu", "Npu", "privateuseone", "PrivateUse1", "autogradnpu")
FORMS = (
    'of_{key} = torch.library.Library("aten", "IMPL"); of_{key}.impl("add.Tensor", f, "{key}")',
    'torch.library.impl("aten::mul.Tensor", "{key}")(f)',
    'kept.append(torch.library.Library("aten", "IMPL", "{key}"))',
    'torch.library.impl(library, "sub.Tensor", "{key}")(f)',
)
HEAD = """\
import torch
torch.utils.rename_privateuse1_backend("npu")
kept = []
library = torch.library.Library("aten", "IMPL")
def f(*args): ...
"""
STATEMENTS = tuple(form.format(key=key) for form in FORMS for key in KEYS)


@pytest.mark.live
def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program = f"{HEAD}refused = []\n"
    for number, statement in enumerate(STATEMENTS, HEAD.count("\n") + 1):
        program += f"try:\n    {statement}\nexcept Exception:\n    refused.append({number})\n"
    answer = in_pytorch.run([torch_python(), "-c", f"{program}print(refused)"])
    Path("backend.py").write_text(HEAD + "\n".join(STATEMENTS) + "\n", "utf-8")
    report = json.loads(call("check-invariants", "backend.py", "--base", "torch-2.13", "--format", "json").out)
    refused = {
        finding["declared_at"]["line"] for finding in report["findings"] if finding["check"] == "refused-registration"
    }
    live = set(json.loads(answer.stdout))
    assert refused <= live
    not_refused = [STATEMENTS[number - HEAD.count("\n") - 1] for number in sorted(live - refused)]
    assert not_refused == ['torch.library.impl("aten::mul.Tensor", "autogradnpu")(f)']  # an unknown device type
