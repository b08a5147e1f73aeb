"""Errors that came of one another, in tracebacks that Python prints: which is explained, how others are named."""

from __future__ import annotations

import traceback
from collections.abc import Callable

import pytest

from dispatch_cli.answers.errors.answer import other_errors
from dispatch_cli.answers.errors.read import find_errors
from dispatch_cli.answers.errors.reading.chain import ChainLink
from tests.answers.errors.test_read import ARGUMENTS, escaped, logged, quoted
from tests.cli.support import call


def printed(raises: Callable[[], None]) -> str:
    """The traceback of what a function raises."""
    try:
        raises()
    except Exception:
        return traceback.format_exc()
    raise AssertionError("nothing was raised")


def no_kernel(name: str) -> NotImplementedError:
    return NotImplementedError(ARGUMENTS.format(name, "CUDA"))


def first() -> None:
    raise no_kernel("a::first")


def while_handled() -> None:
    try:
        first()
    except NotImplementedError:
        raise no_kernel("a::second")  # noqa: B904


def with_cause() -> None:
    try:
        first()
    except NotImplementedError as error:
        raise no_kernel("a::second") from error


def while_handled_with_cause() -> None:
    try:
        first()
    except NotImplementedError:
        try:
            raise no_kernel("a::cause")
        except NotImplementedError as error:
            raise no_kernel("a::last") from error


def while_another_library_fails() -> None:
    try:
        first()
    except NotImplementedError:
        raise ValueError("the model can not be loaded")  # noqa: B904


HANDLED, RESULT = ChainLink.HANDLED, ChainLink.RESULT
CHAINS = (
    (while_handled, "a::second", {"a::first": HANDLED}),
    (with_cause, "a::first", {"a::second": RESULT}),
    (while_handled_with_cause, "a::cause", {"a::first": HANDLED, "a::last": RESULT}),
    (while_another_library_fails, "a::first", {}),
)


@pytest.mark.parametrize("treatment", [str, escaped, quoted, logged], ids=lambda function: function.__name__)
@pytest.mark.parametrize(("raises", "explained", "others"), CHAINS)
def test_what_is_explained(
    raises: Callable[[], None], explained: str, others: dict[str, ChainLink], treatment: Callable[[str], str]
) -> None:
    """The last that was raised, or its direct cause."""
    errors = find_errors(treatment(printed(raises)))
    assert errors[0].operator == explained
    assert {error.operator: error.link for error in other_errors(errors)} == others


def test_tracebacks_after_one_another_are_not_linked() -> None:
    errors = find_errors(printed(first) + "\nand then\n\n" + printed(while_handled).replace("a::first", "a::third"))
    assert [error.operator for error in errors] == ["a::first", "a::second", "a::third"]
    assert [error.link for error in other_errors(errors)] == [None, None]


def test_the_others_are_named() -> None:
    text = printed(while_handled_with_cause)
    lines = [text[: text.index(f"Error: Could not run '{name}'")].count("\n") + 1 for name in ("a::first", "a::last")]
    output = call("explain", "--from-error", "-", stdin=text.encode()).out
    assert (
        f"It was raised while another error was being handled, line {lines[0]}: a::first has no kernel at CUDA."
        in output
    )
    assert f"It caused another error, line {lines[1]}: a::last has no kernel at CUDA." in output


def test_the_code_in_a_traceback_is_no_message() -> None:
    """The line that raises has the words of the message, with names of Python in it."""

    def raises() -> None:
        name = "a::b"
        raise RuntimeError(f"operator {name} does not exist")

    text = printed(raises)
    assert text.count("does not exist") == 2
    (error,) = find_errors(text)
    assert (error.operator, error.line) == ("a::b", text.count("\n"))


LOOPS = (
    "UserWarning: There is a performance drop because we have not yet implemented the batching rule for mylib::scale. "
    "Please file us an issue on GitHub so that we can prioritize its implementation."
)
NO_FORMULA = (
    "RuntimeError: Trying to backward through mylib.scale.default but no autograd formula was registered. Please use "
    "register_autograd to add one."
)


def test_an_error_comes_before_a_warning_of_vmap_about_the_same_operator() -> None:
    text = f'{LOOPS}\nTraceback (most recent call last):\n  File "<string>", line 3, in <module>\n{NO_FORMULA}\n'
    errors = find_errors(text)
    assert [(error.kind, error.line) for error in errors] == [("no-derivative", 4), ("no-batching-rule", 1)]
