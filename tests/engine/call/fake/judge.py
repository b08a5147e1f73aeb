"""Comparison of FakeTensorMode in a live PyTorch with what the engine says: call by call."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import Call, End, EndKind
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import Refused
from dispatch_cli.model.calls.call import CallError, Context, TensorSpec
from dispatch_cli.model.names import OperatorName
from tests import in_pytorch

SCRIPT = Path(__file__).with_name("live_calls.py")
Answer = dict[str, Any]


class Verdict(NamedTuple):
    """A call that was made. path: what FakeTensorMode did. why: why it cannot be judged, or how ours differs.

    part: why only the way that the call goes is judged, not its error. Whether and how far a call is judged follows
    from what PyTorch did alone, or, of a call of which the engine says that it does not know the end, from that
    statement (left_open); never from whether the two agree.
    """

    answer: Answer
    path: str
    judged: bool
    agrees: bool
    why: str = ""
    part: str = ""
    left_open: bool = False


def live_answers(
    python: str, operators: Sequence[str] | None, kinds: Sequence[str], seed: str, library: Sequence[Any] = ()
) -> Iterator[Answer]:
    """Answers of a live PyTorch; after a crash it is started anew, behind the operator at which it crashed."""
    first = 0
    while True:
        plan = {"operators": operators, "first": first, "seed": seed, "kinds": kinds, "library": library}
        done = in_pytorch.run([python, str(SCRIPT)], json.dumps(plan), check=False)
        begun: Answer | None = None
        count = 0
        for line in done.stdout.splitlines():
            answer = json.loads(line)
            if "done" in answer:
                return
            if "begin" in answer:
                begun, count = answer, 0
            else:
                count += 1
                yield answer
        assert begun is not None, done.stderr[-2000:]
        for kind in kinds[count:]:
            yield {"operator": begun["begin"], "kind": kind, "not_makeable": "the process crashes"}
        first = begun["place"] + 1


def judge(state: State, answers: Iterable[Answer]) -> Iterator[Verdict]:
    """Each call that was made, with what the engine says."""
    for answer in answers:
        if "not_makeable" in answer:
            yield Verdict(answer, "", judged=False, agrees=False, why=answer["not_makeable"])
            continue
        operator = state.dispatcher.find(OperatorName.parse(answer["operator"]))
        if operator is None or sum(map(len, operator.kernels.values())) != answer["kernels"]:
            why = "PyTorch has registered more for it since the capture"
            yield Verdict(answer, answer["path"], judged=False, agrees=False, why=why)
            continue
        yield verdict(answer, predicted(state, answer))


def predicted(state: State, answer: Answer) -> Call | str:
    """The simulated call, or why there is none."""
    tensors = [TensorSpec.parse(text) for text in answer["tensors"]]
    contexts = [Context.parse(text) for text in answer["contexts"]]
    try:
        return simulate(state, OperatorName.parse(answer["operator"]), tensors, contexts)
    except (CallError, Refused) as error:
        return f"{type(error).__name__}: {error}"


def verdict(answer: Answer, call: Call | str) -> Verdict:
    """Comparison of what PyTorch did with what the engine says."""
    path: str = answer["path"]
    reason = _unknown_way(answer)
    if reason is not None:
        return Verdict(answer, path, judged=False, agrees=False, why=reason)
    if isinstance(call, str):
        return Verdict(answer, path, judged=True, agrees=False, why=call)
    part, left_open = _unknown_error(answer) or "", False
    ways, predicted_path = _ways(answer, part), path_of(call.end)
    if call.end.fake is not None and not call.end.fake.followed:
        part, left_open = "the engine says that it does not follow the kernel", True
        agrees = not ways.isdisjoint({predicted_path, *NOT_AT_META})
    else:
        agrees = predicted_path in ways
    why = "" if agrees else f"ours: {predicted_path} {call.end.error or ''}"
    if agrees and predicted_path == path:
        why = _other_function(answer, call.end) or ("" if part else _other_error(answer, call.end))
    return Verdict(answer, path, judged=True, agrees=not why, why=why, part=part, left_open=left_open)


def _unknown_way(answer: Answer) -> str | None:
    """The reason for which it cannot be known what the mode does with the operator; None where it can."""
    path = answer["path"]
    of_another = answer.get("text", "").startswith("Could not run '") and not _is_own(answer, answer["text"])
    if path == "raised" and (of_another or not OF_DISPATCH.search(answer["text"])):
        return "a kernel above the mode raises before it calls an operator"
    if path == "outside" and answer.get("error"):
        return "a kernel above the mode raises when it has called others"
    return None


def _is_own(answer: Answer, text: str) -> bool:
    """True if the error is that the operator itself has no kernel."""
    return text.startswith(f"Could not run '{answer['operator']}'")


def _unknown_error(answer: Answer) -> str | None:
    """The reason for which the error is not known from what is registered; None where it is, or where there is none."""
    path, error, text = answer["path"], answer.get("own_error"), answer.get("own_text", "")
    if _meta_refuses(answer):
        return "the kernel at Meta refuses the arguments"
    if not error or text.removeprefix("NYI: ") == answer["shown"]:
        return None
    if NOT_THERE.search(text):
        return "the device is not there"
    if (path in ("fallback", "refused") or _is_own(answer, text)) and OF_DISPATCH.search(text):
        return None
    if path in AT_META and (TWO_DEVICES.search(text) or ONE_TOO_MANY.search(text)):
        return None
    if path == "fake-impl" and NO_FAKE_IMPL.search(text):
        return None
    return f"{path}: a kernel or a function raises for the arguments"


def _ways(answer: Answer, part: str) -> frozenset[str]:
    """The answers that the engine may give. part: why the error cannot be known."""
    path = answer["path"]
    if path == "no operator":
        return frozenset({"outside", "kernel"})
    if path == "raised":
        return frozenset({"error", "refused"})
    if (part and path == "meta") or _meta_refuses(answer):
        # the kernel at Meta raises before it calls others, of which one may have no kernel at Meta
        return frozenset({"meta", *NOT_AT_META})
    return frozenset({path})


def _meta_refuses(answer: Answer) -> bool:
    """True if a kernel at Meta raises NotImplementedError itself, for which the mode takes its fallback."""
    refused = answer["path"] == "fallback" and answer["meta_text"]
    return bool(refused) and OF_DISPATCH.search(answer["meta_text"]) is None


def _other_function(answer: Answer, end: End) -> str:
    """Difference of the function that is called; empty if it is the same."""
    path, function = answer["path"], None if end.fake is None else end.fake.function
    if path not in ("decomposition", "prim-meta", "implementation") or answer["function"] == function:
        return ""
    generic = path == "implementation" and function is None and end.error is not None
    return "" if generic else f"ours: {function} not {answer['function']}"


def _other_error(answer: Answer, end: End) -> str:
    """Difference of an error that can be known; empty if it is the same."""
    own = "own_" if "own_error" in answer else ""
    live, text = answer.get(f"{own}error") or None, answer.get(f"{own}text") or ""
    ours = end.error
    if ours is None or live is None:
        return "" if ours is None and live is None else f"ours: {ours or 'no error'}, not {live or 'none'}: {text[:80]}"
    if ours.type == live and text.startswith(ours.text[: 300 if ours.whole else 200]):
        return ""
    return f"ours: {ours.type}: {ours.text[:80]}, not {live}: {text[:80]}"


OF_DISPATCH = re.compile(
    "^Could not run '|: attempted to run this operator with Meta tensors|: We could not find the fake impl for this op|"
    "^There were no tensor arguments to this function|^Mixing fake modes NYI|^Please convert all Tensors to Fake|"
    "^Can't call metadata mutating ops on non-Fake Tensor inputs"
)
"""In the text of an error that no kernel raises, but the dispatcher or FakeTensorMode."""
NOT_THERE = re.compile("not compiled with|Found no NVIDIA driver")
"""In the text of the error of a device that the machine does not have."""
TWO_DEVICES = re.compile("at least two devices|two different devices")
"""In the text of the error for fake tensors of two devices."""
ONE_TOO_MANY = re.compile(r"expected at most \d+ argument\(s\) but received")
"""In the text of the error of an operator that gets a device from the mode, and takes none."""
NO_FAKE_IMPL = re.compile("There was no fake impl registered")
"""In the text of the error of an operator of ``custom_op`` without a fake implementation."""
AT_META = ("meta", "implementation")
"""Paths on which the mode itself raises those; on others an operator does that is called from there."""
NOT_AT_META = ("fallback", "none")
"""Paths of the mode where a kernel is missing at Meta."""


def path_of(end: End) -> str:
    """The word for what the engine says, as the live script has it."""
    if end.fake is not None:
        return end.fake.path.value
    if end.kind is EndKind.DECOMPOSITION:
        return "outside"
    if end.kind is EndKind.HANDLER:
        return "handler"
    if end.error is not None:
        return "refused" if end.handler is not None else "error"
    return "kernel"
