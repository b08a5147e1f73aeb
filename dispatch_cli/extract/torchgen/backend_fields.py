"""The fields of an out-of-tree backend's YAML, checked as torchgen checks them.

Source: ``parse_backend_yaml`` in ``torchgen/gen_backend_stubs.py``. What is refused there is noted here with its place.
"""

from __future__ import annotations

from collections.abc import Sequence as Items

from dispatch_cli.declarations.tree import Mapping, Node, Scalar, Sequence, is_nothing, kind_of, other_than_text
from dispatch_cli.extract.torchgen.kinds import BACKEND_KEYS
from dispatch_cli.extract.torchgen.point import EntryProblem, Point

_IGNORED = frozenset({"non_native", "ir_gen"})
"""Fields that are for other generators and register nothing (``gen_lazy_tensor.py``)."""
_REFUSED = frozenset({"extra_headers"})
"""Fields that torchgen's message names as valid and its code refuses."""
_BOOLEANS = {
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"), False),
}


class BackendFields:
    """Fields of the file. at: place of ``backend``. problems: what torchgen refuses, in the order in which it is found.

    supported, autograd: the operators with their places; those of ``full_codegen`` are among the supported.
    """

    def __init__(self, root: Mapping) -> None:
        self.problems: list[EntryProblem] = []
        self._fields = {key.text: (key, value) for key, value in root.pairs}
        self.at = Point(root.line, root.column)
        self.backend = self._name("backend", root)
        if "backend" in self._fields:
            key = self._fields["backend"][0]
            self.at = Point(key.line, key.column)
        self.cpp_namespace = self._name("cpp_namespace", root)
        self.class_name = self._optional_name("class_name")
        self.out_is_primary = self._truth("use_out_as_primary")
        self._truth("device_guard")
        self.supported = [*self._operators("supported", True), *self._full_codegen()]
        self.symint = {item.text for item in self._operators("symint", True)}
        self.autograd = self._operators("autograd", False)
        for name, (key, _) in self._fields.items():
            if name not in BACKEND_KEYS or name in _REFUSED:
                self._problem(key, name, f"torchgen does not know the field {name}, and does not take the file with it")

    def _name(self, name: str, root: Mapping) -> str | None:
        if name not in self._fields:
            self._problem(root, "", f"torchgen does not take the file without {name}:")
            return None
        value = self._fields[name][1]
        if not isinstance(value, Scalar):
            return kind_of(value)
        if is_nothing(value):
            self._problem(value, "", f"torchgen does not take the file without a value of {name}:")
            return None
        return value.text

    def _optional_name(self, name: str) -> str | None:
        value = self._fields[name][1] if name in self._fields else None
        return value.text if isinstance(value, Scalar) and not is_nothing(value) else None

    def _truth(self, name: str) -> bool:
        if name not in self._fields:
            return False
        value = self._fields[name][1]
        if isinstance(value, Scalar) and value.plain and value.text in _BOOLEANS:
            return _BOOLEANS[value.text]
        self._problem(value, "", f"{name} is true or false, not {kind_of(value)}")
        return False

    def _operators(self, name: str, may_be_empty: bool) -> list[Scalar]:
        if name not in self._fields:
            return []
        value = self._fields[name][1]
        if isinstance(value, Sequence):
            return self._names(name, value.items)
        if not (may_be_empty and isinstance(value, Scalar) and is_nothing(value)):
            self._problem(value, "", f"{name} is a list of operators, not {kind_of(value)}")
        return []

    def _full_codegen(self) -> list[Scalar]:
        """Anything that Python can go through is taken: of a text, each character for an operator."""
        if "full_codegen" not in self._fields:
            return []
        value = self._fields["full_codegen"][1]
        if isinstance(value, Sequence):
            return self._names("full_codegen", value.items)
        if isinstance(value, Mapping):
            return [key for key, _ in value.pairs]
        if other_than_text(value) is not None or is_nothing(value):
            self._problem(value, "", f"full_codegen is a list of operators, not {kind_of(value)}")
            return []
        return [Scalar(character, True, value.line, value.column) for character in value.text]

    def _names(self, name: str, items: Items[Node]) -> list[Scalar]:
        names = []
        for item in items:
            if isinstance(item, Scalar) and not is_nothing(item) and other_than_text(item) is None:
                names.append(item)
            elif name != "symint" or isinstance(item, Mapping | Sequence):
                self._problem(item, "", f"{name} lists names of operators, not {kind_of(item)}")
        return names

    def _problem(self, node: Node, text: str, why: str) -> None:
        self.problems.append(EntryProblem(Point(node.line, node.column), text, why))
