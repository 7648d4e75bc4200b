"""The shapes of tokenizer.json that model families have, against Hugging Face's library."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers
from tokenizers import Tokenizer as Library
from tokenizers.trainers import BpeTrainer

from jogak.errors import TokenizerError
from jogak.pretokenize import PATTERNS, huggingface_regex
from jogak.tokenizer import Tokenizer
from reference.toy_tokenizers import HARD, TEXTS

SYMBOLS = (
    "가각힣ㅋ \n\t\rabcXYZ'’.,!?-_()<|>0123½①▁😀👨中é"
    "\u1100\u1161\u11a8\u0301\u200d\u200b\ufeff\u00a0"
)
LLAMA = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]


def split(name: str) -> pre_tokenizers.PreTokenizer:
    """Return a pattern, as a Split before ByteLevel."""
    pattern = Regex(huggingface_regex(PATTERNS.get(name, name)))
    return pre_tokenizers.Sequence([pre_tokenizers.Split(pattern, "isolated"), by_bytes()])


def by_bytes() -> pre_tokenizers.PreTokenizer:
    """Return ByteLevel as it stands behind other steps."""
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)


def byte_level(
    pre: pre_tokenizers.PreTokenizer,
    normalizer: normalizers.Normalizer | None = None,
    added: Sequence[AddedToken] = (),
) -> Library:
    """Train a byte-level tokenizer of a shape."""
    library = Library(models.BPE())
    library.pre_tokenizer, library.decoder = pre, decoders.ByteLevel()
    if normalizer is not None:
        library.normalizer = normalizer
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = BpeTrainer(
        vocab_size=420,
        special_tokens=["<|endoftext|>", "<mask>"],
        initial_alphabet=alphabet,
        show_progress=False,
    )
    library.train_from_iterator(TEXTS, trainer)
    library.add_tokens(list(added))
    return library


def characters(
    normalizer: normalizers.Normalizer | None,
    pre: pre_tokenizers.PreTokenizer | None,
    *,
    strip: int = 1,
    fuse: bool = True,
    added: Sequence[AddedToken] = (),
) -> Library:
    """Train a character-level tokenizer with byte fallback."""
    library = Library(models.BPE(unk_token="<unk>", fuse_unk=fuse, byte_fallback=True))
    if normalizer is not None:
        library.normalizer = normalizer
    if pre is not None:
        library.pre_tokenizer = pre
    stripping = [decoders.Strip(" ", strip, 0)] if strip else []
    library.decoder = decoders.Sequence([*LLAMA, *stripping])
    pieces = [f"<0x{byte:02X}>" for byte in range(256)]
    special = ["<unk>", "<s>", "</s>", *pieces]
    library.train_from_iterator(
        TEXTS[:4], BpeTrainer(vocab_size=500, special_tokens=special, show_progress=False)
    )
    content = json.loads(library.to_str())
    content["added_tokens"] = content["added_tokens"][:3]  # byte pieces are no added tokens
    library = Library.from_str(json.dumps(content))
    library.add_tokens(list(added))
    return library


def marked() -> normalizers.Normalizer:
    """Return what Llama 2's file does to text."""
    return normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])


def plain(content: str, **flags: bool) -> AddedToken:
    """Return an added token that is not special."""
    return AddedToken(content, special=False, **flags)


