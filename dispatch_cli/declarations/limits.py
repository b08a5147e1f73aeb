"""Limits beyond which a declaration file is refused, beside the budget that all readers have."""

from __future__ import annotations

MAX_PROJECT_BYTES = 1 << 19
"""Bytes of a project file; its parser is slow, and real ones have a few thousand."""

MAX_PROJECT_ENTRIES = 1_000
"""Entries of one list, text or table of the settings in a project file."""

MAX_KERNELS = 1_000
"""Kernels at one key of one operator in one place; in PyTorch there are at most a few."""

MAX_DEPTH = 64
"""Greatest depth of lists and mappings in each other; the format itself needs nine."""

MAX_FILES = 1_000
"""Files of one run, those reached through `extends` included."""

MAX_EXTENDS = 64
"""Greatest length of a chain of files that extend each other."""

MAX_PROBLEMS = 100
"""Problems that are reported of one file; the rest is counted."""

MAX_QUOTED = 60
"""Characters of a text that a message quotes."""
