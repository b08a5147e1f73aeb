"""Write a recorded PyTorch state as one large declaration file, and time how it loads.

``python tests/declarations/large.py`` prints the time against PyYAML's own safe C loader, which only makes dicts.
"""

from __future__ import annotations

import json
import lzma
import re
import tempfile
import time
from collections.abc import Callable
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


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main() -> None:
    """Print both times and their ratio; the parse of schemas is not warm."""
    import yaml

    from dispatch_cli.declarations import load
    from dispatch_cli.model.function_schema import parse_schema, parse_signature

    text = declarations()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.yaml"
        path.write_text(text, encoding="utf-8")
        theirs = min(_seconds(lambda: yaml.load(text, yaml.CSafeLoader)) for _ in range(3))
        ours = []
        for _ in range(3):
            parse_schema.cache_clear()
            parse_signature.cache_clear()
            ours.append(_seconds(lambda: load([str(path)])))
    print(
        f"{len(text) / 1e6:.1f} MB: CSafeLoader {theirs:.2f} s, load {min(ours):.2f} s, ratio {min(ours) / theirs:.2f}"
    )


if __name__ == "__main__":
    main()
