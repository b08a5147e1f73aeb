"""Running the probe where there is no PyTorch to speak of, and the command around it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dispatch_cli.capture import run
from dispatch_cli.cli import cli
from dispatch_cli.model.problem import InputError
from tests.capture.test_write import small_state
from tests.crossref.support import python_that_answers

POSIX = pytest.mark.skipif(os.name != "posix", reason="the stand-in for Python is a shell script")


@pytest.fixture
def torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a module that stands in for torch."""
    directory = tmp_path / "modules"
    directory.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(directory))
    return directory / "torch.py"


def problem_of(**arguments: object) -> tuple[str, str, str | None]:
    with pytest.raises(InputError) as caught:
        run.run_probe(sys.executable, **arguments)  # type: ignore[arg-type]
    (problem,) = caught.value.problems
    return problem.code, problem.message.replace(sys.executable, "PYTHON"), problem.hint


TORCH = "make `import torch` work in that Python, or give another one: --python PATH"
NO_IMPORT = "ModuleNotFoundError: No module named"
BROKEN = {
    "no torch": (
        "raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')",
        ("no-torch", "PYTHON: this Python has no PyTorch", "give a Python that has PyTorch: --python PATH"),
    ),
    "it fails": (
        "raise OSError('libcudart.so: cannot open\\nsecond line')",
        (
            "broken-torch",
            "PYTHON: PyTorch cannot be imported\nOSError: libcudart.so: cannot open\nsecond line",
            TORCH,
        ),
    ),
    "its own module is missing": (
        "import no_such_module",
        ("broken-torch", f"PYTHON: PyTorch cannot be imported\n{NO_IMPORT} 'no_such_module'", TORCH),
    ),
    "it exits": (
        "import sys; sys.exit(0)",
        ("broken-torch", "PYTHON: PyTorch cannot be imported\nSystemExit: 0", TORCH),
    ),
    "another module": ("", ("broken-torch", "PYTHON: the module named torch is not PyTorch", TORCH)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_torch_that_is_none(torch: Path, name: str) -> None:
    text, problem = BROKEN[name]
    torch.write_text(text)
    assert problem_of() == problem


def test_torch_of_another_shape(torch: Path) -> None:
    torch.write_text("__version__ = '1.0'\n_C = object()")
    code, message, _ = problem_of()
    assert code == "unknown-torch"
    assert message.startswith(
        "PYTHON: the answers of PyTorch 1.0 cannot be interpreted; the oldest supported version is 2.4\n"
    )


@POSIX
def test_torch_that_crashes(torch: Path) -> None:
    torch.write_text("import os, sys\nprint('last words', file=sys.stderr, flush=True)\nos.kill(os.getpid(), 9)")
    assert problem_of()[:2] == (
        "capture-failed",
        "PYTHON was ended by SIGKILL while its PyTorch was being queried\nlast words",
    )


def test_noise_is_bounded(torch: Path) -> None:
    torch.write_text("import os, sys\nsys.stderr.write('x' * 3_000_000 + '\\nend\\n')\nsys.stderr.flush()\nos._exit(9)")
    code, message, _ = problem_of()
    assert code == "capture-failed"
    assert message.startswith("PYTHON exited with 9 while its PyTorch was being queried\n")
    assert message.endswith("x\nend")
    assert len(message) < run.MAX_STDERR + 100


def test_a_python_that_is_none() -> None:
    with pytest.raises(InputError) as caught:
        run.run_probe("/no/such/python")
    (problem,) = caught.value.problems
    assert (problem.code, problem.message) == ("no-python", "/no/such/python is not an executable Python")


# The command. A shell script stands in for the Python that has PyTorch, and writes what it is given.


@pytest.fixture
def python(tmp_path: Path) -> str:
    """Answers with the small state, whatever it is asked to run."""
    return python_that_answers(small_state(), tmp_path)


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["capture", *arguments])


@POSIX
def test_standard_output_is_yaml_unless_told_otherwise(python: str, tmp_path: Path) -> None:
    plain = invoke("--python", python)
    assert plain.exit_code == 0
    assert plain.stderr == "warning: the operator 'x::\\ny' cannot be interpreted and is left out\n"
    as_json = invoke("--python", python, "--format", "json")
    for name, expected in (("a.yaml", plain.stdout), ("a.yml", plain.stdout), ("a.json", as_json.stdout)):
        assert invoke("--python", python, "-o", str(tmp_path / name)).stdout == ""
        assert (tmp_path / name).read_text(encoding="utf-8") == expected
    assert json.loads(as_json.stdout)["snapshot"] is True
    assert plain.stdout.startswith("# PyTorch 2.15.0+cu132")