RUNS = [plain(" " * size, normalized=True) for size in range(2, 6)]
ONCE = pre_tokenizers.Digits(individual_digits=True)
SHAPES: dict[str, Callable[[], Library]] = {
    "gpt2": lambda: byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False)),
    "roberta": lambda: byte_level(
        pre_tokenizers.ByteLevel(add_prefix_space=False),
        added=[AddedToken("<mask>", lstrip=True, special=True)],
    ),
    "bart with a prefix space": lambda: byte_level(pre_tokenizers.ByteLevel()),
    "gpt-neox": lambda: byte_level(
        pre_tokenizers.ByteLevel(add_prefix_space=False), normalizers.NFC(), RUNS
    ),
    "bloom": lambda: byte_level(split(r" ?[^(\s|[.,!?…。，、।۔،])]+")),
    "starcoder": lambda: byte_level(
        pre_tokenizers.Sequence([ONCE, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    ),
    "llama 3": lambda: byte_level(split("llama3")),
    "qwen 2.5": lambda: byte_level(
        split("qwen2"), normalizers.NFC(), [plain("<tool_call>"), plain("  ", normalized=False)]
    ),
    "exaone": lambda: byte_level(
        split("qwen2"), normalizers.NFC(), [plain("ㅋㅋ", single_word=True), plain("학교")]
    ),
    "claude 2": lambda: byte_level(
        pre_tokenizers.ByteLevel(add_prefix_space=False), normalizers.NFKC()
    ),
    "kimi": lambda: byte_level(split(r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{L}&&[^\p{Han}]]+|\s+|.")),
    "llama 2": lambda: characters(marked(), None),
    "phi 3": lambda: characters(
        marked(), None, added=[AddedToken("<|user|>", rstrip=True, special=True)]
    ),
    "mistral 0.3": lambda: characters(
        None, pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    ),
    "metaspace": lambda: characters(None, pre_tokenizers.Metaspace()),
    "gemma": lambda: characters(
        normalizers.Replace(" ", "▁"),
        pre_tokenizers.Split(" ", "merged_with_previous"),
        strip=0,
        added=[plain("\n\n", normalized=False)],
    ),
    "yi": lambda: characters(normalizers.Replace(" ", "▁"), None, strip=0, fuse=False),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_ids_and_text_are_the_librarys(shape: str, tmp_path: Path) -> None:
    library = SHAPES[shape]()
    library.save(str(tmp_path / "tokenizer.json"))
    ours = Tokenizer.load(tmp_path)
    generator = random.Random(shape)
    texts = [*TEXTS[:6], *HARD, "<mask> <s>  </s><|user|> \n x", "학교 ㅋㅋ ㅋㅋㅋ<tool_call>"]
    texts += ["".join(generator.choices(SYMBOLS, k=24)) for _ in range(300)]
    for allowed in (True, False):
        library.encode_special_tokens = not allowed
        found = ours.encode_batch(texts, special="allow" if allowed else "plain")
        for index, text in enumerate(texts):
            expected = library.encode(text, add_special_tokens=False).ids
            assert found[index].tolist() == expected, (text, allowed)
            assert allowed or ours.encode(text).tolist() == expected, text
            decoded = library.decode(expected, skip_special_tokens=False)
            assert ours.decode(expected, errors="replace") == decoded, text
    ours.save(tmp_path / "saved")
    assert Tokenizer.load(tmp_path / "saved").fingerprint == ours.fingerprint


@pytest.mark.parametrize(
    ("part", "named"),
    [
        (normalizers.Lowercase(), "Lowercase"),
        (normalizers.StripAccents(), "StripAccents"),
        (normalizers.Nmt(), "Nmt"),
        (normalizers.Replace(Regex(r"\s+"), " "), "Replace"),
        (pre_tokenizers.Whitespace(), "Whitespace"),
        (pre_tokenizers.BertPreTokenizer(), "BertPreTokenizer"),
        (pre_tokenizers.UnicodeScripts(), "UnicodeScripts"),
        (pre_tokenizers.CharDelimiterSplit("|"), "CharDelimiterSplit"),
    ],
)
def test_a_part_that_is_not_applied_exactly_is_refused_by_name(
    part: object, named: str, tmp_path: Path
) -> None:
    library = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False))
    if isinstance(part, normalizers.Normalizer):
        library.normalizer = part
    else:
        library.pre_tokenizer = pre_tokenizers.Sequence([part, by_bytes()])
    library.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(TokenizerError, match=rf"'{named}' cannot be applied exactly"):
        Tokenizer.load(tmp_path)


def test_digits_behind_byte_level_are_refused(tmp_path: Path) -> None:
    library = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False))
    library.pre_tokenizer = pre_tokenizers.Sequence([library.pre_tokenizer, ONCE])  # as Falcon
    library.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(TokenizerError, match="behind ByteLevel 'Digits'"):
        Tokenizer.load(tmp_path)
