"""The fields of a mapping in torchgen's YAML."""

from __future__ import annotations

from collections.abc import Container

from dispatch_cli.declarations.tree import Mapping, Node, Scalar, Sequence, is_nothing, kind_of
from dispatch_cli.model.declarations import NotUnderstood
from dispatch_cli.model.span import Span

_TRUE, _FALSE = frozenset({"true", "yes", "on"}), frozenset({"false", "no", "off"})


class Fields:
    """The fields of a node, none where it is no mapping. problems: takes what is not understood."""

    def __init__(self, file: str, node: Node, problems: list[NotUnderstood]) -> None:
        self.file, self.node, self.problems = file, node, problems
        pairs = node.pairs if isinstance(node, Mapping) else ()
        self.values = {key.text: value for key, value in pairs}
        self._keys = {key.text: key for key, _ in pairs}

    def unknown(self, known: Container[str]) -> list[str]:
        """The fields that are not among those that are known."""
        return [name for name in self.values if name not in known]

    def place(self, name: str) -> Span:
        """The place of a field; of the whole where it is not there."""
        return self.span(self._keys.get(name, self.node))

    def span(self, node: Node) -> Span:
        """The place of a node."""
        return Span(self.file, node.line, node.column)

    def text(self, name: str) -> str | None:
        """The text of a field; None where it is not there, or says nothing."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, Scalar):
            self.refuse(value, f"{name} is a text, not {kind_of(value)}")
        return value.text if isinstance(value, Scalar) and not is_nothing(value) else None

    def truth(self, name: str) -> bool:
        """The truth of a field; false where it is not there."""
        value = self.values.get(name)
        word = value.text.lower() if isinstance(value, Scalar) and value.plain else ""
        if value is not None and word not in _TRUE | _FALSE:
            self.refuse(value, f"{name} is true or false, not {kind_of(value)}")
        return word in _TRUE

    def names(self, name: str) -> list[Scalar]:
        """The names that a field lists; none where it is not there, or says nothing."""
        value = self.values.get(name)
        if not isinstance(value, Sequence):
            if value is not None and not (isinstance(value, Scalar) and is_nothing(value)):
                self.refuse(value, f"{name} is a list of names, not {kind_of(value)}")
            return []
        for item in value.items:
            if not isinstance(item, Scalar) or is_nothing(item):
                self.refuse(item, f"{name} lists names, not {kind_of(item)}")
        return [item for item in value.items if isinstance(item, Scalar) and not is_nothing(item)]

    def refuse(self, node: Node, why: str) -> None:
        """Note that a node is not understood."""
        self.problems.append(NotUnderstood(self.span(node), node.text if isinstance(node, Scalar) else "", why))

    def refuse_field(self, name: str, why: str) -> None:
        """Note that a field is not understood; all of it where the field is not there."""
        self.refuse(self._keys.get(name, self.node), why)
