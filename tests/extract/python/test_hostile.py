"""Python that is small and asks for very much: all work is paid for, and where the budget ends, that is said."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from dispatch_cli.extract import work
from dispatch_cli.extract.python.reading import extract_python
from dispatch_cli.extract.sources import Sources
from dispatch_cli.model.declarations import NotUnderstood
from dispatch_cli.model.sources.extracted import CustomOperator, ExtractedDefinition, Extraction, SourceKind
from tests.ends import counted
from tests.fuzz.hostile import HEAD, OPERATOR, PYTHON

OF_REPORT = list(PYTHON)[:4]
LOOPS = "for i in range(1000):\n    for j in range(1000):\n        for k in range(1000):\n            x = i\n"


def read_files(folder: Path, files: dict[str, str]) -> Extraction:
    """Extraction of files below a folder."""
    for name, text in files.items():
        (folder / name).write_text(dedent(text), encoding="utf-8")
    return extract_python(Sources({SourceKind.PYTHON: [str(folder / name) for name in files]}))


def read_text(folder: Path, text: str) -> Extraction:
    return read_files(folder, {"ops.py": text})


def read(folder: Path, name: str, count: int) -> tuple[Extraction, Sources]:
    """A kind of that size, read."""
    files = PYTHON[name].files(count)
    for file, text in files.items():
        path = folder / str(count) / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    sources = Sources({SourceKind.PYTHON: tuple(str(folder / str(count) / file) for file in files)})
    return extract_python(sources), sources


def schemas(found: Extraction) -> list[str | None]:
    return [item.schema for item in found.items if isinstance(item, ExtractedDefinition)]


def bounds(found: Extraction) -> list[NotUnderstood]:
    return [gap for gap in found.not_understood if gap.bound]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Budgets of files that are soon spent."""
    monkeypatch.setattr(work, "FILE_UNITS", 20_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", PYTHON)
@pytest.mark.usefixtures("small")
def test_all_work_is_paid_for(name: str, tmp_path: Path) -> None:
    """With a small budget, no more is done than it pays for; work in C is no line."""
    kind = PYTHON[name]
    with counted() as steps:
        extraction, sources = read(tmp_path, name, max(kind.size >> 4, min(kind.size, 40)))
    units = sum(sources.work.spent.values())
    size = sum(Path(file).stat().st_size for file in sources.files[SourceKind.PYTHON])
    assert steps[0] <= 40 * units + 20 * size + 50_000
    for bound in bounds(extraction):
        lines = Path(bound.at.file).read_bytes().count(b"\n") + 1
        assert 1 <= bound.at.line <= lines


@pytest.mark.parametrize("name", OF_REPORT)
def test_what_doubles_with_each_line_is_read_to_the_end(name: str, tmp_path: Path) -> None:
    size = PYTHON[name].size
    units = []
    for count in (size, 2 * size, 4 * size):
        extraction, sources = read(tmp_path, name, count)
        assert schemas(extraction) == ["my::a(Tensor x) -> Tensor"]
        assert not extraction.not_understood
        units += sources.work.spent.values()
    # each value, and each class, is looked at with all that it is made of: a square, and no power of two
    assert units[2] - units[1] <= 5 * (units[1] - units[0]), units


@pytest.mark.usefixtures("small")
def test_the_rest_of_the_run_goes_on_and_the_place_is_said(tmp_path: Path) -> None:
    extraction = read_files(
        tmp_path, {"a.py": f"{HEAD}{OPERATOR}{LOOPS}lib.define('c() -> ()')\n", "b.py": HEAD + OPERATOR}
    )
    assert schemas(extraction) == ["my::a(Tensor x) -> Tensor"] * 2
    (end,) = bounds(extraction)
    assert (Path(end.at.file).name, end.at.line, end.at.column) == ("a.py", 8, 13)
    assert end.text == "x = i"
    assert "takes more than" in end.why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"x = [{'a,' * 250_001}]\n", "the file has too many expressions"),
        (f"x = 0{' + 1' * 60_000}\n", "its statements or expressions are nested too deeply"),
        (f"import a{'.a' * 1001}\n", "a name in an import has more than 1000 parts"),
        (
            f"import a{'.' + chr(92) + chr(10) + 'a' * 1001}{'.a' * 1001}\n",
            "a name in an import has more than 1000 parts",
        ),
    ],
)
def test_a_file_that_is_too_large_is_a_bound(text: str, why: str, tmp_path: Path) -> None:
    extraction = read_text(tmp_path, f"{HEAD}{text}")
    assert [bound.why for bound in bounds(extraction)] == [why]


def test_a_file_with_a_large_table_is_read_without_it(tmp_path: Path) -> None:
    table = "+1, -2.5e-3,\n" * 100_000
    extraction = read_text(tmp_path, f"{HEAD}x = [{table}]\n{OPERATOR}")
    assert not extraction.not_understood
    assert schemas(extraction) == ["my::a(Tensor x) -> Tensor"]
    assert extraction.items[-1].at.line > 100_000


@pytest.mark.parametrize("name", ['f"f{y}() -> ()"', "str(y)", '"{}".format(y)', "repr(-y)", 'f"{y!r}"'])
def test_numbers_that_python_does_not_print_are_not_known(tmp_path: Path, name: str) -> None:
    extraction = read_text(tmp_path, f"{HEAD}y = 0x{'f' * 5000}\nlib.define({name})\n{OPERATOR}")
    assert "my::a(Tensor x) -> Tensor" in schemas(extraction)
    assert len(schemas(extraction)) + len(extraction.not_understood) >= 2


def test_statements_that_nest_too_deeply_are_a_bound_where_they_register(tmp_path: Path) -> None:
    branches = "".join(f"elif a == {number}:\n    {{}}\n" for number in range(150))
    extraction = read_text(
        tmp_path, HEAD + "from b import a\nif a: pass\n" + branches.replace("{}", "lib.define('x() -> ()')")
    )
    (end,) = bounds(extraction)
    assert (end.at.line, "nest more than 100 deep" in end.why) == (203, True)
    assert not bounds(read_text(tmp_path, HEAD + "from b import a\nif a: pass\n" + branches.replace("{}", "x = 1")))


def test_the_body_of_a_large_function_is_read(tmp_path: Path) -> None:
    body = "".join(f"            y{number} = x.sin()\n" for number in range(60))
    extraction = read_text(
        tmp_path,
        f"""\
        import torch
        @torch.library.custom_op("ns::fill", mutates_args=())
        def fill(x: torch.Tensor) -> None:
{body}            x.zero_()
        """,
    )
    (operator,) = extraction.items
    assert isinstance(operator, CustomOperator) and operator.body is not None
    assert [(use.argument, use.at.line) for use in operator.body.writes] == [("x", 64)]


def test_files_that_are_not_python_are_said(tmp_path: Path) -> None:
    extraction = read_files(
        tmp_path,
        {
            "broken.py": "import torch.library\ndef (:\n",
            "zero.py": "torch.library\0",
            "deep.py": "torch.library" + "()" * 200_000,
            "long.py": "torch.library\n" * 300_000,
            "good.py": "import torch\ntorch.library.define('ns::f', '() -> ()')\n",
        },
    )
    assert [(Path(gap.at.file).name, gap.bound) for gap in extraction.not_understood] == [
        ("broken.py", False),
        ("zero.py", False),
        ("deep.py", True),
        ("long.py", True),
    ]
    assert schemas(extraction) == ["ns::f() -> ()"]
