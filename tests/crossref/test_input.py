"""Files that cannot be compared, and usage that cannot be followed: exit code 2 and a reason."""

from __future__ import annotations

from tests.cli.support import ROOT, call


def refused(*args: str) -> str:
    result = call("crossref", *args)
    assert (result.code, result.out) == (2, "")
    return result.err


def test_nothing_to_compare_with() -> None:
    assert "Nothing to compare: give declarations or sources, or --against live." in refused()


def test_declarations_have_no_answers() -> None:
    example = str(ROOT / "examples" / "add.yaml")
    assert refused(example) == (
        f"error[no-answers]: {example} has registrations, but no answers of a PyTorch to compare them with\n"
        "  help: compare it with a running PyTorch: --against live, or --python PATH\n"
        "\n"
        "1 error; nothing was done.\n"
    )


def test_a_file_that_is_not_there() -> None:
    assert "error[file-not-found]: /no/such/file.json does not exist\n" in refused("/no/such/file.json")


def test_a_file_that_is_neither() -> None:
    assert ": error[yaml-syntax]: this is not valid YAML: " in refused(str(ROOT / "LICENSE"))


def test_a_module_that_is_no_name() -> None:
    assert "'os; x' is not the name of a module" in refused("--import", "os; x")


def test_a_python_that_is_none() -> None:
    assert "error[no-python]: /no/such/python is not an executable Python\n" in refused("--python", "/no/such/python")
