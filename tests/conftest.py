"""Settings and fixtures for all tests."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest

from tests import in_pytorch
from tests.cli import forked
from tests.cli.support import COLOR_VARIABLES, ROOT
from tests.once import FOLDER

QUICK = "DISPATCH_CLI_TESTS_QUICK"
"""The variable that has all processes of a run leave out slow tests."""
COLLECTED = "DISPATCH_CLI_TESTS_COLLECTED"
"""The variable that names a folder in which `.ci/run` finds the tests that a run has, and all that there are."""
MARKERS = ("live", "slow")


def pytest_configure(config: pytest.Config) -> None:
    """Signals are as in a terminal: a shell ignores SIGINT for what it starts in the background, nohup SIGHUP."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    cache = _folder("dispatch-cli-cache-")
    for variable in ("DISPATCH_CLI_CACHE_DIR", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        os.environ[variable] = cache  # not that of who runs the tests
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # else each process that compiles starts others
    os.environ["TORCHINDUCTOR_VEC_ISA_OK"] = "0"  # else it compiles a program for each set of vector instructions
    os.environ["TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS"] = "0"  # they would be for the one kernel of a test
    if not hasattr(config, "workerinput"):  # the workers of pytest-xdist have it from the process that starts them
        os.environ[FOLDER] = _folder("dispatch-cli-once-")

    if not hasattr(config, "workerinput") and _is_quick(config):
        os.environ[QUICK] = "1"


def _is_quick(config: pytest.Config) -> bool:
    """True if no test is named: by path, by ``-k`` or by ``-m``."""
    named = config.option.keyword or config.option.markexpr
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS and not named


def _folder(prefix: str) -> str:
    """A new folder, which does not outlive this process."""
    folder = tempfile.mkdtemp(prefix=prefix)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave slow tests out of the quick suite, and those in a browser; `.ci/run` finds files by a text in them."""
    for marker in MARKERS:
        for file in {item.path for item in items if item.get_closest_marker(marker)}:
            if f"mark.{marker}" not in file.read_text(encoding="utf-8"):
                raise pytest.UsageError(f"{file} must name the marker of its tests: pytest.mark.{marker}")
    if QUICK in os.environ:
        _list_tests("all", items)
        slow = {item for item in items if item.get_closest_marker("slow") or item.get_closest_marker("browser")}
        config.hook.pytest_deselected(items=[*slow])
        items[:] = [item for item in items if item not in slow]


def _list_tests(name: str, items: list[pytest.Item]) -> None:
    if COLLECTED in os.environ:
        folder = Path(os.environ[COLLECTED])
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.{os.getpid()}").write_text("".join(f"{item.nodeid}\n" for item in items), encoding="utf-8")


def pytest_collection_finish(session: pytest.Session) -> None:
    """The collector of garbage need not look at the modules and tests again and again, and comes less often."""
    _list_tests("run", session.items)
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests run at the project's root, in an environment that says nothing about colour."""
    monkeypatch.chdir(ROOT)
    for name in COLOR_VARIABLES:
        monkeypatch.delenv(name, raising=False)


def pytest_unconfigure() -> None:
    """Nothing that tests share outlives them."""
    forked.stop()
    in_pytorch.stop()
