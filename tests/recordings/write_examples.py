"""Write the examples of real operators from the recording of PyTorch 2.15.0.

usage: python -m tests.recordings.write_examples
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from dispatch_cli import universes
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.model.kernel import Kernel
from tests.support import load_recording, replay_dump

EXAMPLES = Path(__file__).parents[2] / "examples"
ADD = """\
# aten::add.Tensor as PyTorch 2.15.0 (CUDA build) registers it, with PyTorch's own debug strings.
#
#   dispatch-cli register examples/add.yaml
#   dispatch-cli table examples/add.yaml
#   dispatch-cli table examples/add.yaml --format raw
#
# The last command prints exactly what torch._C._dispatch_dump_table("aten::add.Tensor") returns there.
"""
OTHERS = """\
# A few operators as PyTorch 2.15.0 (CUDA build) registers them, each with a question that people ask about it.
#
#   dispatch-cli table examples/real_operators.yaml
#   dispatch-cli table examples/real_operators.yaml --op aten::bmm
"""
QUESTIONS = {
    "aten::to.dtype": "Composite: a backend that registers it loses the gradient (see examples/overlay.yaml)",
    "aten::softmax.int": "Also composite, with a batching rule that is a decomposition",
    "aten::convolution": "CompositeExplicitAutograd fills every backend slot, so that a backend fallback never runs",
    "aten::bmm": "Structured: its default kernel does not cover nested and sparse tensors",
    "aten::empty.memory_format": "A factory: without tensor arguments, BackendSelect decides",
}
HEAD = "dispatch: 1 # Made by `python -m tests.recordings.write_examples` from a recording; do not edit."


def main() -> None:
    """Write both files."""
    (EXAMPLES / "add.yaml").write_text(ADD + _body(["aten::add.Tensor"]), encoding="utf-8")
    (EXAMPLES / "real_operators.yaml").write_text(OTHERS + _body(QUESTIONS), encoding="utf-8")


def _body(names: Iterable[str]) -> str:
    lines = [HEAD, "universe: torch-2.15", "snapshot: true", "pytorch: true", "operators:"]
    for name in names:
        lines += _operator(name)
    return "\n".join(lines) + "\n"


def _operator(name: str) -> list[str]:
    dispatcher = Dispatcher(universes.load("torch-2.15"))
    operator = dispatcher.operator(replay_dump(dispatcher, load_recording("2.15.0.state")["ops"][name]["dump"]))
    definition = operator.definition
    assert definition is not None, name
    lines = [f"  # {QUESTIONS[name]}."] if name in QUESTIONS else []
    lines += [f"  - func: {json.dumps(str(definition.schema))}", f"    debug: {json.dumps(definition.debug)}"]
    lines.append("    dispatch:")
    for key in sorted(operator.kernels, key=dispatcher.universe.ids.__getitem__):
        kernels = [_kernel(registration.kernel) for registration in reversed(operator.kernels[key])]
        if len(kernels) == 1:
            lines.append(f"      {key}: {kernels[0]}")
        else:
            lines.append(f"      {key}: # the later one is active")
            lines += [f"        - {kernel}" for kernel in kernels]
    return lines


def _kernel(kernel: Kernel) -> str:
    fields = {"debug": json.dumps(kernel.debug)}
    if kernel.signature is not None:
        fields["signature"] = json.dumps(str(kernel.signature))
    if kernel.fallthrough:
        fields["fallthrough"] = "true"
    if kernel.signature is not None and not kernel.unboxed:
        fields["unboxed"] = "false"
    if ".py:" in kernel.debug:
        fields["python"] = "true"
    return "{" + ", ".join(f"{field}: {value}" for field, value in fields.items()) + "}"


if __name__ == "__main__":
    main()
