"""Higher-order operators: the objects that sources make of them, and what is registered for them."""

from __future__ import annotations

import ast

import dispatch_cli.extract.python.keys as keys
from dispatch_cli.extract.python.operator_calls import OperatorCalls
from dispatch_cli.extract.python.trees import every_node
from dispatch_cli.extract.python.values import (
    ClassValue,
    Dotted,
    HigherOrderHandle,
    Opaque,
    Prepared,
    Scope,
    Value,
    function_name,
    source_text,
)
from dispatch_cli.model.extracted import HigherOrderFunction, Unknown

_CLASS = "torch._ops.HigherOrderOperator"
_FIELDS = {"py_autograd_impl": "autograd", "py_functionalize_impl": "functionalize"}
METHODS = (*_FIELDS, "py_impl", "fallthrough")
"""Methods that register something for a higher-order operator."""


class HigherOrderRegistrations(OperatorCalls):
    """Finds what is registered for higher-order operators."""

    def higher_order_operator(self, given: list[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
        """``HigherOrderOperator("name")``."""
        name = given[0] if given else keywords.get("name")
        return HigherOrderHandle(keys.text_of(name, node), own=True)

    def higher_order_instance(self, cls: ClassValue) -> HigherOrderHandle | None:
        """An object of a class of higher-order operators, whose ``__init__`` says the name; None for other classes."""
        name = self._higher_order_name(cls)
        return None if name is None else HigherOrderHandle(name, own=True)

    def _higher_order_name(self, cls: ClassValue) -> str | Unknown | None:
        ancestors = self.ancestors(cls)
        first = next((ancestor for ancestor in ancestors if Dotted(_CLASS) in self._bases(ancestor)), None)
        if first is None:
            return None
        names = (self._name_in_init(ancestor) for ancestor in ancestors[: ancestors.index(first) + 1])
        return next((name for name in names if name is not None), Unknown(f"{first.name}()"))

    def _name_in_init(self, cls: ClassValue) -> str | Unknown | None:
        """The name of the operator that a class gives to the ``__init__`` of its base; None where it calls none."""
        for part in every_node(cls.node):
            self.run.spend(1)
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "__init__":
                given = part.args if isinstance(part.func.value, ast.Call) else part.args[1:]  # without ``self``
                names = [*given[:1], *(keyword.value for keyword in part.keywords if keyword.arg == "name")]
                if names:
                    return keys.text_of(self.value(names[0], cls.scope), names[0])
        return None

    def higher_order_method(
        self, operator: HigherOrderHandle, name: str, given: list[Value], node: ast.AST, scope: Scope
    ) -> Value:
        """Call one of `METHODS`."""
        self.run.account(scope.file, node)
        if name == "fallthrough":
            self._implementation(operator, "dispatch", given[0] if given else None, "fallthrough", node, scope)
            return None
        if name in _FIELDS:
            if given:
                self._implementation(operator, _FIELDS[name], None, _short_name(given[0]), node, scope)
            return given[0] if given else Opaque(node)
        if len(given) < 2:
            return Prepared(
                Dotted("higher_order.py_impl"), (operator, *given), {}, self.run.call_path(scope.file, node)
            )
        key = given[0]
        text = key.name if isinstance(key, Dotted | ClassValue) else ""
        field = next(
            (field for part, field in _FIELD_OF_KEY.items() if part in text),
            "modes" if text.endswith("Mode") else "subclasses" if text else "",
        )
        self._implementation(operator, field, key, _short_name(given[1]), node, scope)
        return given[1]

    def higher_order_fake(self, given: list[Value], node: ast.AST, scope: Scope) -> Value:
        """``torch._higher_order_ops.utils.register_fake(operator)``."""
        if len(given) < 2:
            return Prepared(
                Dotted("torch._higher_order_ops.utils.register_fake"),
                tuple(given),
                {},
                self.run.call_path(scope.file, node),
            )
        operator = given[0] if isinstance(given[0], HigherOrderHandle) else imported(given[0])
        if operator is not None:
            mode = Dotted("torch._subclasses.fake_tensor.FakeTensorMode")
            self._implementation(operator, "modes", mode, _short_name(given[1]), node, scope)
        return given[1]

    def _implementation(
        self, operator: HigherOrderHandle, field: str, key: Value, function: str, node: ast.AST, scope: Scope
    ) -> None:
        if not field:
            self.run.not_known(scope.file, node, f"it is not known what `{function_name(key)}` is")
        elif self.run.conditions(scope.file):
            self.run.not_known(scope.file, node, "a higher-order operator has it only under a condition")
        else:
            name = key.name.rpartition(".")[2] if isinstance(key, Dotted | ClassValue) else None
            at = self.run.at(scope.file, node)
            self.run.emit(HigherOrderFunction(operator.name, operator.own, field, name, function, at), node)


_OF_VARIABLES = {"hop_print": "print", "_foreach_map": "foreach_map"}
"""Variables of ``torch._higher_order_ops`` that are not called as their operators, nor as these with ``_op`` behind."""
_FIELD_OF_KEY = {".DispatchKey.": "dispatch", ".TransformType.": "transforms"}


def imported(value: Value) -> HigherOrderHandle | None:
    """A higher-order operator of PyTorch that is imported by its name; None for other values."""
    if isinstance(value, Dotted) and value.name.startswith("torch."):
        variable = value.name.rpartition(".")[2]
        return HigherOrderHandle(_OF_VARIABLES.get(variable, variable.removesuffix("_op")))
    return None


def _short_name(function: Value) -> str:
    """The name of a function; of a call that makes one, the name of what is called."""
    if isinstance(function, Opaque) and isinstance(function.node, ast.Call):
        return source_text(function.node.func)
    return function_name(function)
