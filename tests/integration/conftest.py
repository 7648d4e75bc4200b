"""Fixtures for an S3 server; modules that use them skip where s3fs or moto is absent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from jogak.plan import storage

if TYPE_CHECKING:
    from fakes.object_store import Server


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """An S3 server on loopback."""
    import s3fs

    from fakes.object_store import serving

    with serving(monkeypatch) as running:
        s3fs.S3FileSystem.clear_instance_cache()
        yield running
        s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts without pauses; those of s3fs itself left out."""
    import s3fs.core

    monkeypatch.setattr(storage, "FIRST_WAIT_S", 0.0)
    monkeypatch.setattr(s3fs.core, "S3_RETRYABLE_ERRORS", ())
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
