"""``dispatch-cli support``"""

from __future__ import annotations

import itertools
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.answers.support.document import record_yaml, recorded_promises
from dispatch_cli.api import load_state
from dispatch_cli.engine.support.cell import Verdict
from dispatch_cli.engine.support.columns import support_columns
from dispatch_cli.engine.support.verdicts import support_rows
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.text.glob import glob_pattern
from tests.cli.support import call, in_terminal

OPERATORS = "examples/custom_ops.yaml"
ASKED = (OPERATORS, "--device", "cpu", "--device", "cuda", "--tensor", "sparse")


def data(*args: str) -> Any:
    result = call("support", *args, "--format", "json")
    assert result.code == 0, result.err
    return json.loads(result.out)


def test_each_cell_that_does_not_work_is_under_a_reason() -> None:
    report = data(*ASKED)
    failing = {
        (row["operator"], at)
        for row in report["operators"]
        for at, cell in enumerate(row["cells"])
        if Verdict(cell["verdict"]).fails
    }
    assert sum(reason["cells"] for reason in report["reasons"]) == len(failing) > 40
    assert len(report["reasons"]) < 10
    for reason in report["reasons"]:
        assert reason["text"] and reason["operators"] and reason["columns"]
    assert report["chosen"] == report["working"] + report["not_known"] + len({name for name, _ in failing})


ONE_BACKEND_EACH = """
dispatch: 1
operators:
  - {func: "mine::both(Tensor x) -> Tensor", dispatch: {CPU: both_cpu, CUDA: both_cuda}}
  - {func: "mine::host(Tensor x) -> Tensor", dispatch: {CPU: host_cpu}}
  - {func: "mine::write_(Tensor(a!) x) -> ()", dispatch: {CPU: write_cpu}}
  - {func: "mine::card(Tensor x) -> Tensor", dispatch: {CUDA: card_cuda}}
libraries:
  - {namespace: mine, kind: IMPL, dispatch_key: CPU, impl: {bth: both_cpu}}
"""


@pytest.mark.parametrize("source", [OPERATORS, "examples/extension", "examples/custom_library.yaml", ONE_BACKEND_EACH])
def test_what_a_reason_says_holds_for_each_operator_in_each_column_that_it_names(tmp_path: Path, source: str) -> None:
    if source is ONE_BACKEND_EACH:
        file = tmp_path / "mine.yaml"
        file.write_text(source, encoding="utf-8")
        source = str(file)
    report = data(source)
    columns = [(column["backend"], column["context"]) for column in report["columns"]]
    cells = {
        (row["operator"], *column): (cell["verdict"].replace("-", " "), cell["kernel"])
        for row in report["operators"]
        for column, cell in zip(columns, row["cells"], strict=True)
    }
    works = {verdict.value.replace("-", " ") for verdict in Verdict if verdict.works} | {"not applicable"}
    printed = 0
    blocks = call("support", source).out.split("\n\n")
    for block in blocks[next(at for at, block in enumerate(blocks) if "\n    of " in block) :]:
        verdict = block.split(": ")[0].partition(" ")[2].replace("loses the gradient", "gradient lost")
        named, count, kernels = [], 0, set()
        for label, _, words in (line.strip().partition(" ") for line in block.split("\n")[1:]):
            if label == "of":
                names, _, more = words.strip().partition(" and ")
                named = names.split(", ")
                count = len(named) + (int(more.split()[0]) if more else 0)
            elif label == "on":
                for part in words.strip().split("; "):
                    backends, contexts = (text.split(", ") for text in part.split(": "))
                    if contexts == ["all contexts"]:
                        contexts = [context for backend, context in columns if backend == backends[0]]
                    places = [(name, *place) for name in named for place in itertools.product(backends, contexts)]
                    assert {cells[place][0] for place in places} == {verdict}, block
                    kernels |= {cells[place][1] for place in places} - {None}
                    printed += count * len(backends) * len(contexts)
            elif label == "kernel" and " and " not in words and count == len(named):
                assert len(kernels) == 1, block
    assert printed == sum(verdict not in works for verdict, _ in cells.values()) > 10


FAULTY = """
dispatch: 1
operators:
  - custom_op: "mine::few(Tensor x, Tensor y) -> Tensor"
    kernel: {kernel: few, body: {parameters: [x, y]}}
    backward: {kernel: few_backward, body: {parameters: [ctx, grad], values: 1..1}}
  - custom_op: "mine::same(Tensor x) -> Tensor"
    kernel: {kernel: same, body: {parameters: [x], returns: [{argument: x, text: x, at: "2:5"}]}}
"""
TRAINED = ("mine::few", "--tensor", "cpu requires_grad", "--tensor", "cpu")
"""PyTorch 2.13 and 2.15: "returned an incorrect number of gradients (expected 2, got 1)", in the backward pass."""


