"""The wording of the findings of a trace: what was found, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dispatch_cli.answers.trace.findings.report import TraceFinding, TraceFindingKind
from dispatch_cli.answers.trace.wording import place_label
from dispatch_cli.engine.call.gradient import GradientLoss
from dispatch_cli.model.names import some_of
from dispatch_cli.render.words import plural, short_kernel


def findings_sentence(findings: Sequence[TraceFinding]) -> str:
    """Number of findings of each kind; they are listed at the end."""
    kinds = Counter(finding.kind.value for finding in findings)
    return f"{', '.join(f'{count} {kind}' for kind, count in kinds.items())}; at the end" if kinds else "none"


def finding_text(finding: TraceFinding) -> str:
    """A finding as a sentence, without its operator."""
    calls, key = plural(finding.calls, "call"), finding.key
    ran = "a kernel" if finding.kernel is None else short_kernel(finding.kernel)
    match finding.kind:
        case TraceFindingKind.FALLBACK:
            return f"{calls} ran the backend fallback at {key} ({ran}): the operator has no kernel there."
        case TraceFindingKind.NO_GRADIENT:
            missing, then = _LOST[finding.gradient or GradientLoss.WARNS]
            return f"{calls} had tensors that require gradients, and there is no {missing} at {key}: {then}."
        case TraceFindingKind.DECOMPOSES:
            others = ", ".join(finding.keys)
            return f"{calls} decomposed into other operators at {key}; the operator has a kernel at {others}."
        case TraceFindingKind.STALE:
            late = f": the slot was not computed anew for the kernel at {finding.keys[0]}" if finding.keys else ""
            return f"{calls} ran {ran} at {key}, which is not what the registrations determine{late}."
        case TraceFindingKind.NOT_BY_CONVENTION:
            others = f" with {', '.join(finding.keys)}" if finding.keys else ""
            return (
                f"{calls}: {ran} at {key} does not redispatch{others}, though wrappers do so by convention. Declare it "
                "with redispatches: false."
            )
        case TraceFindingKind.DIFFERENT:
            if key in finding.keys:
                return f"{calls} ran {key}, as predicted, but {_REACHED_OTHERWISE}."
            return f"{calls} ran {key or _NO_KERNEL} where {', '.join(finding.keys) or _NO_KERNEL} is predicted."


_REACHED_OTHERWISE = "with another key set"
_NO_KERNEL = "no further kernel"


def finding_keys(finding: TraceFinding) -> tuple[str, str]:
    """The key of a finding, and the other keys that it names."""
    if finding.kind is not TraceFindingKind.DIFFERENT:
        return finding.key, some_of(finding.keys)
    predicted = _REACHED_OTHERWISE if finding.key in finding.keys else ", ".join(finding.keys)
    return finding.key or _NO_KERNEL, predicted or _NO_KERNEL


LOSSES = {
    None: "",
    GradientLoss.RAISES: "raises: no derivative is registered",
    GradientLoss.WARNS: "warns, and gives no gradient of its own",
    GradientLoss.DROPPED: "does not reach it: no autograd kernel",
}
_LOST = {
    GradientLoss.RAISES: ("backward", "the backward pass raises an error"),
    GradientLoss.WARNS: ("autograd kernel", "the backward pass warns, and no call inside of it gives a gradient"),
    GradientLoss.DROPPED: ("autograd kernel", "no call inside of it records a gradient"),
}


TITLES = {
    TraceFindingKind.FALLBACK: "Backend fallbacks ran in the place of kernels",
    TraceFindingKind.NO_GRADIENT: "No backward, though tensors require gradients",
    TraceFindingKind.DECOMPOSES: "Decomposed here, with a kernel of its own at another backend",
    TraceFindingKind.STALE: "Kernels that are not what the registrations determine",
    TraceFindingKind.NOT_BY_CONVENTION: "Kernels that do not redispatch, though wrappers do so by convention",
    TraceFindingKind.DIFFERENT: "Kernels that are not as predicted",
}


def finding_help(finding: TraceFinding) -> str:
    """Advice on findings of that kind."""
    return _HELP[finding.kind]


_HELP = {
    TraceFindingKind.FALLBACK: (
        "A fallback can be slow: that of a backend often copies tensors to the CPU, that of vmap runs the operator "
        "once for each element. Register a kernel at that key; a batching rule with torch.library.register_vmap. Not "
        "counted: fallthroughs, which are skipped, and autograd's fallback, which means that there is no autograd "
        "kernel."
    ),
    TraceFindingKind.NO_GRADIENT: (
        "The operator has no autograd kernel that computes its gradient, and no call inside of these records one. "
        "Give it a backward: "
        'torch.library.register_autograd("NAMESPACE::NAME", backward, setup_context=…), or in C++ a kernel at Autograd.'
    ),
    TraceFindingKind.DECOMPOSES: "If these calls are slow, register a kernel for this backend, too.",
    TraceFindingKind.STALE: (
        "The slot was not computed anew for a kernel that was registered later. Register a kernel at the slot's own "
        "key, or change the order of the registrations. `dispatch-cli explain OP KEY --base RECORDING` says more."
    ),
    TraceFindingKind.NOT_BY_CONVENTION: (
        "These kernels are not PyTorch's own, and dispatch-cli cannot see what they do. It assumes that they "
        "redispatch; declare those that do not with `redispatches: false` in a file of declarations."
    ),
    TraceFindingKind.DIFFERENT: "This is a mistake of dispatch-cli. Please report it.",
}


def finding_places(finding: TraceFinding, directory: str | None) -> str:
    """The lines of Python that a finding comes from."""
    places = [*dict.fromkeys(place_label(place, directory) for place in finding.places)]
    if finding.more_places:
        places.append(plural(finding.more_places, "more line"))
    return ", ".join(places)
