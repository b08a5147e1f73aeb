"""Autograd keys that come with a backend key, judged by the key sets of real tensors."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dispatch_cli import universes
from dispatch_cli.answers.keys.key import key_report
from dispatch_cli.engine.keys.autograd import autograd_key_of, autograd_keys_of
from dispatch_cli.engine.keys.expression import evaluate
from dispatch_cli.model.universe import AUTOGRAD, Universe
from tests import in_pytorch
from tests.capture.support import live_universe, torch_python
from tests.support import UNIVERSE_OF, load_recording

TENSORS = """\
import torch, warnings
warnings.simplefilter("ignore")
x = torch.ones(2, 2)
tensors = [x, x.to_sparse(), x.to_sparse_csr(), x.to_mkldnn(), torch.quantize_per_tensor(x, 1.0, 0, torch.qint8)]
tensors += [torch.nested.nested_tensor([x]), x.to("meta"), torch.empty(2, 2, device="meta", layout=torch.sparse_coo)]
for tensor in tensors:
    print(str(torch._C._dispatch_keys(tensor)).partition("(")[2].rstrip(")"))
"""


def check(universe: Universe, keys: list[str]) -> int:
    """Hold one tensor's keys, without those of inference tensors, against what we say; how many keys it has of both."""
    autograd = [key for key in universe.covered_by(AUTOGRAD) if key in keys]
    backends = [key for key in keys if autograd_keys_of(universe, key)]
    assert [list(reversed(autograd_keys_of(universe, key))) for key in backends] == [autograd]
    assert [autograd_key_of(universe, key) for key in backends] == autograd[-1:]
    assert list(evaluate(universe, f"autograd({backends[0]})").keys) == autograd
    assert list(key_report(universe, backends[0]).autograd_keys) == list(reversed(autograd))
    return len(autograd)


@pytest.mark.parametrize("version", ["2.13.0", "2.15.0"])
def test_recorded_tensors(version: str) -> None:
    universe = universes.load(UNIVERSE_OF.get(version, "torch-2.15"))
    kinds = {
        call["tensor"]: call["tensor_keys"]
        for case in load_recording(f"{version}.calls")["cases"]
        for call in case["calls"]
        if "inference" not in call["tensor"]
    }
    assert {name: check(universe, keys) for name, keys in kinds.items() if name in ("cpu nested", "cpu mkldnn")} == {
        "cpu nested": 2,
        "cpu mkldnn": 1,
    }
    assert sum(check(universe, keys) for keys in kinds.values()) == len(kinds) + 1


def lines(python: str) -> Iterator[list[str]]:
    done = in_pytorch.run([python, "-c", TENSORS])
    return (line.split(", ") for line in done.stdout.splitlines())


@pytest.mark.live
def test_live_tensors() -> None:
    python = torch_python()
    universe = universes.from_data(live_universe(python))
    assert sorted(check(universe, keys) for keys in lines(python)) == [1] * 7 + [2]


def test_what_is_no_backend_key_has_none() -> None:
    universe = universes.load("torch-2.15")
    for key in (*universe.covered_by(AUTOGRAD), "Python", "ADInplaceOrView", "Undefined", AUTOGRAD):
        assert autograd_keys_of(universe, key) == ()
