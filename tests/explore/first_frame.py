"""Runs the explorer without a terminal until its first frame, and prints what it imported of the package."""

from __future__ import annotations

import sys

from dispatch_cli.api import load_state
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.session import Session


class Started(ExploreApp):
    def on_ready(self) -> None:
        print(*(name for name in sys.modules if name.startswith("dispatch_cli.")), file=sys.__stdout__)
        self.exit()


if __name__ == "__main__":
    app = Started(Session(load_state((), bases=("torch-2.15",)), ("--base", "torch-2.15")))
    app.run(headless=True, size=(120, 40))
    sys.exit(app.return_code)
