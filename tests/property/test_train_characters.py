"""Trained vocabularies of characters: merges as the oracle's, ids as `tokenizers` gives them.

JOGAK_TRAIN_RUNS sets the number of runs as in test_train.py (a tenth of it here).
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter

import pytest
import regex
import tokenizers

from jogak.config import TrainOptions
from jogak.count import count_pretokens
from jogak.formats.huggingface_save import describe
from jogak.tokenizer import Tokenizer
from jogak.train import train, train_merges
from reference.train import Rules, Word, train_slowly

RUNS = int(os.environ.get("JOGAK_TRAIN_RUNS", "2000")) // 10
FIRST_SEED = int(os.environ.get("JOGAK_TRAIN_SEED", "0"))
BLOCKS = 5
TIES = ("smallest_ids", "lexicographic", "largest", "first_seen")
LETTERS = "aab가가나 \n다▁é😀  "


def draw_texts(draw: random.Random) -> list[str]:
    """Draw texts in which words repeat, white space doubles and the marker occurs."""
    return ["".join(draw.choices(LETTERS, k=draw.randint(0, 60))) for _ in range(6)] + ["가나 가나"]


def slow_words(texts: list[str], marker: str) -> list[str]:
    """Return the words of the texts in order, cut by the rule of the marker, written anew."""
    if marker == "</w>":
        return [word for text in texts for word in text.split()]
    if marker == "▁":
        marked = ["▁" + text.replace(" ", "▁") for text in texts if text]
        return [word for text in marked for word in regex.findall(r"▁?[^\s▁]+|▁|\s+", text)]
    return [word for text in texts for word in regex.findall(r" ?\S+|\s+(?!\S)|\s+", text)]


def symbols_of(word: str, marker: str) -> list[bytes]:
    units = [*word[:-1], word[-1] + (marker if marker == "</w>" else "")]
    return [unit.encode() for unit in units]


def expected_merges(
    texts: list[str], marker: str, rules: Rules, base: tuple[bytes, ...]
) -> list[tuple[int, int, int]]:
    """Train slowly; the ids of `base` before the alphabet have no symbols."""
    words = Counter(slow_words(texts, marker))
    ids = {token: i for i, token in enumerate(base)}
    at, slow = 0, []
    for word, count in words.items():  # in the order of the text
        symbols = [ids[unit] for unit in symbols_of(word, marker)]
        slow.append(Word(symbols, count, at))
        at += len(symbols)
    return train_slowly(slow, base, 40, rules)


def run(seed: int) -> None:
    draw = random.Random(seed)
    texts = draw_texts(draw)
    marker = draw.choice(["none", "▁", "</w>"])
    fallback = marker != "</w>" and draw.random() < 0.5
    rules = Rules(ties=draw.choice(TIES), min_count=draw.choice([1, 2, 3]))
    pattern = "whitespace"
    counts = count_pretokens(texts, pattern=pattern, normalize="none", word_marker=marker)
    options = TrainOptions(
        vocab_size=5000,
        alphabet="characters",
        word_marker=marker,
        byte_fallback=fallback,
        ties=rules.ties,
        min_count=rules.min_count,
        limit=40,
        allow_smaller=True,
    )
    merges = train_merges(counts, options)
    found = zip(merges.left.tolist(), merges.right.tolist(), merges.counts.tolist(), strict=True)
    assert list(found) == expected_merges(texts, marker, rules, merges.base), seed
    tokenizer = train(counts, options)
    compare_with_library(tokenizer, [*texts, *draw_texts(draw), "xyz 하 가나"], seed)


def compare_with_library(tokenizer: Tokenizer, texts: list[str], seed: int) -> None:
    library = tokenizers.Tokenizer.from_str(json.dumps(describe(tokenizer.spec)))
    for text in texts:
        ids = tokenizer.encode(text).tolist()
        assert ids == library.encode(text).ids, (seed, text)
        if not any("white space" in loss for loss in tokenizer.losses):
            decoded = library.decode(ids, skip_special_tokens=False)
            assert tokenizer.decode(ids) == decoded, (seed, text)
        if tokenizer.spec.characters.byte_fallback:
            marked = bool(tokenizer.spec.characters.marker)
            assert tokenizer.decode(ids) == (text.replace("▁", " ") if marked else text), seed


@pytest.mark.parametrize("block", range(BLOCKS))
def test_merges_equal_the_oracle_and_ids_equal_tokenizers(block: int) -> None:
    for seed in range(FIRST_SEED + block, FIRST_SEED + RUNS, BLOCKS):
        run(seed)
