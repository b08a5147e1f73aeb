"""Extraction from the sources of real projects, compared with what their builds register in a live PyTorch.

The sources and recordings are not part of this repository: the environment variable ``DISPATCH_CLI_SOURCES`` names a
folder with ``NAME.src.tar.xz`` (C++ and Python files) and ``NAME.live.json.xz``: {"torch": version, "note": text,
"definitions": {operator: {"schema": …, "debug": …}}, "registrations": [[operator, key, inactive, debug, signature]]}.

``python -m tests.extract.projects [NAME…] [--unpacked FOLDER]`` prints the table.
"""
