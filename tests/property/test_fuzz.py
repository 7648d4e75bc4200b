"""The fuzz targets hold on their seeds and mutations of them; scripts/fuzz runs them longer."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz import driver
from fuzz.targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_equals_its_oracle_on_mutated_inputs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "KEPT", tmp_path)
    result = driver.fuzz(name, seconds=300, seed=1, inputs=200)
    assert result["inputs"] == 200


def test_equal_seeds_give_equal_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "KEPT", tmp_path)
    taken: list[list[bytes]] = [[], []]
    for inputs in taken:
        monkeypatch.setitem(TARGETS, "index", inputs.append)
        driver.fuzz("index", seconds=300, seed=3, inputs=50)
    assert taken[0] == taken[1]
