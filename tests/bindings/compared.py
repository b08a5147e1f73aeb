"""Programs of calls, answered by a live PyTorch and by our bindings, and what differs."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from dispatch_cli.bindings import Bindings
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.model.universe import Universe
from tests import in_pytorch
from tests.bindings import answers
from tests.bindings.answers import CRASH, Answer
from tests.support import load_recording

SCRIPT = Path(answers.__file__)
RECORDED = "2.13.0.bindings"
WITHOUT_ORDER = ("_dispatch_get_all_op_names", "_dispatch_find_dangling_impls", "_registrations_for_dispatch_key")
"""Parts of the names of functions whose lists are in the order of a hash table of PyTorch."""
SHOWN_BEFORE, SHOWN_TEXT = 60, 700
"""Characters of a text that are shown: before the first difference, and in all."""


class Difference(NamedTuple):
    """A step that is answered in two ways. before: the steps of its program before it."""

    before: tuple[str, ...]
    step: str
    live: Answer
    ours: Answer

    def __str__(self) -> str:
        live, ours = _whole(self.live), _whole(self.ours)
        pairs = enumerate(zip(live, ours, strict=False))
        differ = next((number for number, (one, other) in pairs if one != other), min(len(live), len(ours)))
        begin = max(0, differ - SHOWN_BEFORE)
        texts = [f"{'… ' if begin else ''}{text[begin : begin + SHOWN_TEXT]}" for text in (live, ours)]
        return "\n".join([*self.before, f">>> {self.step}", f"  live: {texts[0]}", f"  ours: {texts[1]}"])


def live_answers(python: str, programs: Sequence[Sequence[str]]) -> list[list[Answer]]:
    """Those of a Python's PyTorch."""
    done = in_pytorch.run([python, str(SCRIPT)], input=json.dumps(programs))
    return [[Answer(*answer) for answer in program] for program in json.loads(done.stdout)]


class Own:
    """Our side, over a state that is as it was again after each program."""

    def __init__(self, universe: Universe, dispatcher: Dispatcher) -> None:
        self.universe = universe
        self.dispatcher = dispatcher
        gc.collect()
        gc.freeze()  # so that the collections below take no time

    def answers(self, programs: Iterable[Sequence[str]]) -> list[list[Answer]]:
        """The answers of the bindings."""
        return [self._answers(program) for program in programs]

    def _answers(self, program: Sequence[str]) -> list[Answer]:
        before = self.dispatcher.checkpoint()
        bindings = Bindings(self.universe, self.dispatcher)
        scope = answers.names(bindings, bindings.Tag, str, bindings.PythonDispatcher)
        collected = []
        for step in program:
            with contextlib.redirect_stdout(io.StringIO()):
                collected.append(answers.do(step, scope))
        scope.clear()
        del bindings
        gc.collect()
        self.dispatcher.restore(before)
        return collected


def differences(
    programs: Sequence[Sequence[str]], live: list[list[Answer]], ours: list[list[Answer]]
) -> list[Difference]:
    """The steps that differ."""
    different = []
    for program, theirs, own in zip(programs, live, ours, strict=True):
        for number, (step, expected, answer) in enumerate(zip(program, theirs, own, strict=True)):
            if expected != answer:
                different.append(Difference(tuple(program[:number]), step, expected, answer))
    return different


class OnPurpose(NamedTuple):
    """Differences that are meant.

    reason: why. step: which steps may differ so. live, ours: what their answers are like, kind and text. example: a
    program whose last step is one of them. before: what must be among the steps before it.
    """

    reason: str
    step: str
    live: str
    ours: str
    example: tuple[str, ...]
    before: str = ""

    def covers(self, difference: Difference) -> bool:
        """True if the difference is one of these."""
        return (
            re.search(self.step, difference.step) is not None
            and re.search(self.before, "\n".join(difference.before)) is not None
            and re.match(self.live, _whole(difference.live), re.DOTALL) is not None
            and re.match(self.ours, _whole(difference.ours), re.DOTALL) is not None
        )


