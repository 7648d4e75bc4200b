"""Counting within a budget, by threads and by units: always the counts of the unbounded run."""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jogak.config import NormalizeOptions, ReadOptions, Source
from jogak.count import (
    CountTask,
    DocumentCounter,
    PretokenCounts,
    Sample,
    count_pretokens,
    count_unit,
    merge_counts,
    merge_units,
    tree,
)
from jogak.count.sample import ALL
from jogak.documents import TextBatch
from jogak.errors import ShardError, SourceError
from jogak.plan import Part, Unit
from jogak.pretokenize import Pretokenizer

MIB = 2**20


def assert_equal(left: PretokenCounts, right: PretokenCounts, *, positions: bool = True) -> None:
    assert left.data[: left.offsets[-1]].tobytes() == right.data[: right.offsets[-1]].tobytes()
    np.testing.assert_array_equal(left.offsets, right.offsets)
    np.testing.assert_array_equal(left.counts, right.counts)
    if positions:
        np.testing.assert_array_equal(left.first, right.first)
    assert left.totals == right.totals
    for language in left.totals:
        np.testing.assert_array_equal(
            left.language_counts(language), right.language_counts(language)
        )


def make_texts(seed: int, documents: int, words: int) -> list[str]:
    """Texts whose words are mostly new, some long, in several scripts."""
    draw = random.Random(seed)
    stems = ["학교", "집", "w", "데이터베이스관리", "é", "x" * 40]
    return [
        " ".join(f"{draw.choice(stems)}{draw.randrange(words * 50)}" for _ in range(words))
        for _ in range(documents)
    ]


TEXTS = make_texts(1, 40, 700)


@pytest.mark.parametrize("pattern", ["gpt2", r"\S+|\s+"])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_and_budget_do_not_change_the_counts(pattern: str, threads: int) -> None:
    whole = count_pretokens(TEXTS, pattern=pattern)
    assert len(whole) > 15_000
    for memory_bytes in (None, 64, MIB):
        counts = count_pretokens(TEXTS, pattern=pattern, threads=threads, memory_bytes=memory_bytes)
        assert_equal(counts, whole)


def test_a_document_larger_than_the_budget_is_counted_in_pieces() -> None:
    text = " ".join(TEXTS)
    assert_equal(count_pretokens([text], memory_bytes=MIB), count_pretokens([text]))


def batches(names: tuple[str, ...], size: int) -> list[TextBatch]:
    draw = random.Random(7)
    made = []
    for start in range(0, len(TEXTS), size):
        encoded = [text.encode() for text in TEXTS[start : start + size]]
        made.append(
            TextBatch(
                data=np.frombuffer(b"".join(encoded), dtype=np.uint8),
                offsets=np.cumsum([0, *map(len, encoded)], dtype=np.int64),
                languages=np.array([draw.randrange(len(names)) for _ in encoded], dtype=np.int32),
                language_names=names,
                rows=np.arange(len(encoded), dtype=np.int64),
                path="memory",
                source=0,
            )
        )
    return made


def test_languages_survive_spilling_and_threads() -> None:
    parts = batches(("ko", "en", "und"), 3)
    whole = count_pretokens(parts)
    assert list(whole.totals) == ["en", "ko", "und"]
    assert_equal(count_pretokens(parts, threads=2, memory_bytes=MIB), whole)


def test_spilled_runs_are_gone_afterwards(tmp_path: Path) -> None:
    with DocumentCounter(
        Pretokenizer("gpt2"), NormalizeOptions(), memory_bytes=MIB, spill=tmp_path
    ) as counter:
        for batch in batches(("ko",), 5):
            counter.add(batch)
        assert len(list(tmp_path.iterdir())) > 2
        assert counter.spilled_bytes == sum(p.stat().st_size for p in tmp_path.iterdir())
    assert list(tmp_path.iterdir()) == []


