"""Inputs in an object store: the same output as from files, by range requests, tried again."""

from __future__ import annotations

import gzip
import json
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fakes.corpus import write_corpus
from jogak.budget import budget
from jogak.config import EncodeOptions, Job, ReadOptions, Source, TrainOptions
from jogak.errors import ShardError, SourceError
from jogak.plan import plan_units
from jogak.read import read_unit
from jogak.run import run
from jogak.verify import verify

pytest.importorskip("s3fs", reason="s3fs is not installed (pip install 'jogak[s3]')")
pytest.importorskip("moto.server", reason="moto is not installed (pip install 'moto[server]')")

from fakes.object_store import Server


def job_for(*sources: Source, shard_bytes: int = 2**20) -> Job:
    return Job(
        read=ReadOptions(sources=sources),
        train=TrainOptions(vocab_size=300),
        encode=EncodeOptions(shard_bytes=shard_bytes),
        output="unused",
    )


def parquet_bytes(groups: int, rows: int = 200) -> bytes:
    """Return a file of random letters that neither compress nor repeat."""
    rng = np.random.default_rng(1)
    texts = [rng.bytes(1000).hex() for _ in range(groups * rows)]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"text": texts, "other": texts}), sink, row_group_size=rows,
                   compression="none", use_dictionary=False)  # fmt: skip
    return sink.getvalue().to_pybytes()


