"""A whole run against the same work done with Hugging Face's `tokenizers`, each in its own process.

Both sides read the same documents, train 32,000 tokens with the gpt2 pattern, and encode every
document to token files. Jogak goes first and last, so that a drift of the machine shows.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

VOCAB_SIZE = 32_000
SOURCES = (
    {"path": "ko/*.parquet", "text": "text", "language": "ko"},
    {"path": "reviews/*.parquet", "text": "document", "language": "ko"},
    {"path": "en/*.parquet", "text": "content", "language": "en"},
    {"path": "code/*.parquet", "text": "text", "language": "code"},
    {"path": "multi/*.parquet", "text": "text", "language_column": "lang"},
    {"path": "ja/*.jsonl.zst", "text": "doc.body", "language_column": "meta.lang"},
    {"path": "zh/*.jsonl.gz", "text": "doc.body", "language_column": "meta.lang"},
)


def job(data: Path, output: Path, workers: int) -> dict[str, Any]:
    """Return the job that reads every text of the measuring data."""
    sources = [{**source, "path": str(data / source["path"])} for source in SOURCES]
    return {
        "name": "benchmark",
        "read": {"sources": sources},
        "train": {"vocab_size": VOCAB_SIZE},
        "encode": {"shard_bytes": "16 MiB"},
        "engine": {"workers": workers},
        "output": str(output),
    }


def run_jogak(data: Path, folder: Path, workers: int) -> dict[str, Any]:
    """Run the job by the command line; return its timings and its report."""
    path = folder / "job.yaml"
    path.write_text(json.dumps(job(data, folder / "out", workers)), encoding="utf-8")
    started = time.perf_counter()
    command = [sys.executable, "-m", "jogak", "run", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    elapsed_s = time.perf_counter() - started
    timings = json.loads((folder / "out" / "timings.json").read_text(encoding="utf-8"))
    report = json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))
    return {"elapsed_s": elapsed_s, **timings, "report": report}


def run_tokenizers(data: Path, folder: Path) -> dict[str, Any]:
    """Do the same with `tokenizers` in a process of its own; return its timings."""
    command = [sys.executable, __file__, str(data), str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def peer(data: Path, folder: Path) -> dict[str, Any]:
    """Train and encode with `tokenizers`; ids are written as raw uint16 with their lengths."""
    import numpy as np
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    from jogak.config import Job
    from jogak.plan import plan_units
    from jogak.read import read_unit

    settings = Job.model_validate_json(json.dumps(job(data, folder / "out", 1)))
    texts: list[str] = []
    for unit in plan_units(settings):
        for batch in read_unit(unit, settings.read, []):
            texts += (batch.document(index).decode() for index in range(len(batch)))
    started = time.perf_counter()
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB_SIZE,
        min_frequency=2,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer, length=len(texts))
    trained = time.perf_counter()
    tokenizer.encode_special_tokens = True  # special strings in the text are plain text
    tokens = 0
    with (folder / "peer.bin").open("wb") as target:
        for start in range(0, len(texts), 10_000):
            for encoding in tokenizer.encode_batch(texts[start : start + 10_000]):
                ids = np.array([*encoding.ids, 0], dtype=np.uint16)
                tokens += len(ids)
                target.write(ids.tobytes())
    encoded = time.perf_counter()
    peak = next(
        int(line.split()[1]) * 1024
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        if line.startswith("VmHWM:")
    )
    return {
        "train_s": trained - started,
        "encode_s": encoded - trained,
        "tokens": tokens,
        "peak_bytes": peak,
    }


def measure(data: Path, workers: int = 2) -> dict[str, Any]:
    """Run both sides in turn; return every figure."""
    runs: dict[str, Any] = {"jogak": [], "tokenizers": []}
    for side in ("jogak", "tokenizers", "jogak"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if side == "jogak":
                runs[side].append(run_jogak(data, folder, workers))
            else:
                runs[side].append(run_tokenizers(data, folder))
    return runs


if __name__ == "__main__":
    print(json.dumps(peer(Path(sys.argv[1]), Path(sys.argv[2]))))
