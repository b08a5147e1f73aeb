"""Call PyTorch's operators with its own sample arguments while every kernel logs itself, and write what was seen.

usage: PYTHON live_opinfo.py LIBRARY ASKED.json DIRECTORY   (run with the Python that has PyTorch and NumPy)

LIBRARY: judge.cpp, built. ASKED: contexts, the path of capture/probe.py, samples per operator, and how many
operators, chosen at random by a seed; None for all. Of those named as thorough, all of the first samples are called.
DIRECTORY gets calls.jsonl, the registry of the end (state.json) and what could not be called (skipped.json).
"""

import ctypes
import importlib
import importlib.util
import json
import random
import sys
import types
import unittest
import warnings
from pathlib import Path
from typing import Any, Callable, List  # noqa: UP035

warnings.simplefilter("ignore")
THOROUGH = 4
"""Samples of an operator that is to be called with every overload."""


def import_op_db() -> Any:
    """PyTorch's own samples. Of expecttest they need the base class of tests alone."""
    if importlib.util.find_spec("expecttest") is None:
        stand_in: Any = types.ModuleType("expecttest")
        stand_in.TestCase = unittest.TestCase
        sys.modules["expecttest"] = stand_in
    return importlib.import_module("torch.testing._internal.common_methods_invocations").op_db


torch: Any = importlib.import_module("torch")
contexts: Any = importlib.import_module("sample_contexts")
torch._C._functorch._set_vmap_fallback_warning_enabled(False)


def is_thorough(info: Any, asked: Any) -> bool:
    """True if one of its names is that of an operator that is to be tried with all overloads."""
    names = [info.name, *(alias.name for alias in info.aliases)]
    return any(str(name).replace(".", "_").replace("nn_functional_", "") in asked["thorough"] for name in names)


def call_others() -> None:
    """Operators with kernels of their own for vmap that have no samples."""
    aten = torch.ops.aten
    calls: List[Callable[[Any], Any]] = [  # noqa: UP006
        lambda x: aten._has_same_storage_numel(x, x),
        lambda x: aten.fill_.Tensor(x.clone(), x.sum()),
        lambda x: aten.native_dropout(x, 0.5, True),
        lambda x: aten._standard_gamma(x),
        lambda x: aten._sample_dirichlet(x),
        lambda x: aten.squeeze_copy.dims(x, [0]),
        lambda x: aten.binomial(x, x),
        lambda x: aten.poisson(x),
        lambda x: aten.rand_like(x),
        lambda x: aten.random_.to(x.clone(), 3),
        lambda x: aten.random_(x.clone()),
        lambda x: aten.random_.__getattr__("from")(x.clone(), 0, 3),
        lambda x: aten.normal.float_Tensor(0.0, x),
        lambda _: aten.normal.float_float(0.0, 1.0, [3]),
        lambda _: aten.randint(3, [3]),
        lambda _: aten.randint.low(0, 3, [3]),
        lambda _: aten.randperm(3),
        lambda x: aten.bernoulli_.Tensor(x.clone(), x),
        lambda x: aten.grid_sampler_3d(x.sum() + torch.zeros(1, 1, 2, 2, 2), torch.zeros(1, 2, 2, 2, 3), 0, 0, False),
    ]
    if not torch.__version__.startswith("2.4."):  # it has no batching rule for this one
        calls.append(lambda x: aten._assert_tensor_metadata(x))
    for call in calls:
        torch.func.vmap(lambda x, call=call: (call(x), x)[1], randomness="different")(torch.ones(2, 3))
    call_backward_of_others()
    call_norms()