@pytest.mark.parametrize(
    ("words", "reason", "kernel"),
    [
        (TRAINED, "function-arguments", "autograd by few_backward"),
        ((*TRAINED, "--context", "no_grad"), None, None),
        (("mine::few", "--tensor", "cpu", "--tensor", "cpu"), None, None),
        (("mine::same", "--tensor", "cpu grad-wrapped", "--context", "jvp"), "aliased-result", "same"),
    ],
)
def test_resolve_names_the_function_that_is_at_fault(
    tmp_path: Path, words: tuple[str, ...], reason: str | None, kernel: str | None
) -> None:
    (tmp_path / "faulty.yaml").write_text(FAULTY, encoding="utf-8")
    result = call("resolve", *words[:1], str(tmp_path / "faulty.yaml"), *words[1:], "--format", "json")
    refusal = json.loads(result.out)["refusal"]
    assert (result.code, refusal and (refusal["reason"], refusal["kernel"])) == (
        (0, None) if reason is None else (1, (reason, kernel))
    )


def test_each_command_can_be_pasted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Path(OPERATORS).read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "my ops.yaml"
    file.write_text(source, encoding="utf-8")
    reasons = data("my ops.yaml", "--device", "cpu", "--device", "mps")["reasons"]
    assert len(reasons) > 5
    for reason in reasons:
        program, *arguments = shlex.split(reason["command"])
        result = call(*arguments, "--full")
        fails = Verdict(reason["verdict"]) in (Verdict.RAISES, Verdict.NO_KERNEL)
        assert (program, result.code) in [("dispatch-cli", code) for code in ((1,) if fails else (0, 1))], result.err
        assert reason["error"] is None or " ".join(reason["error"].split()) in " ".join(result.out.split())


def test_contexts_and_tensors_that_are_named_are_columns() -> None:
    report = data(
        OPERATORS, "--device", "cuda", "--context", "train", "--context", "autocast cpu", "--tensor", "sparse"
    )
    assert report["columns"] == [
        {"backend": "CUDA", "device": "cuda", "context": "train", "tensor": None, "contexts": []},
        {"backend": "CUDA", "device": "cuda", "context": "custom", "tensor": "sparse", "contexts": []},
        {"backend": "CUDA", "device": "cuda", "context": "custom", "tensor": None, "contexts": ["autocast cpu"]},
    ]
    only = call("support", OPERATORS, "--device", "cpu", "--context", "vmap").out
    assert "vmap\n" in only and "train" not in only and "Working" not in only


def test_what_is_recorded_holds(tmp_path: Path) -> None:
    file = tmp_path / "promises.yaml"
    result = call("support", OPERATORS, "--device", "cpu", "--record", "-o", str(file))
    assert result.code == 0
    assert "support:\n" in file.read_text(encoding="utf-8")
    options = ("--select", "broken-promise", "--config", "none", "--format", "json")
    checked = json.loads(call("check-invariants", OPERATORS, "--guards", str(file), *options).out)
    assert checked["findings"] == []


def test_what_works_is_promised(tmp_path: Path) -> None:
    """Every cell of the matrix, and no other."""
    state = load_state([OPERATORS])
    names = [OperatorName.parse(name) for name in state.dispatcher.names()]
    columns = support_columns(state, names, ["cpu", "cuda"])
    rows = [*support_rows(state, names, columns)]
    (tmp_path / "p.yaml").write_text("".join(record_yaml([*recorded_promises(state, rows, columns)])), encoding="utf-8")
    promises = load_state([OPERATORS], guards=[str(tmp_path / "p.yaml")]).declarations.promises
    for row in rows:
        match = [
            promise for promise in promises if any(glob_pattern(glob).match(str(row.operator)) for glob in promise.ops)
        ]
        for column, cell in zip(columns, row.cells, strict=True):
            promised = any(
                column.backend in promise.backends and column.context in promise.contexts for promise in match
            )
            assert cell.verdict is Verdict.NOT_APPLICABLE or promised is cell.verdict.works, (row.operator, column)


def test_operators_without_a_schema_have_a_sentence_and_no_row(tmp_path: Path) -> None:
    file = tmp_path / "kernels.yaml"
    kernels = "dispatch: 1\nlibraries:\n  - namespace: lost\n    kind: IMPL\n    dispatch_key: CPU\n"
    kernels += "    impl: {one: one_cpu, two: two_cpu}\n"
    file.write_text(kernels)
    out = call("support", str(file)).out
    assert out.startswith("2 operators: whether they work is not known\n") and "\n\n? not known: " in out
    assert "\n\nWithout a known schema, and so without a row: 2 operators; --full has all.\n" in out
    assert " of 2" not in out and "ea tr" not in out and "eager train" not in out
    assert "lost::two ?" in " ".join(call("support", str(file), "--full").out.split())

    file.write_text(f"{kernels}operators:\n  - {{func: 'here::three(Tensor x) -> Tensor', dispatch: {{CPU: three}}}}\n")
    out = call("support", str(file)).out
    assert out.startswith("3 operators: ")
    assert "\nhere::three " in out and "\nlost::" not in out and "without a row: 2 operators;" in out


