"""Outputs in an object store: the bytes of a local output, put whole, gone on with after a kill."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from typer.testing import CliRunner

import jogak
from fakes.corpus import write_corpus
from fakes.killed_run import contents
from jogak.cli import app
from jogak.errors import ConfigError, ShardError
from jogak.export import export
from jogak.run import report_output, run, run_stage
from jogak.store import CLAIM, Store
from jogak.verify import verify

pytest.importorskip("s3fs", reason="s3fs is not installed (pip install 'jogak[s3]')")
pytest.importorskip("moto.server", reason="moto is not installed (pip install 'moto[server]')")

from fakes.object_store import BUCKET, Server


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("corpus")
    job = write_corpus(folder / "data", documents=60)
    return {**job, "output": str(folder / "local")}


@pytest.fixture(scope="module")
def local(job: dict[str, Any]) -> dict[str, str]:
    """The checksums of the same job's output on a disk."""
    run(job, workers=1, progress=False)
    found = contents(Path(job["output"]))
    assert len([name for name in found if name.endswith(".bin")]) > 3
    return found


def in_store(url: str, folder: Path) -> dict[str, str]:
    """Download an output; return its checksums, but of what a store alone has."""
    shutil.rmtree(folder, ignore_errors=True)
    store = Store(url)
    for name in store.names():
        store.get(name, folder / name)
    found = contents(folder)
    found.pop(CLAIM, None)
    return found


PROGRAM = "import sys, json, jogak; jogak.run(json.load(open(sys.argv[1])), workers=1)"
"""Runs the job in a file, in a process of its own."""
PLACES = {
    "s3": "s3://{bucket}/out/ko",
    "memory": "memory://jogak-test/out",
    "file": "file://{folder}/stored/out",
}


@pytest.fixture(params=PLACES)
def url(request: pytest.FixtureRequest, server: Server, tmp_path: Path) -> Iterator[str]:
    assert server.url
    yield PLACES[request.param].format(bucket=BUCKET, folder=tmp_path)
    memory = fsspec.filesystem("memory")
    if memory.exists("/jogak-test"):
        memory.rm("/jogak-test", recursive=True)


def test_the_output_in_a_store_is_that_on_a_disk(
    url: str, job: dict[str, Any], local: dict[str, str], tmp_path: Path
) -> None:
    remote = {**job, "output": url, "work": str(tmp_path / "work")}
    run(remote, workers=1, progress=False)
    assert in_store(url, tmp_path / "copy") == local
    left = sorted(path.name for path in (tmp_path / "work/tokens").iterdir())
    assert left == []
    report = verify(url, decode=20, show=False)
    assert (report.faults, report.decoded, report.path) == ((), 20, url)
    tokens, expected = jogak.open_tokens(url), jogak.open_tokens(job["output"])
    assert len(tokens) == len(expected)
    assert [ids.tolist() for ids in tokens] == [ids.tolist() for ids in expected]
    assert report_output(url).to_json() == expected.manifest.to_json()
    done = export(url, "numpy", tmp_path / "numpy", show=False)
    assert done.tokens == expected.tokens
    with pytest.raises(ConfigError, match="exported to a folder of yours; name one"):
        export(url, "numpy", show=False)
    # Run again from an empty folder, nothing is made anew.
    shutil.rmtree(tmp_path / "work")
    run(remote, workers=1, progress=False)
    assert in_store(url, tmp_path / "copy") == local
    assert not list((tmp_path / "work/counts").glob("unit-*"))


def test_commands_take_the_url(server: Server, job: dict[str, Any], tmp_path: Path) -> None:
    url = f"s3://{BUCKET}/out"
    run({**job, "output": url, "work": str(tmp_path / "work")}, workers=1, progress=False)
    assert server.requests
    for command in (
        ["verify", url],
        ["report", url],
        ["inspect", f"{url}/tokenizer"],
        ["inspect", f"{url}/tokenizer/tokenizer.json", "나라는"],
        ["inspect", f"{url}/counts", "--top", "2"],
    ):
        result = CliRunner().invoke(app, command)
        assert (result.exit_code, result.exception) == (0, None), result.output
    result = CliRunner().invoke(app, ["verify", f"{url}-not-there"])
    assert result.exit_code == 1
    assert f"{url}-not-there/manifest.json: no such file" in result.output
    with pytest.raises(ShardError, match=f"{url}-not-there/manifest.json: no such file"):
        jogak.open_tokens(f"{url}-not-there")


