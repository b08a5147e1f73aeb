"""The operators of a state: schemas, registrations, and the number of what they have in common with others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dispatch_cli.answers.table.registrations.report import backend_fallbacks_report
from dispatch_cli.engine.dispatcher.dump import alias_analysis_text
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.conditions.condition import all_text
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import FunctionSchema
from dispatch_cli.page.listing import Listed
from dispatch_cli.page.pool import Pool
from dispatch_cli.page.tables import Tables
from dispatch_cli.page.texts import ShownKernel, Texts
from dispatch_cli.render.words import schema_label


class OperatorColumns:
    """The operators as columns, and what several of them share.

    attributes: signature and conditions of kernels, beside key, text and place. headers: facts about operators.
    """

    def __init__(self, state: State, tables: Tables, texts: Texts, keys: Sequence[str]) -> None:
        self.state, self.tables, self.texts = state, tables, texts
        self.attributes, self.headers = Pool(), Pool()
        self._key = {key: number for number, key in enumerate(keys)}
        self._signatures: dict[int, str] = {}

    def data(self, known: Sequence[Listed]) -> dict[str, Any]:
        """The columns; fallbacks: the backend fallbacks, as kernels."""
        rows = [self._operator(row) for row in known if not row.higher_order]
        columns = ("name", "schema", "header", "place", "table", "kernels", "python")
        return {
            **{column: [row[position] for row in rows] for position, column in enumerate(columns)},
            "fallbacks": self._fallbacks(),
            "attributes": self.attributes.values,
            "headers": self.headers.values,
        }

    def _operator(self, row: Listed) -> tuple[Any, ...]:
        state, text = self.state, row.name
        name = OperatorName.parse(text)
        operator = state.dispatcher.operator(name)
        definition = operator.definition
        schema = None if definition is None else str(definition.schema)
        facts = () if definition is None else (("Alias analysis", alias_analysis_text(definition)),)
        if definition is not None and definition.tags:
            facts = (*facts, ("Tags", ", ".join(definition.tags)))
        python = [
            [kernel.dispatch_key, kernel.kernel, self.texts.place(kernel.span), all_text(kernel.when)]
            for kernel in state.python_kernels(name)
        ]
        ids = state.dispatcher.universe.ids
        kernels = [kernel for key in sorted(operator.kernels, key=ids.__getitem__) for kernel in operator.kernels[key]]
        return (
            *(text, schema_label(text, schema), self.headers.add(facts)),
            self.texts.place(None if definition is None else definition.span, state.operator_origin(name)),
            self.tables.add(name, schema, row),
            [number for kernel in kernels for number in self._kernel(kernel)],
            python,
        )

    def _kernel(self, registration: Registration) -> tuple[int, int, int, int]:
        """Key, text, attributes, place; of several at a key the active one first."""
        kernel, key = registration.kernel, self._key[registration.key]
        text = self.texts.kernel(ShownKernel(kernel.label, kernel.fallthrough, False, kernel.span))
        attributes = self.attributes.add((self._signature(kernel.signature), kernel.when or ""))
        return key, text, attributes, self.texts.place(kernel.span, self.state.origin(registration))

    def _fallbacks(self) -> list[int]:
        numbers = []
        for row in backend_fallbacks_report(self.state).fallbacks:
            text = self.texts.kernel(ShownKernel(row.kernel, row.fallthrough, row.core, row.span))
            attributes = self.attributes.add(("", row.when or ""))
            numbers += [self._key[row.key], text, attributes, self.texts.place(row.span, row.origin)]
        return numbers

    def _signature(self, signature: FunctionSchema | None) -> str:
        """A signature as text; most kernels share one with others."""
        if signature is None:
            return ""
        number = id(signature)  # the state keeps them all; a hash would look at every argument
        if number not in self._signatures:
            self._signatures[number] = str(signature)
        return self._signatures[number]
