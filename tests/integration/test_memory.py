"""Memory stays where it is while the input brings ten times as many words never seen before."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from jogak.run import run
from reference.toy_tokenizers import byte_level, write

MIB = 2**20
MOST_GROWTH = 1.3
"""Of the largest process, between an input and one of ten times its size."""


def write_new_words(path: Path, megabytes: int) -> None:
    """Write documents of about 4 KB whose words, of random syllables, hardly ever come twice."""
    rng = random.Random(megabytes)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(megabytes * 250):
            syllables = rng.choices(range(0xAC00, 0xD7A4), k=1_200)
            text = "".join(chr(code) + " " * (at % 4 == 3) for at, code in enumerate(syllables))
            file.write(json.dumps({"text": text}, ensure_ascii=False) + "\n")


def peaks(folder: Path, megabytes: int) -> dict[str, int]:
    """Run counting, and encoding by a given tokenizer; return the peak of each in bytes."""
    folder.mkdir()
    write_new_words(folder / "words.jsonl", megabytes)
    job: dict[str, Any] = {
        "read": {"sources": [{"path": str(folder / "words.jsonl")}], "batch_bytes": MIB},
        "encode": {"shard_bytes": 2 * MIB, "boundary": "none"},
        "output": str(folder / "out"),
    }
    counting = {**job, "train": {"vocab_size": 300}, "count": {"memory": 64 * MIB}}
    run(counting, stop_after="count", workers=2, progress=False)
    found = {"count": read_peak(folder, "count")}
    given = write(byte_level(), folder / "tokenizer.json")
    job = {**job, "tokenizer": {"load": str(given)}, "output": str(folder / "encoded")}
    run(job, workers=2, progress=False)
    return {**found, "encode": read_peak(folder, "encode", "encoded")}


def read_peak(folder: Path, stage: str, output: str = "out") -> int:
    """Return the peak of the largest process, parent or worker, that a stage had."""
    timings = json.loads((folder / output / "timings.json").read_text())
    return int(timings["stages"][stage]["peak_bytes"])


@pytest.mark.slow
@pytest.mark.memory
def test_ten_times_as_many_new_words_take_no_more_memory(tmp_path: Path) -> None:
    small, large = peaks(tmp_path / "small", 4), peaks(tmp_path / "large", 40)
    print({name: (small[name] // MIB, large[name] // MIB) for name in small})
    for stage in small:
        assert large[stage] < MOST_GROWTH * small[stage], (stage, small, large)
