"""Run a recorded program, in which the logging kernels also write down by themselves what they see.

usage: PYTHON driver.py LIBRARY LOG PROGRAM   (with the Python that has PyTorch, and the variables of the recorder)

LIBRARY: the recorder, built for that PyTorch. LOG: the file that they write.
"""

import ctypes
import os
import runpy
import sys
from pathlib import Path


def main() -> None:
    _, library_file, log, program = sys.argv
    library = ctypes.PyDLL(library_file, mode=os.RTLD_NOW)
    if not library.kernel_log_file(log.encode()):
        raise SystemExit(f"{log} cannot be written")
    sys.argv[:] = [program]
    sys.path[0] = str(Path(program).parent)
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()
