"""Words of coverage."""

from __future__ import annotations

from collections import Counter

from dispatch_cli.answers.coverage.counts import BackendNeed, CoverageCounts
from dispatch_cli.answers.coverage.report import CoverageReport
from dispatch_cli.engine.backend_answers import Gradient, NoService, Service, Training
from dispatch_cli.render.document import Tone
from dispatch_cli.render.words import plural


def service_words(
    service: Service, source: str | None, lack: NoService | None, otherwise: Service | None = None
) -> str:
    """A service in a cell: the key of a composite kernel, or what it is."""
    if otherwise is not None:
        return f"not known, or {SERVICE_NAMES[otherwise]}"
    if service is Service.COMPOSITE:
        return source or "composite"
    if service is Service.ABOVE:
        return f"kernel at {source}"
    if lack is not None and lack is not NoService.MISSING:
        return f"nothing: {lack.value.replace('-', ' ')}"
    return SERVICE_NAMES[service]


def training_words(training: Training, gradient: Gradient | None) -> str:
    """A way to train in a cell, and what becomes of the gradient."""
    name = training.value.replace("-", " ")
    return name if gradient is None else f"{name}: {gradient.value.replace('-', ' ')}"


def percent_text(part: int, whole: int) -> str:
    """A share as percent with one digit; one that is rounded to 0 or 100, and is neither: ``<0.1`` or ``>99.9``."""
    text = f"{100 * part / whole:.1f}"
    if part and text == "0.0":
        return "<0.1"
    return ">99.9" if part < whole and text == "100.0" else text


def served_share(counts: CoverageReport | CoverageCounts) -> str:
    """Number of operators that are served."""
    known = counts.chosen - counts.not_known
    verb = "is" if 1 in (known, counts.served) else "are"
    share = f" ({percent_text(counts.served, known)} %)" if known else ""
    unknown = f", {counts.not_known:,} not known" if counts.not_known else ""
    return f"{counts.served:,} of {plural(known, 'operator')} {verb} served{share}{unknown}"


def served_by(counts: CoverageReport | CoverageCounts) -> str:
    """Counts of services, the own kernels first; composite kernels only pass a call on to other operators."""
    served: Counter[Service] = Counter()
    for count in counts.services:
        served[count.service] += count.served
    others = [f"{served[way]:,} {BY[way]}" for way in BY if way is not Service.KERNEL and served[way]]
    if not others:
        return ""
    return f"{', '.join((f'{served[Service.KERNEL]:,} {BY[Service.KERNEL]}', *others))}"


BY = {
    Service.KERNEL: "by own kernels",
    Service.FALLBACK: "by the backend fallback",
    Service.ABOVE: "above the backend",
    Service.COMPOSITE: "by composite kernels, if the operators that these call are served",
}
SERVICE_NAMES = {
    Service.KERNEL: "own kernel",
    Service.COMPOSITE: "composite",
    Service.FALLBACK: "fallback",
    Service.ABOVE: "above",
    Service.NOTHING: "nothing",
    Service.NOT_KNOWN: "not known",
}
SERVICES_MEAN = {
    Service.KERNEL: "registered at KEY",
    Service.COMPOSITE: "calls other operators, which the backend needs",
    Service.FALLBACK: "the backend fallback at KEY",
    Service.ABOVE: "computes the result above KEY",
    Service.NOTHING: "",
    Service.NOT_KNOWN: "the state lacks kernels that are registered by hand",
}
SERVED_MEANS = (
    "Served: those of the operators that calls outside of inference mode get to. The others are cut off above, by an "
    "autograd slot that is empty or ambiguous (broken, below)."
)
"""Meaning of a count of served operators, beside the count of the operators with a service."""
LACKS_MEAN = {
    NoService.MISSING: "a call ends in an error: nothing is registered that covers KEY",
    NoService.SKIPPED: "a call ends in an error: the kernel at KEY is a fallthrough, and nothing is below",
    NoService.NO_TENSORS: "a call ends in an error: it has no tensors, and nothing chooses KEY",
    NoService.RAISES: "a call ends in an error, which the kernel raises",
    NoService.NO_SCHEMA: "the operator has kernels, and is not defined",
}
SERVICE_TONES = {
    Service.KERNEL: Tone.KERNEL,
    Service.COMPOSITE: Tone.ALIAS,
    Service.FALLBACK: Tone.FALLBACK,
    Service.ABOVE: Tone.ALIAS,
    Service.NOTHING: Tone.BAD,
    Service.NOT_KNOWN: Tone.WARN,
}
TRAININGS_MEAN = {
    Training.OWN: "the backend's own autograd kernel",
    Training.GENERIC: "the kernel at Autograd, which has the derivative, or says in backward that there is none",
    Training.MATH: "the operators that the composite kernel calls have derivatives",
    Training.NONE: "no autograd kernel, and nothing that is known to serve the operator",
    Training.BROKEN: "a call outside of inference mode ends in an error: the autograd slot is empty or ambiguous",
    Training.NO_TENSORS: "takes no tensors",
    Training.NO_SCHEMA: "the operator has kernels, and is not defined",
    Training.NOT_KNOWN: "it depends on kernels that the state lacks",
}
GRADIENTS_MEAN = {
    Gradient.WARNING: "the gradient of the operators that the kernel calls, if any; backward warns",
    Gradient.DECOMPOSED_WITH_WARNING: "the gradient of what the composite kernel calls, if any; backward warns",
    Gradient.FALLBACK: "a fallback that is not PyTorch's decides",
    Gradient.DECOMPOSED: "the operators that the composite kernel calls have derivatives",
    Gradient.DROPPED: "the gradient of the operators that the kernel calls, if any, without a warning",
}
NEEDS = {
    BackendNeed.NEW: "new",
    BackendNeed.SCHEMA: "with another schema",
    BackendNeed.SERVICE: "no longer served",
    BackendNeed.TRAINING: "no longer trained",
}
