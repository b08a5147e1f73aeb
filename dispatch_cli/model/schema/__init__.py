"""Function schemas, PyTorch's language for what an operator takes and returns.

The names that others need are imported here; they are defined in `model` (values, printing, and a signature against a
schema), `types` and `parser` (reading text).
"""

from __future__ import annotations

from dispatch_cli.model.schema.cursor import SchemaError
from dispatch_cli.model.schema.model import (
    AliasInfo,
    Argument,
    FunctionSchema,
    find_schema_differences,
    takes_symint,
    without_symint,
)
from dispatch_cli.model.schema.parser import parse_operator_name, parse_printed_schema, parse_schema, parse_signature
from dispatch_cli.model.schema.types import SchemaType, TypeKind

__all__ = [
    "AliasInfo",
    "Argument",
    "FunctionSchema",
    "SchemaError",
    "SchemaType",
    "TypeKind",
    "find_schema_differences",
    "parse_operator_name",
    "parse_printed_schema",
    "parse_schema",
    "parse_signature",
    "takes_symint",
    "without_symint",
]
