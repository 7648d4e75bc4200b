"""detect: a document's label depends on the document alone, and follows the stated rule."""

from __future__ import annotations

import importlib
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import unicodedata2

import jogak
from fakes.corpus import english, korean
from jogak import detect
from jogak.config import Job, options_from
from jogak.detect import detect_languages, latin
from jogak.detect.latin import LANGUAGES, detect_latin
from jogak.detect.scripts import SCRIPTS, WIDTHS, count_scripts
from jogak.documents import TextBatch
from jogak.errors import ShardError
from jogak.plan import describe_plan, plan_units
from jogak.read import batch_texts, read_unit

ENGLISH = "The committee will meet again next week to discuss the remaining questions."


def labels(texts: list[str]) -> list[str]:
    """Return the labels of documents that lie behind each other in one batch."""
    data = np.frombuffer("".join(texts).encode(), dtype=np.uint8)
    offsets = np.cumsum([0, *(len(text.encode()) for text in texts)], dtype=np.int64)
    codes, names = detect_languages(data, offsets)
    return [names[code] for code in codes.tolist()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("나는 인공지능을 공부한다", "ko"),
        ("大韓民國憲法은 前文과 本文으로 구성된다", "ko"),
        ("私は人工知能を勉強しています", "ja"),
        ("我正在学习人工智能", "zh"),
        ("ผมกำลังเรียนปัญญาประดิษฐ์", "th"),
        ("Я изучаю искусственный интеллект", "ru"),
        ("أنا أدرس الذكاء الاصطناعي", "ar"),
        ("मैं कृत्रिम बुद्धिमत्ता पढ़ रहा हूँ", "hi"),
        ("Μελετώ τεχνητή νοημοσύνη", "el"),
        ("ㅋㅋㅋㅋㅋ", "ko"),
        ("`PyTorch` DataLoader num_workers 옵션을 설정하면 데이터를 여러 프로세스로 읽는다", "ko"),
        ("", "und"),
        ("1234 5678 !!! 😀", "und"),
        ("ok good", "und"),
    ],
)
def test_scripts_decide_as_the_rule_says(text: str, expected: str) -> None:
    assert labels([text]) == [expected]


def test_a_tenth_of_another_script_decides_and_less_does_not() -> None:
    # 27 bytes of Hangul (9 syllables) beside Latin letters of one byte each.
    hangul = "가나다라마바사아자"
    assert labels([hangul + "x" * 243]) == ["ko"]
    assert labels([hangul + "x" * 244]) != ["ko"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ENGLISH, "en"),
        ("Der Ausschuss wird nächste Woche erneut zusammentreten und beraten.", "de"),
        ("Le comité se réunira de nouveau la semaine prochaine pour en discuter.", "fr"),
        ("El comité volverá a reunirse la próxima semana para debatir el asunto.", "es"),
        ("Ủy ban sẽ họp lại vào tuần tới để thảo luận các vấn đề còn lại.", "vi"),
        ("Komite, kalan konuları görüşmek üzere gelecek hafta yeniden toplanacak.", "tr"),
        (ENGLISH.upper(), "en"),
    ],
)
def test_the_model_tells_latin_languages_apart(text: str, expected: str) -> None:
    assert labels([text]) == [expected]


def test_labels_do_not_depend_on_the_documents_beside() -> None:
    rng = random.Random(5)
    texts = []
    for _ in range(400):
        words = rng.randrange(60)
        makers = [korean(rng, words), english(rng, words), ENGLISH * words, "", "漢字" * words]
        texts.append(rng.choice(makers))
    alone = [labels([text])[0] for text in texts]
    assert labels(texts) == alone
    assert labels(texts[::-1]) == alone[::-1]


def test_the_model_scores_as_py3langid_does() -> None:
    langid = pytest.importorskip("py3langid.langid")
    whole = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE)
    rng = random.Random(3)
    more = "le comité se réunira der Ausschuss wird jõgi świat".split()  # noqa: SIM905 - as text
    words = [*ENGLISH.split(), *more]
    texts = [" ".join(rng.choices(words, k=rng.randrange(4, 40))) for _ in range(200)]
    texts = [text for text in texts if len(text.encode()) <= latin.PIECES * latin.PIECE_BYTES]
    expected = [next(name for name, _ in whole.rank(text) if name in LANGUAGES) for text in texts]
    assert detect_latin([text.encode() for text in texts]) == expected


