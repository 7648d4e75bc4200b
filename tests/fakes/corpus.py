"""A small made-up corpus: Korean, English and code in the shapes that users' files have."""

from __future__ import annotations

import json
import random
import unicodedata
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

STEMS = ("나라", "사람", "바다", "하늘", "마음", "이야기", "학교", "시간", "노래", "도서관")
PARTICLES = ("은", "는", "이", "가", "을", "를", "에", "에서", "으로", "와", "도", "까지", "부터")
ENDINGS = ("갔다", "왔어요", "봤습니다", "ㅋㅋㅋ", "않았다", "피었다", "들린다", "^^", "😀")
WORDS = ("the", "river", "ran", "under", "old", "bridges", "people", "talked", "about", "winter")


def korean(rng: random.Random, words: int) -> str:
    """Return made-up Korean; every twentieth text is decomposed (NFD), as some files are."""
    text = " ".join(
        rng.choice(STEMS) + rng.choice(PARTICLES) if rng.random() < 0.8 else rng.choice(ENDINGS)
        for _ in range(words)
    )
    return unicodedata.normalize("NFD", text) if rng.random() < 0.05 else text


def english(rng: random.Random, words: int) -> str:
    """Return made-up English."""
    return " ".join(rng.choice(WORDS) for _ in range(words))


def code(rng: random.Random, words: int) -> str:
    """Return lines that look like code."""
    return "\n".join(f"    x{rng.randrange(9)} += f({rng.randrange(99)})" for _ in range(words))


def write_corpus(folder: Path, seed: int = 7, documents: int = 300) -> dict[str, Any]:
    """Write Parquet and JSON lines below `folder`; return a job for them, as a file says it."""
    rng = random.Random(seed)
    (folder / "ko").mkdir(parents=True)
    for number in range(2):
        texts = [korean(rng, rng.choice((0, 1, 3, 8, 40))) for _ in range(documents)]
        table = pa.table({"id": range(documents), "body": texts})
        pq.write_table(table, folder / f"ko/{number}.parquet", row_group_size=documents // 4)
    makers = {"ko": korean, "en": english, "code": code}
    languages = [rng.choice(list(makers)) for _ in range(documents)]
    texts = [makers[language](rng, rng.randrange(12)) for language in languages]
    mixed = {"text": texts, "lang": pa.array(languages).dictionary_encode()}
    pq.write_table(pa.table(mixed), folder / "mixed.parquet", row_group_size=50)
    lines = [
        json.dumps({"doc": {"body": english(rng, 20)}}, ensure_ascii=False)
        for _ in range(documents)
    ]
    (folder / "web.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {
        "name": "made-up",
        "read": {
            "sources": [
                {"path": str(folder / "ko/*.parquet"), "text": "body", "language": "ko"},
                {"path": str(folder / "mixed.parquet"), "language_column": "lang"},
                {"path": str(folder / "web.jsonl"), "text": "doc.body", "language": "en"},
            ]
        },
        "train": {"vocab_size": 400},
        "encode": {"shard_bytes": 8192},
        "output": str(folder / "out"),
    }
