"""The native character-level encoder equals the slow one, and both equal `tokenizers`."""

from __future__ import annotations

import random

import numpy as np
from tokenizers import models

from jogak import _core
from jogak.formats.piece_vocabulary import BYTE_PIECES
from jogak.vocabulary import pack_tokens
from reference.encode_characters import CharacterBpe

ALPHABET = "ab가나▁\n😀ㅋ"


def random_model(generator: random.Random) -> CharacterBpe:
    """Make a vocabulary, its merges in random order, some missing, some tokens split many ways."""
    prefix = generator.choice(["", "", "", "##"])
    suffix = generator.choice(["", "", "", "</w>"])
    byte_fallback = generator.random() < 0.4
    pieces = [c for c in ALPHABET if generator.random() < 0.8] or ["a"]
    if prefix:
        pieces += [prefix + piece for piece in pieces]
    if suffix:
        pieces += [piece + suffix for piece in pieces]
    merges: list[tuple[str, str]] = []
    for _ in range(generator.randint(0, 25)):
        left, right = generator.choice(pieces), generator.choice(pieces)
        if (suffix and left.endswith(suffix)) or (prefix and not right.startswith(prefix)):
            continue
        joined = left + right[len(prefix) :]
        if joined not in pieces:
            pieces.append(joined)
        if (left, right) not in merges:
            merges.insert(generator.randint(0, len(merges)), (left, right))
    pieces.append("<unk>")
    if byte_fallback:
        pieces += BYTE_PIECES
    vocab = {piece: index for index, piece in enumerate(dict.fromkeys(pieces))}
    return CharacterBpe(
        vocab,
        merges,
        byte_fallback=byte_fallback,
        unknown="<unk>",
        fuse_unknown=generator.random() < 0.5,
        prefix=prefix,
        suffix=suffix,
        whole_first=generator.random() < 0.3,
    )


def native(model: CharacterBpe) -> _core.CharacterEncoder:
    data, offsets = pack_tokens([piece.encode() for piece in model.vocab])
    rows = [
        (model.vocab[left], model.vocab[right], model.vocab[left + right[len(model.prefix) :]])
        for left, right in model.merges
    ]
    pieces = [model.vocab[piece] for piece in BYTE_PIECES] if model.byte_fallback else []
    return _core.CharacterEncoder(
        data,
        offsets,
        np.array(rows, dtype=np.uint32).reshape(-1),
        np.array(pieces, dtype=np.uint32),
        model.vocab["<unk>"],
        fuse_unknown=model.fuse_unknown,
        whole_first=model.whole_first,
        ranks=np.zeros(0, dtype=np.uint32),
        prefix=model.prefix,
        suffix=model.suffix,
    )


def library(model: CharacterBpe) -> models.BPE:
    affixes = {"continuing_subword_prefix": model.prefix, "end_of_word_suffix": model.suffix}
    return models.BPE(
        vocab=model.vocab,
        merges=model.merges,
        byte_fallback=model.byte_fallback,
        unk_token=model.unknown,
        fuse_unk=model.fuse_unknown,
        ignore_merges=model.whole_first,
        **{name: affix for name, affix in affixes.items() if affix},
    )


def test_the_native_encoder_equals_the_slow_one_and_the_library() -> None:
    for seed in range(400):
        generator = random.Random(seed)
        model = random_model(generator)
        encoder, original = native(model), library(model)
        words = [
            "".join(generator.choices(ALPHABET + "x", k=generator.randint(1, 12)))
            for _ in range(25)
        ] * 2
        data, offsets = pack_tokens([word.encode() for word in words])
        ids, document_ends, id_ends = encoder.encode(data, offsets, offsets[1:], with_ends=True)
        plain, plain_ends, _ = encoder.encode(data, offsets, offsets[1:])
        starts = [0, *document_ends.tolist()]
        for index, word in enumerate(words):
            expected = model.encode(word)
            assert ids[starts[index] : starts[index + 1]].tolist() == expected, (seed, word)
            assert [token.id for token in original.tokenize(word)] == expected, (seed, word)
        assert plain.tolist() == ids.tolist()
        assert plain_ends.tolist() == document_ends.tolist()
        if not (model.prefix or model.suffix):
            assert id_ends[document_ends - 1].tolist() == offsets[1:].tolist()
