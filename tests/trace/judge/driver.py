"""Run a program with the recorder, and with logging kernels that write down by themselves what they see.

usage: PYTHON driver.py LIBRARY LOG RECORDER OPTIONS PROGRAM   (with the Python that has PyTorch)

LIBRARY: the recorder, built for that PyTorch. LOG: the file that they write.
"""

import ctypes
import importlib.util
import os
import sys


def main() -> None:
    _, library_file, log, recorder_file, *words = sys.argv
    library = ctypes.PyDLL(library_file, mode=os.RTLD_NOW)
    if not library.kernel_log_file(log.encode()):
        raise SystemExit(f"{log} cannot be written")
    sys.argv[:] = [recorder_file, *words]
    spec = importlib.util.spec_from_file_location("recorder", recorder_file)
    assert spec is not None and spec.loader is not None
    recorder = importlib.util.module_from_spec(spec)
    sys.modules["recorder"] = recorder
    spec.loader.exec_module(recorder)
    recorder.main()


if __name__ == "__main__":
    main()
