"""Backends are told of tensors that are not materialised.

`x.conj()` and the imaginary part's negation only set a bit on the tensor. PyTorch's fallbacks at Conjugate and
Negative materialise such tensors before a kernel sees them, and the one at ZeroTensor does so with tensors of zeros
that have no storage. A fallthrough registered there for an operator switches that off, and not for one backend alone:
the keys are not per backend, so every backend's kernel of the operator gets the bit, those of other libraries too
(`aten/src/ATen/ConjugateFallback.cpp`, and `MathBitFallThroughLists.h` for PyTorch's own list). A kernel that ignores
the bit computes with the wrong values, and nothing tells: pytorch/pytorch#62884 says why, and #148599 and #177474,
where ``mm`` and ``einsum`` on MPS took no notice of conj(), are what comes of it.

Over a state of PyTorch, the kernels that a file adds to operators on that list are reported as an info, for each to
be looked at; most of them are views and constructors, which only have to pass the bit on.

Bad, because the kernels that other libraries bring are told nothing of it:

```yaml
dispatch: 1
operators:
  - func: demo::scale(Tensor x) -> Tensor
    dispatch: {CPU: scale_cpu, CUDA: scale_cuda, Autograd: scale_autograd, Conjugate: fallthrough}
```

Good, because PyTorch's fallback materialises the tensor:

```yaml
dispatch: 1
operators:
  - func: demo::scale(Tensor x) -> Tensor
    dispatch: {CPU: scale_cpu, CUDA: scale_cuda, Autograd: scale_autograd}
```

Fix: leave the fallthrough out unless every kernel of the operator heeds the bit; in a backend, resolve it first
(`at::Tensor::resolve_conj`, `resolve_neg`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.text import backend_keys, keys_text
from dispatch_cli.checks.view import View
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.names import OperatorName

BITS = {"Conjugate": "conjugated", "Negative": "negated", "ZeroTensor": "zero"}
"""The keys whose fallbacks materialise a tensor, and what the tensor is until then."""


def find(view: View) -> Iterator[Finding]:
    """A finding for every such fallthrough by a file, and for every kernel by a file that one of PyTorch's reaches."""
    backends = frozenset(backend_keys(view.universe))
    for pattern in view.patterns:
        bits = [key for key in pattern.keys if key in BITS and key in pattern.fallthrough]
        kernels = [key for key in pattern.keys if key in backends and key not in pattern.fallthrough]
        if bits and view.own:
            for name in pattern.operators:
                if name in view.own:
                    yield from _of_operator(view, name, bits, kernels)


def _of_operator(view: View, name: OperatorName, bits: list[str], kernels: list[str]) -> Iterator[Finding]:
    active = view.active(name)
    written_bits = [key for key in bits if view.is_written(active[key])]
    written_kernels = [key for key in kernels if view.is_written(active[key])]
    if written_bits:
        yield _by_a_file(name, active, written_bits, [key for key in kernels if key not in written_kernels])
    elif written_kernels:
        yield _by_pytorch(name, active, bits, written_kernels)


def _by_a_file(name: OperatorName, active: Mapping[str, Registration], bits: list[str], foreign: list[str]) -> Finding:
    reached = f"those at {keys_text(foreign)}, of other libraries," if foreign else "those of other libraries too,"
    places = ((key, active[key].kernel.span) for key in foreign)
    return CHECK.finding(
        f"{name}: the fallthrough at {_listed(bits)} makes every backend's kernel, {reached} get {_tensors(bits)}",
        name,
        bits[0],
        at=active[bits[0]],
        details=(("kernels of others", ", ".join(foreign)),) if foreign else (),
        related=[(f"the kernel at {key}", place) for key, place in places],
        tip="leave it out unless every kernel of the operator heeds the bit",
        severity=Severity.WARNING,
    )


def _by_pytorch(name: OperatorName, active: Mapping[str, Registration], bits: list[str], kernels: list[str]) -> Finding:
    kernel = active[kernels[0]].kernel
    return CHECK.finding(
        f"{name}: the kernel {kernel.debug} at {keys_text(kernels)} gets {_tensors(bits)}, because the "
        f"operator falls through at {_listed(bits)}",
        name,
        kernels[0],
        span=kernel.span,
        mark=kernels[0],
        tip="see that the kernel heeds or resolves the bit; a kernel that only makes a view passes it on",
        severity=Severity.INFO,
    )


def _tensors(bits: list[str]) -> str:
    return f"{_listed([BITS[key] for key in bits])} tensors that are not materialised"


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


CHECK = Check.of(find, __doc__, "DC306", Severity.WARNING, needs=(Need.FILES,))
