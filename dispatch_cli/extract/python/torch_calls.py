"""Registrations by functions and methods of ``torch.library``."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

import dispatch_cli.extract.python.names as names
from dispatch_cli.extract.python.custom_calls import CustomCalls
from dispatch_cli.extract.python.higher_order import METHODS as HIGHER_ORDER_METHODS
from dispatch_cli.extract.python.higher_order import imported
from dispatch_cli.extract.python.interface import DIRECT_REGISTER, TORCH_FUNCTIONS
from dispatch_cli.extract.python.values import (
    Bound,
    DeviceText,
    Dotted,
    HigherOrderHandle,
    LibraryValue,
    Opaque,
    OperatorHandle,
    Scope,
    Value,
    function_name,
)

_SCHEMA = re.compile(r"\s*[\w:.]+\s*\(.*\)\s*->", re.DOTALL)


def _is_schema(given: list[Value]) -> bool:
    """True if the first argument is a text that looks like the schema of an operator."""
    return bool(given) and isinstance(given[0], str) and _SCHEMA.match(given[0]) is not None


class TorchCalls(CustomCalls):
    """Finds what calls of PyTorch's interface register."""

    def torch_call(
        self, name: str, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        """Call a function of PyTorch, or of another package, by its full name."""
        if name == "higher_order.py_impl":
            return self.higher_order_method(given[0], "py_impl", given[1:], node, scope)
        if name == "torch._ops.HigherOrderOperator":
            return self.higher_order_operator(given, keywords, node)
        if name == "torch._higher_order_ops.utils.register_fake":
            return self.higher_order_fake(given, node, scope)
        if (operator := self._of_higher_order(name)) is not None:
            return self.higher_order_method(operator, name.rpartition(".")[2], given, node, scope)
        what = TORCH_FUNCTIONS.get(name)
        if what is None:
            if name == "torch.device" and given and all(isinstance(part, str | int) for part in given):
                return DeviceText(":".join(map(str, given)))
            if name.rpartition(".")[2] == DIRECT_REGISTER:
                return self.choices(given, keywords, node, scope, self._direct_register)
            if name.startswith(("torch._custom_op.", "torch._custom_ops.")):
                self.run.not_known(scope.file, node, f"`{name}` is older than `torch.library.custom_op`")
            if name.startswith("torch.") and name.endswith(".define") and _is_schema(given):
                self.run.not_known(scope.file, node, f"it is not known what `{name.removesuffix('.define')}` is")
            return Opaque(node)
        act: Callable[..., Value] | None = {
            "Library": self._library,
            "_scoped_library": self._scoped,
            "define": self._define_function,
            "impl": self._impl_function,
            "_impl": self._impl_function,
            "custom_op": self._custom_op,
            "triton_op": self._triton_op,
            "infer_schema": self._infer,
            "register_kernel": self._register_kernel,
            "register_autograd": self._register_autograd,
            "register_autocast": self._register_autocast,
            "register_fake": self._register_fake,
            "impl_abstract": self._register_fake,
            "register_vmap": self._register_vmap,
            "_register_effectful_op": self._register_effect,
            "has_side_effect": self._register_effect,
        }.get(what)
        if act is not None:
            with self.run.owned_by(keywords.get("lib")):
                return self.choices(given, keywords, node, scope, act)
        self.run.account(scope.file, node)
        if what == "register_decomposition":
            return Dotted("torch._decomp.decorator")
        return Opaque(node)

    @staticmethod
    def _of_higher_order(name: str) -> HigherOrderHandle | None:
        """The higher-order operator of PyTorch whose method this is; None for other functions."""
        owner, _, method = name.rpartition(".")
        return imported(Dotted(owner)) if method in HIGHER_ORDER_METHODS else None

    def torch_method(
        self, bound: Bound, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        """Call a method of a library, an operator or of something that is not known."""
        match bound.owner:
            case HigherOrderHandle() if bound.name in HIGHER_ORDER_METHODS:
                return self.higher_order_method(bound.owner, bound.name, given, node, scope)
            case Dotted(name) if name.startswith("torch.ops.higher_order."):
                operator = HigherOrderHandle(name.split(".")[3])
                return self.higher_order_method(operator, bound.name, given, node, scope)
            case HigherOrderHandle():
                return Opaque(node)
            case LibraryValue(scoped=True):
                self.run.account(scope.file, node)
                return Opaque(node)
            case LibraryValue():
                with self.run.owned_by(bound.owner):
                    return self.choices(
                        given, keywords, node, scope, lambda g, k, n, s: self._of_library(bound, g, k, n, s)
                    )
            case OperatorHandle() | Dotted():
                return self.choices(
                    given, keywords, node, scope, lambda g, k, n, s: self._of_operator_method(bound, g, k, n, s)
                )
        if not isinstance(node, ast.Call) or names.plausible(node):
            self.run.not_known(scope.file, node, f"it is not known what `{function_name(bound.owner)}` is")
        return Opaque(node)
