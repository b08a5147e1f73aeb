"""The format of declaration files, as one table.

What a field is called, what it takes and what it means is said here and in the modules ``*_format`` and nowhere else:
reading, the JSON Schema and the reference FORMAT.md all come from this table.
"""

from __future__ import annotations

from dispatch_cli.declarations.formats.change_format import CHANGE, REGISTRATION
from dispatch_cli.declarations.formats.check_format import GUARD, PROMISE, SUPPRESSION
from dispatch_cli.declarations.formats.file_format import FILE, IMPORTED
from dispatch_cli.declarations.formats.higher_order_format import HIGHER_ORDER_OPERATOR, HIGHER_ORDER_RULE, MODE
from dispatch_cli.declarations.formats.kernel_format import (
    ARGUMENT_USE,
    BODY,
    FAKE_IMPL,
    KERNEL,
    LIBRARY_KERNEL,
    PYTHON_FUNCTION,
    REDISPATCHES,
    WRAPS,
)
from dispatch_cli.declarations.formats.operator_format import DEFINITION, FAKE_TENSOR_MODE, LIBRARY, OPERATOR
from dispatch_cli.declarations.formats.source_format import FUNCTION, NOT_UNDERSTOOD, UNDECIDED

RECORDS = (
    FILE,
    IMPORTED,
    OPERATOR,
    KERNEL,
    PYTHON_FUNCTION,
    WRAPS,
    BODY,
    ARGUMENT_USE,
    FAKE_IMPL,
    FAKE_TENSOR_MODE,
    LIBRARY,
    DEFINITION,
    LIBRARY_KERNEL,
    REDISPATCHES,
    CHANGE,
    REGISTRATION,
    HIGHER_ORDER_OPERATOR,
    HIGHER_ORDER_RULE,
    MODE,
    GUARD,
    PROMISE,
    SUPPRESSION,
    FUNCTION,
    UNDECIDED,
    NOT_UNDERSTOOD,
)
"""Every mapping of the format, in the order of the reference."""