ON_PURPOSE = (
    OnPurpose(
        "tensors are described, by texts",
        r"_dispatch_(keys|key_set|isTensorSubclassLike)\(",
        "",
        "value: |TypeError: '.*': ",
        ("C._dispatch_keys('cpu')",),
    ),
    OnPurpose(
        "a bit beyond those of all functionalities stands for no key, and is not printed",
        r"2\*\*63|1 << 63|K\(47\)",
        r".*(UnknownUnknown\)'?|end_iter_mask_val .*)|value: False$",
        "value: ",
        ("R(2**63)",),
    ),
    # what PyTorch reads there is not initialised: whether it crashes depends on the machine
    OnPurpose(
        "PyTorch reads the namespace of a block for all namespaces, which has none; the call is refused",
        r"\.impl",
        f"{CRASH}|value: <DispatchModule>",
        r"RuntimeError: impl\(.* can only have a fallback",
        ("m = C._dispatch_library('IMPL', '_', '')", "m.impl_t_t('op')"),
        before=r"_dispatch_library\('IMPL', '_'",
    ),
    OnPurpose(
        "PyTorch reads the kernel of an operator that does not exist; the call is refused",
        r"_dispatch_kernel_for_dispatch_key_is_fallthrough\(",
        f"{CRASH}|value: (True|False)",
        "RuntimeError: operator .* does not exist",
        ("C._dispatch_kernel_for_dispatch_key_is_fallthrough('default', 'CPU')",),
    ),
    OnPurpose(
        "every key of the universe is a member of the enum; PyTorch's lacks some, which have a name only in C++",
        "",
        r".*DispatchKey\.\?\?\?",
        r".*DispatchKey\.(?!\?)",
        ("K(4)",),
    ),
    OnPurpose(
        "what is no name and no schema is refused in words of our own",
        "",
        r"(Runtime|Index|Value|UnicodeDecode)Error: \s*"
        r"('utf-8' codec|expected \S+ (\S+ )?but found|unknown type|Tried to parse an? |\S+ is not a legal|stoll|Use)",
        r"RuntimeError: (expected .* but found|'.*' is not )",
        ("C._dispatch_dump('a::')",),
    ),
    OnPurpose(
        "type variables, which no operator has, are not read",
        r"\(t x\) -> t'",
        "value: |RuntimeError: def",
        "RuntimeError: 't' is not a type",
        ("C._dispatch_library('FRAGMENT', 'ns', '').def_legacy('op(t x) -> t')",),
    ),
    OnPurpose(
        "so that an operator which has one is not there",
        r"^C\._dispatch_has_kernel\('ns::op'\)|^\[C\._dispatch_dump\('ns::' \+ name\) for name in .*'variable'",
        "value: ",
        "value: |RuntimeError: ",
        (
            "m = C._dispatch_library('FRAGMENT', 'ns', '')",
            "m.def_legacy('op(t x) -> t')",
            "C._dispatch_has_kernel('ns::op')",
        ),
        before=r"\(t x\) -> t'",
    ),
    OnPurpose(
        "names and schemas are bounded in length",
        "70000",
        "",
        "RuntimeError: the schema is longer than 65536 characters",
        ("C._dispatch_dump('x' * 70000)",),
    ),
    OnPurpose(
        "PyTorch registers at numbers that are no key, and at markers, beyond its tables; the call is refused",
        r"\.(impl|fallback)\(",
        "value: |RuntimeError: fallback",
        r"RuntimeError: \w+ \(\d+\) is no dispatch key",
        ("C._dispatch_library('IMPL', 'ns', '').impl('op', K(999), kernel)",),
    ),
    OnPurpose(
        "PyTorch leaves a part of the fallbacks that it refuses at an alias key; what is refused leaves nothing",
        r"_dispatch_(dump_table|has_backend_fallback|has_computed_kernel)|fallback",
        "",
        "",
        (
            "m = C._dispatch_library('IMPL', '_', '')",
            "m.fallback('CompositeImplicitAutograd', kernel)",
            "C._dispatch_has_backend_fallback('XLA')",
        ),
        before=r"fallback\w*\(.*('|K\.)(Autograd|Composite\w+|FuncTorchBatchedDecomposition)\b",
    ),
    OnPurpose(
        "a captured state does not say which namespaces have a TORCH_LIBRARY block of PyTorch's",
        "_dispatch_library\\(",
        "RuntimeError: Only a single TORCH_LIBRARY can be used",
        "value: <DispatchModule>",
        ("C._dispatch_library('DEF', 'aten', '')",),
    ),
    OnPurpose(
        "a captured state does not say in which Python modules PyTorch's own operators have their fake implementations",
        "_dispatch_pystub",
        "value: \\(",
        "value: None",
        ("C._dispatch_pystub('quantized::linear', '')",),
    ),
)


def _whole(answer: Answer) -> str:
    return f"{answer.kind}: {answer.text}"


def reason_of(difference: Difference) -> str | None:
    """The reason for a difference that is meant."""
    return next((entry.reason for entry in ON_PURPOSE if entry.covers(difference)), None)


def written_programs() -> list[list[str]]:
    """Programs of `programs.txt`: a step on each line, and an empty line between two."""
    text = SCRIPT.with_name("programs.txt").read_text(encoding="utf-8")
    return [program.splitlines() for program in text.split("\n\n")]


def recorded_programs() -> list[list[str]]:
    """Programs of the recording: random calls of all functions, with names and keys that are none among them."""
    return [program for program, _ in load_recording(RECORDED)]


def recordable(programs: Sequence[Sequence[str]]) -> list[list[str]]:
    """Programs without the steps about what a build registers: they are compared with a live PyTorch."""
    of_a_build = re.compile("|".join(("aten", "all_invariants", "print_registrations", *WITHOUT_ORDER)))
    return [[step for step in program if not of_a_build.search(step)] for program in programs]


def with_answers(programs: Sequence[Sequence[str]], live: list[list[Answer]]) -> list[list[list[object]]]:
    """Programs, each with its answers, without the steps that only use the name of a step that was left out."""
    pairs = (zip(program, answers, strict=True) for program, answers in zip(programs, live, strict=True))
    kept = [[(step, answer) for step, answer in program if answer.kind != "NameError"] for program in pairs]
    return [[[step for step, _ in program], [answer for _, answer in program]] for program in kept]
