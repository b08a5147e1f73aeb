"""``dispatch-cli`` and ``python -m dispatch_cli``: an interrupt is quiet from here on, and ends with 130.

Before that, Python itself starts: while it imports its module `site`, and `runpy` for ``-m``, an interrupt ends it with
"Fatal Python error" and 1, whatever the program is.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

EXIT_INTERRUPTED = 130


def run() -> None:
    """Run the command line and exit."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    from dispatch_cli.cli import main

    try:
        if signal.getsignal(signal.SIGINT) is _end:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        main()
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


def _end(*_: object) -> NoReturn:
    """End at once: an exception would be swallowed where Python imports modules, and nothing is written yet."""
    os._exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    run()
