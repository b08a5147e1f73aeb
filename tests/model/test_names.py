"""Operator names, as PyTorch writes them."""

from __future__ import annotations

from dispatch_cli.model.names import OperatorName


def test_what_names_an_operator_in_python() -> None:
    names = {
        "aten::add.Tensor": "aten::add.Tensor",
        "aten.add.Tensor": "aten::add.Tensor",
        "aten.relu.default": "aten::relu",
        "torch.ops.aten.add.Tensor": "aten::add.Tensor",
        "aten::relu.default": "aten::relu",
        "demo::x.": "demo::x",
        "call_torchbind": "call_torchbind",
    }
    assert {text: str(OperatorName.parse_printed(text)) for text in names} == names