def test_a_damaged_object_is_found(server: Server, job: dict[str, Any], tmp_path: Path) -> None:
    url = f"s3://{BUCKET}/out"
    remote = {**job, "output": url, "work": str(tmp_path / "work")}
    run(remote, workers=1, progress=False)
    before = in_store(url, tmp_path / "copy")
    store = Store(url)
    damaged = tmp_path / "shard"
    store.get("tokens/shard-00001.bin", damaged)
    data = bytearray(damaged.read_bytes())
    data[3] ^= 1
    server.put("out/tokens/shard-00001.bin", bytes(data))
    server.put("out/tokens/shard-00099.bin", b"")
    faults = verify(url, show=False).faults
    assert any(fault.startswith(f"{url}/tokens/shard-00001.bin: sha256") for fault in faults)
    stranger = f"{url}/tokens/shard-00099.bin: not in the manifest"
    assert any(fault.startswith(stranger) for fault in faults)
    # One that is missing, or of another size, is made anew.
    store.delete("tokens/shard-00099.bin", "tokens/shard-00002.idx")
    server.put("out/tokens/shard-00001.bin", bytes(data[:-2]))
    run(remote, workers=1, progress=False)
    assert in_store(url, tmp_path / "copy") == before


def test_no_reader_takes_an_unfinished_output_for_a_finished_one(
    server: Server, job: dict[str, Any], tmp_path: Path
) -> None:
    """What vouches for others is put after them, whatever is looked at between two requests."""
    url = f"s3://{BUCKET}/out"
    seen: list[str] = []

    def look(method: str, path: str) -> bool:
        if method == "PUT" and "/out/" in path:
            seen.append(path.rpartition("/out/")[2])
        return False

    server.failing = look
    run({**job, "output": url, "work": str(tmp_path / "work")}, workers=1, progress=False)
    place = {name: at for at, name in enumerate(seen)}
    for name in seen:
        if name.startswith("tokens/"):
            assert place[name] <= place[f"{name.partition('.')[0]}.json"], name
            assert place[name] < place["manifest.json"]
    assert place["shards.parquet"] < place["manifest.json"]
    assert place["counts/pretokens.parquet"] < place["counts/pretokens.json"]
    assert place["tokenizer/tokenizer.json"] < place["tokenizer/training.json"]
    assert place["inputs.json"] < place["counts/pretokens.parquet"]
    assert seen[0] == CLAIM


# Before the claim, the job, the tokenizer's files, a .bin, an .idx, and further on.
@pytest.mark.parametrize(("same_machine", "moments"), [(False, (1, 3, 5, 6, 9)), (True, (5, 9))])
def test_a_killed_run_goes_on_from_the_store(
    same_machine: bool,
    moments: tuple[int, ...],
    server: Server,
    job: dict[str, Any],
    local: dict[str, str],
    tmp_path: Path,
) -> None:
    url = f"s3://{BUCKET}/out"
    remote = {**job, "output": url, "work": str(tmp_path / "work")}
    (tmp_path / "job.json").write_text(json.dumps(remote))
    for moment in moments:
        child = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path / "job.json")],
            start_new_session=True,
            stderr=subprocess.PIPE,
        )
        server.failing = _killer(child.pid, moment)
        child.communicate()
        assert child.returncode == -signal.SIGKILL
        server.failing = lambda _method, _path: False
        if not same_machine:
            shutil.rmtree(tmp_path / "work", ignore_errors=True)
    made = len([name for name in Store(url).names("tokens") if name.endswith(".json")])
    assert made > 0
    server.requests.clear()
    run(remote, workers=1, progress=False)
    sent = [each.path for each in server.requests if each.method == "PUT"]
    shards = len([name for name in local if name.endswith(".bin")])
    assert len([path for path in sent if path.endswith(".bin")]) == shards - made
    assert in_store(url, tmp_path / "copy") == local


def test_two_runs_of_one_job_at_once_give_the_same_output(
    server: Server, job: dict[str, Any], local: dict[str, str], tmp_path: Path
) -> None:
    assert server.url
    url = f"s3://{BUCKET}/out"
    children = []
    for name in ("a", "b"):
        remote = {**job, "output": url, "work": str(tmp_path / name)}
        (tmp_path / f"{name}.json").write_text(json.dumps(remote))
        children.append(
            subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path / f"{name}.json")])
        )
    assert [child.wait() for child in children] == [0, 0]
    assert in_store(url, tmp_path / "copy") == local


def _killer(process: int, moment: int) -> Callable[[str, str], bool]:
    """Return what kills a process before its n-th object is written."""
    puts = itertools.count(1)

    def kill(method: str, _path: str) -> bool:
        if method != "PUT" or next(puts) != moment:
            return False
        os.killpg(process, signal.SIGKILL)
        return True

    return kill


