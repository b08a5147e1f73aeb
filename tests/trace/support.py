"""Recordings made by hand: the key sets are put together from names of keys."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from dispatch_cli import universes
from dispatch_cli.engine.keys.keyset import DispatchKeySet

UNIVERSE = universes.load("torch-2.13")
PLAIN = ("CPU", "AutogradCPU", "ADInplaceOrView", "AutocastCPU")
"""The keys of a tensor on the CPU."""
OF_A_BACKEND = ("PrivateUse1", "AutogradPrivateUse1", "ADInplaceOrView", "AutocastPrivateUse1")


def raw(keys: Iterable[str]) -> int:
    """The raw representation of a key set."""
    return DispatchKeySet.of(UNIVERSE, keys).bits


def signature(
    operator: int = 0,
    tensors: Sequence[Sequence[str]] = (PLAIN,),
    included: Sequence[str] = (),
    excluded: Sequence[str] = (),
    grads: Sequence[bool] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A signature. included, excluded: keys of the thread beside the usual ones; ``-KEY`` is not excluded."""
    off = {key[1:] for key in excluded if key.startswith("-")}
    usual = [key for key in UNIVERSE.default_excluded if key not in off]
    return {
        "operator": operator,
        "tensors": [[raw(keys)] for keys in tensors],
        "keys": [
            raw((*UNIVERSE.default_included, *included)),
            raw((*usual, *(key for key in excluded if not key.startswith("-")))),
        ],
        "inference": False,
        "modes": [],
        "python_dispatcher": False,
        "layers": [],
        "grad_mode": True,
        "requires_grad": [False] * len(tensors) if grads is None else list(grads),
        "devices": ["cpu" if "CPU" in keys else "npu:0" for keys in tensors],
        "subclasses": [None] * len(tensors),
        **more,
    }


class Writer:
    """Writes a recording line by line, with the tables that the calls need."""

    def __init__(self, **head: Any) -> None:
        self.lines = [
            {
                "dispatch_cli_trace": 2,
                "torch": "2.13.0+cpu",
                "python": "3.11.7",
                "argv": ["train.py", "--fast"],
                "directory": "/home/me",
                **head,
            },
        ]  # type: list[Any]
        self._tables: dict[str, list[Any]] = {}
        self._nodes: dict[str, list[Sequence[int]]] = {}
        """Nodes of the open calls of each thread."""
        self.time = 0

    def number(self, tag: str, *value: Any) -> int:
        """The number of an entry of a table, which is written when it is first needed."""
        table = self._tables.setdefault(tag, [])
        if value not in table:
            table.append(value)
            self.lines.append([tag, len(table) - 1, *value])
        return table.index(value)

    def call(
        self,
        operator: str,
        depth: int = 0,
        line: int | None = 1,
        ends: bool = True,
        raised: bool | None = False,
        thread: str = "MainThread",
        sequence: int = -1,
        forward: str | None = None,
        nodes: Sequence[int] = (),
        kernels: Sequence[tuple[str, int]] = (),
        **of_signature: Any,
    ) -> None:
        """A call that begins, and ends at once where *ends*.

        sequence, forward: the node of autograd that makes it, and its thread. nodes: those that it makes itself.
        """
        number = self.number("s", signature(self.number("o", operator), **of_signature))
        file = self.number("f", "/home/me/train.py")
        place = -1 if line is None else self.number("l", file, line, "step")
        where = self.number("t", thread)
        of = -1 if forward is None else self.number("t", forward)
        self.time += 5
        self.lines.append(["c", number, where, depth, place, self.time, sequence, of])
        self.lines += [["k", where, slot, keys, False] for slot, keys in kernels]
        self._nodes.setdefault(thread, []).append(nodes)
        if ends:
            self.end(thread, raised)

    def end(self, thread: str = "MainThread", raised: bool | None = False) -> None:
        """The innermost open call ends."""
        self.time += 5
        nodes = list(self._nodes[thread].pop())
        self.lines.append(["e", self.number("t", thread), self.time, raised, *([nodes] if nodes else [])])

    def add(self, *line: Any) -> None:
        """Any line."""
        self.lines.append(list(line))

    def text(self) -> str:
        """The whole file."""
        return "".join(f"{json.dumps(line)}\n" for line in self.lines)


def every() -> str:
    """A recording with something of everything that a view shows."""
    writer = Writer()
    for step in range(2):
        writer.call("aten::linear", excluded=("-AutocastCPU",), ends=False, tensors=(PLAIN, PLAIN), grads=(False, True))
        writer.call("aten::to.dtype", 1)
        writer.call("aten::linear", 1, ends=False, tensors=(PLAIN, PLAIN), grads=(False, True), nodes=[step])
        writer.call("aten::mm", 2, tensors=(PLAIN, PLAIN), grads=(False, True), nodes=[step])
        writer.end()
        writer.end()
        writer.call("aten::relu", line=2)
        writer.call("aten::threshold_backward", line=3, sequence=step, forward="MainThread", thread="autograd")
    for _ in range(3):
        writer.call("aten::masked_select", line=4, raised=True)
    writer.call("aten::_nested_tensor_size", line=5, grads=(True,))
    writer.call("aten::frexp.Tensor", line=5, tensors=(OF_A_BACKEND,), grads=(True,))
    writer.call("aten::sin", line=6, tensors=((*PLAIN, "FuncTorchBatched"),), layers=[["vmap", 1, None]])
    writer.call("aten::bincount", line=6, tensors=((*PLAIN, "FuncTorchBatched"),), layers=[["vmap", 1, None]])
    writer.call("_c10d_functional::all_reduce", line=6, grads=(True,))
    writer.call("aten::cos", line=7, included=("Python", "PythonTLSSnapshot"), modes=["MyMode"])
    writer.call("aten::copy_", line=8, tensors=(OF_A_BACKEND, PLAIN), grads=(False, False))
    writer.call("aten::sum", line=None, kernels=(("AutogradCPU", raw(("CPU",))),))
    writer.call("my::gone", line=9)
    writer.call("aten::sin", line=9, ends=False)
    writer.add("?", "a tag of another version")
    writer.add("x", {"reason": "limit", "text": "the recording reached its bound"})
    writer.add("end", {"dropped": 2, "seconds": 0.5})
    return writer.text()
