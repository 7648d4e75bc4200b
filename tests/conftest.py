"""Fixtures that every test may use."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]

# How long an example takes says nothing on a busy machine, or under sanitizers.
settings.register_profile("jogak", deadline=None)
settings.load_profile("jogak")


# A shell that runs the tests in the background has them ignore Ctrl-C, which some of them raise.
signal.signal(signal.SIGINT, signal.default_int_handler)


def find_shared() -> Path | None:
    """Return the folder of measuring texts beside the checkout, if it is there."""
    for parent in ROOT.parents:
        candidate = parent / "shared"
        if (candidate / "data").is_dir() and (candidate / "tokenizers").is_dir():
            return candidate
    return None


@pytest.fixture(scope="session")
def shared() -> Path:
    """The measuring texts: skipped where absent, required in CI."""
    found = find_shared()
    if found is not None:
        return found
    if os.environ.get("CI"):
        pytest.fail("CI must run with the measuring texts (../shared)")
    pytest.skip("the measuring texts (../shared) are not beside this checkout")
