"""``python -m dispatch_cli`` is ``dispatch-cli``."""

from dispatch_cli.cli import main

main()
