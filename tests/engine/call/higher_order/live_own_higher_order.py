"""Call PyTorch's own higher-order operators in random contexts, and print which of their rules get the calls, as JSON.

usage: PYTHON live_own_higher_order.py < "[SEED, COUNT]"   (run with the Python that has PyTorch)

Every rule is put aside for one that notes its name and returns, so that arguments do not matter; only those that
PyTorch's helpers for autograd make are left, which call the operator again.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import random
import sys
from pathlib import Path
from typing import Any

import live_higher_order as live  # type: ignore[import-not-found]

_PROBE = Path(__file__).resolve().parents[4] / "dispatch_cli" / "capture" / "probe.py"
_SPEC = importlib.util.spec_from_file_location("probe", _PROBE)
assert _SPEC is not None and _SPEC.loader is not None
probe = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(probe)


def noting(name: str) -> Any:
    """Stand-in for a rule."""

    def note(*_args: Any, **_kwargs: Any) -> str:
        live.note(name)
        return "done"

    note.is_note = True  # type: ignore[attr-defined]
    return note


def fitting(function: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """As many arguments as a function takes: more of them are left out, missing ones are None."""
    parameters = list(inspect.signature(function).parameters.values())
    takes = [
        parameter
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return args + (None,) * (len(takes) - len(args))
    return (args + (None,) * len(takes))[: len(takes)]


def trying(rule: Any) -> Any:
    """Stand-in for a rule for functionalization: it raises where the rule asks its context in vain."""
    name = probe.function_name(rule)

    def note(context: Any, *args: Any, **kwargs: Any) -> str:
        live.note(name)
        if type(context).__name__ != live.CONTEXT_CLASSES["modes"]:
            before = list(live.ran)
            try:
                rule(*fitting(rule, (context, *args)), **kwargs)
            except AttributeError as error:
                if str(error).startswith(f"'{type(context).__name__}' object has no attribute"):
                    raise
            except Exception:  # the arguments are not what the rule expects
                pass
            finally:
                live.ran[:] = before
        return "done"

    note.is_note = True  # type: ignore[attr-defined]
    return note


def calls_again(rule: Any) -> bool:
    """True if the rule is one of PyTorch's helpers for autograd."""
    name = probe.function_name(rule)
    return "autograd_not_implemented.<locals>" in name or "py_autograd_impl.<locals>" in name


def put_aside(operator: Any) -> None:
    """Have every rule note itself instead."""
    for table in (operator.py_kernels, operator.python_key_table, operator.functorch_table):
        for key, rule in list(table.items()):
            wrapped = probe._wrapped(rule, probe.FUNCTIONALIZE)
            if wrapped is not None:
                # The wrapper stays: it passes calls on. Three of them share the rule.
                if not getattr(wrapped, "is_note", False):
                    place = rule.__code__.co_freevars.index("fn")
                    rule.__closure__[place].cell_contents = trying(wrapped)
            elif probe.function_name(rule) == live.REDIRECT:
                live.redirect(operator)
            elif not calls_again(rule):
                table[key] = noting(probe.function_name(rule))


class Plainly:
    """The operator as it dispatches, without what its own class does before."""

    def __init__(self, operator: Any) -> None:
        self.operator = operator

    def __call__(self, *args: Any) -> Any:
        return live.ops.HigherOrderOperator.__call__(self.operator, *args)


def case(dice: random.Random, name: str) -> dict[str, Any]:
    """One call; no gradient is needed, so that no derivative runs."""
    tensors = [live.tensor(dice) for _ in range(dice.choice((0, 1, 1, 2)))]
    tensors = [pair for pair in tensors if "requires_grad" not in pair[0]]
    asked: list[tuple[str, Any]] = []
    for _ in range(dice.choice((0, 0, 1, 2))):
        context = live.context(dice)
        word = context[0].split("=")[-1]
        if all(word not in other and other.split("=")[-1] not in context[0] for other, _ in asked):
            asked.append(context)
    operator = live.ops._higher_order_ops[name]
    operator._dispatch_cache.clear()
    operator.__class__.__call__ = lambda self, *args: live.ops.HigherOrderOperator.__call__(self, *args)
    result = live.call(Plainly(operator), [value for _, value in tensors], [make for _, make in asked])
    texts, names = [text for text, _ in tensors], [text for text, _ in asked]
    return {"operator": {"name": name}, "tensors": texts, "contexts": names, **result}


def main(seed: int, count: int) -> None:
    """Print the cases."""
    dice = random.Random(seed)
    names = sorted(live.ops._higher_order_ops)
    for name in names:
        put_aside(live.ops._higher_order_ops[name])
    cases = (case(dice, dice.choice(names)) for _ in range(count))
    print(json.dumps([answer for answer in cases if "ran" in answer]))


if __name__ == "__main__":
    main(*json.load(sys.stdin))
