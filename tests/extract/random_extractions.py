"""Random extractions, made of blocks, definitions, kernels and Python functions of a few operators."""

from __future__ import annotations

import random

from dispatch_cli.model.condition import Condition, parse_condition
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.extracted import (
    CustomOperator,
    Extracted,
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    Extraction,
    FunctionRole,
    NotUnderstood,
    OperatorFunction,
    Unknown,
)
from dispatch_cli.model.span import Span

OPERATORS = ("m::a", "m::a.out", "m::b", "n::c")
KEYS = ("CPU", "CUDA", "AutogradCPU", "CompositeImplicitAutograd", "NoSuchKey")
CONDITIONS = ("defined(A)", "not defined(A)", "B >= 2", "B < 2", "f(x) and C", 'D == "cuda"')
TEXTS = ("f", "ns::g<float, 1>", "[](auto x) { return x; }", "true", "12", "fallthrough", "x: y #z")


class RandomSources:
    """Makes extractions. *dice* decides."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice

    def extraction(self) -> Extraction:
        """Some blocks with what is in them, in any order, some Python functions, some that is not understood."""
        results: list[Extracted] = []
        for _ in range(self.dice.randrange(4)):
            block = self.block()
            results += [block, *(self.member(block) for _ in range(self.dice.randrange(4)))]
        results += [self.function() for _ in range(self.dice.randrange(5))]
        missed = [NotUnderstood(self.at(), self.text(), "no\nreason", self.when())] * self.dice.randrange(2)
        return Extraction(tuple(results), tuple(missed))

    def block(self) -> ExtractedBlock:
        kind = self.dice.choice([*LibraryKind])
        key = self.dice.choice([None, *KEYS]) if kind is LibraryKind.IMPL else None
        return ExtractedBlock(kind, self.dice.choice(["m", "n", "_"]), self.perhaps(key), self.at(), self.when())

    def member(self, block: ExtractedBlock) -> Extracted:
        name, when = self.dice.choice(OPERATORS), (*block.when, *self.when())
        match self.dice.randrange(3):
            case 0:
                schema = self.dice.choice([None, f"{name}(Tensor x) -> Tensor", f"{name}(Tensr"])
                return ExtractedDefinition(block, self.perhaps(name) or "m::a", schema, self.at(), when)
            case 1:
                key = self.perhaps(self.dice.choice([None, *KEYS]))
                falls = self.dice.random() < 0.2
                return ExtractedKernel(block, name, key, self.text(), self.at(), when, falls, python=self.flag())
            case _:
                key = self.perhaps(self.dice.choice(KEYS)) or "CPU"
                return ExtractedFallback(block, key, self.text(), self.at(), when, self.flag())

    def function(self) -> Extracted:
        name, at, when = self.dice.choice(OPERATORS), self.at(), self.when()
        if self.dice.random() < 0.4:
            schema = self.dice.choice([None, f"{name}(Tensor x) -> Tensor"])
            devices = self.dice.choice([None, (), ("cpu", "cuda")])
            return CustomOperator(name, schema, "made", at, when, devices, triton=self.dice.random() < 0.1)
        role = self.dice.choice([*FunctionRole])
        devices = {FunctionRole.KERNEL: ("cpu",), FunctionRole.AUTOCAST: ("cuda",), FunctionRole.PY_IMPL: ("CPU",)}
        return OperatorFunction(role, name, "function", at, when, devices.get(role, ()), dtype="float16")

    def perhaps(self, text: str | None) -> str | Unknown | None:
        return Unknown("EXPRESSION") if self.dice.random() < 0.05 else text

    def flag(self) -> bool:
        return self.dice.random() < 0.3

    def text(self) -> str:
        return self.dice.choice(TEXTS)

    def at(self) -> Span:
        return Span(
            self.dice.choice(["a.cpp", "b.py", "C:/x y.cu"]), self.dice.randrange(1, 99), self.dice.randrange(1, 9)
        )

    def when(self) -> tuple[Condition, ...]:
        return tuple(map(parse_condition, self.dice.sample(CONDITIONS, self.dice.choice([0, 0, 1, 2]))))
