"""Programs that say themselves what ran, and what the view of their recordings finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import in_pytorch
from tests.cli.support import call
from tests.trace.recorded import read, recorder_command

pytestmark = pytest.mark.live

BACKEND = """
import json, torch
from collections import Counter
from torch.utils._pytree import tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_setup_privateuseone_for_python_backend("npu")
HELD, RAN, REACHED = {}, Counter(), Counter()


def put(value):
    made = torch._C._acc.create_empty_tensor(tuple(value.shape), value.dtype)
    HELD[made.untyped_storage()._cdata] = made, value.detach().clone()
    return made


def got(value):
    if isinstance(value, torch.Tensor) and value.device.type == "npu":
        held = HELD.get(value.untyped_storage()._cdata)
        return torch.zeros(value.shape, dtype=value.dtype) if held is None else held[1]
    return torch.device("cpu") if isinstance(value, torch.device) else value


def on_cpu(operator, *args, **kwargs):
    REACHED[operator.name()] += 1
    args, kwargs = tree_map(got, (args, kwargs))
    if any(one.name == "device" for one in operator._schema.arguments):
        kwargs["device"] = "cpu"
    result = tree_map(lambda one: put(one) if isinstance(one, torch.Tensor) else one, operator(*args, **kwargs))
    RAN[operator.name()] += 1
    return result


everything = torch.library.Library("_", "IMPL")
everything.fallback(on_cpu, "PrivateUse1")
anew = torch.library.Library("aten", "IMPL")


@torch.library.impl(anew, "tan", "AutocastPrivateUse1")
def tan(x):
    with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)):
        return torch.tan(x)


x = put(torch.randn(4, 8)).requires_grad_()
w = put(torch.randn(8, 8))
torch.relu(x @ w)
torch.sin(torch.sin(x.detach()))
for _ in range(3):
    try:
        torch.mm(x, x)
    except RuntimeError:
        pass
torch.set_autocast_enabled("npu", True)
torch.tan(x)
torch.set_autocast_enabled("npu", False)
print(json.dumps({"ran": RAN, "reached": REACHED}))
torch.mm(x, x)
"""


class Found:
    """The recording of a program, in a folder. said: what it printed last. answer: what is said of the recording."""

    def __init__(self, folder: Path) -> None:
        self.file = str(folder / "r.trace")
        self.code, self.said = json.loads((folder / "ended").read_text(encoding="utf-8"))
        shown = call("trace", self.file, "--format", "json")
        assert shown.code == 0, shown.err
        self.answer = json.loads(shown.out)

    def of_kind(self, kind: str) -> list[Any]:
        return [finding for finding in self.answer["findings"] if finding["kind"] == kind]

    def operators(self, kind: str) -> set[str]:
        """Those that are shown with only the findings of a kind."""
        shown = call("trace", self.file, "--only", kind, "--format", "json")
        return {operator["operator"] for operator in json.loads(shown.out)["operators"]}


def record(folder: Path, source: str) -> None:
    """Run a program."""
    (folder / "program.py").write_text(source, encoding="utf-8")
    done = in_pytorch.run(recorder_command(folder / "r.trace", "program.py"), check=False, folder=folder)
    ended = [done.returncode, json.loads(done.stdout.splitlines()[-1])]
    (folder / "ended").write_text(json.dumps(ended), encoding="utf-8")
    read(folder / "r.trace")  # it is captured what is registered, before the folder gets another name


def test_fallbacks_are_counted_where_they_run(tmp_path: Path) -> None:
    """Not at the call around that calls the operator again, nor in calls that raised before."""
    record(tmp_path, BACKEND)
    recording = Found(tmp_path)
    assert recording.code == 1
    fallbacks = recording.of_kind("fallback")
    assert {fallback["operator"]: fallback["calls"] for fallback in fallbacks} == recording.said["ran"]
    assert {fallback["fallback"] for fallback in fallbacks} == {"backend"}
    counts = recording.answer["counts"]
    assert (counts["raised"], counts["unfinished"]) == (4, 0)
    rows = [row for thread in recording.answer["threads"] for row in thread["rows"]]
    assert [(row["operator"], row["raised"]) for row in rows if row["raised"]] == [("aten::mm", 3), ("aten::mm", 1)]
    assert not any(row["path"]["problem"] for row in rows if row["path"])


INFERENCE = """
import json, torch, warnings
warnings.simplefilter("ignore")
x = torch.randn(4, 4, requires_grad=True)
weight = torch.ops.quantized.linear_prepack(torch.quantize_per_tensor(torch.randn(4, 4), 0.1, 0, torch.qint8), None)
torch.ops.quantized.linear_dynamic(x, weight)
torch.ops.mkldnn._linear_pointwise(x, torch.randn(4, 4), None, "none", [], "")

@torch.library.custom_op("mine::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2

twice(x)
library = torch.library.Library("mine", "FRAGMENT")
library.define("thrice(Tensor x) -> Tensor")
library.impl("thrice", lambda x: x.detach() * 3, "CPU")
torch.ops.mine.thrice(x)
kinds = ("Autograd", "AutogradCPU", "AutogradCUDA", "CompositeImplicitAutograd")
has = torch._C._dispatch_has_kernel_for_dispatch_key
print(json.dumps([
    name for name in ("quantized::linear_dynamic", "mkldnn::_linear_pointwise", "mine::twice", "mine::thrice")
    if not any(has(name, kind) for kind in kinds)
]))
"""


def test_operators_that_are_for_inference_only(tmp_path: Path) -> None:
    """PyTorch itself has no gradient for two of them, and nobody else is to write one."""
    record(tmp_path, INFERENCE)
    recording = Found(tmp_path)
    assert recording.said == ["quantized::linear_dynamic", "mkldnn::_linear_pointwise", "mine::thrice"]
    assert {row["operator"] for row in recording.of_kind("no-gradient")} == {"mine::thrice", "mine::twice"}
    assert recording.operators("no-gradient") == {"mine::thrice", "mine::twice"}


@pytest.mark.parametrize("backend", ["inductor", "aot_eager"])
def test_kernels_that_inductor_compiled_are_not_recorded(tmp_path: Path, backend: str) -> None:
    """They make no calls: PyTorch's profiler is told of none. That is said once, and only where there are some."""
    source = """
import json, sys, torch
from torch.profiler import profile
x = torch.ones(4)
compiled = torch.compile(lambda x: x.sin() + 1, backend=sys.argv[1])
compiled(x)
with profile() as seen:
    compiled(x)
print(json.dumps("aten::sin" in {event.name for event in seen.events()}))
"""
    record(tmp_path, source.replace("sys.argv[1]", repr(backend)))
    recording = Found(tmp_path)
    is_compiled = backend == "inductor"
    assert recording.said == (not is_compiled)
    text = call("trace", recording.file).out
    assert text.count("what kernels do that Inductor compiled: they make no calls\n") == is_compiled
    assert [stop["reason"] for stop in recording.answer["not_recorded"]] == ["inductor"] * is_compiled
    assert recording.answer["counts"]["unfinished"] == 0
