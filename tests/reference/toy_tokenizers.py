"""Small tokenizers, trained in the test by Hugging Face `tokenizers` on text written for it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.trainers import BpeTrainer

TEXTS = [
    "나는 학교에 간다. 나는 집에 간다. 너는 학교에 온다.",
    "오늘은 2024년 3월 1일, 날씨가 맑다 ㅋㅋㅋ 😀😀",
    "The quick brown fox doesn't jump over the lazy dog; it's 12,345 km away.",
    "def f(x):\n    return x + 1\n\n\n",
    "東京は日本の首都です。北京是中国的首都。",
    "가나다라 마바사아 자차카타파하 GPT는 iPhone은 3개를",
] * 3

HARD = [
    "",
    " ",
    "\n\n 한국 ",
    "가\u1100\u1161\u11a8나",
    "\ufeff안녕\u200b하세요\u3164",
    "a\r\nb\r\n\r\n",
    "<|endoftext|> <|끝|>  <|im_start|>",
    "ᄒᆞᆫ글 Å é́",
    "x" * 300 + "가" * 300,
    "\t\x00\x7f\u00a0\u3000",
    "👨‍👩‍👧‍👦🇰🇷 ①㈜",
    "0123456789 3.14 1/2",
]


def byte_level(
    vocab_size: int = 400, *, nfc: bool = False, special: Iterable[Mapping[str, object]] = ()
) -> Tokenizer:
    """Train a byte-level BPE tokenizer with the GPT-2 pattern."""
    tokenizer = Tokenizer(models.BPE())
    if nfc:
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    tokenizer.add_tokens([AddedToken(**token) for token in special])
    return tokenizer


def write(tokenizer: Tokenizer, path: Path, **changes: object) -> Path:
    """Save a tokenizer with keys of its JSON changed (`model__vocab` is model.vocab)."""
    content = json.loads(tokenizer.to_str())
    for key, value in changes.items():
        place = content
        *outer, last = key.split("__")
        for name in outer:
            place = place[name]
        place[last] = value
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return path
