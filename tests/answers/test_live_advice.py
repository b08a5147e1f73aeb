"""Advice on a live PyTorch: each change is made there, and the calls that it is about then work.

Tried are calls with tensors of the slot: CPU, Meta, sparse, quantized, mkldnn and nested ones, and wrappers that carry
the keys of devices that the build lacks; outside and inside of inference mode; without tensors; and under vmap.
Not tried are slots that no tensor brings by itself, such as AutocastCPU or Functionalize, keys that the build's
declarations cannot name, and changes that concern backend fallbacks, which would be in effect for every operator.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests import in_pytorch
from tests.answers.random_declarations import changed, declared
from tests.answers.test_advice import Applied, interesting
from tests.capture.support import live_seed, live_universe, torch_python

pytestmark = pytest.mark.live
DECLARATIONS = int(os.environ.get("DISPATCH_CLI_ADVICE", "10"))
TENSORS = {
    "CPU": "cpu",
    "SparseCPU": "cpu sparse",
    "SparseCsrCPU": "cpu sparse_csr",
    "QuantizedCPU": "cpu quantized",
    "NestedTensorCPU": "cpu nested",
    "MkldnnCPU": "cpu mkldnn",
    "Meta": "meta",
    "CUDA": "cuda",
    "XPU": "xpu",
    "SparseCUDA": "cuda sparse",
    "XLA": "xla",
    "HIP": "hip",
    "MTIA": "mtia",
    "PrivateUse1": "privateuseone",
}
"""A tensor for each backend key."""
ABOVE = {
    "AutogradCPU": ("CPU", "SparseCPU", "SparseCsrCPU", "QuantizedCPU"),
    "AutogradMeta": ("Meta",),
    "AutogradCUDA": ("CUDA", "SparseCUDA"),
    "AutogradOther": ("MkldnnCPU", "HIP"),
    "AutogradXPU": ("XPU",),
    "AutogradXLA": ("XLA",),
    "AutogradPrivateUse1": ("PrivateUse1",),
    "AutogradNestedTensor": ("NestedTensorCPU",),
    "AutogradMTIA": ("MTIA",),
}
"""The backend keys whose tensors carry an autograd key."""
COMPOSITE = ("CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd", "CompositeImplicitAutograd")
"""The alias keys whose kernels serve such backends."""
COMPUTING = ("Composite", "FuncTorchBatchedDecomposition", "Sparse", "Quantized", "NestedTensor", "Mkldnn")
DEVICES = {"CPU": "cpu", "CUDA": "cuda", "XPU": "xpu", "XLA": "xla", "MTIA": "mtia", "PrivateUse1": "privateuseone"}


def kernels(document: dict[str, Any]) -> list[list[str]]:
    """The operator's registrations in order, each with how its kernel goes on."""
    results = []
    for block in document.get("libraries", ()):
        key = block.get("dispatch_key", "")
        results += [[key, goes_on(key, kernel)] for kernel in block.get("impl", {}).values()]
    for entry in document.get("operators", ()):
        if name_of(entry) == "demo::op":
            results += [[key, goes_on(key, kernel)] for key, kernel in entry.get("dispatch", {}).items()]
    return results


def name_of(entry: dict[str, Any]) -> str:
    name: str = entry.get("name") or entry["func"].partition("(")[0]
    return name


def goes_on(key: str, kernel: Any) -> str:
    """The way a kernel goes on: as it says, or as kernels at that key do by convention."""
    if isinstance(kernel, dict):
        if kernel.get("fallthrough"):
            return "fallthrough"
        redispatches = kernel.get("redispatches")
        if redispatches is not None:
            return "computes" if redispatches is False else str(redispatches)
    if key in TENSORS or key == "FPGA" or key.startswith(COMPUTING):
        return "computes"
    return {"BackendSelect": "by-device", "FuncTorchBatched": "unwrapped"}.get(key, "below-key")