def test_the_verdict_and_the_matrix_come_first_and_a_terminal_ends_with_the_verdict() -> None:
    screen = in_terminal(80, "support", "examples/extension", "-D", "WITH_CUDA", NO_COLOR="1").out.splitlines()
    assert screen[0].startswith("8 operators: on CPU 8 run, ")
    assert ["Operator", "ea", "tr"] in [line.split()[:3] for line in screen[:23]]
    assert screen[-2:] == screen[:2]


def test_the_verdict_counts_operators_by_what_users_need(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(ONE_BACKEND_EACH, encoding="utf-8")
    first = {words: call("support", str(file), *words).out.splitlines()[0] for words in ((), ("--context", "vmap"))}
    verdict, *_, unknown = first[()].split("; ")
    assert verdict.startswith("5 operators: on CPU 3 run, ") and "; on CUDA 2 run, " in first[()]
    assert unknown.startswith("not all is known of ")
    assert first[("--context", "vmap")].startswith("5 operators: 1 works in all 2 columns, 1 not known")


@pytest.mark.parametrize("source", [OPERATORS, "examples/extension"])
def test_a_command_is_one_line_of_a_terminal(source: str) -> None:
    commands = [reason["command"] for reason in data(source)["reasons"] if reason["command"]]
    lines = in_terminal(80, "support", source, NO_COLOR="1").out.splitlines()
    assert max(map(len, commands)) > 80
    assert [line.split(maxsplit=1)[1] for line in lines if line.strip().startswith("see ")] == commands


def test_a_kernel_of_cpp_without_a_key_may_read_memory(tmp_path: Path) -> None:
    """PyTorch takes it for a composite: one with ``data_ptr`` fails with fake tensors and has no gradient."""
    (tmp_path / "mine.cpp").write_text(
        "at::Tensor f(const at::Tensor& x) { return at::empty_like(x).fill_(x.data_ptr<float>()[0]); }\n"
        "int64_t version() { return 1; }\n"
        'TORCH_LIBRARY(mine, m) {\n  m.def("f(Tensor x) -> Tensor", &f);\n  m.def("version() -> int", &version);\n}\n'
        'TORCH_LIBRARY_IMPL(mine, CompositeImplicitAutograd, m) { m.impl("g", &f); }\n'
        'TORCH_LIBRARY_FRAGMENT(mine, m) { m.def("g(Tensor x) -> Tensor"); }\n'
    )
    options = ("--device", "cpu", "--format", "json")
    rows = json.loads(call("support", str(tmp_path), *options).out)["operators"]
    cells = {row["operator"]: [cell["reason"] for cell in row["cells"]] for row in rows}
    no_key = "no-key"
    assert cells["mine::f"] == [None, no_key, no_key, no_key, None, no_key, no_key, None, None]
    assert no_key not in cells["mine::version"] and not any(cells["mine::g"])


def test_reasons_about_eager_training_and_compiled_calls_come_first(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(ONE_BACKEND_EACH, encoding="utf-8")
    report = json.loads(call("support", str(file), "--format", "json").out)
    usual = [
        any(report["columns"][at]["context"] in ("eager", "train", "compile") for at in reason["columns"])
        for reason in report["reasons"]
    ]
    assert usual == sorted(usual, reverse=True) and len({*usual}) == 2


def test_a_call_whose_kernel_may_be_there_does_not_fail_for_certain(tmp_path: Path) -> None:
    (tmp_path / "mine.cpp").write_text(
        'TORCH_LIBRARY(mine, m) {\n  m.def("f(Tensor x) -> Tensor");\n  m.def("g(Tensor x) -> Tensor");\n}\n'
        'TORCH_LIBRARY_IMPL(mine, CPU, m) { m.impl("g", &g); }\n'
        'TORCH_LIBRARY_IMPL(mine, BUILD_KEY(), m) { m.impl("f", &f); }\n'
    )
    options = ("--device", "cpu", "--device", "cuda", "--context", "eager", "--format", "json")
    rows = json.loads(call("support", str(tmp_path), *options).out)["operators"]
    verdicts = {row["operator"]: [cell["verdict"] for cell in row["cells"]] for row in rows}
    assert verdicts == {"mine::f": ["not-known", "not-known"], "mine::g": ["own", "no-kernel"]}
