"""Registrations in sources, beside the contents of a state."""

from __future__ import annotations

from typing import Any

from dispatch_cli.answers.findings.crossref.against import against_report
from dispatch_cli.crossref.against import AgainstKind, compare_with_state
from dispatch_cli.crossref.against import AgainstOutcome as Outcome
from dispatch_cli.declarations.loader import load
from dispatch_cli.declarations.tree import ExtractedDocument
from dispatch_cli.model.built import BuiltKernel, BuiltLibrary, BuiltOperator
from dispatch_cli.model.declarations import Declarations


def sources(*members: dict[str, Any]) -> Declarations:
    """Sources with one block of the namespace ``demo``; the members are definitions, kernels and fallbacks."""
    define = [member for member in members if "func" in member or "name" in member]
    impl: dict[str, list[dict[str, Any]]] = {}
    for member in members:
        if "operator" in member:
            impl.setdefault(member["operator"], []).append(
                {name: it for name, it in member.items() if name != "operator"}
            )
    block = {"at": "a.cpp:1:1", "kind": "FRAGMENT", "namespace": "demo", "define": define, "impl": impl}
    fallbacks = [
        {"at": row["at"], "kind": "IMPL", "namespace": "_", "dispatch_key": row["key"], "fallback": {"kernel": "f"}}
        for row in members
        if "key" in row
    ]
    document = {"dispatch": 1, "extracted": True, "libraries": [block, *fallbacks]}
    return load([ExtractedDocument("sources", document)])


def kernel(operator: str, key: str, line: int = 3, **others: Any) -> dict[str, Any]:
    """An ``m.impl`` of `sources`."""
    given = {"kernel": "k"} if "fallthrough" not in others else {}
    return {"at": f"a.cpp:{line}:3", "operator": operator, "dispatch_key": key, **given, **others}


def library(operators: dict[str, BuiltOperator], **others: Any) -> BuiltLibrary:
    """A state with these operators, and no modules."""
    given: dict[str, Any] = {"modules": (), "fallbacks": {}, "higher_order": {}, "universe": "torch-2.15", **others}
    return BuiltLibrary("a state", operators=operators, **given)


def outcomes(declared: Declarations, built: BuiltLibrary) -> list[tuple[str | None, str | None, Outcome]]:
    """Operator, key and outcome of every entry."""
    return [(row.operator, row.key, row.outcome) for row in compare_with_state(declared, built)]


F = {"at": "a.cpp:2:3", "func": "demo::f(Tensor x, *, float scale=1) -> Tensor"}
BUILT_F = BuiltOperator("demo::f(Tensor x, *, float scale=1.) -> Tensor", {"CPU": BuiltKernel("registered at a.cpp:1")})


def test_what_one_side_lacks() -> None:
    declared = sources(F, kernel("demo::f", "CUDA"))
    built = library({"demo::f": BUILT_F, "demo::g": BuiltOperator("demo::g() -> ()", {})})
    assert outcomes(declared, built) == [
        ("demo::f", None, Outcome.SAME),
        ("demo::f", "CPU", Outcome.ONLY_IN_STATE),
        ("demo::f", "CUDA", Outcome.ONLY_IN_SOURCES),
        ("demo::g", None, Outcome.ONLY_IN_STATE),
    ]


def test_what_is_different() -> None:
    declared = sources(
        {"at": "a.cpp:2:3", "func": "demo::f(Tensor x) -> Tensor"}, kernel("demo::f", "CPU", fallthrough=True)
    )
    rows = compare_with_state(declared, library({"demo::f": BUILT_F}))
    assert [row.outcome for row in rows] == [Outcome.DIFFERENT, Outcome.DIFFERENT]
    report = against_report(rows, "a state", "torch-2.15", 0, 0)
    assert not report.equal
    assert [(row.registered, row.sources, row.state, str(row.place), row.debug) for row in report.differences] == [
        (AgainstKind.DEFINITION, "demo::f(Tensor x) -> Tensor", BUILT_F.schema, "a.cpp:2:3", None),
        (AgainstKind.KERNEL, "fallthrough", "kernel", "a.cpp:3:3", "registered at a.cpp:1"),
    ]


def test_conditions() -> None:
    """A registration with conditions may be there or not; one of several that is there is enough."""
    declared = sources(
        F,
        kernel("demo::f", "CPU", 3, when="defined(A)", fallthrough=True),
        kernel("demo::f", "CPU", 5, when="not defined(A)"),
        kernel("demo::f", "CUDA", 7, when="defined(B)"),
    )
    rows = compare_with_state(declared, library({"demo::f": BUILT_F}))
    assert [row.outcome for row in rows] == [Outcome.SAME, Outcome.SAME, Outcome.NOT_IN_BUILD]
    report = against_report(rows, "a state", "torch-2.15", 0, 0)
    assert report.equal
    assert [(row.key, row.when) for row in report.differences] == [("CUDA", ("defined(B)",))]


def test_only_what_concerns_the_sources_is_compared() -> None:
    """PyTorch's own operators count as far as the sources register kernels for them."""
    add = BuiltOperator("aten::add() -> ()", {"CPU": BuiltKernel("p"), "CUDA": BuiltKernel("p")})
    block = {"at": "a.cpp:1:1", "kind": "IMPL", "namespace": "aten", "dispatch_key": "CPU"}
    block["impl"] = {"aten::add": [{"at": "a.cpp:2:1", "kernel": "k"}]}  # type: ignore[assignment]
    declared = load([ExtractedDocument("sources", {"dispatch": 1, "extracted": True, "libraries": [block]})])
    assert outcomes(declared, library({"aten::add": add, "aten::sub": add})) == [("aten::add", "CPU", Outcome.SAME)]


def test_modules_that_were_imported() -> None:
    """Registrations of modules that were imported are compared, all of them, and nothing else."""
    operators = {
        "demo::f": BUILT_F._replace(imported=True),
        "other::g": BuiltOperator("other::g() -> ()", {"CPU": BuiltKernel("there", imported=True)}, imported=True),
        "demo::h": BuiltOperator("demo::h() -> ()", {}),
    }
    built = library(operators, apart=True, modules=("demo",))
    assert outcomes(sources(F), built) == [
        ("demo::f", None, Outcome.SAME),
        ("other::g", None, Outcome.ONLY_IN_STATE),
        ("other::g", "CPU", Outcome.ONLY_IN_STATE),
    ]


def test_fallbacks() -> None:
    declared = sources({"at": "a.cpp:9:3", "key": "PrivateUse1"}, {"at": "a.cpp:11:3", "key": "Meta"})
    built = library({}, fallbacks={"PrivateUse1": BuiltKernel("p"), "CPU": BuiltKernel("other")})
    assert outcomes(declared, built) == [
        (None, "PrivateUse1", Outcome.SAME),
        (None, "Meta", Outcome.ONLY_IN_SOURCES),
    ]
