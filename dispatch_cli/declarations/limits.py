"""How much of a declaration file is read before it is refused: files come from anywhere."""

from __future__ import annotations

MAX_BYTES = 64 << 20
"""Bytes of one file, after decompression. All operators of PyTorch 2.15 are a tenth of that."""

MAX_PROJECT_BYTES = 4 << 20
"""Bytes of a project file."""

MAX_SCALAR = 1 << 20
"""Characters of one piece of text."""

MAX_NODES = 3_000_000
"""Texts, lists and mappings of one file; those behind an alias count each time they are used."""

MAX_DEPTH = 64
"""How deep lists and mappings may stand in each other; the format itself needs nine."""

MAX_FILES = 1_000
"""Files of one run, those reached through `extends` included."""

MAX_EXTENDS = 64
"""How long a chain of files that extend each other may be."""

MAX_PROBLEMS = 100
"""Problems that are reported of one file; the rest is counted."""

MAX_QUOTED = 60
"""Characters of a text that a message quotes."""
