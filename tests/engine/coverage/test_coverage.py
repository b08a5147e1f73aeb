"""Coverage of operators that are made for it, class by class."""

from __future__ import annotations

import pytest

from dispatch_cli import universes
from dispatch_cli.engine.backend_answers import (
    Covered,
    Gradient,
    NoService,
    Reach,
    Service,
    Training,
    backend_named,
    backend_of,
)
from dispatch_cli.engine.coverage import Classifier
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.model.kernel import Kernel, Redispatch, RedispatchKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.parser import parse_schema
from dispatch_cli.model.universe import backend_keys
from tests import in_pytorch
from tests.capture.support import live_seed, live_universe, torch_python
from tests.engine.coverage.backend import FALLBACKS, wrong

UNIVERSE = universes.load("torch-2.15")
MATH, EXPLICIT = "CompositeImplicitAutograd", "CompositeExplicitAutograd"
OPERATORS = 150
"""Number of random operators that a live PyTorch is asked about."""
TENSOR, SIZE = "(Tensor x) -> Tensor", "(int size) -> Tensor"
RAISES, COMPUTES, BELOW = map(Redispatch, (RedispatchKind.RAISES, RedispatchKind.NO, RedispatchKind.BELOW_AUTOGRAD))


def covered(
    *keys: str, schema: str = TENSOR, backend: str = "PrivateUse1", fallback: Kernel | None = None, **kernel: Redispatch
) -> Covered:
    """An operator with kernels at these keys; one with a ``-`` before it falls through."""
    dispatcher, name = Dispatcher(UNIVERSE), OperatorName("m::a")
    dispatcher.define(parse_schema(f"m::a{schema}"), "defined")
    for key in keys:
        bare = key.removeprefix("-")
        dispatcher.implement(name, bare, Kernel(bare, fallthrough=key != bare, redispatches=kernel.get(bare)))
    if fallback is not None:
        dispatcher.fall_back(backend, fallback)
    return Classifier(dispatcher, backend_of(UNIVERSE, backend)).of(name)


@pytest.mark.parametrize(
    ("one", "service", "source", "lack", "training", "gradient"),
    [
        (covered("PrivateUse1"), "kernel", "PrivateUse1", None, "none", "warning"),
        (covered("PrivateUse1", "Autograd"), "kernel", "PrivateUse1", None, "generic", None),
        (covered("PrivateUse1", "AutogradPrivateUse1"), "kernel", "PrivateUse1", None, "own", None),
        (covered("PrivateUse1", "-AutogradPrivateUse1"), "kernel", "PrivateUse1", None, "none", "dropped"),
        (covered(MATH), "composite", MATH, None, "math", None),
        (covered(MATH, "-AutogradPrivateUse1"), "composite", MATH, None, "none", "decomposed"),
        (covered(EXPLICIT), "composite", EXPLICIT, None, "none", "decomposed-with-warning"),
        (covered("CPU", "Autograd"), "nothing", None, "missing", "generic", None),
        (covered("CPU", "-PrivateUse1"), "nothing", None, "skipped", "none", None),
        (covered("PrivateUse1", PrivateUse1=RAISES), "nothing", "PrivateUse1", "raises", "none", None),
        (covered("CPU", fallback=Kernel("f")), "fallback", "PrivateUse1", None, "none", "warning"),
        (covered("CPU", fallback=Kernel("f", fallthrough=True)), "nothing", None, "skipped", "none", None),
        (covered("CPU", fallback=Kernel("f", redispatches=RAISES)), "nothing", "PrivateUse1", "raises", "none", None),
        (covered("Autograd"), "above", "Autograd", None, "generic", None),
        (covered("CPU", "Autograd", Autograd=COMPUTES), "above", "Autograd", None, "generic", None),
        (covered("PrivateUse1", PrivateUse1=COMPUTES), "kernel", "PrivateUse1", None, "none", "warning"),
        (covered("Autograd", Autograd=BELOW), "nothing", None, "missing", "generic", None),
        (covered("PrivateUse1", schema=SIZE), "nothing", None, "no-tensors", "no-tensors", None),
        (covered("PrivateUse1", "BackendSelect", schema=SIZE), "kernel", "PrivateUse1", None, "no-tensors", None),
        (
            covered("-PrivateUse1", "BackendSelect", EXPLICIT, schema=SIZE),
            "nothing",
            None,
            "skipped",
            "no-tensors",
            None,
        ),
        (covered("PrivateUse1", backend="MTIA"), "nothing", None, "missing", "none", None),
        (covered("MTIA", MATH, backend="MTIA"), "kernel", "MTIA", None, "math", None),
        (covered("IPU", backend="IPU"), "kernel", "IPU", None, "broken", None),
        (covered("SparseCPU", MATH, backend="MkldnnCPU"), "composite", MATH, None, "broken", None),
        (covered(MATH, "SparseCPU", backend="MkldnnCPU"), "composite", MATH, None, "math", None),  # stale
    ],
)
def test_classes(
    one: Covered, service: str, source: str | None, lack: str | None, training: str, gradient: str | None
) -> None:
    """Each is what calls of such operators do in PyTorch; `live_backend.py` asks a live one."""
    facts = (one.service, None if one.lack is NoService.SKIPPED else one.source, one.lack, one.training, one.gradient)
    assert facts == (
        Service(service),
        source,
        None if lack is None else NoService(lack),
        Training(training),
        None if gradient is None else Gradient(gradient),
    )
    assert one.served is (lack is None and training != "broken")


