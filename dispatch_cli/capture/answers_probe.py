"""Ask the PyTorch of this Python for the state of its dispatcher, and for its own answers about every operator.

usage: PYTHON answers_probe.py OUT.json [--import MODULE]... [--op GLOB]...

What OUT.json holds, besides what ``probe.py`` writes: both dumps of every operator, PyTorch's complaint about every
operator whose invariants do not hold, what ``torch._ops.resolve_key`` says for every operator and runtime key, and the
same for every higher-order operator, with the keys at which a call of it can arrive. With --op resolve_key, which takes
most of the time, is asked only about operators whose name matches one of the globs. All of it comes from one process,
so registrations and answers belong together.

A script of its own like ``probe.py``, which must lie beside it; the exit codes are the same.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Python 3.8 knows these spellings only where it does not look at them.
    from dispatch_cli.capture import fake_mode, probe
else:
    # Not by name: whether a script's own directory is searched for modules is up to the user's settings.
    _SPEC = importlib.util.spec_from_file_location("probe", Path(__file__).resolve().with_name("probe.py"))
    probe = importlib.util.module_from_spec(_SPEC)
    _SPEC.loader.exec_module(probe)
    fake_mode = probe.fake_mode

MISSING = "missing"
"""The answer of ``resolve_key`` where it finds no kernel; no key has such a name."""
ERROR = "error: "
"""Start of an answer where ``resolve_key`` refuses."""


def answers(asked: probe.LivePyTorch, globs: list[str]) -> probe.Data:
    """The state, and PyTorch's answers about it."""
    names = sorted(asked.now.dumps)
    chosen = [name for name in names if _is_chosen(name, globs)]
    live, clean = probe.Live(asked), asked.clean
    # Answers about operators come first: a capture registers operators to look at the tables, and imports modules of
    # PyTorch that register kernels. Among these are the modules that define higher-order operators.
    texts = {
        name: [clean(live.core._dispatch_dump(name)), clean(live.core._dispatch_dump_table(name))] for name in names
    }
    broken = {name: clean(complaint) for name in names for complaint in _complaint(live, name)}
    rows: dict[tuple[str, ...], int] = {}
    resolved = resolve_keys(live, chosen, rows)
    state = probe.capture(asked)
    return {
        **state,
        "texts": texts,
        "broken": broken,
        "higher_order_answers": higher_order_answers(live, rows),
        "resolve_rows": [list(row) for row in rows],
        "resolved": resolved,
    }


def _is_chosen(name: str, globs: list[str]) -> bool:
    """True if a glob matches the name, with its overload or without; all are chosen where there is no glob."""
    names = (name, name.partition(".")[0])
    return not globs or any(fnmatchcase(name, glob) for glob in globs for name in names)


def _complaint(live: probe.Live, name: str) -> list[str]:
    """The first line of PyTorch's complaint about an operator's invariants; empty when they hold."""
    try:
        live.core._dispatch_check_invariants(name)
    except RuntimeError as error:
        return (str(error).splitlines() or ["RuntimeError"])[:1]
    return []


def resolve_keys(live: probe.Live, names: list[str], rows: dict[tuple[str, ...], int]) -> dict[str, int]:
    """Answers of ``resolve_key``: the row of each operator, Undefined first.

    rows: the different rows so far, with their numbers. Operators that ``torch.ops`` does not give out have no row.
    """
    ops = importlib.import_module("torch._ops")
    slots = [live.slot_key(slot) for slot in (probe.UNDEFINED, *live.runtime)]
    resolved = {}
    for name in names:
        operator = fake_mode.in_python(name)
        if isinstance(operator, ops.OpOverload):
            row = _row(live, ops, operator, slots)
            resolved[name] = rows.setdefault(row, len(rows))
    return resolved


def higher_order_answers(live: probe.Live, rows: dict[tuple[str, ...], int]) -> dict[str, Any]:
    """Row of answers of ``resolve_key`` for every higher-order operator, and the keys that do not fall through."""
    ops = importlib.import_module("torch._ops")
    slots = [live.slot_key(slot) for slot in (probe.UNDEFINED, *live.runtime)]
    operators = {}
    for name, operator in sorted(ops._higher_order_ops.items()):
        row = _row(live, ops, operator, slots)
        reached = [key for key in live.runtime if operator.non_fallthrough_keys.has(live.keys[key])]
        operators[name] = [rows.setdefault(row, len(rows)), reached]
    return operators


def _row(live: probe.Live, ops: Any, operator: Any, slots: list[Any]) -> tuple[str, ...]:
    missing = f"could not find kernel for {operator} at dispatch key "
    return tuple(_resolve(live, ops, operator, key, missing) for key in slots)


def _resolve(live: probe.Live, ops: Any, operator: Any, key: Any, missing: str) -> str:
    """Choice of ``resolve_key`` at *key*. missing: start of PyTorch's text where there is none; the key follows."""
    try:
        return live.name_of(ops.resolve_key(operator, key))
    except NotImplementedError as error:
        return MISSING if str(error) == f"{missing}{key}" else ERROR + str(error)
    except RuntimeError as error:
        return ERROR + (str(error).splitlines() or [""])[0]


if __name__ == "__main__":
    probe.run(partial(answers, globs=probe.values_of(sys.argv[1:], "--op")))
