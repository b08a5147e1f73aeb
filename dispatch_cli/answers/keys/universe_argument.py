"""Name of the universe of a state in the arguments of ``keys``."""

from __future__ import annotations

from itertools import pairwise

from dispatch_cli.engine.history.state import State
from dispatch_cli.trace.recording import is_recording


def universe_argument(state: State, arguments: tuple[str, ...]) -> str:
    """The universe as the arguments that load a state name it; else the file that has it, or its name."""
    given = [text for option, text in pairwise(arguments) if option == "--universe"]
    recordings = (text for option, text in pairwise(arguments) if option == "--base" and is_recording(text))
    files = (file for file in (*given, state.declarations.universe_file) if file is not None)
    return next(files, None) or next(recordings, state.dispatcher.universe.name)
