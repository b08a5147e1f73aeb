"""A message as it would be printed: its holes filled with sample names."""

from __future__ import annotations

import re

from tests.messages.table import Row

OPERATOR = "mylib::f"
SCHEMA = f"{OPERATOR}(Tensor x) -> Tensor"
_BY_WORD = (
    ("schema", SCHEMA),
    ("curr_mode", "<mylib.Mode object at 0x7f0000000000>"),
    ("subclass_type", "<class 'mylib.Sub'>"),
    ("type(", "<class 'int'>"),
    ("dtype", "Float"),
    ("device", "cpu"),
    ("key", "CPU"),
    ("dk", "CPU"),
    ("test_util", "test_schema"),
    ("ns", "mylib"),
    ("namespace", "mylib"),
    ("func_name", "torch.add"),
    ("__name__", "MyFunction"),
    ("location", "my_library.py:1"),
    ("source", "my_library.py:1"),
    ("get_module()", "mylib.ops"),
)
"""A word in the expression of a hole, and what is filled in then."""
_OPERATORS = ("op_schema.op", "op_name", "qualname", "op._name", "self.name()")
"""Ends of expressions that are an operator's name."""
_AFTER = (
    ("argument '", "x"),
    ("Argument ", "x"),
    ("support for ", "CPU"),
    ("python impl for ", "CPU"),
    ("'_OpNamespace' '", "mylib"),
    ("Invalid attribute '", "f"),
    ("no attribute '", "f"),
    ("behavior for ", "CPU"),
    ("dispatch key and ", "mylib"),
    ("autograd.Function", "MyFunction"),
)
"""Text before a hole, and what is filled in then."""
_OF_CUSTOM_OPS = {"self": f"<CustomOpDef({OPERATOR})>", "custom_op": f'<CustomOp(op="{OPERATOR}")>'}


def sample(row: Row) -> str:
    """The text of a row, with the exception's name before it."""
    of_custom_ops = any(source.startswith(("_library/custom_ops", "_custom_op")) for source in row.sources)

    def filled(hole: re.Match[str]) -> str:
        expression = hole[1].lower()
        before = row.text[: hole.start()]
        named = next((name for words, name in _AFTER if before.endswith(words)), None)
        if named is not None:
            return named
        if expression.endswith(_OPERATORS):
            return OPERATOR
        if of_custom_ops and hole[1] in _OF_CUSTOM_OPS:
            return _OF_CUSTOM_OPS[hole[1]]
        return next((text for word, text in _BY_WORD if word in expression), OPERATOR)

    text = re.sub(r"\{([^{}\n]{0,60})\}", filled, row.text)
    return f"{row.error}: {text}" if row.error not in ("", "warning") else text
