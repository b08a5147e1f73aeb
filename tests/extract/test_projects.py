"""Extraction from the sources of real projects finds what their builds register, at the right places.

Skipped unless ``DISPATCH_CLI_SOURCES`` names the folder with the sources and recordings (`tests.extract.projects`).
"""

from __future__ import annotations

import pytest

from dispatch_cli.audit import audit
from tests.extract.projects.compare import compare, compare_tables
from tests.extract.projects.live import load_live, rows_of
from tests.extract.projects.project import PROJECTS, VARIABLE, Project, available, extract, sources_of, unpacked

NO_REGISTRATIONS = {
    "pytorch-2.6.0": {
        "torch/csrc/jit/tensorexpr/tensorexpr_init.cpp",
        "torch/csrc/lazy/ts_backend/ts_eager_fallback.cpp",
        "torch/csrc/utils/python_dispatch.cpp",
    },
    "torchvision-0.21.0": {"gallery/transforms/plot_custom_tv_tensors.py"},
}
"""Files in which the audit finds what looks like a registration: a call of TorchScript's, a fallback that a function
registers, bindings of ``torch.library`` itself, and torchvision's own transforms.
"""

UNKNOWN_SCHEMAS = {"profiler::_record_function_exit._RecordFunction"}
"""Operators whose definition leaves the schema to the C++ function, which takes an object of a TorchScript class."""


@pytest.mark.skipif(available() is None, reason=f"{VARIABLE} names no folder with sources")
@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.name)
def test_every_live_registration_is_found(project: Project) -> None:
    archives = available()
    assert archives is not None
    with unpacked(project) as root:
        sources = sources_of(project, root)
        extractions = extract(project, sources)
        live = load_live(archives, project)
        result = compare(live, rows_of(extractions), root, project.python)
        accounted = frozenset().union(*(extraction.accounted for extraction in extractions))
        files = [name for names in sources.files.values() for name in names]
        left = {place.at.file.removeprefix(f"{root}/") for place in audit(files, sources.read, accounted)}
    tables = compare_tables(project, extractions, live)
    assert result.live > 0
    assert tables.slots > 1000
    assert tables.different == []
    assert result.missing == []
    assert result.misplaced == []
    assert result.unconditional == []
    assert result.not_boxed == []
    assert result.missing_definitions == []
    assert [
        name for name, _, found in result.different if any(difference.schema is not None for difference in found)
    ] == []
    assert {name for name, *_ in result.different} <= UNKNOWN_SCHEMAS
    assert result.extra_definitions == []
    assert left <= NO_REGISTRATIONS.get(project.name, set())
