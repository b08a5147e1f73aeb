"""The wording of the end of a simulated call: who got it, or which error was raised."""

from __future__ import annotations

from dispatch_cli.engine.call.errors import brief
from dispatch_cli.engine.call.trace import End, ErrorKind, FakeOutcome, FakePath, Handler, HandlerKind
from dispatch_cli.render.words import short_kernel


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
            action = "finds no fake implementation: torch.library.custom_op registers one that raises"
        case FakePath.FAKE_IMPL:
            action = f"runs the fake implementation{by}{place}"
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


_ZERO_DIM = (
    " The tensors are assumed to have dimensions: with 0-dimensional CPU tensors, such as torch.tensor(1.0), this "
    "error is not raised."
)

_NOT_FOLLOWED = (
    " That kernel may call other operators, which are not known here. If one of them has no kernel for these tensors, "
    "FakeTensorMode runs the real kernel on zeros, or raises UnsupportedOperatorException."
)


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


_ENDS = ": the kernels call one another endlessly, and the process crashes"


def error_lines(end: End | None, full: bool, by: str = "--full") -> list[str]:
    """An error's text as PyTorch words it; a long one is shortened unless *full*. by: what makes it full."""
    if end is None or end.error is None or not end.error.text:
        return []
    text = end.error.text.rstrip()
    if not full and (short := brief(text)) != text:
        return [f"{short} ({by} shows the whole text)"]
    return [*text.split("\n"), *([] if end.error.whole else ["…"])]
