"""Inputs and outputs in Google Cloud Storage: gcsfs against an emulator on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import jogak
from fakes.corpus import write_corpus
from fakes.killed_run import contents
from jogak.errors import ConfigError
from jogak.run import run
from jogak.store import CLAIM, Store
from jogak.verify import verify

gcsfs = pytest.importorskip("gcsfs", reason="gcsfs is not installed (pip install 'jogak[gs]')")
emulator = pytest.importorskip(
    "gcp_storage_emulator.server", reason="pip install gcp-storage-emulator for these tests"
)


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An empty bucket on loopback, to which the environment leads."""
    server = emulator.create_server("localhost", 0, in_memory=True, default_bucket="corpus")
    server.start()
    port = server._api._httpd.server_port
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://localhost:{port}")
    # Whether a bucket is of the kind with folders is asked of a service that is not emulated.
    monkeypatch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    gcsfs.GCSFileSystem.clear_instance_cache()
    yield "gs://corpus"
    gcsfs.GCSFileSystem.clear_instance_cache()
    server.stop()


def test_inputs_and_output_in_google_storage_give_the_bytes_of_a_disk(
    bucket: str, tmp_path: Path
) -> None:
    job: dict[str, Any] = write_corpus(tmp_path / "data", documents=60)
    run({**job, "output": str(tmp_path / "local")}, workers=1, progress=False)
    store = Store(bucket)
    for path in sorted((tmp_path / "data").rglob("*")):
        if path.is_file():
            store.put(path, f"data/{path.relative_to(tmp_path / 'data')}")
    sources = [
        {**source, "path": source["path"].replace(str(tmp_path / "data"), f"{bucket}/data")}
        for source in job["read"]["sources"]
    ]
    remote = {**job, "read": {"sources": sources}, "output": f"{bucket}/out"}
    remote["work"] = str(tmp_path / "work")
    run(remote, workers=1, progress=False)
    out = Store(f"{bucket}/out")
    assert store.names("out")[f"out/{CLAIM}"] > 0
    report = verify(out.url, decode=20, show=False)
    assert (report.faults, report.decoded) == ((), 20)
    expected = jogak.open_tokens(tmp_path / "local")
    assert [ids.tolist() for ids in jogak.open_tokens(out.url)] == [
        ids.tolist() for ids in expected
    ]
    before = {name: size for name, size in out.names().items() if name != "timings.json"}
    out.delete("tokens/shard-00001.json", "tokens/shard-00002.bin")
    remote["work"] = str(tmp_path / "other machine")
    run(remote, workers=1, progress=False)
    after = out.names()
    assert {name: after[name] for name in before} == before
    for name in before:
        out.get(name, tmp_path / "copy" / name)
    mine = {name: sha for name, sha in contents(tmp_path / "copy").items() if ".bin" in name}
    theirs = {name: sha for name, sha in contents(tmp_path / "local").items() if ".bin" in name}
    assert mine == theirs
    with pytest.raises(ConfigError, match=r"normalize\.form"):
        run({**remote, "normalize": {"form": "nfkc"}}, workers=1, progress=False)


def test_an_object_is_created_once(bucket: str) -> None:
    store = Store(f"{bucket}/out")
    assert store.create("a", b"1")
    assert not store.create("a", b"2")
    assert store.read("a") == b"1"
    assert store.read("b") is None
