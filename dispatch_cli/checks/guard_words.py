"""What guards want and what there is, in words."""

from __future__ import annotations

from dispatch_cli.engine.call.trace import Call, EndKind
from dispatch_cli.model.guard import Expectation, GuardField


def kernel_text(call: Call) -> str | None:
    """What ran last: the Python kernel where there is one, else what a dump shows."""
    last = call.hops[-1]
    if last.python is not None and last.python.kernel is not None:
        return last.python.kernel
    return last.live.kernel.debug if last.live.kernel is not None else None


def end_words(call: Call) -> str:
    """How a call ends."""
    end = call.end
    if end.error is not None:
        return f"the error {end.error.text.split(chr(10), 1)[0]}"
    if end.handler is not None:
        return f"the {end.handler.kind.value} {end.handler.name}"
    last = call.hops[-1]
    ends = "decomposes" if end.kind is EndKind.DECOMPOSITION else "ends"
    return f"a call that {ends} in {kernel_text(call)} at {last.slot} by rule {last.live.rule.value}"


def wanted_words(want: Expectation) -> str:
    """What a guard wants, after ``the guard wants``."""
    either = " or ".join(want.texts)
    match want.field:
        case GuardField.RULE:
            return f"rule {either}"
        case GuardField.NOT:
            return f"anything but rule {either}"
        case GuardField.KERNEL:
            return f"kernel {either}"
        case GuardField.NOT_KERNEL:
            return f"any kernel but {either}"
        case GuardField.FALLTHROUGH:
            return "a fallthrough" if want.texts[0] == "true" else "no fallthrough"
        case GuardField.SAME_AS:
            return f"the function at {either}"
        case GuardField.BACKEND:
            return "a kernel of the backend or a composite one"
        case GuardField.END:
            return {"kernel": "a kernel", "error": "an error"}.get(either, f"a {either}")
        case GuardField.RAN:
            return f"kernel {either}"
        case GuardField.AT:
            return f"an end at {either}"
        case GuardField.ERROR:
            return f"the error {either}"
