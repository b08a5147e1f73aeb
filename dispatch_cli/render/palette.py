"""The colours of tones where there are no terminal's: in light and in dark surroundings."""

from __future__ import annotations

LIGHT = {
    "text": "#1f2328",
    "page": "#fff",
    "line": "#d1d9e0",
    "stripe": "#f6f8fa",
    "kernel": "#116329",
    "alias": "#1b6c8a",
    "fallback": "#0550ae",
    "warn": "#855000",
    "bad": "#b31d28",
    "dim": "#59636e",
}
DARK = {
    "text": "#e6edf3",
    "page": "#0d1117",
    "line": "#30363d",
    "stripe": "#161b22",
    "kernel": "#56d364",
    "alias": "#76d9e6",
    "fallback": "#79c0ff",
    "warn": "#e3b341",
    "bad": "#ff8a80",
    "dim": "#9198a1",
}
