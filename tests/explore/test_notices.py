"""Notices that are shown for a while at the bottom of the screen."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets._toast import Toast

from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.session import Session
from tests.explore.support import drive, newest, screen_text, until

WORDS = " ".join(f"word{number}" for number in range(100))


@pytest.mark.slow
@pytest.mark.parametrize("width", [41, 120])
def test_a_notice_is_there_to_its_last_letter(width: int) -> None:
    """Also where its text is about as long as the terminal is wide, or twice as long."""

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        cut = []
        for length in (*range(width - 8, width + 4), *range(2 * width - 12, 2 * width + 2)):
            app.clear_notifications()
            await until(pilot, lambda: not app.query(Toast))
            app.notify(WORDS[:length], title="Title", timeout=60)
            await until(pilot, lambda: app.query(Toast) and app.query_one(Toast).region)
            at = app.query_one(Toast).region
            rows = screen_text(app).splitlines()[at.y : at.bottom]
            shown = "".join(row[at.x + 1 : at.right] for row in rows)
            if shown.replace(" ", "") != f"Title{WORDS[:length]}".replace(" ", ""):
                cut.append((length, shown))
        assert not cut

    drive(Session(newest(), ()), steps, (width, 24))
