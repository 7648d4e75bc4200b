"""Added tokens are matched as Hugging Face's `tokenizers` matches them, flags included."""

from __future__ import annotations

import random
from pathlib import Path

from tokenizers import AddedToken, normalizers

from jogak.tokenizer import Tokenizer
from reference.toy_tokenizers import byte_level, write

PARTS = [
    "<",
    ">",
    "a",
    "ab",
    "가",
    "각",
    " ",
    "\u1100\u1161",
    "\u3000",
    "_",
    "́",
    "\n",
    "<a>",
    "<ab>",
]
FLAGS = ("lstrip", "rstrip", "single_word", "normalized", "special")


def random_text(generator: random.Random, most: int) -> str:
    return "".join(generator.choices(PARTS, k=generator.randint(1, most)))


def random_tokens(generator: random.Random) -> list[AddedToken]:
    contents = {random_text(generator, 3).strip() for _ in range(generator.randint(1, 6))}
    return [
        AddedToken(content, **{flag: generator.random() < 0.4 for flag in FLAGS})
        for content in sorted(contents - {""})
    ]


def test_added_tokens_with_any_flags_are_found_as_the_library_finds_them(tmp_path: Path) -> None:
    for seed in range(300):
        generator = random.Random(seed)
        library = byte_level()
        if generator.random() < 0.5:
            library.normalizer = normalizers.NFC()
        library.add_tokens(random_tokens(generator))
        ours = Tokenizer.load(write(library, tmp_path / "tokenizer.json"))
        texts = [random_text(generator, 12) for _ in range(20)]
        for special in ("plain", "allow"):
            library.encode_special_tokens = special == "plain"
            batch = ours.encode_batch(texts, special=special)
            for index, text in enumerate(texts):
                expected = library.encode(text).ids
                assert batch[index].tolist() == expected, (seed, special, text)
