"""The stage `train` of a run: the tokenizer, trained from the counts or loaded, in its folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jogak import progress
from jogak.config import Job, TrainOptions
from jogak.count import PretokenCounts
from jogak.engine import Advance
from jogak.errors import ShardError, TokenizerError
from jogak.output import (
    explained,
    file_sha256,
    read_sealed,
    sync_folder,
    temporary_path,
    write_sealed,
)
from jogak.run.context import Context
from jogak.run.counting import finished_counts
from jogak.tokenizer import Tokenizer
from jogak.train import TrainProgress
from jogak.train import train as train_tokenizer

RECORD = "training.json"


def train(context: Context) -> Tokenizer:
    """Make the job's tokenizer, or load the one that an earlier run made."""
    folder = context.output.tokenizer
    tokenizer = finished_tokenizer(context)
    if tokenizer is None:
        options = context.job.train
        merges = most_merges(options) if options else 0
        name = "train" if options else "tokenizer"
        inputs = f"{merges:,} merges at most" if options else _loaded_from(context.job)
        with context.stage(name, inputs, total=merges, unit=" merges") as stage:
            made = _trained(context, stage) if options else _loaded(context)
            _save(context, made)
            tokenizer = Tokenizer.load(folder)
            _check_same(folder, made, tokenizer)
            stage.outputs = f"{folder}, vocabulary of {tokenizer.vocab_size:,}"
        context.note_peak(name)
    return tokenizer


def most_merges(options: TrainOptions) -> int:
    """Return how many merges there can be; how many characters there are is known when counted."""
    has_bytes = options.alphabet == "bytes" or options.byte_fallback
    room = options.vocab_size - 256 * has_bytes - len(options.special_tokens)
    return room if options.limit is None else min(room, options.limit)


def progress_to(stage: progress.Stage) -> Callable[[TrainProgress], None]:
    """Return what shows a training: merges, the last one's token and count, and so the rest."""

    def show(made: TrainProgress) -> None:
        stage.expect(made.wanted)
        stage.advance(made.new)
        if made.merges:
            stage.note(f"{made.token.decode(errors='backslashreplace')!r} x {made.count:,}")

    return show


def finished_tokenizer(context: Context) -> Tokenizer | None:
    """Return the tokenizer in the output folder if it is whole, None when it must be made.

    Raises:
        ShardError: it was made from something else.
    """
    folder = context.output.tokenizer
    kept = read_sealed(folder / RECORD)
    if kept is None or not isinstance(kept.get("files"), dict):
        return None
    for name, sha256 in kept["files"].items():
        path = folder / name
        if not path.is_file() or file_sha256(path) != sha256:
            return None
    if kept.get("identity") != context.claim.identity():
        message = f"{folder}: made by another job; use another output, or --restart"
        raise ShardError(message)
    if kept.get("continued_sha256") != _continued_sha256(context.job.train):
        message = (
            f"{folder}: made from another train.continue_from, which has changed since; use "
            "another output, or --restart"
        )
        raise ShardError(message)
    tokenizer = Tokenizer.load(folder)
    return tokenizer if tokenizer.fingerprint == kept.get("tokenizer_sha256") else None


def _continued_sha256(options: TrainOptions | None) -> str | None:
    """Return the checksum of the tokenizer that training goes on from; None where it is gone."""
    if options is None or options.continue_from is None:
        return None
    path = Path(options.continue_from)
    file = path / "tokenizer.json" if path.is_dir() else path
    return file_sha256(file) if file.is_file() else None


def _loaded_from(job: Job) -> str:
    return job.tokenizer.load if job.tokenizer is not None else ""


def _loaded(context: Context) -> Tokenizer:
    context.start_encoders()
    return Tokenizer.load(_loaded_from(context.job))


def _trained(context: Context, stage: progress.Stage) -> Tokenizer:
    job = context.job
    if job.train is None:
        message = "train: the job names no options to train with; add the section 'train'"
        raise TokenizerError(message)
    path = finished_counts(context)
    is_local = job.engine.kind == "local"
    threads = context.workers if is_local else 1  # a task has one processor
    task = _TrainTask(str(path), job.train, job.encode.eos_token, job.encode.bos_token, threads)
    if is_local:
        trained = _train(task, progress_to(stage))
        context.start_encoders()  # not before: training wants the memory
        return trained
    # Where the counts are at hand: the process that runs the job may be a small one.
    made: list[Tokenizer] = []
    context.run_units(
        _train_apart,
        [task],
        names=["training"],
        weights=[0],
        on_result=made.append,
        on_progress=lambda _: None,
    )
    return made[0]


@dataclass(frozen=True, slots=True)
class _TrainTask:
    counts: str
    options: TrainOptions
    eos_token: str | None
    bos_token: str | None
    threads: int


def _train(task: _TrainTask, on_progress: Callable[[TrainProgress], None] | None) -> Tokenizer:
    return train_tokenizer(
        PretokenCounts.load(task.counts),
        task.options,
        eos_token=task.eos_token,
        bos_token=task.bos_token,
        threads=task.threads,
        on_progress=on_progress,
    )


def _train_apart(task: _TrainTask, _: Advance) -> Tokenizer:
    """Train in a process of a cluster."""
    return _train(task, None)


def _save(context: Context, tokenizer: Tokenizer) -> None:
    """Write the tokenizer's files; the record, which vouches for them, goes first and comes last.

    The folder itself stays, with whatever else lies in it.
    """
    folder = context.output.tokenizer
    temporary = temporary_path(folder)
    with explained(folder):
        temporary.mkdir()
        tokenizer.save(temporary)
        files = {path.name: file_sha256(path) for path in sorted(temporary.iterdir())}
        record: dict[str, Any] = {
            "identity": context.claim.identity(),
            "tokenizer_sha256": tokenizer.fingerprint,
            "vocab_size": tokenizer.vocab_size,
            "normalize": context.job.normalize.model_dump(mode="json"),
            "pretokenize": context.job.pretokenize.model_dump(mode="json"),
            "train": context.job.train and context.job.train.model_dump(mode="json"),
            "loaded_from": _loaded_from(context.job) or None,
            "continued_sha256": _continued_sha256(context.job.train),
            "files": files,
        }
        write_sealed(temporary / RECORD, record)
        folder.mkdir(exist_ok=True)
        (folder / RECORD).unlink(missing_ok=True)
        for name in (*files, RECORD):
            (temporary / name).replace(folder / name)
        temporary.rmdir()
        sync_folder(folder)


def _check_same(folder: Path, made: Tokenizer, loaded: Tokenizer) -> None:
    """Make sure that the tokenizer on disk is the one that was saved."""
    if made.fingerprint != loaded.fingerprint:
        message = (
            f"{folder}: the saved tokenizer differs from the one it was made from (fingerprint "
            f"{loaded.fingerprint}, expected {made.fingerprint}); its kind cannot be kept as "
            "tokenizer.json, so the run stops before it would encode differently"
        )
        raise TokenizerError(message)
