"""Words for kernels, for the part of each in a simulated call, and for the end of the call."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch_cli.answers.resolve.report import Assumed, StepReport
from dispatch_cli.answers.table.wording import kernel_phrase
from dispatch_cli.engine.call.errors import brief
from dispatch_cli.engine.call.gradient import GradientLoss, LostGradient
from dispatch_cli.engine.call.trace import (
    ChosenBy,
    Does,
    End,
    ErrorKind,
    FakeOutcome,
    FakePath,
    Handler,
    HandlerKind,
    Why,
)
from dispatch_cli.engine.keys.keyset import functionalities_of
from dispatch_cli.model.kernel import THE_FAKE, RedispatchKind, WrapKind
from dispatch_cli.model.names import some_of
from dispatch_cli.render.words import short_kernel

_REASONS = {
    Why.CONVENTION: ", as wrappers do by convention",
    Why.CORE_KERNEL: ", as PyTorch's own kernel there does",
    Why.PYTHON: ", as the Python dispatcher chose",
    Why.OBSERVED: ", as was observed",
}
"""Reasons that are added where the kernel's place alone does not tell what it does."""
_BY_OPTIONS = ", as kernels there that get a device or a layout do by convention"
_MADE = ", as kernels that torch.library makes do"
_BATCHING = ", as batching rules do by convention"
MANY = 5
"""Number of keys that are all named where there is little room; of more, the first ones are."""
_ZERO_DIM = (
    " The tensors are assumed to have dimensions: with 0-dimensional CPU tensors, such as torch.tensor(1.0), this "
    "error is not raised."
)
_NOT_FOLLOWED = (
    " That kernel may call other operators, which are not known here. If one of them has no kernel for these tensors, "
    "FakeTensorMode runs the real kernel on zeros, or raises UnsupportedOperatorException."
)
_ENDS = ": the kernels call one another endlessly, and the process crashes"


def step_sentence(step: StepReport) -> str:
    """Sentence on the effect of a step, and the reason why it is known."""
    hop = step.hop
    if hop.does is Does.NOT_KNOWN:
        return f"{hop.slot}: it is not known which kernel there is"
    if step.entry.kernel is None and hop.python is None:
        return f"{hop.slot}: there is no kernel"
    kernel = step_kernel(step)
    kernel += "," if ", " in kernel else ""
    match hop.does:
        case Does.ENDS:
            text = f"{kernel} computes the result"
        case Does.DECOMPOSES:
            text = f"{kernel} calls other operators"
        case Does.REDISPATCHES:
            passed = [] if hop.passes is None else [*reversed([*hop.passes])]
            text = f"{kernel} redispatches with {some_keys(passed) or 'no key'}{_by_options(hop.chosen_by)}"
        case Does.CALLS_ANEW:
            text = f"{kernel} calls the operator again{_changes(step)}"
        case Does.HANDS_OVER:
            text = f"{kernel} hands over to a __torch_dispatch__"
        case Does.RAISES:
            text = f"{kernel} raises"
    return f"{hop.slot}: {text}{_reason(step)}"


def _reason(step: StepReport) -> str:
    """Reason why a kernel is taken to do so, where the kernel itself does not show it."""
    hop = step.hop
    if step.redispatches is not None:
        place, kernel = step.redispatches_declared_at, hop.live.kernel
        wraps = None if kernel is None else kernel.wraps
        if place is None and wraps is not None and wraps.kind is not WrapKind.FUNCTION:
            return _MADE
        return ", as declared" if place is None else f", as declared at {place}"
    if hop.why is Why.CONVENTION and hop.chosen_by is not None:
        return _BY_OPTIONS
    if hop.why is Why.CONVENTION and hop.does is Does.CALLS_ANEW:
        return _BATCHING
    return _REASONS.get(hop.why, "")


def _by_options(chosen_by: ChosenBy | None) -> str:
    """Options by which a key set was chosen."""
    if chosen_by is None:
        return ""
    words = [f"{name} {option.value}" for name, option in chosen_by._asdict().items() if option is not None]
    return f", chosen by {', '.join(words)}"


def _changes(step: StepReport) -> str:
    """The keys without which, and with which, the operator is called again: as they are declared, or all of them."""
    declared, changes = step.redispatches, []
    for keys, what in ((step.hop.excludes, "excluded"), (step.hop.includes, "included")):
        if keys is not None:
            names = [*reversed(functionalities_of(keys))]
            if declared is not None and declared.kind is RedispatchKind.EXCLUDE and what == "excluded":
                names = [*declared.keys]
            changes.append(f" with {some_keys(names)} {what}")
    return " and".join(changes)


def assumption(assumed: Assumed) -> str:
    """The kernels that are assumed to redispatch by convention, and how to declare that they do not."""
    kernels = list(dict.fromkeys(step_kernel(step) for step in assumed.kernels))
    goes, clause = ("redispatches", "it computes") if len(kernels) == 1 else ("redispatch", "one computes")
    return (
        f"Assumed by convention: {some_keys(kernels)} {goes}. If {clause} the result itself, declare it with "
        "redispatches: false."
    )


def observed_sentence(predicted: Sequence[str]) -> str:
    """Sentence for a recorded call that was not as predicted: how to declare what its kernels do."""
    return (
        f"Observed: this is not what is predicted, which is {' > '.join(predicted)}. A kernel that does not redispatch "
        "as wrappers do by convention can be declared with redispatches: false."
    )


