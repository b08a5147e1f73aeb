"""PyTorch function schemas."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dispatch_cli.model.names import OperatorName


class AliasAnalysisKind(Enum):
    FROM_SCHEMA = "FROM_SCHEMA"
    CONSERVATIVE = "CONSERVATIVE"
    PURE_FUNCTION = "PURE_FUNCTION"


class SchemaError(ValueError):
    def __init__(self, message: str, offset: int, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Argument:
    name: str


@dataclass(frozen=True, slots=True)
class FunctionSchema:
    name: OperatorName
    arguments: tuple[Argument, ...]
    returns: tuple[Argument, ...]
    is_vararg: bool = False
    is_varret: bool = False


def parse_schema(text: str) -> FunctionSchema:
    raise NotImplementedError


def parse_signature(text: str) -> FunctionSchema:
    raise NotImplementedError


def parse_operator_name(text: str) -> OperatorName:
    return OperatorName.parse(text)


def real_types(schema: FunctionSchema, with_symint: bool = True) -> FunctionSchema:
    raise NotImplementedError


def find_schema_differences(expected: FunctionSchema, inferred: FunctionSchema, symint: bool = False) -> str | None:
    raise NotImplementedError
