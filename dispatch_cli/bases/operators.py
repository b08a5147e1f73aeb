"""Operators of both kinds as records of a state file."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from dispatch_cli.model.captured import DEFAULT_ALIAS_ANALYSIS, MADE_OF, CapturedOperator
from dispatch_cli.model.kernel import AliasAnalysisKind, Kernel
from dispatch_cli.model.names import OperatorName

if TYPE_CHECKING:
    from dispatch_cli.model.higher_order import HigherOrderImpl, HigherOrderOperator
    from dispatch_cli.model.kernel import Data, FakeImpl, Wrapped

_IS_FAKE = 4
"""Index of the flag in the record of a kernel that says whether it is a fake implementation."""
_FACTS = ("fallthrough", "redispatches", "not_implemented", "deferred_error", "raises", "errors")
"""Facts in an implementation's record that are there only where they are not the default."""


def captured_record(operator: Mapping[str, Any]) -> list[Any]:
    """The record of an operator that `dispatch_cli.capture.probe` writes; fake implementations come last."""
    from dispatch_cli.model.calls.fake_tensor import FakeRules

    kind, rules = operator["alias_analysis"], operator.get("fake_tensor_mode")
    defaults = FakeRules._field_defaults.items()
    kernels = ((key, kernel) for key, kernels in operator["kernels"].items() for kernel in reversed(kernels))
    return [
        operator["schema"],
        operator["debug"] or "",
        DEFAULT_ALIAS_ANALYSIS if kind is None else kind,
        operator["tags"],
        sorted((_kernel_record(*kernel) for kernel in kernels), key=itemgetter(_IS_FAKE)),
        [list(kernel) for kernel in operator["python"].items()],
        *([_until_last([rules.get(field, default) for field, default in defaults])] if rules else ()),
    ]


def _kernel_record(key: str, kernel: Mapping[str, Any]) -> list[Any]:
    flags = "f" * kernel["fallthrough"] + "b" * kernel["boxed"] + "u" * kernel["unboxed"]
    fake, wraps = kernel.get("fake"), kernel.get("wraps")
    facts = [
        kernel.get("redispatches"),
        None if fake is None else [fake.get("kernel"), fake.get("source")],
        None if wraps is None else [wraps.get(field) for field in ("by", "kernel", "at", "setup_context", "dtype")],
    ]
    return [key, kernel["debug"], kernel["signature"], flags, fake is not None, *_until_last(facts)]


def _until_last(values: list[Any]) -> list[Any]:
    """The values up to the last one that says something."""
    last = max((at for at, value in enumerate(values) if value), default=-1)
    return values[: last + 1]


def operator_of(name: str, record: list[Any]) -> CapturedOperator:
    """The operator of a record."""
    from dispatch_cli.model.schema.parser import parse_printed_schema

    schema, debug, alias_analysis, tags, kernels, python_kernels, *_ = record
    kind = None if alias_analysis == DEFAULT_ALIAS_ANALYSIS else AliasAnalysisKind[alias_analysis]
    return CapturedOperator(
        name=OperatorName.parse(name),
        schema=None if schema is None else parse_printed_schema(schema),
        debug=debug,
        alias_analysis=kind,
        tags=tuple(tags),
        kernels=tuple((key, _kernel(*rest)) for key, *rest in kernels),
        python_kernels=tuple((key, kernel) for key, kernel in python_kernels),
    )


def _kernel(
    debug: str,
    signature: str | None,
    flags: str,
    python: bool,
    redispatches: Data | None = None,
    fake: tuple[str | None, str | None] | None = None,
    wraps: tuple[str, str | None, str | None, str | None, str | None] | None = None,
) -> Kernel:
    from dispatch_cli.model.kernel import Redispatch
    from dispatch_cli.model.schema.parser import parse_signature

    made_of = _function(fake, wraps)

    return Kernel(
        debug=debug,
        signature=None if signature is None else parse_signature(signature),
        boxed="b" in flags,
        unboxed="u" in flags,
        fallthrough="f" in flags,
        python=python,
        redispatches=None if redispatches is None else Redispatch.of_data(redispatches),
        fake=made_of[0],
        wraps=made_of[1],
    )


def functions_of(kernels: list[list[Any]]) -> dict[str, tuple[FakeImpl | None, Wrapped | None]]:
    """Known facts about the functions that the active kernels of a record are made of. kernels: oldest first."""
    active = {kernel[0]: kernel for kernel in kernels}
    return {key: _function(*kernel[MADE_OF:]) for key, kernel in active.items() if len(kernel) > MADE_OF}


def _function(
    fake: tuple[str | None, str | None] | None = None,
    wraps: tuple[str, str | None, str | None, str | None, str | None] | None = None,
) -> tuple[FakeImpl | None, Wrapped | None]:
    from dispatch_cli.model.kernel import FakeImpl, WrapKind, Wrapped

    return (
        None if fake is None else FakeImpl(*fake),
        None if wraps is None else Wrapped(WrapKind(wraps[0]), *wraps[1:]),
    )


def record_of(operator: HigherOrderOperator) -> dict[str, Any]:
    """The record of an operator."""
    return {
        "name": operator.name,
        "rules": [_impl_record(impl) for impl in operator.impls],
        "side_effect": operator.side_effect,
    }


def higher_order_operator_of(record: dict[str, Any]) -> HigherOrderOperator:
    """The operator of a record."""
    from dispatch_cli.model.higher_order import HigherOrderImpl, HigherOrderOperator, ImplKind

    impls = tuple(
        HigherOrderImpl(ImplKind(kind), name, kernel, **(_facts_of(facts[0]) if facts else {}))
        for kind, name, kernel, *facts in record["rules"]
    )
    return HigherOrderOperator(record["name"], impls, record["side_effect"], is_own=False, of_pytorch=True)


def _facts_of(record: dict[str, Any]) -> dict[str, Any]:
    errors = record.get("errors")
    return record if errors is None else {**record, "errors": tuple((place, text) for place, text in errors)}


def _impl_record(impl: HigherOrderImpl) -> list[Any]:
    defaults = impl._field_defaults
    facts = {fact: getattr(impl, fact) for fact in _FACTS if getattr(impl, fact) != defaults[fact]}
    return [impl.kind.value, impl.name, impl.kernel, *([facts] if facts else [])]
