"""Work that takes long, in a thread of its own, so that keys are never blocked.

It must not touch what the application uses: it gets a state of its own (`snapshot`). A thread ends at its next step
when other work has taken its place or its view is gone, and never keeps the program from ending.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from textual.message_pump import MessagePump

if TYPE_CHECKING:
    from dispatch_cli.engine.state import State
    from dispatch_cli.model.declarations import Declarations

Result = TypeVar("Result")
Step = Callable[[str], None]
"""Told of each step of the work, in a few words."""


class Stopped(Exception):
    """The work is not needed any more."""


class Background:
    """The one piece of work that a view is waiting for.

    view: in whose loop of messages the functions are called that take results.
    """

    def __init__(self, view: MessagePump) -> None:
        self._view = view
        self._number = 0
        self.busy = False

    def start(
        self,
        work: Callable[[Step], Result],
        done: Callable[[Result], object],
        failed: Callable[[Exception], object],
        report: Callable[[str], object] = lambda _: None,
    ) -> None:
        """Work in a thread, in the place of earlier work.

        done, failed: get the result, or the error. report: gets the text of each step.
        """
        self._number += 1
        number, self.busy = self._number, True

        def step(text: str) -> None:
            if number != self._number or not self._view.call_later(self._take, number, True, report, text):
                raise Stopped

        def run() -> None:
            try:
                result = work(step)
            except Stopped:
                return
            except Exception as error:  # the view shows it
                self._view.call_later(self._take, number, False, failed, error)
            else:
                self._view.call_later(self._take, number, False, done, result)

        threading.Thread(target=run, name="dispatch-cli explore", daemon=True).start()

    def stop(self) -> None:
        """Drop the work under way: its result is not needed any more."""
        self._number += 1
        self.busy = False

    def _take(self, number: int, busy: bool, take: Callable[[Result], object], result: Result) -> None:
        """Pass on what the current work has found. busy: it goes on."""
        if number == self._number:
            self.busy = busy
            take(result)


def snapshot(state: State, guarded: Declarations | None = None) -> State:
    """The same state, computed anew. guarded: declarations about checks, guards included; None for its own."""
    from dispatch_cli.engine.history import run  # the first frame does not need it

    declarations = state.declarations
    if guarded is not None:
        declarations = declarations._replace(
            guards=guarded.guards,
            promises=guarded.promises,
            suppressions=guarded.suppressions,
            files=guarded.files,
        )
    copy = run(declarations, state.source)
    copy.variants = state.variants
    copy.start_as(state)
    return copy
