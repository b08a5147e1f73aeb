"""What FakeTensorMode did in a live PyTorch, against what the engine says: call by call."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli.engine.call.fake_path import FakePath
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import Call, End, EndKind
from dispatch_cli.engine.dispatcher.refusal import Refused
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.call import CallError, Context, TensorSpec
from dispatch_cli.model.names import OperatorName

SCRIPT = Path(__file__).with_name("live_calls.py")
Answer = dict[str, Any]


class Verdict(NamedTuple):
    """A call that was made. path: what FakeTensorMode did. why: why it cannot be judged, or how ours differs.

    not_followed: the engine says that it does not know how the call ends; such a call is neither judged nor agreed.
    """

    answer: Answer
    path: str
    judged: bool
    agrees: bool
    why: str = ""
    not_followed: bool = False


def live_answers(
    python: str, operators: Sequence[str] | None, kinds: Sequence[str], seed: str, library: Sequence[Any] = ()
) -> Iterator[Answer]:
    """What a live PyTorch does; after a crash it is started anew, behind the operator at which it crashed."""
    first = 0
    while True:
        plan = {"operators": operators, "first": first, "seed": seed, "kinds": kinds, "library": library}
        done = subprocess.run(
            [python, str(SCRIPT)], input=json.dumps(plan), capture_output=True, text=True, check=False
        )
        begun: Answer | None = None
        made = 0
        for line in done.stdout.splitlines():
            answer = json.loads(line)
            if "done" in answer:
                return
            if "begin" in answer:
                begun, made = answer, 0
            else:
                made += 1
                yield answer
        assert begun is not None, done.stderr[-2000:]
        for kind in kinds[made:]:
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
        yield _judged(answer, predicted(state, answer))


def predicted(state: State, answer: Answer) -> Call | str:
    """The simulated call, or why there is none."""
    tensors = [TensorSpec.parse(text) for text in answer["tensors"]]
    contexts = [Context.parse(text) for text in answer["contexts"]]
    try:
        return simulate(state, OperatorName.parse(answer["operator"]), tensors, contexts)
    except (CallError, Refused) as error:
        return f"{type(error).__name__}: {error}"


def _judged(answer: Answer, call: Call | str) -> Verdict:
    path: str = answer["path"]
    if isinstance(call, str):
        return Verdict(answer, path, judged=True, agrees=False, why=call)
    said = path_of(call.end)
    error = call.end.error
    if call.end.fake is not None and not call.end.fake.followed:
        return _not_followed(answer, said)
    if path == "raised":
        # An error before any operator was called: a kernel above the mode raises it, for its arguments perhaps.
        before = error is not None and call.end.fake is None
        same = error is not None and error.type == answer["error"]
        return Verdict(answer, path, before, before and same, "the kernel raises before it calls an operator")
    if path == "outside" and answer.get("error") and call.end.fake is not None:
        return Verdict(answer, path, judged=False, agrees=False, why="a kernel above the mode raises")
    if path == "fallback" and NOT_THERE.search(answer["own_text"]):
        return Verdict(answer, path, path == said, path == said, "the device is not there")
    if path == "implementation" == said and answer["own_error"] and error and answer["own_error"] != error.type:
        return Verdict(answer, path, judged=False, agrees=False, why="the mode's function raises for the arguments")
    if path == "fallback" and said == "meta" and not OF_THE_DISPATCHER.search(answer["meta_text"]):
        return Verdict(answer, path, judged=False, agrees=False, why="the kernel at Meta refuses the arguments")
    if path == "meta" and said in ("fallback", "none") and answer["own_error"]:
        return Verdict(answer, path, judged=False, agrees=False, why="the kernel at Meta raises before it calls others")
    if path == "no operator":
        agrees = said in ("outside", "kernel")
        return Verdict(answer, path, judged=True, agrees=agrees, why="" if agrees else f"ours: {said}")
    if path != said:
        return Verdict(answer, path, judged=True, agrees=False, why=f"ours: {said} {call.end.error or ''}")
    return _same_path(answer, path, call.end)


def _not_followed(answer: Answer, said: str) -> Verdict:
    """An answer that leaves the end open: it allows for what a kernel that is not followed may lead to, and no more."""
    path: str = answer["path"]
    if path not in (said, "fallback", "none"):
        return Verdict(answer, path, judged=True, agrees=False, why=f"ours: {said}, not followed")
    why = "the engine says that it does not follow the kernel"
    return Verdict(answer, path, judged=False, agrees=False, why=why, not_followed=True)


def _same_path(answer: Answer, path: str, end: End) -> Verdict:
    """Both went the same way: the function, and the error that is predicted, must be the same, too."""
    function = None if end.fake is None else end.fake.function
    if path in ("decomposition", "prim-meta", "implementation") and answer["function"] != function:
        generic = path == "implementation" and function is None and end.error is not None
        if not generic:
            return Verdict(answer, path, judged=True, agrees=False, why=f"ours: {function} not {answer['function']}")
    if end.error is not None and not NOT_THERE.search(answer.get("own_text", "")):
        text = end.error.text
        if TWO_DEVICES.search(text) and answer["own_error"] and not TWO_DEVICES.search(answer["own_text"]):
            return Verdict(answer, path, judged=False, agrees=False, why="the kernel at Meta raises for the arguments")
        same = answer["own_error"] == end.error.type and (
            path == "fallback" or answer["own_text"].startswith(text[: 300 if end.error.whole else 200])
        )
        if not same:
            return Verdict(answer, path, judged=True, agrees=False, why=f"ours: {end.error.type}: {text[:80]}")
    elif answer.get("own_error") in OF_THE_MODE and answer["own_text"].removeprefix("NYI: ") == answer["shown"]:
        return Verdict(answer, path, judged=True, agrees=False, why=f"ours: no error, not {answer['own_error']}")
    elif path in AT_META and TWO_DEVICES.search(answer.get("own_text") or ""):
        return Verdict(answer, path, judged=True, agrees=False, why="ours: no error, not one of two devices")
    return Verdict(answer, path, judged=True, agrees=True)


OF_THE_DISPATCHER = re.compile("^Could not run '|: attempted to run this operator with Meta tensors|^$")
"""In the text of a NotImplementedError that no kernel raises; others are for arguments that are not described."""
NOT_THERE = re.compile("not compiled with|Found no NVIDIA driver")
"""In the text of the error of a device that the machine does not have."""
TWO_DEVICES = re.compile("at least two devices|two different devices")
"""In the text of the error for fake tensors of two devices."""
AT_META = ("meta", "implementation")
"""Where the mode itself raises it; elsewhere an operator does that is called from there."""
OF_THE_MODE = ("UnsupportedOperatorException", "DataDependentOutputException", "DynamicOutputShapeException")


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


PATHS = [path.value for path in FakePath]
