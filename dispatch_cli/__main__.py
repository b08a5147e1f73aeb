"""``dispatch-cli`` and ``python -m dispatch_cli``: an interrupt is quiet from the first import on."""

from __future__ import annotations

import sys

EXIT_INTERRUPTED = 130


def run() -> None:
    """Run the command line and exit."""
    try:
        from dispatch_cli.cli import main

        main()
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    run()
