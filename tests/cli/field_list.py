"""Every field of every JSON report with its types, and the header of every CSV report, as one text.

``python -m tests.cli.field_list`` writes the text to ``fields/fields.txt``, and a test compares it: a field that is
added, removed, renamed or changes its type is a changed line. A change that is meant is written anew and named in the
CHANGELOG.

A line is a path and the types found there. ``[]`` is any element of a list, ``{}`` any value of an object whose names
are data. Objects that occur in many places have a name, see `SHAPES`. The commands give nearly every path a value.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cli.support import ROOT, call
from tests.crossref.support import doctored, written
from tests.crossref.test_stand_in import python_that_answers, with_higher_order
from tests.support import UNIVERSE_OF, slot_errors
from tests.trace.support import every

FIELDS = Path(__file__).parent / "fields" / "fields.txt"
COMMANDS = """
bases
check-invariants --base torch-2.4 --op 'aten::*norm*'
check-invariants examples/scenarios/03_fallback_never_asked.yaml
check-invariants examples/scenarios/04_alias_gaps.yaml
check-invariants examples/scenarios/10_sparse_bypass.yaml
check-invariants examples/stale.yaml --baseline $TMP/baseline.json
check-invariants tests/checks/planted/library.yaml --select all
check-invariants tests/cli/conditions.yaml
check-invariants tests/cli/fields/all.yaml --select all
check-invariants examples/stale.yaml --baseline $TMP/baseline.json --view summary
checks
coverage PrivateUse1 examples/out_of_tree_backend.yaml --context autocast --context vmap
coverage MkldnnCPU examples/ambiguous.yaml --served-by nothing
coverage MPS --base torch-2.15 --base torch-2.15-mps --op 'aten::*softmax*'
coverage MPS --base torch-2.15 --op 'aten::*softmax*'
coverage PrivateUse1 --base torch-2.15 --against torch-2.4 --op 'aten::_cdist*' --op 'aten::_pdist*'
coverage PrivateUse1 tests/cli/fields/over.yaml --tag core
coverage examples/out_of_tree_backend.yaml
support examples/custom_ops.yaml --device cpu --device mps --tensor sparse --context eager --context 'autocast cpu'
support examples/custom_ops.yaml --op pylib::normalize --device cpu
crossref $TMP/recording.json
crossref --against live --python $TMP/python
diff tests/cli/diff_old.yaml tests/cli/diff_new.yaml
diff torch-2.4 torch-2.15
crossref tests/cli/fields/against.cpp --against torch-2.15
explain --from-error tests/cli/error.txt
explain --from-error tests/cli/overridden.txt tests/report/broken.yaml
explain --from-error tests/reports/texts/quantized_conv2d_1_4.txt
explain --from-error tests/reports/texts/renamed_backend.txt
explain --from-error tests/reports/texts/sparse_view_in_rust.txt
explain --from-error tests/reports/texts/xla_sparse.txt
explain --from-error $TMP/errors.txt
explain --from-error $TMP/undefined.txt
explain --from-error $TMP/older.txt
explain --from-error $TMP/higher_order.txt
explain call_torchbind FakeTensorMode examples/call_torchbind.yaml
explain call_torchbind Autograd examples/call_torchbind.yaml
explain call_torchbind AutogradCPU examples/call_torchbind.yaml
explain call_torchbind NestedTensorCPU examples/call_torchbind.yaml
explain cond AutogradOther
explain field_hop AutogradCPU tests/cli/fields/all.yaml
explain cond mode=MyMode
explain aten::add.Tensor AutogradCPU
explain aten::bmm CompositeExplicitAutogradNonFunctional examples/scenarios/04_alias_gaps.yaml
explain aten::sin Sparse
explain aten::to.dtype CPU tests/cli/overlay.yaml
explain aten::to.dtype PrivateUse1 tests/cli/overlay.yaml
explain aten::zeros_like Meta
explain aten::matmul AutogradMPS tests/cli/mps.yaml
explain field::base AutogradCPU tests/cli/fields/over.yaml
explain field::base CUDA tests/cli/fields/over.yaml
explain field::base CompositeImplicitAutograd tests/cli/fields/over.yaml
explain field::lost CUDA tests/cli/fields/all.yaml
explain field::math NestedTensorCPU tests/cli/fields/all.yaml
explain field::op PrivateUse1 tests/cli/fields/all.yaml
explain mylib::norm2 AutogradCUDA examples/custom_library.yaml
explain mylib::scale CUDA tests/cli/conditions.yaml
explain stale::quantized AutogradOther examples/stale.yaml
explain stale::quantized Autograd examples/stale.yaml
guards examples/scenarios/06_factory.fixed.yaml
history _c10d_functional_autograd::all_to_all_single
history aten::_convolution
history aten::_scaled_mm_v2
history aten::ones
history associative_scan
history profiler::_record_function_enter
history aten::all.dimname
history associative_scan CPU
history profiler::_record_function_enter CPU
guards tests/cli/fields/all.yaml
guards tests/cli/fields/over.yaml
keys
keys --tensor cpu --context inference_mode
keys '(CPU|AutogradCUDA)-CUDA-Autograd'
keys --universe torch-2.4 --against torch-2.15
keys AutogradOther
keys CPU
keys CPUBit
keys CompositeExplicitAutograd
register --base torch-2.15 --op cond
register examples/broken.yaml
keys --universe nowhere.json
register examples/call_torchbind.yaml
register examples/custom_library.yaml
register tests/cli/conditions.yaml --key CPU --key CUDA
register tests/cli/conditions.yaml --view fallbacks
register tests/cli/fields/over.yaml --view fallbacks
register tests/cli/conditions.yaml --view order
register tests/cli/fields/over.yaml --view order
register tests/cli/fields/over.yaml --key '*'
register tests/cli/conditions.yaml
register tests/cli/fields/all.yaml
register tests/cli/fields/over.yaml
register tests/cli/redispatches.yaml
resolve aten::add.Tensor --tensor 'cpu requires_grad' --tensor 'cpu' --context 'autocast cpu'
resolve aten::rand.generator --argument generator=cpu
resolve aten::sin --keyset 'Python | CPU' --context mode=MyMode
resolve aten::sin --tensor 'cpu batched' --context vmap
resolve aten::sin --tensor xla
resolve aten::to.dtype tests/cli/overlay.yaml --tensor 'privateuseone requires_grad'
resolve aten::zeros --argument device=cuda --argument dtype=qint8
resolve aten::embedding_renorm_ --tensor mps --tensor mps tests/cli/mps.yaml
resolve call_torchbind --tensor 'cpu fake' --context mode=ProxyTorchDispatchMode
resolve call_torchbind --tensor 'cpu fake=A' --tensor cpu --tensor 'cpu fake=B'
resolve call_torchbind --tensor 'cpu requires_grad'
resolve aten::_sparse_coo_tensor_with_dims_and_tensors --tensor cpu --tensor cpu
resolve aten::add.Tensor --tensor 'cpu subclass=A' --tensor 'cpu subclass=B' --context mode=C
resolve aten::empty_like --tensor cpu --argument layout=sparse
resolve aten::mm --tensor 'cuda sparse' --tensor 'cpu sparse'
resolve call_torchbind examples/call_torchbind.yaml --tensor cpu --context mode=FakeTensorMode
resolve demo::shrink examples/scenarios/09_inference_mode.yaml --tensor cpu --context inference_mode
resolve field::op tests/cli/fields/all.yaml --tensor 'cpu fake'
resolve aten::relu --tensor 'cpu sparse fake'
resolve field::math tests/cli/fields/all.yaml --tensor meta --context python_dispatcher
resolve field_hop tests/cli/fields/all.yaml --tensor 'cpu subclass=Passes' --tensor 'cpu subclass=Handles'
resolve field_hop tests/cli/fields/all.yaml --tensor 'cpu subclass=Passes' --context mode=FakeTensorMode
resolve field_hop tests/cli/fields/all.yaml --tensor meta
resolve mylib::filled examples/scenarios/06_factory.yaml
resolve mylib::normalize tests/cli/redispatches.yaml --tensor 'cpu batched' --context vmap
resolve mylib::whiten tests/cli/redispatches.yaml --tensor cpu
resolve stale::quantized examples/stale.yaml --tensor mkldnn
rules
trace $TMP/every.trace --kernels examples/out_of_tree_backend.yaml
trace tests/trace/recordings/train.trace
trace tests/trace/recordings/train.trace --explain 18
table --base torch-2.15 --op 'aten::*_like' --resolver differences
table --base torch-2.15 --op aten::zeros_like --op cond
table --base torch-2.15 --op aten::zeros_like --op cond --resolver python
table --base torch-2.15 --op aten::zeros_like --op cond --resolver python --view summary
table --base torch-2.15 --op aten::zeros_like --op cond --view summary
table examples/call_torchbind.yaml
table tests/cli/mps.yaml --op aten::linalg_svd
table examples/stale.yaml
table examples/stale.yaml --view summary
table tests/cli/fields/all.yaml
table tests/cli/fields/all.yaml --resolver differences
table tests/cli/fields/all.yaml --resolver python
table tests/cli/fields/all.yaml --resolver python --view summary
table tests/cli/fields/all.yaml --view summary
table tests/cli/conditions.yaml
table tests/cli/fields/over.yaml
"""
NO_CSV = ("explain", "resolve")
SHAPES = {
    frozenset({"file", "line", "column"}): "place",
    frozenset({"raw", "keys", "functionalities", "backends"}): "key set",
}
DATA_NAMES = ("devices", "errors", "details")
"""Objects whose names are data: the devices, the errors of a rule by place, the details of a finding by check."""
TYPES = {dict: "object", list: "list", str: "text", bool: "boolean", int: "number", float: "number", type(None): "null"}


def types_of(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every path in a JSON value, and the type of the value there."""
    if isinstance(value, dict):
        shape = SHAPES.get(frozenset(value), "object")
        yield path, shape
        if shape == "object":
            with_data = path.rpartition(".")[2] in DATA_NAMES
            for name, inner in value.items():
                yield from types_of(inner, f"{path}{{}}" if with_data else f"{path}.{name}" if path else name)
    else:
        yield path, TYPES[type(value)]
        for inner in value if isinstance(value, list) else ():
            yield from types_of(inner, f"{path}[]")


