"""The format of declaration files, as one table.

What a field is called, what it takes and what it means is said in the records of `file_format` and of the sections, and
nowhere else: reading, the JSON Schema and the reference FORMAT.md all come from them.
"""

from __future__ import annotations

from dispatch_cli.declarations.formats.file_format import FILE, IMPORTED
from dispatch_cli.declarations.sections.changes import CHANGE, REGISTRATION
from dispatch_cli.declarations.sections.guards import GUARD, PROMISE
from dispatch_cli.declarations.sections.higher_order import HIGHER_ORDER_OPERATOR, HIGHER_ORDER_RULE, MODE
from dispatch_cli.declarations.sections.kernels import FAKE_IMPL, FAKE_TENSOR_MODE, KERNEL
from dispatch_cli.declarations.sections.libraries import DEFINITION, LIBRARY, LIBRARY_KERNEL
from dispatch_cli.declarations.sections.operators import OPERATOR
from dispatch_cli.declarations.sections.python_functions import ARGUMENT_USE, BODY, PYTHON_FUNCTION, REDISPATCHES, WRAPS
from dispatch_cli.declarations.sections.suppressions import SUPPRESSION
from dispatch_cli.declarations.sections.undecided import FUNCTION, NOT_UNDERSTOOD, UNDECIDED

RECORDS = (
    *(FILE, IMPORTED, OPERATOR, KERNEL, PYTHON_FUNCTION, WRAPS, BODY, ARGUMENT_USE, FAKE_IMPL, FAKE_TENSOR_MODE),
    *(LIBRARY, DEFINITION, LIBRARY_KERNEL, REDISPATCHES, CHANGE, REGISTRATION),
    *(HIGHER_ORDER_OPERATOR, HIGHER_ORDER_RULE, MODE, GUARD, PROMISE, SUPPRESSION),
    *(FUNCTION, UNDECIDED, NOT_UNDERSTOOD),
)
"""Every mapping of the format, in the order of the reference."""
