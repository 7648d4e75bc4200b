"""Random byte-level vocabularies and texts for comparing encoders: small, and full of traps."""

from __future__ import annotations

import itertools
import random
from collections import Counter

from reference.encode import Vocabulary

KINDS = ("trained", "shuffled", "missing", "splits", "substrings")
CHARACTERS = '가각나는다데이트간갂힣ab c("“”漢字あ😀é\u1100\u1161ㅋ'


def random_text(rng: random.Random, length: int, characters: str = CHARACTERS) -> str:
    """Return text of few distinct characters, so that pairs repeat."""
    some = rng.sample(characters, min(len(characters), rng.randint(2, 9)))
    return "".join(rng.choice(some) for _ in range(length))


def train_pairs(texts: list[bytes], merges: int) -> list[tuple[bytes, bytes]]:
    """Return merges of plain byte pair encoding, in order, as pairs of byte strings."""
    words = [[bytes([byte]) for byte in text] for text in texts]
    result: list[tuple[bytes, bytes]] = []
    for _ in range(merges):
        counts = Counter(pair for word in words for pair in itertools.pairwise(word))
        if not counts:
            break
        best = max(counts, key=lambda pair: (counts[pair], pair))
        result.append(best)
        for word in words:
            at = 0
            while at + 1 < len(word):
                if (word[at], word[at + 1]) == best:
                    word[at : at + 2] = [best[0] + best[1]]
                at += 1
    return list(dict.fromkeys(result))


def random_vocabulary(
    rng: random.Random, kind: str, rule: str, whole_first: bool, texts: list[bytes]
) -> Vocabulary:
    """Return a vocabulary of the texts: 256 bytes in random order, merged tokens, and holes."""
    pairs = train_pairs(texts, rng.randint(1, 60))
    joined = list(dict.fromkeys(left + right for left, right in pairs))
    if kind == "substrings":
        picks = [(rng.choice(texts), rng.randint(2, 7)) for _ in range(60)]
        starts = [(text, rng.randrange(len(text)), size) for text, size in picks if text]
        found = (text[start : start + size] for text, start, size in starts)
        joined = list(dict.fromkeys(token for token in found if len(token) > 1))
    singles = [bytes([byte]) for byte in range(256)]
    rng.shuffle(singles)
    tokens = singles + joined
    if kind == "shuffled":
        rng.shuffle(tokens)
    for _ in range(rng.randint(0, 3)):
        tokens.insert(rng.randrange(len(tokens)), b"")
    if rule == "ranks":
        return Vocabulary(tokens, [], rule, whole_first)
    return Vocabulary(tokens, list_merges(rng, kind, tokens, pairs), rule, whole_first)


def list_merges(
    rng: random.Random, kind: str, tokens: list[bytes], pairs: list[tuple[bytes, bytes]]
) -> list[tuple[int, int, int]]:
    """Return merges as ids: those trained, or (splits, substrings) every split of every token."""
    ids = {token: i for i, token in enumerate(tokens) if token}
    if kind in ("splits", "substrings"):
        pairs = [
            (token[:cut], token[cut:])
            for token in tokens
            for cut in range(1, len(token))
            if token[:cut] in ids and token[cut:] in ids
        ]
    merges = [(ids[a], ids[b], ids[a + b]) for a, b in pairs if a in ids and b in ids]
    if kind == "missing":
        merges = [merge for merge in merges if rng.random() < 0.7]
    if kind in ("shuffled", "substrings"):
        rng.shuffle(merges)
    if merges and rng.random() < 0.2:
        merges.append(rng.choice(merges))
    return merges
