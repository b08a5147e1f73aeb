"""Keys, names, key sets and thread-local state against what live dispatchers answered."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.bindings import Bindings
from tests.support import UNIVERSE_OF, load_recording


@pytest.fixture(scope="module", params=list(UNIVERSE_OF))
def case(request: pytest.FixtureRequest) -> tuple[Bindings, dict[str, Any]]:
    recorded = load_recording(f"{request.param}.state")["universe"]
    return Bindings(universes.load(UNIVERSE_OF[request.param])), recorded


@pytest.fixture
def bindings() -> Bindings:
    return Bindings(universes.load("torch-2.15"))


def names(keyset: Any) -> list[str]:
    return re.findall(r"\w+", str(keyset).split("(", 1)[1])


def test_names_and_numbers(case: tuple[Bindings, dict[str, Any]]) -> None:
    bindings, recorded = case
    numbers = {name: int(getattr(bindings.DispatchKey, name)) for name in recorded["ids"]}
    assert numbers == recorded["ids"]
    for name, number in recorded["ids"].items():
        key = bindings.DispatchKey(number)
        assert (key.name, bindings._dispatch_key_name(key), repr(key)) == (
            name,
            name,
            f"<DispatchKey.{name}: {number}>",
        )
    assert [name for name in recorded["ids"] if bindings._parse_dispatch_key(name)] == recorded["parseable"]
    for name in set(recorded["ids"]) - set(recorded["parseable"]):
        with pytest.raises(RuntimeError, match=f"^could not parse dispatch key: {name}$"):
            bindings._dispatch_key_parse(name)


def test_keys_of_two_universes_do_not_mix(bindings: Bindings) -> None:
    other = Bindings(universes.load("torch-2.4"))
    with pytest.raises(TypeError):
        bindings._dispatch_key_name(other.DispatchKey.CPU)
    with pytest.raises(TypeError):
        bindings.DispatchKeySet("CPU") | other.DispatchKeySet("CPU")


def raw_state(bindings: Bindings) -> tuple[str, str]:
    return (
        f"{bindings._dispatch_tls_local_include_set().raw_repr():x}",
        f"{bindings._dispatch_tls_local_exclude_set().raw_repr():x}",
    )


def test_every_thread_has_a_state_of_its_own(bindings: Bindings) -> None:
    seen = []
    with bindings._AutoDispatchBelowAutograd():
        thread = threading.Thread(target=lambda: seen.append(raw_state(bindings)))
        thread.start()
        thread.join()
    assert seen == [("404000000", "1ff8000000000")]
