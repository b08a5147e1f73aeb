"""Settings for each file of a run: those of the project, then those of the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache

from dispatch_cli.extract.ignore import IgnoreList
from dispatch_cli.extract.settings import ReadSettings
from dispatch_cli.extract.walked import Exclusion
from dispatch_cli.files import paths
from dispatch_cli.model.condition import value
from dispatch_cli.model.source_settings import FileSettings, SourceSettings


def settings_of_files(places: Sequence[SourceSettings]) -> Callable[[str], ReadSettings]:
    """Make the function from a file's name to its settings. places: the weaker settings first."""
    settings: dict[tuple[int, ...], ReadSettings] = {}
    lists = [[(IgnoreList(file.globs), file) for file in place.files] for place in places]

    @cache  # it is asked for at each registration
    def read_settings(name: str) -> ReadSettings:
        chosen = tuple(
            number
            for number, (rules, folder) in enumerate(
                (rules, place.folder) for each, place in zip(lists, places, strict=True) for rules, _ in each
            )
            if _matches(rules, name, folder)
        )
        if chosen not in settings:
            settings[chosen] = _combined(places, chosen)
        return settings[chosen]

    return read_settings


def _combined(places: Sequence[SourceSettings], chosen: tuple[int, ...]) -> ReadSettings:
    """The settings of all files, and of those tables of files that are *chosen*, by their numbers."""
    steps: list[FileSettings] = []
    number = 0
    for place in places:
        steps.append(place.every)
        for file in place.files:
            if number in chosen:
                steps.append(file)
            number += 1
    defines: dict[str, tuple[str, str]] = {}
    undefines: dict[str, None] = {}
    values: dict[str, str] = {}
    for step in steps:
        for name in step.undefines:
            defines.pop(name, None)
            undefines[name] = None
        for macro, text in step.defines:
            name = macro.partition("(")[0]
            undefines.pop(name, None)
            defines[name] = macro, text
        values.update(step.values)
    known = _known(place.every for place in places)
    holds = {condition: value(condition, known) for step in steps for condition in step.when}
    when = tuple(condition for condition, decided in holds.items() if decided is None)
    is_built = False not in holds.values()
    return ReadSettings(tuple(defines.values()), frozenset(undefines), tuple(values.items()), when, is_built)


def _known(steps: Iterable[FileSettings]) -> dict[str, bool]:
    """Conditions on macros that the settings of all files decide."""
    known: dict[str, bool] = {}
    for step in steps:
        known.update({f"defined({name})": False for name in step.undefines})
        known.update({f"defined({macro.partition('(')[0]})": True for macro, _ in step.defines})
    return known


def exclusions(places: Sequence[SourceSettings]) -> list[Exclusion]:
    """Rules for files that are left out; a project's globs are not about files that are named."""
    return [Exclusion(item.folder, IgnoreList(item.exclude), item.folder is None) for item in places if item.exclude]


def _matches(rules: IgnoreList, name: str, folder: str | None) -> bool:
    parts = paths.parts(name, folder)
    return any(rules.decides(parts[:count], count < len(parts)) for count in range(1, len(parts) + 1))
