"""Build the judge's library for the PyTorch of this Python.

usage: PYTHON build_library.py BUILD FOLDER

BUILD: the script that builds the recorder. FOLDER: where the library is made.
"""

import importlib.util
import sys
from pathlib import Path


def main() -> None:
    spec = importlib.util.spec_from_file_location("build", sys.argv[1])
    assert spec is not None and spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    build.SOURCE = Path(__file__).with_name("judge.cpp")
    build.library_for(build.torch_folder(), Path(sys.argv[2]), None)


if __name__ == "__main__":
    main()