def count_units(folder: Path, *, memory_bytes: int, units: int, sample: Sample = ALL) -> list[Path]:
    """Count one Parquet file of two languages in units of rows, last unit first."""
    languages = ["ko" if i % 3 else "en" for i in range(len(TEXTS))]
    path = folder / "texts.parquet"
    pq.write_table(pa.table({"text": TEXTS, "lang": languages}), path, row_group_size=7)
    read = ReadOptions(sources=(Source(path=str(path), language_column="lang"),))
    bounds = np.linspace(0, len(TEXTS), units + 1).astype(int).tolist()
    paths = []
    for index in reversed(range(units)):
        part = Part(str(path), bounds[index], bounds[index + 1], 1)
        target = folder / f"unit-{index}.arrow"
        task = CountTask(
            Unit(index, 0, (part,), 1),
            read,
            NormalizeOptions(),
            "gpt2",
            str(target),
            memory_bytes,
            sample=sample,
        )
        done = count_unit(task)
        assert sample != ALL or done.documents == bounds[index + 1] - bounds[index]
        assert (done.spilled_bytes > 0) == (memory_bytes <= MIB)
        paths.append(target)
    return paths


@pytest.mark.parametrize(("memory_bytes", "units"), [(2**40, 3), (MIB, 3), (MIB, 1), (64, 2)])
def test_merged_units_are_the_counts_of_the_whole(
    tmp_path: Path, memory_bytes: int, units: int
) -> None:
    paths = count_units(tmp_path, memory_bytes=memory_bytes, units=units)
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept == {"texts.parquet", *(path.name for path in paths)}
    merged = merge_units(paths, tmp_path / "counts.parquet", memory_bytes=memory_bytes)
    counts = PretokenCounts.load(tmp_path / "counts.parquet")
    whole = count_pretokens(TEXTS)
    assert counts.data[: counts.offsets[-1]].tobytes() == whole.data.tobytes()
    np.testing.assert_array_equal(counts.counts, whole.counts)
    assert merged.distinct == len(whole)
    assert dict(merged.totals) == counts.totals
    assert counts.totals["en"].documents == 14
    by_language = counts.language_counts("en") + counts.language_counts("ko")
    np.testing.assert_array_equal(by_language, whole.counts)
    again = merge_units(paths[::-1], tmp_path / "again.parquet", memory_bytes=2**30)
    assert again.totals == merged.totals
    assert (tmp_path / "again.parquet").read_bytes() == (tmp_path / "counts.parquet").read_bytes()
    assert_equal(merge_counts([counts]), counts)


def test_a_sample_of_the_documents_does_not_depend_on_units(tmp_path: Path) -> None:
    sample = Sample(0.5, 3)
    expected = count_pretokens(TEXTS, sample=0.5, seed=3)
    assert 0 < expected.documents < len(TEXTS)
    for units in (1, 3):
        folder = tmp_path / str(units)
        folder.mkdir()
        paths = count_units(folder, memory_bytes=2**40, units=units, sample=sample)
        merged = merge_units(paths, folder / "counts.parquet", memory_bytes=MIB)
        assert merged.sample == expected.sample == "0.5 of the documents, seed 3"
        counts = PretokenCounts.load(folder / "counts.parquet")
        assert counts.sample == expected.sample
        assert counts.documents == expected.documents
        assert counts.data[: counts.offsets[-1]].tobytes() == expected.data.tobytes()
        np.testing.assert_array_equal(counts.counts, expected.counts)


def test_units_without_text_merge_to_empty_counts(tmp_path: Path) -> None:
    with DocumentCounter(Pretokenizer("gpt2"), NormalizeOptions()) as counter:
        counter.save_run(tmp_path / "unit.arrow")
    merged = merge_units([tmp_path / "unit.arrow"], tmp_path / "counts.parquet", memory_bytes=MIB)
    assert merged.distinct == 0
    assert len(PretokenCounts.load(tmp_path / "counts.parquet")) == 0


def test_a_unit_that_is_missing_or_foreign_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"unit-9\.arrow: cannot be read"):
        merge_units([tmp_path / "unit-9.arrow"], tmp_path / "counts.parquet", memory_bytes=MIB)
    (tmp_path / "text.arrow").write_text("no Arrow file at all, but long enough to be looked at")
    with pytest.raises(SourceError, match=r"text\.arrow: cannot be read"):
        merge_units([tmp_path / "text.arrow"], tmp_path / "counts.parquet", memory_bytes=MIB)


