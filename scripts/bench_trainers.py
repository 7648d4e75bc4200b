"""Usage: from bench_trainers import TRAINERS (of scripts/bench_trainers.py, for bench-train).

The trainers that are compared, each called as its users call it. A trainer imports its package,
then returns the call that is timed: it trains on a file of lines, and returns a call for the merges
as pairs of byte-level strings (empty where the rule is another one) and seconds spent on counting.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

Pairs = list[tuple[str, str]]
Now = Callable[[], float]
Done = tuple[Callable[[], Pairs], float, int]
Trainer = Callable[[str, int, int, Now], Callable[[], Done]]


SETTLE_S = 0.3
"""Between the imports and the timed call, for every trainer: threads that a package of linear
algebra starts spin for a moment, on a processor that the call is to have."""


def status_mb(name: str) -> float:
    """Return a figure of this process from the system: VmRSS, or VmHWM, its peak."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1024
    return 0.0


def measure(
    trainer: Trainer, path: str, vocab_size: int, threads: int, clock: str
) -> tuple[dict[str, Any], Pairs]:
    """Train once; return the figures, and the merges."""
    now = time.process_time if clock == "cpu" else time.perf_counter
    train = trainer(path, vocab_size, threads, now)
    time.sleep(SETTLE_S)
    base_mb = status_mb("VmRSS")
    started = now()
    merges, count_s, distinct = train()
    elapsed_s = now() - started
    figures = {
        "elapsed_s": elapsed_s,
        "count_s": count_s,
        "distinct": distinct,
        "peak_mb": status_mb("VmHWM"),
        "base_mb": base_mb,
    }
    return figures, merges()


def nothing() -> Pairs:
    """Return no merges: those of another rule are not compared."""
    return []


def pairs_of(model: dict[str, Any]) -> Pairs:
    """Return the merges of the model in a tokenizer.json."""
    return [tuple(m) if isinstance(m, list) else tuple(m.split(" ")) for m in model["merges"]]


def jogak(path: str, vocab_size: int, threads: int, now: Now) -> Callable[[], Done]:
    """Jogak, bytes."""
    sys.path.insert(0, str(ROOT / "pipeline"))
    import jogak as package

    count_pretokens, train_tokenizer = package.count_pretokens, package.train

    def train() -> Done:
        started = now()
        with Path(path).open("rb") as file:
            counts = count_pretokens(file, normalize="none", threads=threads)
        count_s = now() - started
        tokenizer = train_tokenizer(
            counts, vocab_size=vocab_size, allow_smaller=True, threads=threads
        )

        def merges() -> Pairs:
            with tempfile.TemporaryDirectory() as folder:
                tokenizer.save(folder)
                text = (Path(folder) / "tokenizer.json").read_text(encoding="utf-8")
            return pairs_of(json.loads(text)["model"])

        return merges, count_s, len(counts)

    return train


def jogak_characters(path: str, vocab_size: int, threads: int, now: Now) -> Callable[[], Done]:
    """Jogak, characters of words marked as SentencePiece marks them."""
    sys.path.insert(0, str(ROOT / "pipeline"))
    import jogak as package

    count_pretokens, train_tokenizer = package.count_pretokens, package.train

    def train() -> Done:
        started = now()
        with Path(path).open("rb") as file:
            counts = count_pretokens(file, normalize="none", threads=threads, word_marker="▁")
        count_s = now() - started
        train_tokenizer(
            counts,
            threads=threads,
            vocab_size=vocab_size,
            alphabet="characters",
            word_marker="▁",
            character_coverage=1.0,
            special_tokens=("<unk>",),
            allow_smaller=True,
        )
        return nothing, count_s, len(counts)

    return train


def gigabpe(path: str, vocab_size: int, threads: int, now: Now) -> Callable[[], Done]:
    """gigabpe; its default pretokenizer would be another task."""
    del now
    import gigabpe as package

    def train() -> Done:
        _, merges = package.train_bpe(
            [path], vocab_size=vocab_size, pretokenizer="bytelevel", threads=threads
        )
        return (lambda: [tuple(merge) for merge in merges]), 0.0, 0

    return train


def tokenizers(path: str, vocab_size: int, threads: int, now: Now) -> Callable[[], Done]:
    """Hugging Face; threads by RAYON_NUM_THREADS."""
    del threads, now
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    def train() -> Done:
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size, initial_alphabet=alphabet, show_progress=False
        )
        tokenizer.train([path], trainer)
        return (lambda: pairs_of(json.loads(tokenizer.to_str())["model"])), 0.0, 0

    return train


def rustbpe(path: str, vocab_size: int, threads: int, now: Now) -> Callable[[], Done]:
    """rustbpe; ties go by other ids."""
    del threads, now
    import rustbpe as package

    def train() -> Done:
        with Path(path).open(encoding="utf-8", newline="\n") as file:
            package.Tokenizer().train_from_iterator(file, vocab_size, pattern=GPT2)
        return nothing, 0.0, 0

    return train


def kiwipiepy(path: str, vocab_size: int, threads: int, now: Now) -> Callable[[], Done]:
    """Kiwipiepy's trainer with no morphemes and no limits of its own; cuts text by its own rule."""
    del now
    from kiwipiepy.bpe_trainer import train_bpe_tokenizer

    def train() -> Done:
        with (
            tempfile.TemporaryDirectory() as folder,
            Path(path).open(encoding="utf-8", newline="\n") as file,
        ):
            train_bpe_tokenizer(
                f"{folder}/tokenizer.json",
                file,
                vocab_size,
                min_pair_frequency=2,
                max_token_length=1_000,
                num_workers=0 if threads == 1 else threads,
                show_progress=False,
            )
        return nothing, 0.0, 0

    return train


def sentencepiece(path: str, vocab_size: int, threads: int, now: Now) -> Callable[[], Done]:
    """SentencePiece's BPE on the same lines, without its limits."""
    del now
    import sentencepiece as package

    def train() -> Done:
        with tempfile.TemporaryDirectory() as folder:
            package.SentencePieceTrainer.train(
                input=path,
                model_prefix=f"{folder}/model",
                model_type="bpe",
                vocab_size=vocab_size,
                character_coverage=1.0,
                byte_fallback=True,
                normalization_rule_name="identity",
                max_sentence_length=10**9,
                input_sentence_size=0,
                split_by_unicode_script=False,
                split_by_number=False,
                num_threads=threads,
                minloglevel=2,
            )
        return nothing, 0.0, 0

    return train


TRAINERS: dict[str, Trainer] = {
    "jogak": jogak,
    "jogak-characters": jogak_characters,
    "gigabpe": gigabpe,
    "tokenizers": tokenizers,
    "rustbpe": rustbpe,
    "kiwipiepy": kiwipiepy,
    "sentencepiece": sentencepiece,
}
