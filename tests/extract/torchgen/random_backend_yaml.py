"""Random files of out-of-tree backends, whole and broken."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

_BACKENDS = ("XLA", "Lazy", "PrivateUse1", "PrivateUse2", "IPU", "HPU", "Vulkan")
_VALUES = ("null", "~", "''", "true", "Yes", "off", "1", "2.5", "[]", "{}", "[abs]", "{abs: relu}", "abs", "'abs'", "t")
_FIELDS = (
    "backend",
    "cpp_namespace",
    "class_name",
    "supported",
    "autograd",
    "full_codegen",
    "ir_gen",
    "non_native",
    "symint",
    "use_out_as_primary",
    "device_guard",
    "extra_headers",
    "custom",
    "custom_autograd",
    "tocpu",
)


class BackendFileMaker:
    """Makes files. operators: names of real ones, without namespace."""

    def __init__(self, random: Random, operators: Sequence[str]) -> None:
        self._random = random
        self._operators = operators

    def whole(self) -> str:
        """A file that is most often one that torchgen takes."""
        random = self._random
        lines = [f"backend: {random.choice(_BACKENDS)}", f"cpp_namespace: {random.choice(('my', 'my::native'))}"]
        if random.random() < 0.3:
            lines.append("class_name: MyFunctions")
        flags = [name for name in ("use_out_as_primary", "device_guard") if random.random() < 0.3]
        lines += [f"{name}: {random.choice(('true', 'false', 'True', 'yes'))}" for name in flags]
        for name in ("supported", "full_codegen", "autograd", "ir_gen", "symint"):
            if random.random() < (0.9 if name == "supported" else 0.4):
                lines += [f"{name}:", *(f"  - {one}" for one in self._some())]
        if random.random() < 0.2:
            lines += ["non_native:", "  - func: scalar(Scalar value) -> Tensor"]
        return "\n".join(lines) + "\n"

    def broken(self) -> str:
        """A file with one to three changes."""
        lines = self.whole().splitlines()
        for _ in range(self._random.randint(1, 3)):
            self._change(lines)
        return "\n".join(lines) + "\n"

    def _some(self) -> list[str]:
        return self._random.sample(self._operators, self._random.randint(1, 12))

    def _change(self, lines: list[str]) -> None:
        random = self._random
        at = random.randrange(len(lines)) if lines else 0
        kind = random.randrange(10)
        if kind == 0 and lines:
            del lines[at]
        elif kind == 1 and lines and lines[at].startswith("  - "):
            lines.insert(at, lines[at])
        elif kind == 2 and lines:
            lines[at] = lines[at][:2] + lines[at][2:].replace("a", "", 1)
        elif kind == 3:
            self._set(lines, f"{random.choice(_FIELDS)}: {random.choice(_VALUES)}")
        elif kind == 4:
            self._set(lines, f"backend: {random.choice((*_BACKENDS, 'CPU', 'CUDA', 'NPU', 'Meta', 'cpu', 'Sparse'))}")
        elif kind == 5 and lines and lines[at].startswith("  - "):
            lines[at] = f"  - {random.choice(('add', 'aten::abs', 'abs.Tensor', '7', 'true', 'null', '[abs]', 'a: b'))}"
        elif kind == 6 and lines:
            lines[at] = "   " + lines[at]
        elif kind == 7 and lines:
            lines[at] = lines[at].replace(":", "", 1)
        elif kind == 8 and lines and lines[at].startswith("  - "):
            lines += ["autograd:", lines[at]] if not any(one.startswith("autograd") for one in lines) else []
        elif lines:
            lines.insert(at, f"  - {random.choice(self._operators)}")

    @staticmethod
    def _set(lines: list[str], line: str) -> None:
        """Set a field to a value, in place of the one it has, with what belongs to that."""
        name = line.partition(":")[0]
        start = next((at for at, one in enumerate(lines) if one.partition(":")[0] == name), None)
        if start is not None:
            end = start + 1
            while end < len(lines) and lines[end].startswith(" "):
                end += 1
            del lines[start:end]
        lines.append(line)