def test_a_kernel_that_only_inference_mode_runs() -> None:
    """AutogradMTIA does not know of MTIA's kernels, so that the math kernel stays there."""
    assert covered("MTIA", MATH, backend="MTIA").bypassed
    assert not covered("PrivateUse1", MATH).bypassed
    assert covered("SparseCPU", MATH, backend="SparseCPU").bypassed


def test_reach() -> None:
    assert covered(MATH).reach is Reach.TENSORS
    assert covered(MATH, schema="(Tensor?[] x) -> ()").reach is Reach.TENSORS
    assert covered(MATH, schema=SIZE).reach is Reach.NOT
    assert covered(MATH, "BackendSelect", schema=SIZE).reach is Reach.DEVICE
    assert covered(MATH, "-BackendSelect", schema=SIZE).reach is Reach.NOT


def test_backends() -> None:
    keys = backend_keys(UNIVERSE)
    assert {"CPU", "PrivateUse1", "SparseCUDA", "MkldnnCPU", "FPGA", "NestedTensorCPU", "Meta"} <= set(keys)
    assert not {"AutogradCPU", "Undefined", "BackendSelect", "Python", "Dense", "FuncTorchBatched"} & set(keys)
    backends = {name: backend_named(UNIVERSE, name) for name in ("mps", "sparsecuda", "hip", "autogradcpu", "npu")}
    assert {name: one and (one.key, one.device, one.autograd) for name, one in backends.items()} == {
        "mps": ("MPS", "mps", "AutogradMPS"),
        "sparsecuda": ("SparseCUDA", None, "AutogradCUDA"),
        "hip": ("HIP", "hip", "AutogradOther"),
        "autogradcpu": None,
        "npu": None,
    }


# Calls on a backend that is made in Python, in a live PyTorch.


@pytest.mark.live
@pytest.mark.parametrize("fallback", FALLBACKS)
def test_calls_do_what_coverage_says(fallback: str | None) -> None:
    python = torch_python()
    ask = "from torch.utils.backend_registration import _setup_privateuseone_for_python_backend"
    if in_pytorch.run([python, "-c", ask], check=False).returncode:
        pytest.skip("this PyTorch has no backends in Python")
    universe = universes.from_data(live_universe(python))
    assert list(wrong(python, universe, fallback, OPERATORS, live_seed())) == []
