"""A recorded PyTorch state as one large declaration file."""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path

RECORDING = Path(__file__).parent.parent / "recordings" / "torch-2.15.0.state.json.xz"
_KERNEL = re.compile(r"^(\w+)(?:\[alias\])?( \(inactive\))?: (.*) :: (.*) \[ (.*) \]$")


def declarations() -> str:
    """All operators of the recording in the short form, each kernel with its debug text and signature."""
    with lzma.open(RECORDING) as stream:
        operators = json.load(stream)["ops"]
    lines = ["dispatch: 1", "operators:"]
    for name in sorted(operators):
        lines += _operator(name, operators[name]["dump"].splitlines())
    return "\n".join([*lines, ""])


def _operator(name: str, dump: list[str]) -> list[str]:
    heads = dict(line.split(": ", 1) for line in dump[1:4] if line.startswith(("schema: ", "debug: ", "alias ")))
    if heads["schema"] == "(none)":
        lines = [f"  - name: {name}"]
    else:
        kind = heads["alias analysis kind"].replace("CONSERVATIVE (default)", "default")
        lines = [
            f"  - func: {json.dumps(heads['schema'])}",
            f"    debug: {heads['debug']}",
            f"    alias_analysis: {kind}",
        ]
    kernels: dict[str, list[str]] = {}
    for line in dump:
        if (match := _KERNEL.match(line)) and match[1] != "QuantizedMeta":  # The parser does not know that name.
            kernels.setdefault(match[1], []).insert(0, _kernel(match))
    if kernels:
        lines.append("    dispatch:")
    for key, several in kernels.items():
        lines.append(f"      {key}:")
        lines += [f"        - {kernel}" for kernel in several]
    return lines


def _kernel(match: re.Match[str]) -> str:
    debug, signature, flags = match[3], match[4], match[5].split()
    fields = {"debug": json.dumps(debug)}
    if signature != "(none)":
        fields["signature"] = json.dumps(signature)
    fields |= {flag: "true" if flag in flags else "false" for flag in ("boxed", "unboxed", "fallthrough")}
    return "{" + ", ".join(f"{name}: {value}" for name, value in fields.items()) + "}"
