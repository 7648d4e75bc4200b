"""Training from counts that an earlier run left: no job, no corpus, a folder of its own."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jogak import progress
from jogak.config import TrainOptions, options_from
from jogak.count.product import load_counts
from jogak.errors import ShardError
from jogak.output import explained, sync_folder, temporary_path, write_json
from jogak.run.training import most_merges, progress_to
from jogak.threads import processors
from jogak.train import train

RECORD = "training.json"


def train_from_counts(source: Path, settings: Mapping[str, Any], output: Path) -> Path:
    """Train on counts; the folder appears whole or not at all.

    Args:
        source: a counts file, its folder, or a run's output.
        settings: keys of the section `train` of a job.
        output: the folder to make; it must be new.

    Raises:
        ConfigError: a setting is unknown or wrong.
        SourceError: there are no counts.
        ShardError: the output exists.
        TokenizerError: see `jogak.train.train`.
    """
    options = options_from(TrainOptions, settings, "jogak train")
    if output.exists():
        message = f"{output}: it exists already; choose another folder, or remove it first"
        raise ShardError(message)
    counts = load_counts(source)
    inputs = f"{len(counts):,} distinct pretokens"
    with progress.stage("train", inputs, total=most_merges(options), unit=" merges") as stage:
        tokenizer = train(counts, options, threads=processors(), on_progress=progress_to(stage))
        stage.outputs = f"{output}, vocabulary of {tokenizer.vocab_size:,}"
    temporary = temporary_path(output)
    with explained(output):
        try:
            temporary.mkdir(parents=True)
            tokenizer.save(temporary)
            record = {
                "tokenizer_sha256": tokenizer.fingerprint,
                "vocab_size": tokenizer.vocab_size,
                "counts": str(source),
                "sample": counts.sample or "all",
                "pattern": counts.pattern,
                "normalize": counts.normalize.model_dump(mode="json"),
                "train": options.model_dump(mode="json"),
            }
            write_json(temporary / RECORD, record)
            temporary.rename(output)
            sync_folder(output)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return output
