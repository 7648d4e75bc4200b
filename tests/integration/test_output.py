"""The output folder under hardship: restarts, full disks, folders that may not be written to."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fakes.corpus import write_corpus
from jogak.errors import ConfigError, ShardError
from jogak.output import Output, owned
from jogak.run import run
from jogak.run.restart import clear, own_files
from jogak.verify import verify

Job = dict[str, Any]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    return write_corpus(tmp_path_factory.mktemp("corpus"), documents=40)


@pytest.fixture(scope="module")
def finished(job: Job) -> Path:
    """A finished output; tests do not change it."""
    run(job, workers=1, progress=False)
    return Path(job["output"])


@pytest.fixture
def copy(job: Job, finished: Path, tmp_path: Path) -> Job:
    """The same, copied so that a test may change it; and its job."""
    shutil.copytree(finished, tmp_path / "out")
    return {**job, "output": str(tmp_path / "out")}


def files(folder: Path) -> dict[str, bytes]:
    """Return what must be the same in equal runs."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in {"timings.json", ".lock"}
    }


# Restart -----------------------------------------------------------------------------------------


def test_restart_makes_the_output_anew_for_another_job(copy: Job, finished: Path) -> None:
    changed = {**copy, "train": {"vocab_size": 420}}
    with pytest.raises(ConfigError, match=r"remove them with --restart"):
        run(changed, workers=1, progress=False)
    run(changed, workers=1, progress=False, restart=True)
    assert verify(copy["output"], show=False).faults == ()
    run(copy, workers=1, progress=False, restart=True)
    assert files(Path(copy["output"])) == files(finished)


def test_restart_removes_only_what_jogak_wrote(copy: Job, finished: Path) -> None:
    folder = Path(copy["output"])
    mine = ["notes.txt", "tokens/shard-00000.bin.bak", "tokens/mine/shard-00000.bin", "README.md"]
    mine += ["my.tmp", ".notes.tmp", "tokens/results.tmp/data", "tokenizer/vocab.1.tmp"]
    mine += ["counts/pretokens.parquet.old", "tokenizer/vocab.txt", "other/manifest.json"]
    for name in mine:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("mine")
    (folder / "tokens/shard-77777.bin").touch()  # of an earlier run with more units
    run(copy, workers=1, progress=False, restart=True)
    found = files(folder)
    assert [found.pop(name) for name in mine] == [b"mine"] * len(mine)
    assert found == files(finished)


def test_every_file_of_a_run_bears_a_name_that_restart_knows(copy: Job) -> None:
    output = Output(Path(copy["output"]))
    there = {path for path in output.folder.rglob("*") if path.is_file()}
    assert set(own_files(output)) == there
    clear(output)
    assert list(output.folder.iterdir()) == []


