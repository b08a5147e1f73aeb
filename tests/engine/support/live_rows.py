"""Operators that are declared in short, as programs for `judge/live.py`: rows of a test, asked in a live PyTorch."""

from __future__ import annotations

from typing import Any

import yaml

from tests.engine.support.judge.operators import Operator

RESULTS = {
    "Tensor": "x * 2",
    "()": "None",
    "Tensor(a!)": "x",
    "Tensor(a)": "x.view(-1)",
    "Tensor[]": "[x * 2]",
    "int": "1",
    "float": "0.5",
    "(Tensor, str)": "(x * 2, 'text')",
    "(int, int)": "(1, 2)",
}
AUTOGRAD = """
class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        with torch._C._AutoDispatchBelowAutograd():
            return {below}

    @staticmethod
    def backward(ctx, g):
        return g * 2

def g(x):
    return Doubled.apply(x)
"""


def operator_of(declared: str, number: int) -> Operator:
    """The operator of a row, under a name of its own. Kernels double a tensor, or write the double to it."""
    row = {key: yaml.safe_load(text) for key, text in (part.split(": ", 1) for part in declared.split(" | ")[1:])}
    form, _, schema = declared.split(" | ")[0].partition(": ")
    schema = schema.partition("(")[1] + schema.partition("(")[2]
    name, returned = f"judge::op{number}", schema.partition("-> ")[2]
    is_factory, writes = "device" in schema, "!" in schema or returned == "()"
    given = "n, *, device" if is_factory else "x: torch.Tensor"
    result = "torch.full((n, 3), 0.5, device=device)" if is_factory else RESULTS[returned]
    first = "    x = x[0]\n" if "Tensor[] x" in schema else ""
    write = "    x.mul_(2)\n" if writes else ""
    hint = " -> None" if returned == "()" else ""
    functions = [f"def {kernel}({given}){hint}:\n{first}{write}    return {result}\n" for kernel in ("k", "m", "body")]
    functions += [f"def f({given}):\n{first}    return {result}\n"]
    registered = _by_library(name, schema, row) if form == "func" else _by_custom_op(form, name, schema, row)
    return Operator(
        name=name,
        source="\n".join([*functions, *registered]),
        cpp="",
        body=functions[2],
        values={"n": 2, "device": "device"} if is_factory else {"x": "tt" if first else "t"},
        keywords=["device"] if is_factory else [],
        writes=["x"] if writes else [],
        faithful=True,
    )


def _by_library(name: str, schema: str, row: dict[str, Any]) -> list[str]:
    kernels = row["dispatch"]
    below = f"torch.ops.judge.{name.partition('::')[2]}(x)" if len(kernels) > 1 else "x * 2"
    tags = ", ".join(f"torch.Tag.{tag}" for tag in row.get("tags", ()))
    lines = [AUTOGRAD.format(below=below), f'torch.library.define("{name}", "{schema}", tags=({tags and tags + ","}))']
    lines += ['lib = torch.library.Library("judge", "FRAGMENT")']
    for key, kernel in kernels.items():
        function = {"fallthrough": "torch.library.fallthrough_kernel"}.get(str(kernel), str(kernel)[0])
        lines.append(f'lib.impl("{name.partition("::")[2]}", {"k" if function == "{" else function}, "{key}")')
    return lines + ([f'torch.library.register_fake("{name}", f)'] if "fake" in row else [])


def _by_custom_op(form: str, name: str, schema: str, row: dict[str, Any]) -> list[str]:
    writes = '("x",)' if "!" in schema else "()"
    devices = tuple(row.get("kernels", ()))
    more = f", device_types={devices}" if devices else ""
    lines = [f'op = torch.library.{form}("{name}", k, mutates_args={writes}, schema="{schema}"{more})']
    lines += ["op.register_fake(f)"] if "fake" in row else []
    lines += ["op.register_autograd(lambda ctx, g: g * 2)"] if "backward" in row else []
    return lines + [
        f'op.register_autocast("{device}", torch.{dtype})' for device, dtype in row.get("autocast", {}).items()
    ]