def call_norms() -> None:
    """Normalizations inside of two vmaps, each of which batches one tensor; and one without statistics."""
    aten, vmap = torch.ops.aten, torch.func.vmap
    weights, images = torch.ones(2, 4), torch.ones(2, 3, 4, 5)
    vmap(lambda w: vmap(lambda x: aten.native_group_norm(x, w, w, 3, 4, 5, 2, 1e-5))(images))(weights)
    vmap(lambda x: vmap(lambda w: aten.native_layer_norm(x, [4], w, w, 1e-5))(weights))(torch.ones(2, 3, 4))
    vmap(lambda x: aten._native_batch_norm_legit.no_stats(x, None, None, True, 0.1, 1e-5))(images)


def call_backward_of_others() -> None:
    """Operators of backward passes that have other operators in the place of a forward derivative."""
    aten, ones, mask = torch.ops.aten, torch.ones(3), [True, True, True]
    bytes_, labels, total_weight = torch.ones(0, dtype=torch.uint8), torch.tensor([0, 2]), torch.tensor(2.0)
    of_pixels = torch.zeros(1, 1, 2, dtype=torch.int64)
    norm = (ones, ones, ones, ones, ones)
    calls: List[Callable[[Any], Any]] = [  # noqa: UP006
        lambda x: aten._log_softmax_backward_data(x, x, 0, x.dtype),
        lambda x: aten._softmax_backward_data(x, x, 0, x.dtype),
        lambda x: aten.nll_loss_backward(x.sum(), x, labels, None, 1, -100, total_weight),
        lambda x: aten.nll_loss2d_backward(x.sum(), x.reshape(1, 3, 1, 2), of_pixels, None, 1, -100, total_weight),
        lambda x: aten.native_layer_norm_backward(x, x, [3], torch.ones(2, 1), torch.ones(2, 1), ones, ones, mask),
        lambda x: aten.native_batch_norm_backward(x, x, *norm, True, 1e-5, mask),
        lambda x: aten.batch_norm_backward(x, x, *norm, True, 1e-5, mask, bytes_),
        lambda x: aten.cudnn_batch_norm_backward(x, x, *norm, 1e-5, bytes_),
        lambda x: aten.miopen_batch_norm_backward(x, x, *norm, 1e-5),
    ]
    for call in calls:
        torch.func.jvp(call, (torch.ones(2, 3),), (torch.ones(2, 3),))


def main() -> None:
    library = ctypes.CDLL(sys.argv[1])
    asked = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    directory = Path(sys.argv[3])
    op_db = list(import_op_db())
    if asked["operators"] is not None:
        chosen = random.Random(asked["seed"]).sample(op_db, asked["operators"])
        op_db = [info for info in op_db if info in chosen or is_thorough(info, asked)]
    torch.func.vmap(torch.sin)(torch.ones(2))  # the first one of a process registers kernels
    library.kernel_log_install()
    skipped = []
    for context in asked["contexts"]:
        for info in op_db:
            name = info.name + ("." + info.variant_test_name if info.variant_test_name else "")
            try:
                count = THOROUGH if is_thorough(info, asked) else asked["samples"]
                samples = contexts.samples(info, context, count)
            except Exception as error:
                skipped.append([context, name, "no samples: " + repr(error)[:200]])
                continue
            for sample in samples:
                library.kernel_log_context(context.encode())
                try:
                    contexts.CONTEXTS[context](sample)
                except Exception as error:
                    skipped.append([context, name, repr(error)[:200]])
                finally:
                    library.kernel_log_context(b"")
    library.kernel_log_context(b"others")
    call_others()
    library.kernel_log_context(b"")
    library.kernel_log_write(str(directory / "calls.jsonl").encode())
    library.kernel_log_remove()
    (directory / "skipped.json").write_text(json.dumps({"skipped": skipped}), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("probe", asked["probe"])
    assert spec is not None and spec.loader is not None
    probe = importlib.util.module_from_spec(spec)
    sys.modules["probe"] = probe
    spec.loader.exec_module(probe)
    state = probe.ask([], probe.capture, directory.resolve())
    (directory / "state.json").write_text(json.dumps(state), encoding="utf-8")


if __name__ == "__main__":
    main()
