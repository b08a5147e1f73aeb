"""Answers to programs of calls: by a live PyTorch where this is run as a script, by our bindings where it is imported.

usage: PYTHON answers.py, with programs as JSON on standard input; writes the answers as JSON. A program is a list of
steps, each a line of Python over the names of `names`; every program begins in a state of its own.
"""

from __future__ import annotations

import gc
import json
import os
import re
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

SECONDS = 30
"""After which a program that does not end is stopped."""


class Answer(NamedTuple):
    """The answer to a step.

    kind: ``value``, the name of an exception, or ``crash``. text: the value or the error's text.
    """

    kind: str
    text: str


CRASH = "crash"


def kernel(*args: object) -> object:
    """A kernel that is never called."""
    return args


def names(core: Any, tag: Any, tensor: Callable[[str], Any], dispatcher: Any) -> dict[str, Any]:
    """The names that steps use.

    core: ``torch._C`` or bindings. tensor: makes a tensor of a description. dispatcher: ``PythonDispatcher``.
    """
    return {
        "C": core,
        "K": core.DispatchKey,
        "S": core.DispatchKeySet,
        "R": core.DispatchKeySet.from_raw_repr,
        "Tag": tag,
        "T": tensor,
        "P": dispatcher,
        "kernel": kernel,
    }


def do(step: str, scope: dict[str, Any]) -> Answer:
    """The answer to one step."""
    try:
        code = compile(step, "<step>", "eval")
    except SyntaxError:
        code = compile(step, "<step>", "exec")
    try:
        return Answer("value", comparable(shown(eval(code, scope))))
    except RuntimeError as error:  # the refusals of our dispatcher are of a class derived from it
        return Answer("RuntimeError", comparable(text_of(error)))
    except Exception as error:
        return Answer(type(error).__name__, comparable(text_of(error)))


def text_of(error: Exception) -> str:
    """The text of an error; half characters are spelled out."""
    return str(error).encode("utf-8", "backslashreplace").decode()


def shown(value: Any) -> str:
    """A value as text: what it consists of, in the words of PyTorch."""
    if isinstance(value, (list, tuple)):
        inside = ", ".join(map(shown, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    name = type(value).__name__.removeprefix("_")
    if name == "DispatchOperatorHandle":
        return f"{value.schema()} :: {value.debug()}"
    if name == "FunctionSchema":
        return str(value)
    return repr(value).encode("utf-8", "backslashreplace").decode()


_SPELLINGS = (
    # addresses, and the names of modules in which a class stands
    (re.compile(r"<[\w.]*?_?(\w+) object at 0x[0-9a-f]+>"), r"<\1>"),
    (re.compile(r" at 0x[0-9a-f]+>"), ">"),
    (re.compile(r"registered at /[^\s:]*/(site-packages/)"), r"registered at \1"),
    # the path and the line of the build
    (re.compile(r'INTERNAL ASSERT FAILED at "(?:[^"]*?/)?((?:c10|aten|torch)/[^"]*)"(?::\d+)?'), r'FAILED at "\1"'),
)


def comparable(text: str) -> str:
    """A text without what two runs of one PyTorch can have different."""
    for pattern, spelling in _SPELLINGS:
        text = pattern.sub(spelling, text)
    return text


# the side of PyTorch


def live(programs: list[list[str]], namespace: Callable[[], dict[str, Any]]) -> list[list[Answer]]:
    """The answers of this process' PyTorch; each program runs in a fork, so that one that crashes does no harm."""
    answers = []
    for program in programs:
        crashed: set[int] = set()
        while True:
            done = _in_a_fork(program, crashed, namespace)
            if len(done) == len(program):
                break
            crashed.add(len(done))
        answers.append(done)
    return answers


def _in_a_fork(program: list[str], left_out: set[int], namespace: Callable[[], dict[str, Any]]) -> list[Answer]:
    """The answers up to the end, or up to a step that ends the process. left_out: steps that have done so before."""
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile("w+") as out:
        pid = os.fork()
        if pid == 0:
            import signal

            signal.alarm(SECONDS)
            _answer_all(program, left_out, namespace(), out)
            os._exit(0)
        os.waitpid(pid, 0)
        out.seek(0)
        return [Answer(*json.loads(line)) for line in out if line.endswith("\n")]


def _answer_all(program: list[str], left_out: set[int], scope: dict[str, Any], out: Any) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    for number, step in enumerate(program):
        answer = Answer(CRASH, "") if number in left_out else do(step, scope)
        out.write(json.dumps(answer) + "\n")
        out.flush()


def live_tensor(text: str) -> Any:
    """A tensor of PyTorch that is as the description says, made in a thread whose state nobody has changed."""
    values: list[Any] = []
    thread = threading.Thread(target=lambda: values.append(_made_tensor(text)))
    thread.start()
    thread.join()
    return values[0]


def _made_tensor(text: str) -> Any:
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    device, *words = text.split()
    functorch: Any = torch._C._functorch
    with warnings.catch_warnings(), torch.inference_mode("inference" in words):
        warnings.simplefilter("ignore")
        dtype = torch.complex64 if "conj" in words else torch.float32
        tensor = torch.ones((2, 2), dtype=dtype, device=device)
        makers: dict[str, Callable[[Any], Any]] = {
            "requires_grad": lambda x: x.requires_grad_(),
            "sparse": lambda x: x.to_sparse(),
            "sparse_csr": lambda x: x.to_sparse_csr(),
            "sparse_csc": lambda x: x.to_sparse_csc(),
            "mkldnn": lambda x: x.to_mkldnn(),
            "nested": lambda x: torch.nested.nested_tensor([x]),
            "conj": lambda x: x.conj(),
            "neg": torch._neg_view,
            "zerotensor": lambda _: torch._efficientzerotensor((2, 2), device=device),
            "quantized": lambda x: torch.quantize_per_tensor(x, 1.0, 0, torch.quint8),
            "fake": lambda x: FakeTensorMode().from_tensor(x),
            "subclass=Own": lambda x: torch.Tensor._make_subclass(_own_class(), x),
            "functional": torch._to_functional_tensor,
            "batched": lambda x: functorch._add_batch_dim(x, 0, 1),
            "grad-wrapped": _grad_wrapped,
            "inference": lambda x: x,
        }
        for word in words:
            tensor = makers[word](tensor)
    return tensor


def _own_class() -> Any:
    import torch

    class Own(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return function(*args, **(kwargs or {}))

    return Own


def _grad_wrapped(tensor: Any) -> Any:
    import torch

    functorch: Any = torch._C._functorch
    level = functorch._grad_increment_nesting()
    try:
        return functorch._wrap_for_grad(tensor, level)
    finally:
        functorch._grad_decrement_nesting()


def main() -> None:
    """Answer what is on standard input."""
    import torch
    import torch._subclasses.fake_tensor
    from torch._python_dispatcher import PythonDispatcher

    core: Any = torch._C

    def namespace() -> dict[str, Any]:
        # these two stand in another module, and change the same thread
        core._enable_functionalization = torch._enable_functionalization
        core._disable_functionalization = torch._disable_functionalization
        return names(core, torch.Tag, live_tensor, PythonDispatcher)

    gc.collect()
    gc.freeze()  # so that forks do not copy what is there
    print(json.dumps(live(json.load(sys.stdin), namespace)))


if __name__ == "__main__":
    main()
