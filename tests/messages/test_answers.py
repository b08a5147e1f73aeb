"""Explanations of errors that live PyTorch 2.13 raised: the cause, and steps that can help."""

from __future__ import annotations

from tests.cli.support import call
from tests.support import load_recording

TEXTS = {message["case"]: message["text"] for message in load_recording("2.13.0.messages")["messages"]}
USER, AUTHOR = "What you can do:\n", "What the author of the operator can do:\n"


def answer(case: str) -> str:
    """Explanation of a recorded text, up to the rules in turn."""
    result = call("explain", "--from-error", "-", stdin=TEXTS[case].encode())
    assert (result.code, result.err) == (0, "")
    return result.out.partition("\n  #  Rule")[0]


def steps(said: str) -> str:
    """Steps that help the user."""
    return said.partition(USER)[2].partition("\n\n")[0]


def test_an_operator_that_is_defined_twice_names_both_places() -> None:
    assert "Duplicate registration: registered at" in TEXTS["operator_twice"]
    report = answer("operator_twice")
    for place in ("registered before  registered at ", "registered now     registered at "):
        assert place in report


def test_an_argument_without_a_derivative_is_named() -> None:
    report = answer("argument_without_a_derivative")
    assert "there is no derivative of nll_loss_forward with respect to weight" in report
    assert "pass `weight.detach()`" in steps(report)


def test_a_mutation_under_functionalize_returns_no_view() -> None:
    report = answer("mutation_functionalized")
    title = report.partition("\n")[0]
    assert title.endswith("functionalization does not support aliases::changes: its schema has alias annotations")
    assert "call a functional operator, and copy its result: `x.copy_(f(x))`" in steps(report)


def test_an_operator_that_takes_no_tensor() -> None:
    """The text does not say whether a list was empty: both are named, and what its author can do."""
    report = answer("operator_that_takes_no_tensor")
    assert "a list of tensors was empty," in report
    assert "or takesnone::f takes no tensor" in report
    assert steps(report).startswith("- If the argument is an empty list of tensors")
    assert "register a kernel at CompositeExplicitAutograd" in report.partition(AUTHOR)[2]
    assert "Pass a tensor" not in report


def test_a_device_that_was_not_built_needs_another_build() -> None:
    report = answer("tensor_of_a_device_that_was_not_built")
    assert "Probably this PyTorch was built without CUDA." in report
    assert steps(report).startswith("- Install a build of PyTorch for CUDA: https://pytorch.org/get-started/locally/.")
    assert "Register a kernel" not in report


def test_a_device_that_was_not_built_by_its_first_sentence() -> None:
    first = TEXTS["tensor_of_a_device_that_was_not_built"].rpartition("NotImplementedError: ")[2].partition(". ")[0]
    assert first.startswith("Could not run 'aten::empty_strided' with arguments from the 'CUDA' backend")
    output = call("explain", "--from-error", "-", stdin=first.encode()).out
    assert "Probably this PyTorch was built without CUDA." in output
    assert steps(output).startswith("- Install a build of PyTorch for CUDA")


def test_a_device_of_another_system_has_no_fallback() -> None:
    report = answer("tensor_of_a_device_of_another_system")
    assert "Probably this PyTorch was built without MPS." in report
    assert "Builds with MPS are for macOS only." in steps(report)
    assert "PYTORCH_ENABLE_MPS_FALLBACK" not in report


def test_torch_function_is_no_matter_of_the_dispatcher() -> None:
    report = answer("class_that_handles_nothing")
    assert report.partition("\n")[0].endswith("handles add")
    assert "A call goes first to `__torch_function__`" in report