@pytest.mark.parametrize("stage", ["count", "encode"])
def test_restart_knows_what_an_interrupted_stage_leaves(
    job: Job, tmp_path: Path, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of single units are there only while a stage runs."""
    # The package's function `run` hides the package from setattr by name.
    module = sys.modules[f"jogak.run.{'counting' if stage == 'count' else 'encoding'}"]
    name = "merge_all" if stage == "count" else "write_manifest"

    def stop(*_: object, **__: object) -> None:
        raise ShardError(stage)

    stopped = {**job, "output": str(tmp_path / "out")}
    with monkeypatch.context() as patch:
        patch.setattr(module, name, stop)
        with pytest.raises(ShardError, match=stage):
            run(stopped, workers=1, progress=False)
    output = Output(tmp_path / "out")
    there = {path for path in output.folder.rglob("*") if path.is_file()}
    assert len(there) > 8
    assert set(own_files(output)) == there


def test_a_folder_that_no_run_has_claimed_is_not_cleared(job: Job, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "report.md").write_text("my report")
    (folder / "job.yaml").write_text("name: my own job file\n")
    with pytest.raises(ShardError, match="nothing says that Jogak wrote what is there"):
        run({**job, "output": str(folder)}, workers=1, progress=False, restart=True)
    assert (folder / "report.md").read_text() == "my report"
    assert (folder / "job.yaml").exists()


def test_restart_in_an_empty_folder_is_a_run(job: Job, finished: Path, tmp_path: Path) -> None:
    run({**job, "output": str(tmp_path / "out")}, workers=1, progress=False, restart=True)
    assert files(tmp_path / "out") == files(finished)


def test_nothing_is_removed_under_another_process(copy: Job) -> None:
    folder = Path(copy["output"])
    before = files(folder)
    program = (
        "import sys\nfrom pathlib import Path\nfrom jogak.output import Output, owned\n"
        f"with owned(Output(Path({str(folder)!r}))): print('owned', flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "owned\n"
        with pytest.raises(ShardError, match="another process works on this output"):
            run(copy, workers=1, progress=False, restart=True)
        other.communicate("")
    assert files(folder) == before
    with owned(Output(folder)):
        pass


# Disks -------------------------------------------------------------------------------------------


def jogak_run(job: Job, folder: Path, **popen: Any) -> subprocess.CompletedProcess[str]:  # noqa: ANN401 - subprocess's
    """Run a job as a user does."""
    path = folder / "job.yaml"
    path.write_text(yaml.safe_dump(job, allow_unicode=True), encoding="utf-8")
    command = [sys.executable, "-m", "jogak", "run", str(path), "--workers", "2"]
    return subprocess.run(command, capture_output=True, text=True, check=False, **popen)


@pytest.mark.parametrize("limit", [3_000, 12_000])
def test_a_file_that_may_not_grow_stops_the_run_with_what_is_finished(
    job: Job, tmp_path: Path, limit: int
) -> None:
    """A limit on the size of files stands in for a full disk, at the counts or at a shard."""
    limited = {**job, "output": str(tmp_path / "out"), "encode": {"shard_bytes": 60_000}}
    result = jogak_run(
        limited,
        tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert result.returncode == 1, result.stderr
    assert "Traceback" not in result.stderr
    assert "raise the file size limit" in result.stderr or "File too large" in result.stderr
    assert not list((tmp_path / "out").rglob("*.tmp"))
    assert jogak_run(limited, tmp_path).returncode == 0
    assert verify(tmp_path / "out", show=False).faults == ()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 128 KiB; only root can make one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(disk)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no right to mount a tmpfs")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk_names_file_unit_and_cause_and_keeps_what_is_finished(
    job: Job, finished: Path, tmp_path: Path, small_disk: Path
) -> None:
    full = {**job, "output": str(small_disk / "out")}
    size = sum(len(data) for data in files(finished).values())
    filler = small_disk / "filler"
    filler.write_bytes(bytes(max(128 * 1024 - size - 4_096 * 20, 4_096)))
    result = jogak_run(full, tmp_path)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "No space left on device" in result.stderr
    assert "free space" in result.stderr
    assert "Traceback" not in result.stderr
    assert not list((small_disk / "out").rglob("*.tmp"))
    filler.unlink()
    kept = {path: path.stat().st_mtime_ns for path in (small_disk / "out/tokens").glob("*.json")}
    result = jogak_run(full, tmp_path)
    if result.returncode == 0:  # the output as a whole fits the disk
        assert files(small_disk / "out") == files(finished)
        assert all(path.stat().st_mtime_ns == time_ns for path, time_ns in kept.items())


def test_an_output_that_may_not_be_written_is_named(job: Job, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    result = jogak_run({**job, "output": str(file / "out")}, tmp_path)
    assert result.returncode == 1
    assert f"{file}/out: cannot be written (Not a directory)" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_read_only_output_is_named(job: Job, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() == 0:  # root may write anywhere but on a read-only file system
        command = ["mount", "-t", "tmpfs", "-o", "size=64k,ro", "tmpfs", str(disk)]
        if subprocess.run(command, check=False, capture_output=True).returncode:
            pytest.skip("no right to mount a tmpfs")
    else:
        disk.chmod(0o500)
    try:
        result = jogak_run({**job, "output": str(disk / "out")}, tmp_path)
    finally:
        if os.geteuid() == 0:
            subprocess.run(["umount", str(disk)], check=True)
    assert result.returncode == 1
    assert "disk/out: cannot be written (" in result.stderr
    assert "Traceback" not in result.stderr
