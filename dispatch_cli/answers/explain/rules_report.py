"""The rules of the computed table as a report, with examples that the engine answers at the time of asking."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dispatch_cli.answers.explain.rule_steps import QUESTION_NUMBER, RuleLine, rule_lines, runners_up
from dispatch_cli.answers.shared.slot_row import TableRow
from dispatch_cli.answers.table.report import row_of
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.rules import FALLBACK_NUMBER, MISSING_NUMBER, PRECEDENCE, Rule
from dispatch_cli.engine.state import State
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.schema.parser import parse_schema
from dispatch_cli.model.universe import Universe

SCHEMA = "demo::op(Tensor x) -> Tensor"
"""The operator of the examples."""
DEFAULT = {"CompositeExplicitAutograd": "op_default"}
MATH = {"CompositeImplicitAutograd": "op_math"}
CPU = {"CPU": "op_cpu"}


class ExampleCase(NamedTuple):
    """kernels, fallbacks: the key of each → its name. key: the slot that is asked about."""

    key: str
    kernels: Mapping[str, str]
    fallbacks: Mapping[str, str] = {}


CASES = {
    1: (ExampleCase("CPU", CPU | DEFAULT),),
    2: (ExampleCase("CPU", {"CompositeExplicitAutogradNonFunctional": "op_functional"} | DEFAULT),),
    3: (ExampleCase("CUDA", CPU | DEFAULT),),
    4: (ExampleCase("AutogradCPU", CPU | MATH), ExampleCase("AutogradCUDA", CPU | MATH)),
    5: (ExampleCase("NestedTensorCPU", {"CompositeImplicitAutogradNestedTensor": "op_nested"} | MATH),),
    6: (ExampleCase("AutogradCPU", MATH), ExampleCase("AutogradOther", {"MkldnnCPU": "op_mkldnn"} | MATH)),
    7: (ExampleCase("AutogradCPU", {"Autograd": "op_autograd"} | CPU),),
    8: (ExampleCase("FuncTorchBatched", {"FuncTorchBatchedDecomposition": "op_batched"} | CPU),),
    9: (ExampleCase("PrivateUse1", CPU, {"PrivateUse1": "cpu_fallback"}), ExampleCase("AutogradCPU", CPU)),
    10: (ExampleCase("CUDA", CPU),),
}
"""Examples of each rule, by its number."""


class RuleExample(NamedTuple):
    """Declarations, and what they put into a slot.

    registered: the keys with kernels. slot: the answer. rules: each rule, as in an explanation.
    """

    declarations: str
    registered: tuple[str, ...]
    slot: TableRow
    rules: tuple[RuleLine, ...]


class RuleEntry(NamedTuple):
    """A rule.

    rule: what is said of a slot that it fills; None for rule 4, which is a question and fills none.
    alias: the alias key whose kernel it looks for, where it looks for one.
    """

    rule_number: int
    rule: Rule | None
    alias: str | None
    examples: tuple[RuleExample, ...]


@dataclass(frozen=True, slots=True)
class RulesReport:
    """rules: in the order in which they are asked."""

    REPORT: ClassVar[str] = "rules"

    universe: str
    rules: tuple[RuleEntry, ...]


def rules_report(universe: Universe, numbers: Collection[int] = ()) -> RulesReport:
    """The rules of these numbers, or all of them."""
    known: dict[int, tuple[Rule | None, str | None]] = {
        1: (Rule.KERNEL, None),
        QUESTION_NUMBER: (None, None),
        FALLBACK_NUMBER: (Rule.FALLBACK, None),
        MISSING_NUMBER: (Rule.MISSING, None),
    }
    known |= {row.number: (row.rule, row.alias) for row in PRECEDENCE}
    return RulesReport(
        universe.name,
        tuple(
            RuleEntry(number, *known[number], tuple(_answered(universe, case) for case in CASES[number]))
            for number in sorted(numbers or known)
        ),
    )


def _answered(universe: Universe, case: ExampleCase) -> RuleExample:
    """An example, as the engine answers it."""
    dispatcher, schema = Dispatcher(universe), parse_schema(SCHEMA)
    dispatcher.define(schema, "")
    for key, kernel in case.kernels.items():
        dispatcher.implement(schema.name, key, Kernel(kernel))
    for key, kernel in case.fallbacks.items():
        dispatcher.fall_back(key, Kernel(kernel))
    answers = runners_up(dispatcher, schema.name, case.key)
    slot = row_of(State(dispatcher), answers[0].entry)
    return RuleExample(
        declarations=_declarations(case),
        registered=tuple(case.kernels),
        slot=slot._replace(core_fallback=slot.core_fallback and case.key not in case.fallbacks),
        rules=tuple(rule_lines(dispatcher, schema.name, case.key, answers)),
    )


def _declarations(case: ExampleCase) -> str:
    """An example as a file."""
    lines = ["dispatch: 1", "operators:", f"  - func: {SCHEMA}", "    dispatch:"]
    lines += [f"      {key}: {kernel}" for key, kernel in case.kernels.items()]
    if case.fallbacks:
        lines += ["fallbacks:", *(f"  {key}: {kernel}" for key, kernel in case.fallbacks.items())]
    return "\n".join(lines)