@contextmanager
def inputs() -> Iterator[str]:
    """A folder with the inputs that are made for this: a recording, a stand-in for PyTorch, a baseline, error texts."""
    with tempfile.TemporaryDirectory() as folder:
        written(Path(folder), doctored())
        python_that_answers(with_higher_order(), Path(folder))
        texts = {version: [error["text"] for error in slot_errors(version)] for version in UNIVERSE_OF}
        for name, text in {
            "errors": texts["2.15.0"][0] + texts["2.15.0"][6],
            "undefined": texts["2.15.0"][6],
            "older": texts["2.4.1"][0],
            "higher_order": "There was no rule registered for HOP hop and subclass <class 'my.Sub'>. We recommend",
        }.items():
            Path(folder, f"{name}.txt").write_text(text, encoding="utf-8")
        known = [{"check": "order-sensitive", "operator": "gone::op", "key": "CPU"}]
        baseline = {"schema_version": 1, "report": "baseline", "findings": known}
        Path(folder, "baseline.json").write_text(json.dumps(baseline), encoding="utf-8")
        Path(folder, "every.trace").write_text(every(), encoding="utf-8")
        yield folder


def answer(line: str, format_: str) -> str:
    """Output of a command; a command that refuses its input ends the run."""
    result = call(*shlex.split(line), "--format", format_)
    if result.code > 1 and not result.out:
        sys.exit(f"{line}: {result.err}")
    return result.out


def field_list() -> str:
    """The whole text; run at the project's root."""
    fields: dict[str, dict[str, set[str]]] = {}
    headers: set[str] = set()
    with inputs() as folder:
        for line in COMMANDS.replace("$TMP", folder).split("\n")[1:-1]:
            document = json.loads(answer(line, "json"))
            report = f"{document['report']}, schema version {document['schema_version']}"
            for path, type_ in types_of(document):
                fields.setdefault(report, {}).setdefault(path, set()).add(type_)
            if not line.startswith(NO_CSV):
                headers.add(f"{document['report']}: {answer(line, 'csv').splitlines()[0]}")
    lines = ["CSV", "", *sorted(headers)]
    for report in sorted(fields):
        field = fields[report]
        lines += [
            "",
            f"JSON {report}",
            "",
            *(f"{path}: {' | '.join(sorted(field[path]))}" for path in sorted(field) if path),
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    os.chdir(ROOT)
    FIELDS.write_text(field_list(), encoding="utf-8")
