"""Folders of ``sys.path`` in which modules are looked for."""

from __future__ import annotations

import time

from dispatch_cli.extract.python.modules import ModuleIndex
from dispatch_cli.extract.sources import Sources

COUNT = 500


def test_the_folders_of_the_nearest_file_count_first() -> None:
    files = ["p/a/use.py", "p/a/say.py", "p/b/say.py", "x/found.py", "y/found.py", "y/other.py"]
    index = ModuleIndex(files, Sources({}))
    index.search(["y"], "p/b/say.py")
    index.search(["x"], "p/a/say.py")
    assert index.absolute("x.found", "p/a/use.py") == "x/found.py"
    assert index._nearest_folders("p/a/use.py") == ["x", "y"]
    assert index._nearest_folders("p/b/use.py") == ["y", "x"]


def test_many_files_that_say_folders_take_linear_time() -> None:
    files = [f"d{number}/m.py" for number in range(COUNT)]
    index = ModuleIndex(files, Sources({}))
    start = time.process_time()
    for number, file in enumerate(files):
        index.search([f"d{number}", f"d{number * 7 % COUNT}"], file)
        for name in range(3):
            assert index.absolute(f"unknown{name}", file) is None
    assert time.process_time() - start < 1.5
