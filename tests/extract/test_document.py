"""Documents that are made of what sources say: read as they are, and from a file."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml
from jsonschema_rs import Draft202012Validator

from dispatch_cli.api import run_declarations
from dispatch_cli.declarations.extracted import ExtractedDocument
from dispatch_cli.declarations.json_schema import json_schema
from dispatch_cli.declarations.loader import load
from dispatch_cli.extract.document import document
from dispatch_cli.model.condition import Condition, parse_condition
from dispatch_cli.model.declarations import Declarations, Define, Fallback, Implement, LibraryKind, RefusedDeclaration
from dispatch_cli.model.extracted import (
    CustomOperator,
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    Extraction,
    FunctionRole,
    NotUnderstood,
    OperatorFunction,
    Unknown,
)
from dispatch_cli.model.problem import InputError
from dispatch_cli.model.span import Span
from tests.extract.random_extractions import RandomSources

FILE, PYTHON = "csrc/ops.cpp", "mylib/ops.py"


def at(line: int, column: int = 3) -> Span:
    """A place in the C++ file."""
    return Span(FILE, line, column)


def in_python(line: int) -> Span:
    """A place in the Python file."""
    return Span(PYTHON, line, 1)


def when(*texts: str) -> tuple[Condition, ...]:
    """Conditions by their texts."""
    return tuple(map(parse_condition, texts))


LIBRARY = ExtractedBlock(LibraryKind.DEF, "mylib", None, at(1, 1))
CUDA = ExtractedBlock(LibraryKind.IMPL, "mylib", "CUDA", at(20, 1), when("defined(USE_CUDA)"))
FALLBACKS = ExtractedBlock(LibraryKind.IMPL, "_", "PrivateUse1", at(30, 1))
UNDECIDED = ExtractedBlock(LibraryKind.IMPL, Unknown("NAMESPACE"), "CPU", at(40, 1))

EVERYTHING = Extraction(
    (
        LIBRARY,
        ExtractedDefinition(LIBRARY, "mylib::add", "mylib::add(Tensor a, Tensor b) -> Tensor", at(2)),
        ExtractedDefinition(LIBRARY, "mylib::inferred", None, at(3), why_unknown="the signature is not known"),
        ExtractedDefinition(
            LIBRARY, "mylib::tagged", "tagged() -> ()", at(4), when("X >= 2"), ("core",), "CONSERVATIVE"
        ),
        ExtractedKernel(LIBRARY, "mylib::add", "CPU", "add_cpu", at(5)),
        ExtractedKernel(LIBRARY, "mylib::add", None, "add_any", at(6)),
        ExtractedKernel(LIBRARY, "mylib::inferred", Unknown("key()"), "f", at(7)),
        CUDA,
        ExtractedKernel(CUDA, "mylib::add", "CUDA", "add_cuda", at(21), (*CUDA.when, *when("not A or B"))),
        ExtractedKernel(CUDA, "mylib::inferred", None, "boxed", at(22), CUDA.when, boxed_only=True),
        FALLBACKS,
        ExtractedFallback(FALLBACKS, "PrivateUse1", "cpu_fallback", at(31)),
        ExtractedFallback(FALLBACKS, "AutogradPrivateUse1", "", at(32), fallthrough=True),
        UNDECIDED,
        ExtractedKernel(UNDECIDED, Unknown("NAMESPACE::op"), None, "f", at(41)),
        CustomOperator("mylib::made", "mylib::made(Tensor x) -> Tensor", "made", in_python(3)),
        OperatorFunction(FunctionRole.FAKE, "mylib::made", "made_fake", in_python(9)),
        OperatorFunction(FunctionRole.KERNEL, "mylib::made", "made_cuda", in_python(12), devices=("cuda", "xpu")),
        OperatorFunction(
            FunctionRole.AUTOGRAD, "mylib::made", "back", in_python(15), when("HAS_GRAD"), setup_context="setup"
        ),
        CustomOperator("mylib::bare", None, "bare", in_python(20), device_types=("cpu",), why_unknown="no annotations"),
        OperatorFunction(FunctionRole.FAKE, "mylib::add", "add_fake", in_python(25)),
        OperatorFunction(FunctionRole.PY_IMPL, "mylib::add", "py", in_python(27), devices=("Functionalize",)),
        OperatorFunction(FunctionRole.AUTOCAST, "mylib::add", "", in_python(28), devices=("cuda",), dtype="float16"),
        OperatorFunction(FunctionRole.KERNEL, "mylib::add", "k", in_python(29), devices=(Unknown("platform.key"),)),
    ),
    (NotUnderstood(at(50), "m.impl(\n  names[i], f)", "the name is in a loop over a list that is not known"),),
)
"""One of everything."""


def loaded(*extractions: Extraction) -> Declarations:
    return load([ExtractedDocument("the sources", document(extractions))])


def test_a_document_is_valid_against_the_json_schema() -> None:
    Draft202012Validator(json_schema()).validate(document([EVERYTHING]))


@pytest.mark.parametrize("written", [json.dumps, yaml.safe_dump])
def test_a_document_in_a_file_says_the_same(tmp_path: Path, written) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "extracted.yaml"
    file.write_text(written(document([EVERYTHING])))
    directly, from_file = loaded(EVERYTHING), load([str(file)])
    assert set(from_file.steps) == set(directly.steps)  # PyYAML sorts fields
    assert from_file._replace(files=(), steps=()) == directly._replace(files=(), steps=())


def test_each_registration_has_the_place_and_the_conditions_of_its_source() -> None:
    steps = loaded(EVERYTHING).steps
    kernels = {str(step.kernel.function): step for step in steps if isinstance(step, Implement)}
    assert kernels["add_cpu"].span == kernels["add_cpu"].kernel.span == at(5)
    assert kernels["add_cuda"].when == when("defined(USE_CUDA)", "not A or B")
    assert (kernels["add_cuda"].block.file, kernels["add_cuda"].block.line) == (FILE, 20)
    defined = {str(step.schema.name): step for step in steps if isinstance(step, Define)}
    assert defined["mylib::tagged"].when == when("X >= 2")
    assert defined["mylib::inferred"].schema.unknown == "the signature is not known"
    fallbacks = {step.dispatch_key: step.span for step in steps if isinstance(step, Fallback)}
    assert fallbacks == {"PrivateUse1": at(31), "AutogradPrivateUse1": at(32)}


def test_what_is_not_known_is_listed_and_not_registered() -> None:
    declarations = loaded(EVERYTHING)
    assert [(undecided.registers, dict(undecided.unknown)) for undecided in declarations.undecided] == [
        ("kernel", {"dispatch_key": "key()"}),
        ("block", {"namespace": "NAMESPACE"}),
        ("kernel", {"name": "NAMESPACE::op", "namespace": "NAMESPACE"}),
        ("register_kernel", {"device": "platform.key"}),
    ]
    assert [(statement.at, statement.text) for statement in declarations.unread] == [(at(50), "m.impl( names[i], f)")]


def test_an_operator_of_custom_op_has_what_is_registered_for_it_in_other_places() -> None:
    steps = [step for step in loaded(EVERYTHING).steps if isinstance(step, Implement) and "made" in str(step.operator)]
    for condition, backward in (("HAS_GRAD", "back"), ("not HAS_GRAD", None)):
        kernels = {step.dispatch_key: step.kernel for step in steps if step.when == when(condition)}
        assert set(kernels) == {"Meta", "Autograd", "CompositeExplicitAutograd", "CUDA", "XPU"}
        assert kernels["Meta"].function_name == "made_fake"
        assert kernels["Autograd"].function_name == backward


def test_a_later_custom_op_of_the_name_replaces_the_former() -> None:
    """As PyTorch does, which destroys the former library, with the functions that are registered through it."""
    schema, other = "m::f(Tensor x) -> Tensor", "m::f(Tensor x, int y) -> Tensor"
    items = (
        CustomOperator("m::f", schema, "first", at(2)),
        OperatorFunction(FunctionRole.FAKE, "m::f", "first_fake", at(3)),
        OperatorFunction(FunctionRole.KERNEL, "m::f", "first_cuda", at(4), devices=("cuda",)),
        CustomOperator("m::f", other, "second", at(5)),
        OperatorFunction(FunctionRole.KERNEL, "m::f", "second_cpu", at(6), devices=("cpu",)),
    )
    steps = loaded(Extraction(items)).steps
    assert [(str(step.schema), step.span) for step in steps if isinstance(step, Define)] == [(other, at(5))]
    kernels = {step.dispatch_key: step.kernel.function_name for step in steps if isinstance(step, Implement)}
    assert kernels == {"Meta": None, "Autograd": None, "CompositeExplicitAutograd": "second", "CPU": "second_cpu"}


def test_a_custom_op_is_replaced_only_where_the_later_one_is_made() -> None:
    schema = "m::f(Tensor x) -> Tensor"
    items = (
        CustomOperator("m::f", schema, "first", at(2), when("A")),
        OperatorFunction(FunctionRole.FAKE, "m::f", "first_fake", at(3), when("A")),
        CustomOperator("m::f", schema, "second", at(5), when("A", "B")),
        OperatorFunction(FunctionRole.FAKE, "m::f", "second_fake", at(6), when("A", "B")),
        CustomOperator("m::g", schema.replace("f", "g"), "first", at(8), when("A")),
        CustomOperator("m::g", schema.replace("f", "g"), "second", at(9), when("not A")),
    )
    steps = loaded(Extraction(items)).steps
    assert [(step.span, step.when) for step in steps if isinstance(step, Define)] == [
        (at(2), when("A", "not B")),
        (at(5), when("A", "B")),
        (at(8), when("A")),
        (at(9), when("not A")),
    ]
    fakes = [step for step in steps if isinstance(step, Implement) and step.dispatch_key == "Meta"]
    assert [step.kernel.function_name for step in fakes] == ["first_fake", "second_fake", None, None]


def test_what_pytorch_refuses_does_not_keep_the_rest_from_being_read() -> None:
    text = 'm.def("bad(Tensr x) -> ()");'
    bad = Extraction(
        (
            LIBRARY,
            ExtractedDefinition(LIBRARY, "mylib::bad", "bad(Tensr x) -> ()", at(2, 1)),
            ExtractedKernel(CUDA, "mylib::add", "NoSuchKey", "f", at(3)),
            ExtractedDefinition(LIBRARY, "mylib::good", "good(Tensor x) -> ()", at(4)),
        )
    )
    declarations = load(
        [ExtractedDocument("the sources", document([bad]), lambda file: ["", text] if file == FILE else [])]
    )
    assert [step.schema.name.name for step in declarations.steps if isinstance(step, Define)] == ["mylib::good"]
    schema, key = declarations.refused
    assert (schema.code, schema.span, schema.line_text) == ("bad-schema", at(2, 1), text)
    assert key.code in ("unknown-dispatch-key", "block-misuse")
    assert key.span == at(3)


def test_a_place_outside_the_project_is_not_shown(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text("")
    for name, folder in (("inside.cpp", project), ("outside.cpp", tmp_path)):
        (folder / name).write_text("the line\n")
    shown = {}
    for name, path in (("inside", project / "inside.cpp"), ("outside", tmp_path / "outside.cpp")):
        file = project / f"{name}.yaml"
        file.write_text(f"dispatch: 1\noperators:\n- {{func: 'm::f(', at: '{path}:1:1'}}\n")
        with pytest.raises(InputError) as caught:
            load([str(file)])
        (problem,) = caught.value.problems
        assert problem.span is not None
        assert problem.span.file == str(path)
        shown[name] = problem.line_text
    assert shown == {"inside": "the line", "outside": None}


def unquoted(refused: Iterable[RefusedDeclaration]) -> list[RefusedDeclaration]:
    return [problem._replace(line_text=None) for problem in refused]


@pytest.mark.slow
def test_random_documents_say_the_same_in_a_file(tmp_path: Path) -> None:
    """Also what cannot be used is the same: the problems that are findings, and those that are not."""
    dice = random.Random(13)
    sources = RandomSources(dice)
    checked = 0
    for number in range(150):
        data = document([sources.extraction(), sources.extraction()])
        Draft202012Validator(json_schema()).validate(data)
        file = tmp_path / f"{number}.{dice.choice(['json', 'yaml'])}"
        text = json.dumps(data) if file.suffix == ".json" else yaml.safe_dump(data, sort_keys=False)
        file.write_text(text, encoding="utf-8")
        directly, from_file = load([ExtractedDocument("the sources", data)]), load([str(file)])
        empty = {"files": (), "refused": ()}
        assert from_file._replace(**empty) == directly._replace(**empty)
        # a file of the same name as a made-up one may have been read by another test
        assert unquoted(from_file.refused) == unquoted(directly.refused)
        checked += len(directly.steps)
        try:
            run_declarations(directly)
        except InputError as error:  # a TORCH_LIBRARY block of the wildcard namespace, or a py_impl that is there
            assert error.problems
    assert checked > 1000
