"""A job file gives one Job, or every error at once, each with file:line:column."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from jogak.config import (
    Difference,
    EncodeOptions,
    Job,
    ReadOptions,
    Source,
    TrainOptions,
    differences,
    dump_job,
    format_size,
    load_job,
    options_from,
    parse_size,
)
from jogak.errors import ConfigError

SMALLEST = """\
read: {sources: [{path: a.parquet}]}
train: {vocab_size: 300}
output: out
"""


def write(folder: Path, text: str, name: str = "job.yaml") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def errors_of(path: Path, *overrides: str) -> list[str]:
    """Return the messages of a wrong job, each without the folder it lies in."""
    with pytest.raises(ConfigError) as caught:
        load_job(path, overrides)
    return str(caught.value).replace(f"{path.parent}{os.sep}", "").splitlines()


def errors_with(folder: Path, text: str) -> list[str]:
    """Return the messages of the smallest job with more lines added to it."""
    return errors_of(write(folder, SMALLEST + textwrap.dedent(text)))


def test_smallest_job_has_every_default(tmp_path: Path) -> None:
    job = load_job(write(tmp_path, SMALLEST))
    assert job.normalize.form == "nfc"
    assert job.pretokenize.pattern == "gpt2"
    assert job.train is not None
    assert job.train.special_tokens == ("<|endoftext|>",)
    assert job.encode.shard_bytes == 64 * 2**20
    assert job.tokenizer is None


def test_all_errors_come_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """\
        name: 5
        read:
          sources:
            - {path: a.parquet, languge: ko}
            - 7
          on_bad_row: skipp
          max_bad_rows: -3
          batch_bytes: 12 MB
        train:
          vocab_sise: four
          special_tokens: [<a>, <a>]
          min_count: 1.5
          whole_characters: yes
        encode: {boundary: both, eos_token: <b>}
        engine: {workers: four}
        """,
    )
    assert errors_of(path) == [
        "job.yaml:1:1: output: missing; it has no default",
        "job.yaml:1:7: name: expected text, found 5; put it in quotes",
        "job.yaml:4:25: read.sources[0].languge: unknown key; did you mean 'language'?",
        "job.yaml:5:7: read.sources[1]: expected keys with values, found 7",
        "job.yaml:6:15: read.on_bad_row: expected one of error, skip, empty, replace, found "
        "'skipp'; did you mean 'skip'?",
        "job.yaml:7:17: read.max_bad_rows: expected a whole number of 0 or more, found -3",
        "job.yaml:8:16: read.batch_bytes: expected bytes as a whole number or with a unit, such "
        "as '512 MiB', found '12 MB'",
        "job.yaml:10:3: train.vocab_sise: unknown key; did you mean 'vocab_size'?",
        "job.yaml:10:15: train.vocab_size: expected a whole number, found 'four'",
        "job.yaml:11:25: train.special_tokens[1]: '<a>' is listed twice; special tokens must "
        "differ",
        "job.yaml:12:14: train.min_count: expected a whole number, found 1.5",
        "job.yaml:13:21: train.whole_characters: expected true or false, found 'yes'",
        "job.yaml:14:20: encode.boundary: 'both' needs encode.bos_token (one of: <a>, <a>)",
        "job.yaml:14:37: encode.eos_token: not one of train.special_tokens (found '<b>'); did "
        "you mean '<a>'?",
        "job.yaml:15:19: engine.workers: expected auto or a whole number, found 'four'",
    ]


def test_what_stands_below_a_misspelt_section_is_judged_too(tmp_path: Path) -> None:
    text = "read: {sources: [{path: a}]}\ntrian: {vocab_size: 12}\noutput: out\n"
    assert errors_of(write(tmp_path, text)) == [
        "job.yaml:2:1: trian: unknown key; did you mean 'train'?",
        "job.yaml:2:21: train.vocab_size: too small (found 12); 256 bytes and 1 special tokens "
        "need at least 257",
    ]


def test_a_key_of_another_section_is_sent_there(tmp_path: Path) -> None:
    found = errors_with(tmp_path, "vocab_size: 5\n")
    assert found == ["job.yaml:4:1: vocab_size: unknown key; did you mean 'train.vocab_size'?"]


def test_an_unlike_key_lists_the_known_ones(tmp_path: Path) -> None:
    (found,) = errors_with(tmp_path, "count: {colour: red}\n")
    known = "memory, sample, sample_bytes, seed"
    assert found == f"job.yaml:4:9: count.colour: unknown key; known here: {known}"


def test_a_key_given_twice_is_an_error(tmp_path: Path) -> None:
    found = errors_with(tmp_path, "encode: {boundary: none, boundary: eos}\noutput: other\n")
    assert found == [
        "job.yaml:4:26: encode.boundary: given twice (first on line 4)",
        "job.yaml:5:1: output: given twice (first on line 3)",
    ]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{text: a}", "3:7: read.sources[0]: no input; give 'path' (files) or 'hf' (a dataset)"),
        ("{path: a, hf: b/c}", "3:21: read.sources[0].hf: 'path' is given too; a source has one"),
        ("{path: a, split: x}", "3:24: read.sources[0].split: only goes with 'hf'; leave it out"),
        ("{path: a, language: ko, language_column: b}", "3:48: read.sources[0].language_column: "),
        ("{path: ''}", "3:14: read.sources[0].path: empty (found ''); give a text"),
    ],
)
def test_rules_of_a_source(tmp_path: Path, source: str, message: str) -> None:
    text = f"read:\n  sources:\n    - {source}\ntrain: {{vocab_size: 300}}\noutput: out\n"
    (found,) = errors_of(write(tmp_path, text))
    assert found.startswith(f"job.yaml:{message}")


def test_a_value_wrong_by_itself_breaks_no_rule(tmp_path: Path) -> None:
    text = SMALLEST.replace("a.parquet", "5")
    found = errors_of(write(tmp_path, text))
    (found,) = found
    assert found == "job.yaml:1:25: read.sources[0].path: expected text, found 5; put it in quotes"


def test_two_sources_of_one_name_are_an_error(tmp_path: Path) -> None:
    text = SMALLEST.replace("{path: a.parquet}", "{path: a, name: x}, {path: b, name: x}")
    (found,) = errors_of(write(tmp_path, text))
    assert found.endswith("sources[1].name: sources[0] is called 'x' too; names must differ")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("tokenizer: {load: t}", "tokenizer: give either 'train' or 'tokenizer' (both are given)"),
        ("pretokenize: {pattern: gtp2}", "pretokenize.pattern: no pattern of this name"),
        ("encode: {boundary: bos}", "encode.boundary: 'bos' needs encode.bos_token (one of: <|end"),
        ("encode: {eos_token: </s>}", "encode.eos_token: not one of train.special_tokens"),
        ("normalize:", "normalize: expected keys with values, found nothing; leave the key out"),
        ("engine: {kind: slurm}", "engine.kind: expected one of local, ray, found 'slurm'"),
        ("1: 2", "1: unknown key"),
        ("[a, b]: 2", "a key must be a single word"),
        ("name: !!binary aGk=", "name: the tag 'tag:yaml.org,2002:binary' has no meaning in a job"),
        ("name: &a [*a]", "name[0]: an alias stands inside what it names"),
    ],
)
def test_rules_of_a_job(tmp_path: Path, more: str, message: str) -> None:
    assert any(f": {message}" in line for line in errors_with(tmp_path, more))


def test_neither_train_nor_tokenizer_is_an_error(tmp_path: Path) -> None:
    text = "read: {sources: [{path: a}]}\noutput: out\n"
    (found,) = errors_of(write(tmp_path, text))
    assert found == "job.yaml:1:1: give either 'train' or 'tokenizer' (neither is given)"


def test_a_wrong_train_section_does_not_count_as_absent(tmp_path: Path) -> None:
    text = "read: {sources: [{path: a}]}\ntrain: 5\noutput: out\n"
    (found,) = errors_of(write(tmp_path, text))
    assert found == "job.yaml:2:8: train: expected keys with values, found 5"


def test_the_vocabulary_must_hold_bytes_and_special_tokens(tmp_path: Path) -> None:
    text = SMALLEST.replace("300", "260, special_tokens: [a, b, c, d, e]")
    (found,) = errors_of(write(tmp_path, text))
    assert found == (
        "job.yaml:2:21: train.vocab_size: too small (found 260); 256 bytes and 5 special tokens "
        "need at least 261"
    )


def test_a_boundary_without_special_tokens_is_an_error(tmp_path: Path) -> None:
    text = SMALLEST.replace("300", "300, special_tokens: []")
    (found,) = errors_of(write(tmp_path, text))
    assert found.endswith("add one to train.special_tokens, or set 'none'")
    assert load_job(write(tmp_path, text + "encode: {boundary: none}\n")).train is not None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: empty; a job needs"),
        ("# nothing but this\n", "1:1: empty; a job needs"),
        ("- a\n- b\n", "1:1: expected keys with values, found a list of 2; a job needs"),
        ("five\n", "1:1: expected keys with values, found 'five'; a job needs"),
        ("read:\n\tsources: 1\n", "2:1: not YAML: a tab where only spaces may stand; indent with"),
        ("name: a: b\n", "1:8: not YAML: a second ': ' in one line"),
        ("name: 'a\n", "2:1: not YAML: "),
        ("name: \x01\n", "1:7: not YAML: character U+0001 is not allowed"),
        ("a: 1\n---\nb: 2\n", "2:1: not YAML: "),
    ],
)
def test_what_is_no_job_at_all_says_where(tmp_path: Path, text: str, message: str) -> None:
    (found,) = errors_of(write(tmp_path, text))
    assert found.startswith(f"job.yaml:{message}"), found


def test_text_that_is_not_utf8_says_where(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_bytes("# 한글\nname: ".encode() + "한".encode("cp949"))
    assert errors_of(path) == ["job.yaml:2:7: not UTF-8 (found byte 0xc7); save it as UTF-8"]


def test_a_missing_file_suggests_its_neighbour(tmp_path: Path) -> None:
    write(tmp_path, SMALLEST, "korean.yaml")
    found = errors_of(tmp_path / "korea.yaml")
    assert found == ["korea.yaml: no such file; did you mean 'korean.yaml'?"]


def test_a_folder_is_no_job_file(tmp_path: Path) -> None:
    (found,) = errors_of(tmp_path)
    assert "cannot be read" in found


def test_columns_count_characters_and_a_bom_is_none(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(SMALLEST + "{name: 조각, colour: 2}\n", encoding="utf-8-sig")
    path.write_text("{name: 조각, output: 3}\n", encoding="utf-8-sig")
    assert "job.yaml:1:20: output: expected text, found 3; put it in quotes" in errors_of(path)


def test_norwegian_is_a_language(tmp_path: Path) -> None:
    text = SMALLEST.replace("a.parquet", "a.parquet, language: no")
    assert load_job(write(tmp_path, text)).read.sources[0].language == "no"


def test_merge_keys_share_values_between_sources(tmp_path: Path) -> None:
    text = """\
    read:
      sources:
        - &first {path: a, text: body, language: ko}
        - {<<: *first, path: b}
    train: {vocab_size: 1_000}
    output: out
    """
    job = load_job(write(tmp_path, text))
    assert job.read.sources[1].text == "body"
    assert job.read.sources[1].path == str(tmp_path / "b")
    assert job.train is not None
    assert job.train.vocab_size == 1000


def test_paths_are_relative_to_the_job_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "saved").mkdir()
    text = """\
    read:
      sources: [{path: ../a/*.parquet}, {path: /b.txt}, {hf: ../saved}, {hf: owner/name}]
    tokenizer: {load: tok}
    output: ../out
    """
    write(tmp_path / "jobs", text)
    monkeypatch.chdir(tmp_path)
    job = load_job("jobs/job.yaml")
    paths = [source.path or source.hf for source in job.read.sources]
    assert paths == [str(tmp_path / "a/*.parquet"), "/b.txt", str(tmp_path / "saved"), "owner/name"]
    assert job.tokenizer is not None
    assert job.tokenizer.load == str(tmp_path / "jobs/tok")
    assert job.output == str(tmp_path / "out")


def test_glob_characters_in_the_folder_of_the_job_are_plain(tmp_path: Path) -> None:
    folder = tmp_path / "[1]"
    folder.mkdir()
    text = SMALLEST.replace("a.parquet", "'*.parquet'").replace("300", "300")
    path = load_job(write(folder, text)).read.sources[0].path
    assert path == str(tmp_path / "[[]1]" / "*.parquet")


def test_set_replaces_and_adds_values(tmp_path: Path) -> None:
    job = load_job(
        write(tmp_path, SMALLEST),
        ["train.vocab_size=400", "engine.workers=2", "read.sources[0].text=body", "name=두 번째"],
    )
    assert job.train is not None
    assert job.train.vocab_size == 400
    assert job.engine.workers == 2
    assert job.read.sources[0].text == "body"
    assert job.name == "두 번째"


def test_set_is_judged_as_the_file_is(tmp_path: Path) -> None:
    found = errors_of(
        write(tmp_path, SMALLEST + "nam: x\n"),
        "train.vocab_sise=5",
        "engine.workers=four",
        "output.x=5",
        "read.sources[7].text=a",
        "vocab",
        "name=[1",
    )
    assert found == [
        "job.yaml:4:1: nam: unknown key; did you mean 'name'?",
        "--set train.vocab_sise=5: train.vocab_sise: unknown key; did you mean 'vocab_size'?",
        "--set engine.workers=four: engine.workers: expected auto or a whole number, found 'four'",
        "--set output.x=5: output: no key 'x' in it (found 'out')",
        "--set read.sources[7].text=a: read.sources: no entry 7 in it (found a list of 1)",
        "--set vocab: expected section.key=value, such as train.vocab_size=64000",
        "--set name=[1: not YAML: expected ',' or ']', but got '<stream end>'",
    ]


def test_set_corrects_a_wrong_value_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, SMALLEST.replace("300", "wrong"))
    assert errors_of(path)
    assert load_job(path, ["train.vocab_size=500"]).train == TrainOptions(vocab_size=500)


def test_a_dumped_job_gives_itself_back(tmp_path: Path) -> None:
    text = SMALLEST + "pretokenize: {pattern: '\\p{L}+|\\s+'}\nname: 'no'\n"
    job = load_job(write(tmp_path, text))
    dumped = dump_job(job)
    assert "shard_bytes: 64 MiB" in dumped
    (tmp_path / "elsewhere").mkdir()
    assert load_job(write(tmp_path / "elsewhere", dumped)) == job
    assert dump_job(job) == dumped


TEXT = st.text(st.characters(exclude_categories=("Cs",)), min_size=1)


@settings(max_examples=30, deadline=None)
@given(
    name=TEXT,
    tokens=st.lists(TEXT, unique=True, max_size=5),
    size=st.integers(1, 2**45),
)
def test_any_job_gives_itself_back(
    tmp_path_factory: pytest.TempPathFactory, name: str, tokens: list[str], size: int
) -> None:
    job = Job(
        name=name,
        read=ReadOptions(sources=(Source(path="/a.parquet"),), spool="/spool"),
        train=TrainOptions(vocab_size=5000, special_tokens=tuple(tokens)),
        encode=EncodeOptions(boundary="none", shard_bytes=size),
        output="/out",
    )
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_text(dump_job(job), encoding="utf-8")
    assert load_job(path) == job


def test_differences_name_the_fields_that_change_the_output(tmp_path: Path) -> None:
    old = load_job(write(tmp_path, SMALLEST))
    same = load_job(write(tmp_path, SMALLEST), ["engine.workers=1", "count.memory=1 GiB"])
    assert differences(old, same) == []
    new = load_job(
        write(tmp_path, SMALLEST),
        ["train.vocab_size=400", "encode.shard_bytes=1 MiB", "train.special_tokens=[<s>, </s>]"],
    )
    changed = [
        Difference("train.vocab_size", 300, 400),
        Difference("train.special_tokens[0]", "<|endoftext|>", "<s>"),
        Difference("train.special_tokens[1]", None, "</s>"),
        Difference("encode.shard_bytes", "64 MiB", "1 MiB"),
    ]
    assert differences(old, new) == changed
    assert differences(yaml.safe_load(dump_job(old)), new) == changed
    assert Difference("later", 1, None) in differences({"later": 1}, new)


def test_python_values_are_judged_as_a_file_is() -> None:
    with pytest.raises(ConfigError) as caught:
        options_from(TrainOptions, {"vocab_sise": "four", "special_tokens": ("a", "a")}, "train")
    assert str(caught.value).splitlines() == [
        "train: vocab_sise: unknown key; did you mean 'vocab_size'?",
        "train: vocab_size: expected a whole number, found 'four'",
        "train: special_tokens[1]: 'a' is listed twice; special tokens must differ",
    ]
    sources = ReadOptions(sources=(Source(path="a"),))
    made = options_from(Job, {"read": sources, "train": {"vocab_size": 300}, "output": "o"}, "job")
    assert made.read == sources


def test_python_code_is_judged_by_the_same_rules() -> None:
    with pytest.raises(ValidationError, match="give either 'train' or 'tokenizer'"):
        Job(read=ReadOptions(sources=(Source(path="a"),)), output="out")
    with pytest.raises(ValidationError, match="a source has one of them"):
        Source(path="a", hf="b")
    with pytest.raises(ValidationError, match="frozen"):
        Source(path="a").path = "b"  # type: ignore[misc]  # that it cannot be set is the test


@pytest.mark.parametrize(
    ("text", "size"),
    [("1 B", 1), ("512 MiB", 2**29), ("4GiB", 2**32), ("3 TiB", 3 * 2**40), ("0 KiB", 0)],
)
def test_sizes_are_read_with_binary_units(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["12 MB", "1.5 GiB", "GiB", "-1 B", "1  B", "１ B", ""])
def test_other_sizes_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="512 MiB"):
        parse_size(text)


@given(st.integers(1, 2**60))
def test_a_written_size_is_read_back(size: int) -> None:
    assert parse_size(format_size(size)) == size
