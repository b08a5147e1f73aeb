"""Function schemas, PyTorch's language for what an operator takes and returns.

This module gathers what others need; the parts are `schema_model` (values and printing), `schema_types` (types),
`schema_parser` (reading text) and `schema_compare` (signature against schema).
"""

from __future__ import annotations

from dispatch_cli.model.alias_analysis import AliasAnalysisKind
from dispatch_cli.model.schema_compare import find_schema_differences, real_types, takes_symint
from dispatch_cli.model.schema_error import SchemaError
from dispatch_cli.model.schema_model import AliasInfo, Argument, Default, FunctionSchema
from dispatch_cli.model.schema_parser import (
    parse_operator_name,
    parse_printed_schema,
    parse_schema,
    parse_signature,
)
from dispatch_cli.model.schema_types import SchemaType, TypeKind

__all__ = [
    "AliasAnalysisKind",
    "AliasInfo",
    "Argument",
    "Default",
    "FunctionSchema",
    "SchemaError",
    "SchemaType",
    "TypeKind",
    "find_schema_differences",
    "parse_operator_name",
    "parse_printed_schema",
    "parse_schema",
    "parse_signature",
    "real_types",
    "takes_symint",
]