def calls(schema: str, advice: dict[str, Any], was: list[list[str]], now: list[list[str]]) -> list[dict[str, Any]]:
    """The calls that a piece of advice is about. was, now: what is registered before and after, and how it goes on.

    Calls of backends without a kernel of their own need a composite one, or one that computes above them. Where a
    composite kernel is a fallthrough, they fail whatever is done above them.
    """
    registered = [key for key, _ in was]
    others = not any(key.startswith("Composite") and goes == "fallthrough" for key, goes in now)
    others &= any(key in COMPOSITE or (key in advice["keys"] and goes == "computes") for key, goes in now)
    plain = {"tensor": None, "inference": False, "vmap": False, "device": "cpu"}
    kind, culprits = advice["kind"], advice["culprits"]
    if "Tensor" not in schema.partition(" -> ")[0]:
        devices = [DEVICES[key] for key in culprits if key in DEVICES]
        return [{**plain, "device": device} for device in devices] if kind == "unreachable" else []
    slot = advice["keys"][0]
    if slot == "Undefined":
        return [plain] if kind == "no-tensors" and ("Tensor[]" in schema or "Tensor?" in schema) else []
    if slot == "FuncTorchBatched":
        return [{**plain, "tensor": "cpu", "vmap": True}] if "CPU" in registered and "Tensor[]" not in schema else []
    if slot in TENSORS:
        tensor = {**plain, "tensor": TENSORS[slot]}
        return [tensor, {**tensor, "inference": True}] if slot in ("CPU", "Meta") else [tensor]
    keys = [key for key in ABOVE.get(slot, ()) if key in (culprits if kind == "bypassed" else registered)]
    return [{**plain, "tensor": TENSORS[key]} for key in keys or ABOVE.get(slot, ())[: int(others)]]


def cases(universe: dict[str, Any], dice: random.Random, folder: Path, counts: Counter[str]) -> list[dict[str, Any]]:
    """Random declarations, and each change that is advised for them."""
    results = []
    while counts["declarations"] < DECLARATIONS:
        document, operator = declared(dice)
        head = next((operator.get("func") for operator in document.get("operators", ()) if "func" in operator), None)
        head = head or next(
            (definition for block in document.get("libraries", ()) for definition in block.get("define", ())), None
        )
        if operator != "demo::op" or head is None or "fallbacks" in document:
            continue
        counts["declarations"] += 1
        document["universe"] = universe
        before = Applied(folder, document)
        schema = head[head.index("(") :]
        for key in interesting(before, operator, dice):
            for advice in before.explain(operator, key)["advice"]:
                counts["advice"] += 1
                counts["manual" if advice["manual"] else "with changes" if advice["changes"] else "notes"] += 1
                for change in advice["changes"]:
                    counts["changes"] += 1
                    after = changed(document, change["edits"])
                    was, now = kernels(document), kernels(after)
                    asked = calls(schema, advice, was, now)
                    if asked:
                        what = f"{advice['kind']} {key}: {change['text']}"
                        results.append({"schema": schema, "before": was, "after": now, "calls": asked, "what": what})
    return results


def test_changes_make_calls_work(tmp_path: Path) -> None:
    python, counts = torch_python(), Counter[str]()
    universe = live_universe(python)
    tried = cases(universe, random.Random(live_seed()), tmp_path, counts)
    question, answer = tmp_path / "asked.json", tmp_path / "said.json"
    asked = {"ids": universe["ids"], "devices": {name: key for key, name in DEVICES.items()}, "cases": tried}
    question.write_text(json.dumps(asked), encoding="utf-8")
    script = Path(__file__).with_name("live_advice.py")
    in_pytorch.run([python, str(script), str(question), str(answer)])
    answers = json.loads(answer.read_text(encoding="utf-8"))
    counts["changes tried live"] = len(tried)
    counts["calls"] = sum(len(answer["after"]) for answer in answers)
    counts["calls that failed before"] = sum(error is not None for answer in answers for error in answer["before"])
    wrong = [
        f"{case['what']}\n  {case['schema']} {case['before']}\n  -> {case['after']}\n  {asked}: {error}"
        for case, one in zip(tried, answers, strict=True)
        for asked, error in zip(case["calls"], one["after"], strict=True)
        if error is not None
    ]
    print(dict(counts))
    assert not wrong, f"{len(wrong)} calls fail:\n" + "\n".join(wrong[:20])
    assert len(tried) > DECLARATIONS / 2
