"""Write the reference of the format into the README.

usage: python -m tests.write_reference
"""

from __future__ import annotations

from pathlib import Path

from dispatch_cli.declarations.reference import reference_markdown

README = Path(__file__).parents[1] / "README.md"
START, END = "<!-- reference -->\n", "<!-- /reference -->\n"


def with_reference(readme: str) -> str:
    """The README with the reference as it is now."""
    head, _, rest = readme.partition(START)
    _, _, tail = rest.partition(END)
    return f"{head}{START}\n{reference_markdown()}\n{END}{tail}"


if __name__ == "__main__":
    README.write_text(with_reference(README.read_text(encoding="utf-8")), encoding="utf-8")
