"""What training is taken to need before it starts is what it needs."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

TRAINING = """
    import sys
    from pathlib import Path
    import numpy as np
    from jogak.config import NormalizeOptions, TrainOptions
    from jogak.count import LanguageTotals, PretokenCounts
    from jogak.train import train_merges
    from jogak.train.memory import training_bytes

    def status(name):
        text = Path("/proc/self/status").read_text()
        return int(text.split(name + ":")[1].split()[0]) * 1024

    words, size = 600_000, 12
    draw = np.random.default_rng(1)
    data = draw.integers(97, 107, size=words * size, dtype=np.uint8)
    counts = PretokenCounts(
        data, np.arange(0, words * size + 1, size), np.full(words, 2, np.uint64),
        np.arange(words, dtype=np.uint64), "none", NormalizeOptions(),
        {"und": LanguageTotals(1, 2 * words * size, 2 * words)},
    )
    train_merges(PretokenCounts.from_mapping({"ab": 2}), TrainOptions(vocab_size=258))
    before = status("VmHWM")
    syllables = "ksx1001" if sys.argv[2] == "encoded" else None
    options = TrainOptions(vocab_size=8_000, ties=sys.argv[1], initial_syllables=syllables)
    train_merges(counts, options)
    print(status("VmHWM") - before, training_bytes(counts, encoded=syllables is not None))
"""


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["smallest_ids", "first_seen"])
@pytest.mark.parametrize("start", ["bytes", "encoded"])
def test_training_stays_within_what_it_is_taken_to_need(ties: str, start: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(TRAINING), ties, start],
        check=True,
        capture_output=True,
        text=True,
    )
    grown, taken = map(int, ran.stdout.split())
    print(grown, taken)
    assert taken / 4 < grown < taken
