"""Errors stay where they happen: a widget goes on after one, and the application shows it."""

from __future__ import annotations

from textual.message import Message
from textual.message_pump import MessagePump


class Contained(MessagePump):
    """A widget, screen or application whose message handlers may fail without ending the program.

    The first of its base classes. textual ends the loop of messages of whatever fails, and then the program.
    """

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            self.app.failed(error, self)  # type: ignore[attr-defined]
