"""Run the programs in a live PyTorch, each in a fork of this process.

usage: python -c 'from tests.answers.errors.advice.run import main; main()' OUT.json [PROGRAM…]

Writes a list of runs: the program, its kind, the advice that was applied, the advice to change
nothing, the exit code and what was printed.
"""

import json
import os
import shutil
import signal
import sys
import tempfile
import traceback
from pathlib import Path

import torch
import torch._dynamo
import torch._inductor.lowering
import torch.export

from tests.answers.errors.advice import (
    builds,
    calls,
    devices,
    fakes,
    gradients,
    lookups,
    machines,
    modes,
    others,
    programs,
    refusals,
    registrations,
    slots,
    tensors,
    tracing,
    transforms,
)
from tests.answers.errors.advice.trial import PROGRAMS

MODULES = (
    *(slots, fakes, gradients, tensors, transforms, registrations),
    *(devices, lookups, builds, machines, modes, calls, others, tracing, programs, refusals),
)
LATE = 120
"""Seconds after which a program is stuck."""


def main():
    out, *names = sys.argv[1:]
    warm_up()
    runs = []
    for program in PROGRAMS:
        if (names and program.name not in names) or not applies(program):
            continue
        for advice in ("", *program.advice):
            code, text = run(program, advice)
            runs.append([program.name, program.kind, advice, program.unchanged, code, text])
    Path(out).write_text(json.dumps(runs), encoding="utf-8")


def warm_up():
    """Have PyTorch import what it imports late; else each fork would, which takes most of its time."""
    torch.compile(torch.sin, backend="aot_eager", fullgraph=True)(torch.ones(1))
    torch._dynamo.reset()


def applies(program):
    """True for a program that this PyTorch and this machine can run."""
    here = numbers(torch.__version__)
    since, until = numbers(program.since or "0"), numbers(program.until or "99")
    return since <= here <= until and shutil.which(program.needs or sys.executable) is not None


def numbers(version):
    return [int(part) for part in version.split(".")[:2]]


def run(program, advice):
    """The exit code of a program in a fork, and what it printed."""
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if not child:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            signal.alarm(LATE)
            os._exit(_exit_code(program, advice))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        file.seek(0)
        return code, file.read().decode(errors="replace")


def _exit_code(program, advice):
    code = 0
    try:
        program.run(advice)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code