def gradient_sentence(lost: LostGradient) -> str:
    """Sentence on the loss of the gradient, and its cause."""
    match lost.loss:
        case GradientLoss.RAISES:
            return f"The backward pass raises an error: no derivative is registered, {lost.key} only refuses it."
        case GradientLoss.UNSEEN:
            return (
                "Autograd does not see the call: no derivative is registered, and no tensor is returned. If it writes "
                "to a tensor, gradients are wrong. There is no warning."
            )
        case GradientLoss.WARNS:
            return (
                f"No autograd kernel: {lost.key} holds PyTorch's own fallback. The backward pass warns, and gives the "
                "gradients of the differentiable operators that the kernel calls; none, if it calls none."
            )
        case GradientLoss.DROPPED:
            return (
                f"No autograd kernel: {lost.key} falls through. Only differentiable operators that the kernel calls "
                "record gradients; if it calls none, the result has no grad_fn. There is no warning."
            )


def step_kernel(step: StepReport) -> str:
    """The kernel of a step inside a sentence."""
    python = step.hop.python
    if python is not None and python.kernel is not None:
        return f"the Python kernel {python.kernel}"
    return "no kernel" if step.entry.kernel is None else kernel_phrase(step.entry)


def some_keys(names: Sequence[str]) -> str:
    """Names; of many the first ones."""
    return some_of(names, MANY)


def handed_over(end: End) -> str:
    """Sentence on the class that gets a call that is handed over, and on those that have passed it on before."""
    assert end.handler is not None, "a handler is named"
    passed = " and ".join(map(_handler_label, end.passed))
    after = f" after {passed} returned NotImplemented" if passed else ""
    return f"The call is handed over to {_handler_label(end.handler)}{after}."


def _handler_label(handler: Handler) -> str:
    if not handler.name:
        return "the __torch_dispatch__ of a tensor with these keys"
    what = "context" if handler.kind is HandlerKind.MODE else "tensor"
    return f"{handler.name}.__torch_dispatch__ ({what} {handler.position})"


def fake_sentence(fake: FakeOutcome) -> str:
    """Sentence on the treatment of the call by FakeTensorMode, and the place where that is declared."""
    place = f", declared at {fake.span}" if fake.span is not None else ""
    by = f" {fake.function}" if fake.function is not None else ""
    at = "" if fake.kernel is None else f" {short_kernel(fake.kernel)} at {fake.key}{place}"
    match fake.path:
        case FakePath.QUERY:
            action = "answers this query about the tensor itself"
        case FakePath.CONSTANT:
            action = "runs the operator, because no tensor is fake, and makes the result a fake tensor"
        case FakePath.DECOMPOSITION:
            action = f"runs the decomposition{by}"
        case FakePath.COMPOSITE:
            action = f"decomposes the operator with the kernel{by or at}"
        case FakePath.PRIM_META:
            action = f"runs the primitive's own function{by}"
        case FakePath.FAKE_IMPL if fake.function is None:
            action = (
                "finds no fake implementation: torch.library.custom_op registers one that raises; add one with "
                "torch.library.register_fake"
            )
        case FakePath.FAKE_IMPL:
            action = f"runs the fake implementation{'' if fake.function == THE_FAKE else by}{place}"
        case FakePath.IMPLEMENTATION:
            action = f"has a function of its own for the operator and runs it:{by}"
            action += "" if fake.followed else f", which runs the kernel{at}"
        case FakePath.META:
            action = f"calls the operator with Meta included, and so runs the kernel{at}"
        case FakePath.TRIVIAL:
            action = "has nothing to compute: the operator returns nothing, or only arguments that it writes to"
        case FakePath.FALLBACK:
            action = f"finds nothing for fake tensors, and runs the real kernel on zeros:{at or ' there is none'}"
        case FakePath.NONE:
            action = (
                "finds nothing to run: the operator has no decomposition, no kernel at CompositeImplicitAutograd, no "
                "fake implementation and no kernel at Meta; add one with torch.library.register_fake"
            )
    return f"FakeTensorMode {action}.{'' if fake.followed else _NOT_FOLLOWED}{_ZERO_DIM if fake.zero_dim_works else ''}"


def raised_label(end: End) -> str:
    """Words for the error that PyTorch raises."""
    error = end.error
    assert error is not None, "an error is named"
    if error.kind is ErrorKind.KERNEL:
        return "the kernel raises an error of its own"
    if not error.type:
        return f"PyTorch raises no exception that could be caught{_ENDS if error.kind is ErrorKind.ENDLESS else ''}"
    if error.kind is ErrorKind.ENDLESS:
        return f"the kernels call one another endlessly, and Python raises {error.type}"
    who = "PyTorch" if end.handler is None else _handler_label(end.handler)
    about = "" if error.tensor is None else f" because of tensor {error.tensor}"
    return f"{who} raises {error.type}{about}"


def error_lines(end: End | None, full: bool) -> list[str]:
    """An error's text as PyTorch words it; a long one is shortened unless *full*."""
    if end is None or end.error is None or not end.error.text:
        return []
    text = end.error.text.rstrip()
    if not full and (short := brief(text)) != text:
        return [f"{short} (--full shows the whole text)"]
    return [*text.split("\n"), *([] if end.error.whole else ["…"])]
