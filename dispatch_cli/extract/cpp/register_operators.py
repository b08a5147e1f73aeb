"""``torch::RegisterOperators().op(...)``: the way of registering that came before ``TORCH_LIBRARY``.

After aten/src/ATen/core/op_registration/op_registration.h. JIT operators (``torch::jit::RegisterOperators`` with a
list of ``Operator``) are not registered with the dispatcher.
"""

from __future__ import annotations

from dispatch_cli.extract.cpp.brackets import ChainCall, chain_calls, inside, split
from dispatch_cli.extract.cpp.conditions import When
from dispatch_cli.extract.cpp.registrations import Findings, Infer, Registrar
from dispatch_cli.extract.cpp.tokens import CppToken, spelled
from dispatch_cli.extract.cpp.values import KernelArgument, Lookup, kernel_of, key_from, text_of
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.extracted import ExtractedBlock, Unknown

_KINDS = {"CONSERVATIVE": "CONSERVATIVE", "PURE_FUNCTION": "PURE_FUNCTION", "FROM_SCHEMA": None}


class OperatorsReader:
    """Reads one ``op``. infer: gives the signature of a function."""

    def __init__(self, findings: Findings, lookup: Lookup, infer: Infer) -> None:
        self._findings, self._lookup, self._infer = findings, lookup, infer

    def op(self, tokens: list[CppToken], arguments: list[list[CppToken]], when: When) -> None:
        """``.op(schema, function)``, ``.op(schema, options)`` or ``.op(options)``."""
        schema: str | None = None
        kernels: list[KernelArgument] = []
        alias: str | None = "default"
        for argument in arguments:
            calls = self._options(argument)
            if calls is None:
                text = text_of(argument, self._lookup) if schema is None and not kernels else None
                if text is not None:
                    schema = text
                else:
                    kernels.append(kernel_of(argument, self._lookup, self._lookup))
                continue
            for call in calls:
                if call.name == "schema" and call.arguments:
                    schema = text_of(call.arguments[0], self._lookup)
                elif call.name in ("kernel", "catchAllKernel"):
                    kernels.append(self._kernel(call))
                elif call.name == "aliasAnalysis" and call.arguments:
                    alias = _KINDS.get(call.arguments[0][-1].text, alias)
                else:
                    self._findings.refuse(call.tokens, f"'{call.name}' of RegisterOperators is not known", when)
        self._findings.account(tokens)
        if schema is None:
            return self._findings.refuse(tokens, "the schema of this operator is not known", when)
        name = schema.partition("(")[0].strip()
        namespace = name.partition("::")[0] if "::" in name else Unknown(name)
        block = ExtractedBlock(LibraryKind.FRAGMENT, namespace, None, tokens[0].at, when, implicit=True)
        self._findings.add(block)
        registrar = Registrar(block, self._findings, self._lookup, self._lookup, self._infer)
        registrar.define(schema, kernels, tokens[0].at, when, alias)
        return None

    @staticmethod
    def _options(tokens: list[CppToken]) -> list[ChainCall] | None:
        """The calls behind ``RegisterOperators::options()``."""
        for index, token in enumerate(tokens[:-2]):
            if token.text == "options" and tokens[index + 1].text == "(":
                return chain_calls(tokens[inside(tokens, index + 1)[1] :])
            if token.kind != "name" and token.text != "::":
                return None
        return None

    def _kernel(self, call: ChainCall) -> KernelArgument:
        arguments = list(call.arguments)
        key: str | Unknown | None = None
        if call.name == "kernel" and arguments:
            key = key_from(arguments.pop(0), self._lookup)
        parts = split(call.template)
        if len(parts) == 1:
            kernel = kernel_of(parts[0], self._lookup, self._lookup)
            if parts[0][0].text == "&":
                kernel = kernel._replace(boxed_only=True)
            else:
                kernel = KernelArgument(spelled(tuple(parts[0])))
        else:
            kernel = kernel_of(parts[1] if parts else arguments[0] if arguments else [], self._lookup, self._lookup)
        return kernel._replace(key=key if key is not None else kernel.key)