def test_another_job_is_refused_with_the_fields_that_differ(
    server: Server, job: dict[str, Any], tmp_path: Path
) -> None:
    url = f"s3://{BUCKET}/out"
    first = {**job, "output": url, "work": str(tmp_path / "a")}
    run(first, workers=1, progress=False)
    before = in_store(url, tmp_path / "copy")
    other = {**job, "output": url, "work": str(tmp_path / "b"), "normalize": {"form": "nfkc"}}
    with pytest.raises(ConfigError, match=rf"{url}: holds results(.|\n)*form: 'nfc' there"):
        run(other, workers=1, progress=False)
    with pytest.raises(ConfigError, match=r"normalize\.form"):
        run_stage(other, "report")
    assert in_store(url, tmp_path / "copy") == before
    server.put("out/notes.txt", b"mine")
    run(other, workers=1, progress=False, restart=True)
    assert verify(url, show=False).faults == ()
    assert Store(url).read("notes.txt") == b"mine"
    # The first run's folder does not bring its own results back.
    with pytest.raises(ConfigError, match=r"normalize\.form: 'nfkc' there, 'nfc' now"):
        run(first, workers=1, progress=False)


def test_a_prefix_that_no_run_has_claimed_is_not_cleared(
    server: Server, job: dict[str, Any], tmp_path: Path
) -> None:
    server.put("out/manifest.json", b"{}")
    remote = {**job, "output": f"s3://{BUCKET}/out", "work": str(tmp_path / "work")}
    with pytest.raises(ShardError, match="nothing says that Jogak wrote what is there"):
        run(remote, workers=1, progress=False, restart=True)


def test_a_run_whose_claim_was_taken_puts_no_more_shards(
    server: Server, job: dict[str, Any], tmp_path: Path
) -> None:
    url = f"s3://{BUCKET}/out"
    taken = False

    def take(method: str, path: str) -> bool:
        nonlocal taken
        if method == "PUT" and path.endswith("shard-00001.json") and not taken:
            taken = True
            server.put(f"out/{CLAIM}", b"{}")
        return False

    server.failing = take
    remote = {**job, "output": url, "work": str(tmp_path / "work")}
    with pytest.raises(ShardError, match="claimed by another run meanwhile"):
        run(remote, workers=1, progress=False)
    names = Store(url).names("tokens")
    made = [name for name in names if name.endswith(".json")]
    assert "tokens/shard-00001.json" in made
    assert len(made) < 4
    with pytest.raises(ConfigError, match="another run has claimed this output"):
        run(remote, workers=1, progress=False)


@pytest.mark.usefixtures("quick")
def test_writes_that_fail_for_a_while_are_made_again(
    server: Server, job: dict[str, Any], local: dict[str, str], tmp_path: Path
) -> None:
    url = f"s3://{BUCKET}/out"
    count = 0

    def fail(_method: str, _path: str) -> bool:
        nonlocal count
        count += 1
        return count % 5 == 0

    server.failing = fail
    run({**job, "output": url, "work": str(tmp_path / "work")}, workers=1, progress=False)
    server.failing = lambda _method, _path: False
    assert in_store(url, tmp_path / "copy") == local


@pytest.mark.usefixtures("quick")
def test_a_write_that_keeps_failing_names_url_and_attempt(
    server: Server, job: dict[str, Any], tmp_path: Path
) -> None:
    server.failing = lambda method, path: method == "PUT" and path.endswith("shard-00000.bin")
    remote = {**job, "output": f"s3://{BUCKET}/out", "work": str(tmp_path / "work")}
    place = rf"s3://{BUCKET}/out/tokens/shard-00000\.bin"
    with pytest.raises(ShardError, match=rf"unit 0 .*{place}: cannot be written .*attempt 5 of 5"):
        run(remote, workers=1, progress=False)


def test_workers_put_their_shards_themselves(
    server: Server, job: dict[str, Any], local: dict[str, str], tmp_path: Path
) -> None:
    assert server.url
    url = f"s3://{BUCKET}/out"
    run({**job, "output": url, "work": str(tmp_path / "work")}, workers=2, progress=False)
    assert in_store(url, tmp_path / "copy") == local


def test_a_view_of_a_store_keeps_few_shards_and_is_pickled_without_them(
    server: Server, job: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pickle

    from jogak.shards import fetched

    url = f"s3://{BUCKET}/out"
    run({**job, "output": url, "work": str(tmp_path / "work")}, workers=1, progress=False)
    monkeypatch.setattr(fetched, "MOST_FETCHED", 2)
    tokens = jogak.open_tokens(url)
    first = tokens[0].tolist()
    assert sum(len(ids) for ids in tokens) == tokens.tokens
    assert len(list((tokens.folder / "tokens").glob("*.bin"))) == 2
    gets = len(server.requests)
    assert tokens[len(tokens) - 1].tolist() == tokens[-1].tolist()
    assert len(server.requests) == gets
    again = pickle.loads(pickle.dumps(tokens))
    assert again.folder != tokens.folder
    assert again[0].tolist() == first