def test_scripts_are_counted_as_unicode_names_characters() -> None:
    rng = random.Random(11)
    names = {"HANGUL": "Hangul", "CYRILLIC": "Cyrillic", "THAI": "Thai", "LATIN": "Latin"}
    pool = [*map(chr, (*range(0x20, 0x250), *range(0x400, 0x460), *range(0xE01, 0xE3B)))]
    pool += [*map(chr, range(0xAC00, 0xAC80))]
    pool = [each for each in pool if each not in "ªº"]  # Latin by script, not by name
    texts = ["".join(rng.choices(pool, k=rng.randrange(9))) for _ in range(300)]
    data = np.frombuffer("".join(texts).encode(), dtype=np.uint8)
    offsets = np.cumsum([0, *(len(text.encode()) for text in texts)], dtype=np.int64)
    counts = count_scripts(data, offsets)
    for text, row in zip(texts, counts.tolist(), strict=True):
        for prefix, script in names.items():
            slow = sum(
                unicodedata2.category(each)[0] in "LM"
                and unicodedata2.name(each, "").startswith(prefix)
                for each in text
            )
            assert row[SCRIPTS.index(script)] == slow, (text, script)
    assert len(WIDTHS) == len(SCRIPTS)


def test_without_the_extra_latin_is_undetermined_and_said_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(detect, "installed_version", lambda: None)
    assert labels([ENGLISH, "한국어"]) == ["und", "ko"]
    assert "extra `detect` is not installed" in detect.describe_detector()
    assert "py3langid" not in detect.detector_version()


def test_a_source_is_detected_whatever_its_batches(tmp_path: Path) -> None:
    lines = [f'{{"text": "{text}"}}' for text in (ENGLISH, "나는 간다", "", "我们学习") * 50]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    found = []
    for batch_bytes in (100, 10**6):
        job = job_for(tmp_path, batch_bytes)
        (unit,) = plan_units(job)
        batches = list(read_unit(unit, job.read, []))
        found.append([each for batch in batches for each in languages_of(batch)])
        assert any("detected by script" in line for line in describe_plan(job, [unit]))
    assert found[0] == found[1] == ["en", "ko", "und", "zh"] * 50


def job_for(folder: Path, batch_bytes: int) -> Job:
    source = {"path": str(folder / "a.jsonl"), "language": "detect"}
    read = {"sources": [source], "batch_bytes": batch_bytes}
    values = {"read": read, "tokenizer": {"load": "."}, "output": str(folder / "out")}
    return options_from(Job, values, "test")


def languages_of(batch: TextBatch) -> list[str]:
    return [batch.language_names[code] for code in batch.languages.tolist()]


def test_a_batch_of_a_larger_buffer_is_detected_where_it_lies() -> None:
    (batch,) = batch_texts(["가나다", ENGLISH, "我们学习"])
    part = replace(
        batch, offsets=batch.offsets[1:], languages=batch.languages[1:], rows=batch.rows[1:]
    )
    assert languages_of(detect.detect_batch(part)) == ["en", "zh"]


def test_results_of_another_detector_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f'{{"text": "{text}"}}' for text in (ENGLISH, "나는 간다")]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    job = {
        "read": {"sources": [{"path": str(tmp_path / "a.jsonl"), "language": "detect"}]},
        "train": {"vocab_size": 260},
        "output": str(tmp_path / "out"),
    }
    manifest = jogak.run(job, progress=False)
    assert set(manifest.by_language()) == {"en", "ko"}
    assert manifest.versions["detector"] == detect.detector_version()
    claim = importlib.import_module("jogak.run.claim")
    monkeypatch.setattr(claim, "detector_version", lambda: "scripts 0")
    with pytest.raises(ShardError, match="version of detector"):
        jogak.run(job, progress=False)
