"""Datasets that are not files: their text is kept in `read.spool`, and units are planned from it.

A memory-mapped dataset stays where it is: only an index of its files is written. Any other is read
once, in bounded memory, into Arrow files: one that is streamed, shard by shard in parallel, where
finished shards outlive an interruption; one that Python hands over, by one reader that then feeds
all workers. What Python hands over is known by its content, or by its fingerprint if it is mapped.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jogak.config import Job, ReadOptions
from jogak.errors import ConfigError, ShardError, SourceError
from jogak.output import Output, digest_of, read_sealed, remove, write_sealed
from jogak.plan import InputFile
from jogak.plan.hub import open_stream, streamed_files
from jogak.plan.inputs import source_columns
from jogak.plan.spool import (
    GIVEN,
    Kept,
    KeptFile,
    find_kept,
    index_path,
    require_kept,
    source_key,
    write_index,
)
from jogak.plan.storage import retried
from jogak.read.python import STREAMED_ROWS, dataset_batches, is_dataset
from jogak.read.spool import is_mapped, mapped_files, text_tables, write_files
from jogak.run.context import run_units

if TYPE_CHECKING:
    import pyarrow as pa

logger = logging.getLogger(__name__)


def keep_datasets(job: Job, dataset: object, workers: int) -> Job:
    """Keep the text of all sources that are no files; return the job that reads it.

    Args:
        job: the job, resolved.
        dataset: what Python hands over, or None.
        workers: processes that read shards.

    Raises:
        ConfigError: a dataset is given, but no source or several ask for one.
        SourceError: a source asks for one, but none is given and none is kept; or reading fails.
        ShardError: the output holds results of another.
    """
    asking = [at for at, source in enumerate(job.read.sources) if source.dataset is not None]
    if dataset is not None and len(asking) != 1:
        message = (
            f"dataset: {len(asking)} sources ask for it; write `dataset: {GIVEN}` into the one "
            "that is to read it"
        )
        raise ConfigError(message)
    for number, source in enumerate(job.read.sources):
        if source.dataset is not None:
            if dataset is None:
                kept = require_kept(job.read, number)
            else:
                kept = _keep_given(job, number, dataset)
            job = _known_as(job, number, kept.digest)
        elif source.hf is not None:
            files = streamed_files(source, number)
            old = find_kept(job.read, number)
            made_from = digest_of([asdict(InputFile.of(file)) for file in files])
            if files and (old is None or old.made_from != made_from):
                _keep_stream(job, number, workers, made_from)
    return job


def _known_as(job: Job, number: int, digest: str) -> Job:
    sources = list(job.read.sources)
    sources[number] = sources[number].model_copy(update={"dataset": digest})
    return job.model_copy(update={"read": job.read.model_copy(update={"sources": tuple(sources)})})


def _keep_given(job: Job, number: int, dataset: Any) -> Kept:  # noqa: ANN401 - of any library
    """Keep what Python hands over, or find it kept."""
    read = _known_as(job, number, GIVEN).read
    old, path = find_kept(read, number), index_path(str(read.spool), number)
    new = _map(read, number, dataset)
    if new is not None:
        _refuse_other(job, old, new)
        if old != new:
            remove(path.parent)
            path.parent.mkdir(parents=True)
            write_index(path, new)
        return new
    folder = path.parent if old is None else path.parent.with_name(f"{path.parent.name}.again")
    remove(folder)
    folder.mkdir(parents=True)
    try:
        new = _copy(read, number, dataset, folder)
        if old is not None:
            if old.digest == new.digest:
                return old
            _refuse_other(job, old, new)
            remove(path.parent)
            folder.rename(path.parent)
    finally:
        if old is not None:
            remove(folder)
    write_index(path, new)
    return require_kept(read, number)


def _map(read: ReadOptions, number: int, dataset: Any) -> Kept | None:  # noqa: ANN401 - likewise
    """Describe a dataset that is Arrow files, mapped as they are; None where it is not."""
    source = read.sources[number]
    if not is_mapped(dataset):
        return None
    schema = dataset.features.arrow_schema
    columns = source_columns(schema, source, number, "dataset")
    if any(len(names) > 1 for names in columns):
        return None  # fields in structs
    files = mapped_files(dataset, columns[0][0])
    if sum(file.rows for file in files) != len(dataset):
        return None
    key = source_key(source)
    digest = digest_of(["datasets.Dataset", dataset._fingerprint, key])
    language = columns[1][0] if len(columns) > 1 else None
    folder = index_path(str(read.spool), number).parent
    return Kept(folder, key, "", digest, columns[0][0], language, tuple(files))


def _copy(read: ReadOptions, number: int, dataset: Any, folder: Path) -> Kept:  # noqa: ANN401 - likewise
    """Read a dataset from beginning to end, and keep its text in a folder."""
    source = read.sources[number]
    batches = dataset_batches(dataset) if is_dataset(dataset) else text_tables(dataset)
    if not is_dataset(dataset):
        source = source.model_copy(update={"text": "text", "language_column": None})
    files, digest = write_files(folder, "given", batches, source, number, "dataset")
    language = None if source.language_column is None else "language"
    key = source_key(read.sources[number])
    return Kept(folder, key, "", digest, "text", language, tuple(files))


def _refuse_other(job: Job, old: Kept | None, new: Kept) -> None:
    """Stop before what an output was made from is replaced by another dataset."""
    output = Output(Path(job.work if job.work is not None else job.output))
    if old is not None and old.digest != new.digest and output.job.exists():
        message = (
            f"{job.output}: holds results of another dataset ({old.digest[:16]} there, "
            f"{new.digest[:16]} now); use another output, or remove them with restart=True"
        )
        raise ShardError(message)


@dataclass(frozen=True, slots=True)
class _Shard:
    """One shard of a streamed dataset, to be kept."""

    read: ReadOptions
    number: int
    index: int
    count: int
    identity: str

    @property
    def path(self) -> Path:
        """Where its sidecar lies: what its files are, written when they are whole."""
        folder = index_path(str(self.read.spool), self.number).parent
        return folder / f"shard-{self.index:05d}.json"


def _keep_stream(job: Job, number: int, workers: int, made_from: str) -> None:
    """Read a streamed dataset, its shards in parallel, and write the index of all."""
    source = job.read.sources[number]
    stream = open_stream(source, number)
    identity = digest_of([source_key(source), made_from, stream.num_shards])
    shards = [
        _Shard(job.read, number, index, stream.num_shards, identity)
        for index in range(stream.num_shards)
    ]
    shards[0].path.parent.mkdir(parents=True, exist_ok=True)
    for leftover in shards[0].path.parent.glob(".*.tmp"):
        remove(leftover)  # of a run that was killed
    left = [shard for shard in shards if _finished(shard) is None]
    logger.info("read: streaming %s, %d shards of %d", source.hf, len(left), len(shards))
    run_units(
        job.engine,
        workers,
        _keep_shard,
        left,
        names=[f"{source.hf} shard {shard.index}" for shard in left],
        weights=[1] * len(left),
        on_result=lambda _: None,
        on_progress=lambda _: None,
    )
    done = [_finished(shard) or {} for shard in shards]
    files = [KeptFile(**{**each, "blocks": tuple(map(tuple, each["blocks"]))})
             for shard in done for each in shard["files"]]  # fmt: skip
    digest = digest_of([identity, [shard["digest"] for shard in done]])
    language = None if source.language_column is None else "language"
    path = index_path(str(job.read.spool), number)
    key = source_key(source)
    write_index(path, Kept(path.parent, key, made_from, digest, "text", language, tuple(files)))


def _finished(shard: _Shard) -> dict[str, Any] | None:
    """Return the sidecar of a shard that is kept whole, else None."""
    kept = read_sealed(shard.path)
    if kept is None or kept["identity"] != shard.identity:
        return None
    for file in kept["files"]:
        path = shard.path.parent / file["path"]
        if not path.is_file() or path.stat().st_size != file["size"]:
            return None
    return kept


def _keep_shard(shard: _Shard, _advance: Callable[[int], None]) -> None:
    """Read one shard of a streamed dataset; runs in a worker."""
    source, label = shard.read.sources[shard.number], str(shard.read.sources[shard.number].hf)
    stem = shard.path.stem

    def attempt() -> tuple[list[KeptFile], str]:
        for leftover in shard.path.parent.glob(f"{stem}*"):
            remove(leftover)
        stream = open_stream(source, shard.number).shard(shard.count, shard.index)
        batches = _tables(stream, label, shard.index)
        folder = shard.path.parent
        return write_files(folder, stem, batches, source, shard.number, label)

    files, digest = retried(attempt, f"{label} shard {shard.index}")
    write_sealed(
        shard.path,
        {"identity": shard.identity, "digest": digest, "files": [asdict(each) for each in files]},
    )


def _tables(stream: Any, label: str, shard: int) -> Iterator[pa.RecordBatch]:  # noqa: ANN401 - datasets'
    """Yield the batches of a stream; what is wrong with its content is not tried again."""
    import datasets

    try:
        for table in stream.iter(batch_size=STREAMED_ROWS):
            yield from table.to_batches()
    except (ValueError, datasets.exceptions.DatasetsError) as error:
        message = f"{label}: shard {shard} is not readable ({error}); mend the dataset"
        raise SourceError(message) from error