def in_store(job: dict[str, Any], server: Server, folder: Path, output: Path) -> dict[str, Any]:
    """Upload a job's inputs; return the job that reads them there."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            server.put(f"data/{path.relative_to(folder)}", path.read_bytes())
    sources = [
        {**source, "path": source["path"].replace(str(folder), "s3://corpus/data")}
        for source in job["read"]["sources"]
    ]
    return {**job, "read": {"sources": sources}, "output": str(output)}


def test_the_output_is_that_of_the_same_files_on_disk(server: Server, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    job = write_corpus(folder, documents=60)
    job["output"] = str(tmp_path / "local")
    run(job, workers=1, progress=False)
    remote = in_store(job, server, folder, tmp_path / "remote")
    run(remote, workers=2, progress=False)
    for end in (".bin", ".idx"):
        names = sorted(path.name for path in (tmp_path / "local/tokens").glob(f"*{end}"))
        assert len(names) > 3
        for name in names:
            ours, theirs = (tmp_path / each / "tokens" / name for each in ("remote", "local"))
            assert ours.read_bytes() == theirs.read_bytes()
    report = verify(tmp_path / "remote", decode=50, show=False)
    assert (report.faults, report.decoded) == ((), 50)
    (tmp_path / "remote/tokens/shard-00001.json").unlink()
    run(remote, workers=1, progress=False)
    pq.write_table(pq.read_table(folder / "mixed.parquet"), tmp_path / "again.parquet")
    server.put("data/mixed.parquet", (tmp_path / "again.parquet").read_bytes())
    with pytest.raises(ShardError, match=r"s3://corpus/data/mixed\.parquet: .* bytes there"):
        run(remote, workers=1, progress=False)


def test_a_row_group_costs_its_column_and_not_the_file(server: Server) -> None:
    data = parquet_bytes(groups=10)
    url = server.put("big.parquet", data)
    job = job_for(Source(path=url), shard_bytes=450_000)
    units = plan_units(job)
    assert len(units) == 10
    planned = sum(request.sent for request in server.requests if request.method == "GET")
    assert planned < len(data) // 20
    server.requests.clear()
    batches = list(read_unit(units[4], job.read, []))
    assert sum(len(batch) for batch in batches) == 200
    gets = [request for request in server.requests if request.method == "GET"]
    assert all(request.range is not None for request in gets)
    # A column of one row group is a twentieth of the file; the footer and its
    # statistics, which here hold whole texts, come on top.
    assert sum(request.sent for request in gets) < len(data) // 20 + 300_000
    assert len(gets) <= 8


def test_files_are_planned_many_at_a_time_and_in_their_order(server: Server) -> None:
    data = parquet_bytes(groups=3)
    for number in range(12):
        server.put(f"many/{number:02d}.parquet", data)
    at_work, most, lock = 0, 0, threading.Lock()

    def wait(_method: str, _path: str) -> bool:
        nonlocal at_work, most
        with lock:
            at_work += 1
            most = max(most, at_work)
        time.sleep(0.05)
        with lock:
            at_work -= 1
        return False

    server.failing = wait
    job = job_for(Source(path="s3://corpus/many/*.parquet"), shard_bytes=450_000)
    units = plan_units(job)
    assert most >= 4
    assert [unit.parts[0].path[-10:] for unit in units] == [
        f"{number:02d}.parquet" for number in range(12) for _ in range(3)
    ]
    assert [unit.parts[0].start for unit in units[:3]] == [0, 200, 400]


def test_lines_are_read_by_their_bytes_and_compressed_files_whole(server: Server) -> None:
    lines = [json.dumps({"text": f"문서 {number} " + "가" * 300}) for number in range(2000)]
    data = ("\n".join(lines) + "\n").encode()
    plain, packed = server.put("a.jsonl", data), server.put("b.jsonl.gz", gzip.compress(data))
    expected = [json.loads(line)["text"].encode() for line in lines]
    for url, units in ((plain, 9), (packed, 1)):
        job = job_for(Source(path=url), shard_bytes=len(data) // 9 + 1)
        planned = plan_units(job)
        assert len(planned) == units
        server.requests.clear()
        found = [
            batch.document(index)
            for unit in planned
            for batch in read_unit(unit, job.read, [])
            for index in range(len(batch))
        ]
        assert found == expected
        sent = sum(each.sent for each in server.requests if each.method == "GET")
        assert sent <= (len(data) if units > 1 else len(gzip.compress(data)))


@pytest.mark.usefixtures("quick")
def test_a_request_that_fails_for_a_while_is_made_again(server: Server) -> None:
    url = server.put("a.parquet", parquet_bytes(groups=1))
    job = job_for(Source(path=url))
    failures = iter(range(3))
    server.failing = lambda method, _: method == "GET" and next(failures, None) is not None
    (unit,) = plan_units(job)
    assert sum(len(batch) for batch in read_unit(unit, job.read, [])) == 200
    assert next(failures, None) is None


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", ["a.parquet", "b.jsonl"])
def test_a_request_that_keeps_failing_names_url_and_attempt(server: Server, name: str) -> None:
    data = parquet_bytes(groups=1) if name == "a.parquet" else b'{"text": "a"}\n' * 100
    url = server.put(name, data)
    job = job_for(Source(path=url))
    units = plan_units(job)
    server.failing = lambda method, _: method == "GET"
    with pytest.raises(SourceError, match=rf"{url}: cannot be read .*attempt 5 of 5\)"):
        list(read_unit(units[0], job.read, []))


def test_an_object_that_is_not_there_is_named(server: Server) -> None:
    server.put("a.parquet", parquet_bytes(groups=1))
    with pytest.raises(SourceError, match=r"s3://corpus/no/\*\.parquet: no such file"):
        plan_units(job_for(Source(path="s3://corpus/no/*.parquet")))


def test_a_folder_is_no_document(server: Server) -> None:
    server.put("folder/a.parquet", parquet_bytes(groups=1))
    found = r"s3://corpus/folder: no such file \(a folder; found in it: s3://corpus/folder/a\.parq"
    with pytest.raises(SourceError, match=found):
        plan_units(job_for(Source(path="s3://corpus/folder")))


def test_a_budget_takes_files_and_folders_by_url(server: Server, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    job = write_corpus(folder, documents=40)
    run({**job, "output": str(tmp_path / "out")}, workers=1, progress=False)
    server.put("data/0.parquet", (folder / "ko/0.parquet").read_bytes())
    server.put("data/very/deep/1.parquet", (folder / "ko/1.parquet").read_bytes())
    tokenizer = tmp_path / "out/tokenizer"
    options: dict[str, Any] = {"text": "body", "workers": 1, "show_progress": False}
    expected = budget(folder / "ko", tokenizer, **options)
    for place in ("s3://corpus/data", "s3://corpus/data/**/*.parquet"):
        assert budget(place, tokenizer, **options).total == expected.total


def test_a_scheme_that_nothing_reads_is_named() -> None:
    with pytest.raises(SourceError, match="nothing://a/b: no access to nothing://"):
        plan_units(job_for(Source(path="nothing://a/b")))
