"""Coverage against brute force: ``python -m tests.engine.coverage PYTHON...``.

Each PYTHON has a PyTorch of which an embedded state is made.
"""

from __future__ import annotations

import subprocess
import sys

from dispatch_cli import api
from tests.engine.coverage.compare import compare, said_by


def main() -> None:
    for python in sys.argv[1:]:
        ask = "import torch; print(torch.__version__)"
        version = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout.strip()
        name = f"torch-{'.'.join(version.split('.')[:2])}"
        report = compare(api.load_state((), bases=(name,)).dispatcher, said_by(python))
        known = sorted({operator for _, operator in report.known})
        print(
            f"{version}: {report.operators} answers, {len(report.different)} different, {len(report.known)} by kernel"
        )
        print(f"  by kernel: {' '.join(known)}")
        for difference in report.different[:20]:
            print("  ", *difference)


if __name__ == "__main__":
    main()