def test_an_unwritable_run_is_a_shard_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        DocumentCounter(Pretokenizer("gpt2"), NormalizeOptions()) as counter,
        pytest.raises(ShardError, match="cannot be written"),
    ):
        counter.save_run(tmp_path / "file" / "unit.arrow")


EVER_NEW_WORDS = """
    import sys
    from pathlib import Path
    import numpy as np
    from jogak.config import NormalizeOptions
    from jogak.count import DocumentCounter, merge_units
    from jogak.documents import TextBatch
    from jogak.pretokenize import Pretokenizer

    budget, words, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])

    def peak():
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024

    def batch(first, count):
        digits = (np.arange(first, first + count)[:, None] // 26 ** np.arange(7)) % 26 + 97
        text = np.concatenate([np.full((count, 1), 32), digits], axis=1).astype(np.uint8).ravel()
        return TextBatch(text, np.array([0, len(text)]), np.zeros(1, np.int32), ("und",),
                         np.zeros(1, np.int64), "memory", 0)

    size = 20_000
    with DocumentCounter(Pretokenizer("gpt2"), NormalizeOptions(), spill=folder) as counter:
        counter.add(batch(0, size))
        counter.save_run(folder / "warm.arrow")
        merge_units([folder / "warm.arrow"], folder / "warm.parquet", memory_bytes=budget)
    before = peak()
    with DocumentCounter(
        Pretokenizer("gpt2"), NormalizeOptions(), memory_bytes=budget, spill=folder
    ) as counter:
        for first in range(0, words, size):
            counter.add(batch(first, size))
            counter.add(batch(first, size))
        counter.save_run(folder / "unit.arrow")
        runs = counter.spilled_bytes
    merged = merge_units([folder / "unit.arrow"], folder / "counts.parquet", memory_bytes=budget)
    print(merged.distinct, peak() - before, runs, merged.temporary_bytes)
"""


@pytest.mark.slow
def test_memory_stays_in_the_budget_at_20_times_its_size_of_new_words(tmp_path: Path) -> None:
    budget, words = 3 * MIB, 1_200_000
    assert words * 32 / 0.625 > 19 * budget  # slots alone, at the fullest
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(EVER_NEW_WORDS), str(budget), str(words), tmp_path],
        check=True,
        capture_output=True,
        text=True,
    )
    distinct, grown, runs, temporary = map(int, ran.stdout.split())
    assert distinct == words
    assert runs > 10 * budget
    assert temporary > budget
    # The stated constant: a part of the hash space while it is summed, and Arrow's own buffers.
    assert grown < budget + 32 * MIB
    counts = PretokenCounts.load(tmp_path / "counts.parquet")
    assert int(counts.counts.min()) == int(counts.counts.max()) == 2
    assert (np.diff(counts.first.astype(np.int64)) > 0).all()


@pytest.mark.parametrize("fan", [2, 3, 7])
def test_a_tree_of_tasks_gives_the_bytes_of_one_merge(
    fan: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "MERGED_AT_ONCE", fan)
    paths = [str(path) for path in count_units(tmp_path, memory_bytes=64 * MIB, units=10)]
    right = merge_units([Path(path) for path in paths], tmp_path / "right", memory_bytes=MIB)
    random.Random(fan).shuffle(paths)
    level = 0
    while len(paths) > fan:
        tasks = [
            tree.group_task(paths, index, str(tmp_path / f"merge-{level}-{index}"))
            for index in range(-(-len(paths) // fan))
        ]
        assert sorted(path for task in tasks for path in task.paths) == sorted(paths)
        paths = [tree.merge_group(task) for task in reversed(tasks)]
        level += 1
    assert level >= 1
    parts = tree.part_tasks(paths, str(tmp_path / "parts"), MIB)
    written = [tree.sort_part(task) for task in reversed(parts)]
    found = tree.join_sorted(tree.JoinTask(str(tmp_path / "parts"), str(tmp_path / "found")))
    assert (tmp_path / "found").read_bytes() == (tmp_path / "right").read_bytes()
    assert replace(found, path=right.path) == right
    assert found.temporary_bytes == sum(written)
