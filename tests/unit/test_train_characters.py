"""train: vocabularies of characters with and without word markers, as Python and jobs make them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers

from jogak.config import NormalForm, TrainOptions, WordMarker, load_job
from jogak.count import PretokenCounts, count_pretokens
from jogak.errors import ConfigError, TokenizerError
from jogak.formats import load
from jogak.formats.huggingface_save import describe
from jogak.run import run
from jogak.tokenizer import Tokenizer
from jogak.train import Merges, train, train_merges
from jogak.verify import verify

FIVE_SENTENCES = (
    "나는 공부한다",
    "나는 인공지능을 공부한다",
    "우리는 공부한다",
    "우리는 인공지능을 공부했다",
    "인공지능 연구를 한다",
)
HARD_TEXTS = (
    "나는 인공지능을 공부한다",
    "",
    " ",
    "  a  b ",
    "나는\n\n  우리는\t한다 \n",
    "▁나는 ▁ ▁▁",
    "처음 보는 글자 😀e\u0301",
    "<unk> <s> <0x41> low</w> low</w>er",
    "나\u3000는\xa0공부",
)
WIDE: dict[str, Any] = {"vocab_size": 100_000, "allow_smaller": True, "alphabet": "characters"}


def parts(merges: Merges) -> list[tuple[str, str]]:
    """Return the parts of the merges as text."""
    made = [*merges.base, *merges.tokens()]
    pairs = zip(merges.left.tolist(), merges.right.tolist(), strict=True)
    return [(made[left].decode(), made[right].decode()) for left, right in pairs]


def trained(texts: tuple[str, ...] = FIVE_SENTENCES, **settings: object) -> Tokenizer:
    marker = settings.get("word_marker", "none")
    pattern = "gpt2" if marker == "none" else None
    return train(
        count_pretokens(texts, pattern=pattern, word_marker=marker), **{**WIDE, **settings}
    )


def test_five_sentences_merge_as_worked_by_hand() -> None:
    counts = count_pretokens(FIVE_SENTENCES, word_marker="▁")
    options = TrainOptions(**WIDE, word_marker="▁", ties="lexicographic", min_count=1, limit=14)
    merges = train_merges(counts, options)
    expected = (
        "▁+공 ▁공+부 한+다 ▁+인 ▁공부+한다 ▁인+공 ▁인공+지 ▁인공지+능 ▁+나 ▁+우 ▁나+는 ▁우+리 "
        "▁우리+는 ▁인공지능+을"
    )
    assert ["+".join(pair) for pair in parts(merges)] == expected.split()
    assert merges.counts.tolist() == [4, 4, 4, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2]


@pytest.mark.parametrize(("merges", "tokens"), [(0, 17), (5, 14), (10, 11), (20, 8)])
def test_more_merges_make_fewer_tokens_as_worked_by_hand(merges: int, tokens: int) -> None:
    tokenizer = trained(word_marker="▁", ties="lexicographic", min_count=1, limit=merges)
    assert len(tokenizer.encode("학교에서는 인공지능을 공부했다")) == tokens


def test_fifteen_merges_make_words_of_a_sentence_that_decode_to_it() -> None:
    tokenizer = trained(word_marker="▁", ties="lexicographic", min_count=1, limit=15)
    text = "나는 인공지능을 공부한다"
    ids = tokenizer.encode(text)
    assert [tokenizer.spec.token(i).decode() for i in ids] == ["▁나는", "▁인공지능을", "▁공부한다"]
    assert tokenizer.decode(ids) == text


def test_words_without_a_marker_merge_as_worked_by_hand() -> None:
    counts = PretokenCounts.from_mapping({"low": 5, "lower": 2, "newest": 6, "widest": 3})
    merges = train_merges(counts, TrainOptions(**WIDE, ties="first_seen", limit=3))
    assert parts(merges) == [("e", "s"), ("es", "t"), ("l", "o")]
    assert merges.counts.tolist() == [9, 9, 7]


def test_pairs_are_symbols_and_never_match_inside_longer_ones() -> None:
    counts = PretokenCounts.from_mapping({"xa": 9, "bc": 9, "xabc": 3})
    merges = train_merges(counts, TrainOptions(**WIDE, min_count=1))
    assert ("a", "b") not in parts(merges)
    tokenizer = train(counts, **WIDE, min_count=1, limit=2)
    assert [tokenizer.token_bytes(i) for i in tokenizer.encode("xabc")] == [b"xa", b"bc"]


@pytest.mark.parametrize("marker", ["none", "▁"])
def test_merges_equal_those_of_the_trainer_of_tokenizers(marker: WordMarker) -> None:
    texts = [f"{a} {b}\n{a}" for a in FIVE_SENTENCES for b in FIVE_SENTENCES]
    tokenizer = trained(tuple(texts), word_marker=marker, min_count=2)
    written = describe(tokenizer.spec)
    library = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    around = tokenizers.Tokenizer.from_str(json.dumps(written))
    library.pre_tokenizer = around.pre_tokenizer
    library.normalizer = around.normalizer
    names = list(tokenizer.special_tokens)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=100_000, min_frequency=2, special_tokens=names, show_progress=False
    )
    library.train_from_iterator(texts, trainer)
    model = json.loads(library.to_str())["model"]
    ours = [
        pair.split(" ") if isinstance(pair, str) else pair for pair in written["model"]["merges"]
    ]
    assert len(ours) > 10
    assert ours == model["merges"]
    assert written["model"]["vocab"] == model["vocab"]


@pytest.mark.shared
def test_reported_bugs_of_other_trainers_do_not_occur_here(shared: Path) -> None:
    tried = 0
    for line in (shared / "cases" / "bugs.jsonl").read_text().splitlines():
        case = json.loads(line)
        if case["area"] != "train" or not case["tokenizer"].startswith("characters"):
            continue
        wanted = case["options"]
        if "counts" in wanted:
            counts = PretokenCounts.from_mapping(wanted["counts"])
        elif "end_of_word_suffix" in wanted:
            counts = count_pretokens([case["input"]], normalize="none", word_marker="</w>")
        else:
            counts = count_pretokens([case["input"]], normalize="none", pattern="none")
        options = TrainOptions(
            **WIDE,
            word_marker=wanted.get("end_of_word_suffix", "none"),
            ties=wanted["ties"],
            min_count=wanted.get("min_frequency", 2),
            limit=wanted["merges"],
        )
        found = parts(train_merges(counts, options))
        assert [list(pair) for pair in found] == case["right"], case["id"]
        tried += 1
    assert tried >= 15


def test_ids_are_special_tokens_unknown_bytes_characters_then_merges() -> None:
    counts = PretokenCounts.from_mapping({"나는": 3, "a": 1})
    options = {"special_tokens": ("<s>", "</s>"), "alphabet": "characters"}
    tokenizer = train(counts, vocab_size=7, **options)
    assert [tokenizer.token_bytes(i).decode() for i in range(7)] == [
        *("<s>", "</s>", "<unk>", "a", "나", "는", "나는")
    ]
    assert tokenizer.spec.names.unk == "<unk>"
    assert tokenizer.eos_id == 0
    tokenizer = train(counts, vocab_size=263, byte_fallback=True, **options)
    assert tokenizer.spec.token(3) == b"<0x00>"
    assert tokenizer.spec.token(258) == b"<0xFF>"
    assert tokenizer.spec.token(262).decode() == "나는"
    named = train(
        counts, vocab_size=5, alphabet="characters", special_tokens=("<unk>",), allow_smaller=True
    )
    assert named.special_tokens == {"<unk>": 0}


def test_characters_that_end_words_are_symbols_of_their_own() -> None:
    counts = count_pretokens(["ab b a\n"], word_marker="</w>")
    merges = train_merges(counts, TrainOptions(**WIDE, word_marker="</w>", special_tokens=()))
    assert merges.base == (b"", b"a", b"b", b"a</w>", b"b</w>")


@pytest.mark.parametrize("coverage", [1.0, 0.9, 0.6, 0.01])
def test_coverage_takes_the_most_frequent_characters(coverage: float) -> None:
    counts = PretokenCounts.from_mapping({"aaaaaa": 1, "bb": 1, "c": 1, "d": 1})
    options = TrainOptions(**WIDE, character_coverage=coverage, special_tokens=(), limit=0)
    expected = {1.0: b"abcd", 0.9: b"abc", 0.6: b"a", 0.01: b"a"}[coverage]
    assert b"".join(train_merges(counts, options).base) == expected


def test_max_token_chars_counts_markers_in_front_and_none_behind() -> None:
    for marker in ("none", "▁", "</w>"):
        counts = count_pretokens(["가나다라 가나다라"], word_marker=marker)
        options = TrainOptions(
            **WIDE, word_marker=marker, max_token_chars=3, ties="largest", min_count=1
        )
        made = [token.decode() for token in train_merges(counts, options).tokens()]
        chars = [len(token.removesuffix("</w>")) for token in made]
        assert max(chars) == 3, made


def test_no_pair_spans_a_character_outside_the_alphabet() -> None:
    counts = PretokenCounts.from_mapping({"axa": 5, "aaaa": 9})
    for fallback in (False, True):
        options = TrainOptions(**WIDE, character_coverage=0.9, byte_fallback=fallback, min_count=1)
        assert parts(train_merges(counts, options)) == [("a", "a"), ("aa", "aa")]


@pytest.mark.parametrize("marker", ["none", "▁"])
@pytest.mark.parametrize("form", ["none", "nfc", "nfkc"])
def test_text_comes_back_but_for_the_losses_that_are_stated(
    marker: WordMarker, form: NormalForm
) -> None:
    counts = count_pretokens(
        FIVE_SENTENCES,
        pattern="gpt2" if marker == "none" else None,
        word_marker=marker,
        normalize=form,
    )
    tokenizer = train(counts, **WIDE, word_marker=marker, byte_fallback=True)
    for text in HARD_TEXTS:
        plain = tokenizers.normalizers.NFC().normalize_str(text) if form == "nfc" else text
        plain = tokenizers.normalizers.NFKC().normalize_str(text) if form == "nfkc" else plain
        expected = plain.replace("▁", " ") if marker == "▁" else plain
        assert tokenizer.decode(tokenizer.encode(text)) == expected
    stated = " ".join(tokenizer.losses)
    assert ("'▁' in the text decodes as a space" in stated) == (marker == "▁")
    assert (form.upper() in stated) == (form != "none")
    assert "unknown" not in stated


def test_a_marker_behind_words_keeps_words_and_states_what_it_loses() -> None:
    texts = ("low low lower newest\n widest",)
    tokenizer = trained(texts, word_marker="</w>", min_count=1)
    assert tokenizer.decode(tokenizer.encode("low  lower\n\nnewest ")) == "low lower newest"
    assert "white space between words" in tokenizer.losses[1]
    assert "unknown token" in tokenizer.losses[-1]


def test_bytes_lose_nothing() -> None:
    counts = count_pretokens(FIVE_SENTENCES, normalize="none")
    assert train(counts, vocab_size=280).losses == ()


SETTINGS = [
    {"word_marker": "none"},
    {"word_marker": "none", "byte_fallback": True},
    {"word_marker": "▁"},
    {"word_marker": "▁", "byte_fallback": True, "character_coverage": 0.8},
    {"word_marker": "</w>"},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_saved_tokenizer_is_equal_here_and_in_tokenizers(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    texts = (*FIVE_SENTENCES, "  a  b \n\n c", "low</w> low</w>er", "<0x41> ▁나는")
    tokenizer = trained(texts, **settings, min_count=1, special_tokens=("<s>", "</s>"))
    tokenizer.save(tmp_path)
    again = Tokenizer(load(tmp_path))
    assert again.fingerprint == tokenizer.fingerprint
    library = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert library.get_vocab_size() == tokenizer.vocab_size
    for text in (*HARD_TEXTS, *texts):
        ids = tokenizer.encode(text, special="allow")
        assert ids.tolist() == library.encode(text).ids, text
        assert again.encode(text, special="allow").tolist() == ids.tolist()
        decoded = library.decode(ids.tolist(), skip_special_tokens=False)
        if "<" not in text and "</w>" not in settings.values():
            assert tokenizer.decode(ids) == decoded


def test_text_never_becomes_a_special_token_or_a_byte_piece() -> None:
    counts = PretokenCounts.from_mapping({"<unk>": 9, "<s>": 9, "<0x41>": 9})
    options = TrainOptions(**WIDE, byte_fallback=True, special_tokens=("<s>",))
    made = train_merges(counts, options).tokens()
    assert not {b"<unk>", b"<s>", b"<0x41>"} & set(made)
    assert b"<s" in made or b"s>" in made


def test_two_tokens_are_never_spelled_alike_where_text_holds_the_marker() -> None:
    counts = count_pretokens(["다</w>x 다</w>x 가다 가다 w> w>"], word_marker="</w>")
    merges = train_merges(counts, TrainOptions(**WIDE, word_marker="</w>", min_count=1))
    tokens = [*merges.base[2:], *merges.tokens()]
    assert len(set(tokens)) == len(tokens)


def test_what_does_not_go_together_is_refused_with_a_way_out() -> None:
    plain = count_pretokens(FIVE_SENTENCES)
    marked = count_pretokens(FIVE_SENTENCES, word_marker="▁")
    with pytest.raises(TokenizerError, match=r"count with pattern='whitespace', word_marker='▁'"):
        train(plain, **WIDE, word_marker="▁")
    with pytest.raises(TokenizerError, match="set word_marker to '▁'"):
        train(marked, **WIDE)
    with pytest.raises(TokenizerError, match="set 'characters'"):
        train(marked, vocab_size=300)
    with pytest.raises(TokenizerError, match="set 'whitespace'"):
        count_pretokens(FIVE_SENTENCES, pattern="gpt2", word_marker="▁")
    with pytest.raises(TokenizerError, match=r"too small \(found 10\).*need \d\d;"):
        train(plain, vocab_size=10, alphabet="characters")
    with pytest.raises(TokenizerError, match="'나' is a token of the alphabet already"):
        train(plain, **WIDE, special_tokens=("나",))
    with pytest.raises(TokenizerError, match="not UTF-8"):
        train(PretokenCounts.from_mapping({b"a\xff": 3}), **WIDE)
    with pytest.raises(TokenizerError, match=r"only \d+ of 9,000 tokens could be made"):
        train(plain, vocab_size=9000, alphabet="characters")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"word_marker": "▁"}, "word_marker: only goes with 'alphabet: characters'"),
        ({"byte_fallback": True}, "byte_fallback: only goes with 'alphabet: characters'"),
        ({"alphabet": "characters", "whole_characters": True}, "never cut"),
        (
            {"alphabet": "characters", "word_marker": "</w>", "byte_fallback": True},
            "does not go with word_marker",
        ),
        ({"alphabet": "characters", "byte_fallback": True}, "need at least 258"),
        ({"alphabet": "characters", "character_coverage": 0}, "character_coverage"),
    ],
)
def test_wrong_settings_are_config_errors(settings: dict[str, Any], message: str) -> None:
    counts = PretokenCounts.from_mapping({"ab": 3})
    with pytest.raises(ConfigError, match=message):
        train(counts, **{"vocab_size": 257, **settings})


JOB = """\
read:
  sources: [{path: in.jsonl}]
