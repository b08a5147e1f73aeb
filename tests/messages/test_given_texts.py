"""Explanations of whole texts in ``texts.tsv`` that live PyTorch printed: the cause, and steps that can help."""

from __future__ import annotations

import pytest

from tests.cli.support import call
from tests.messages.table import read_texts

USER, AUTHOR = "What you can do:\n", "What the author of the operator can do:\n"
LOADED = "its weights were not loaded"


def text_with(kind: str, words: str) -> str:
    return next(text.text for text in read_texts() if text.kind == kind and words in text.text)


def said_of(text: str) -> str:
    result = call("explain", "--from-error", "-", stdin=text.encode())
    assert (result.code, result.err) == (0, "")
    return result.out.partition("\n  #  Rule")[0]


@pytest.mark.parametrize("place", ["errs3.py:25", "errs.py:91"])
def test_the_place_of_a_registration_is_whole(place: str) -> None:
    text = text_with("defined-twice", f"registered at {place}.")
    assert f"registered before  {place}\n" in said_of(text)
    assert f"registered before  {place}\n" in said_of(text + " This is not supported.")


def test_a_library_of_python_may_be_gone() -> None:
    output = said_of(text_with("not-defined", "'gcl'")).partition(AUTHOR)[2]
    assert "keep the Library in a variable: its operators go with it" in output
    assert "`lib.define` comes before `impl` and `register_fake`" in output


def test_a_meta_tensor_is_not_moved_to_the_cpu() -> None:
    for words in ("device meta is not on the expected device cpu", "device cpu is not on the expected device meta"):
        output = said_of(text_with("mixed-devices", words))
        assert "the checkpoint lacks weights" in output
        assert "x.to(weight.device)" not in output


def test_fake_tensor_mode_compares_devices_itself() -> None:
    output = said_of(text_with("mixed-devices", "FakeTensorDeviceMismatchError"))
    assert "the fake tensors of one call are on several devices: cuda:0 and cpu" in output
    assert "FakeTensorMode itself compares the devices" in output


def test_a_meta_tensor_may_have_weights_to_load() -> None:
    assert LOADED in said_of(text_with("no-meta", "e::nfm"))


def test_a_fake_implementation_that_reads_data_has_an_author() -> None:
    output = said_of(text_with("data-dependent", "in fake_impl"))
    assert "use only the shapes and dtypes of the arguments" in output.partition(AUTHOR)[2]


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_an_empty_text_is_called_empty(text: str) -> None:
    result = call("explain", "--from-error", "-", stdin=text.encode())
    assert result.code == 2
    assert "standard input is empty" in result.err


def test_a_text_that_is_not_understood_has_a_next_step() -> None:
    result = call("explain", "--from-error", "-", stdin=b"KeyError: 'x'")
    assert result.code == 2
    assert result.err == (
        "Error: no text in standard input is one that dispatch-cli explains; the whole text, with its traceback, may "
        "have one.\n"
    )
