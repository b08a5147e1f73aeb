"""The operators of a state: schemas, registrations, and the number of what they have in common with others."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

from dispatch_cli.answers.explain.report import cause_of
from dispatch_cli.answers.explain.wording import stale_sentence
from dispatch_cli.answers.shared.notes import table_notes
from dispatch_cli.answers.table.report import changed_slots, row_of
from dispatch_cli.engine.dispatcher.dump import alias_analysis_text
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import Registration, takes_tensors
from dispatch_cli.model.conditions.condition import all_text
from dispatch_cli.model.kernel import Wrapped
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import FunctionSchema
from dispatch_cli.model.span import Origin
from dispatch_cli.page.outcomes import Outcomes
from dispatch_cli.page.pool import Pool, Pools
from dispatch_cli.render.data import data_of

OWN, NEW = 1, 2
"""Marks of an operator: the files say something of it; the base does not have it."""


class _Attributes(NamedTuple):
    """Attributes of a kernel that many have in common."""

    fallthrough: bool
    signature: str | None
    origin: Origin
    wraps: Wrapped | None
    when: str | None


class _Header(NamedTuple):
    """Attributes of an operator that many have in common. alias_analysis: None of one that is not defined."""

    tags: tuple[str, ...]
    alias_analysis: str | None
    origin: Origin


class OperatorColumns:
    """The operators as columns, and what several of them share.

    attributes: of kernels, beside key, text and place. headers: of operators, beside schema and place. notes, before:
    of tables. live: slots in which PyTorch holds something else, by operator.
    """

    def __init__(self, state: State, outcomes: Outcomes, pools: Pools) -> None:
        self.state = state
        self.outcomes = outcomes
        self.pools = pools
        self.attributes, self.headers, self.notes, self.before = Pool(), Pool(), Pool(), Pool()
        self.live: dict[int, list[Any]] = {}
        self._notes: dict[Hashable, int] = {}
        self._signatures: dict[int, str] = {}
        self._own = frozenset(state.own_operators())

    def data(self, names: Iterable[OperatorName]) -> dict[str, Any]:
        """The columns."""
        rows = [self._operator(number, name) for number, name in enumerate(names)]
        columns = ("name", "schema", "header", "place", "plan", "kernels", "python", "notes", "before", "marks")
        return {
            **{column: [row[position] for row in rows] for position, column in enumerate(columns)},
            "attributes": self.attributes.values,
            "headers": self.headers.values,
            "note_lists": self.notes.values,
            "changes": self.before.values,
            "live": self.live,
        }

    def _operator(self, number: int, name: OperatorName) -> tuple[Any, ...]:
        state, dispatcher, pools = self.state, self.state.dispatcher, self.pools
        operator = dispatcher.operator(name)
        definition = operator.definition
        schema = None if definition is None else str(definition.schema)
        header = _Header(
            tags=() if definition is None else definition.tags,
            alias_analysis=None if definition is None else alias_analysis_text(definition),
            origin=state.operator_origin(name),
        )
        is_new = state.base is not None and name not in state.base
        return (
            str(name),
            pools.texts.opt(schema),
            self.headers.build(header, data_of),
            pools.place(None if definition is None else definition.span),
            self.outcomes.plan_of(name),
            [number for group in self._by_key(operator.kernels) for row in group for number in self._kernel(row)],
            [
                [pools.key[row.dispatch_key], row.kernel, pools.place(row.span), all_text(row.when) or None]
                for row in state.python_kernels(name)
            ],
            *self._table(number, name, schema),
            (OWN if name in self._own else 0) | (NEW if is_new else 0),
        )

    def _by_key(self, kernels: dict[str, list[Registration]]) -> list[list[Registration]]:
        ids = self.state.dispatcher.universe.ids
        return [kernels[key] for key in sorted(kernels, key=ids.__getitem__)]

    def _kernel(self, registration: Registration) -> tuple[int, int, int, int]:
        """Key, text, attributes, place; of several at a key the active one first."""
        kernel, pools = registration.kernel, self.pools
        attributes = _Attributes(
            fallthrough=kernel.fallthrough,
            signature=self._signature(kernel.signature),
            origin=self.state.origin(registration),
            wraps=kernel.wraps,
            when=kernel.when,
        )
        text, place = pools.texts.add(kernel.label), pools.place(kernel.span)
        return pools.key[registration.key], text, self.attributes.build(attributes, data_of), place

    def _signature(self, signature: FunctionSchema | None) -> str | None:
        """A signature as text; most kernels share one with others."""
        if signature is None:
            return None
        number = id(signature)  # the state keeps them all; a hash would look at every argument
        if number not in self._signatures:
            self._signatures[number] = str(signature)
        return self._signatures[number]

    def _table(self, number: int, name: OperatorName, schema: str | None) -> tuple[int, int]:
        """The notes on the table, and what the slots held in the base."""
        state, dispatcher = self.state, self.state.dispatcher
        table, stale, slots = dispatcher.table(name), dispatcher.stale_slots(name), dispatcher.universe.slot
        if stale:
            self.live[number] = [
                [slots[key], data_of(live), stale_sentence(key, live, cause_of(slot))]
                for key, slot in stale.items()
                for live in (row_of(state, slot.live),)
            ]
        takes = None if schema is None else takes_tensors(schema)
        shared = (*dispatcher.shape(name), takes, frozenset(stale))
        if shared not in self._notes:
            self._notes[shared] = self.notes.build(table_notes(dispatcher, table, schema, [*table], stale), data_of)
        before = tuple((slots[key], was) for key, was in changed_slots(state, name).items())
        return self._notes[shared], self.before.build(before, data_of)