pretokenize: {pattern: PATTERN}
train: {vocab_size: 330, allow_smaller: true, alphabet: characters, byte_fallback: true,
  word_marker: ▁, special_tokens: [</s>]}
engine: {workers: 1}
output: out
"""


def test_a_job_counts_trains_and_encodes_with_a_marker(tmp_path: Path) -> None:
    texts = [*FIVE_SENTENCES, " 두  칸\n"]
    job = write_job(tmp_path, texts, JOB.replace("PATTERN", "gpt2"))
    with pytest.raises(ConfigError, match="set 'whitespace'"):
        load_job(job)
    job.write_text(JOB.replace("PATTERN", "whitespace"))
    manifest = run(load_job(job))
    assert manifest.vocab_size is not None
    assert manifest.vocab_size <= 330
    found = verify(tmp_path / "out", decode="all")
    assert not found.faults
    assert found.decoded == 6
    tokenizer = Tokenizer.load(tmp_path / "out" / "tokenizer")
    counts = count_pretokens(texts, word_marker="▁")
    assert tokenizer.fingerprint == train(counts, load_job(job).train).fingerprint


def test_an_output_with_stated_losses_is_not_called_damaged(tmp_path: Path) -> None:
    text = JOB.replace("PATTERN", "whitespace").replace("word_marker: ▁", "word_marker: </w>")
    job = write_job(tmp_path, ["나는  공부한다\n", "▁"], text.replace("byte_fallback: true,", ""))
    run(load_job(job))
    assert not verify(tmp_path / "out", decode="all").faults


def write_job(folder: Path, texts: list[str], job: str) -> Path:
    lines = [json.dumps({"text": text}) for text in texts]
    (folder / "in.jsonl").write_text("\n".join(lines) + "\n")
    path = folder / "job.yaml"
    path.write_text(job)
    return path
