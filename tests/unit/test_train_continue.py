"""train: going on from a tokenizer.json, initial syllables and weights, as Python sees them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tokenizers

from jogak.characters import KSX1001_SYLLABLES
from jogak.config import TrainOptions
from jogak.count import LanguageTotals, PretokenCounts, count_pretokens, merge_counts
from jogak.errors import ConfigError, TokenizerError
from jogak.tokenizer import Tokenizer
from jogak.train import train
from jogak.train.memory import available_bytes, check_memory
from jogak.train.weights import language_weights
from reference.toy_tokenizers import HARD, TEXTS, byte_level, write

MORE = [
    "새로운 낱말을 더 배운다. 새로운 낱말, 새로운 문장.",
    "new words, newer words, the newest words",
] * 5


def same_as_library(folder: Path, tokenizer: Tokenizer) -> None:
    library = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    for text in [*TEXTS, *MORE, *HARD]:
        expected = library.encode(text, add_special_tokens=False).ids
        assert tokenizer.encode(text, special="allow").tolist() == expected


def test_continued_to_2000_equals_trained_to_2000(tmp_path: Path) -> None:
    counts = count_pretokens([*TEXTS, *MORE], normalize="none")
    settings = {"min_count": 1, "special_tokens": ("<s>",), "allow_smaller": True}
    train(counts, vocab_size=330, **settings).save(tmp_path)
    going_on = {"min_count": 1, "allow_smaller": True, "continue_from": tmp_path}
    for size in (330, 331, 400, 2000):
        whole = train(counts, vocab_size=size, **settings)
        assert train(counts, vocab_size=size, **going_on).fingerprint == whole.fingerprint


@pytest.mark.parametrize("nfc", [False, True])
def test_ids_and_merges_stay_and_the_file_loads_elsewhere(tmp_path: Path, nfc: bool) -> None:
    special = [{"content": "<|im_start|>", "special": True}]
    old_path = write(byte_level(350, nfc=nfc, special=special), tmp_path / "tokenizer.json")
    old = Tokenizer.load(old_path)
    counts = count_pretokens(MORE, normalize="nfc" if nfc else "none")
    new = train(counts, vocab_size=380, continue_from=old_path, special_tokens=("<|new|>",))
    assert new.vocab_size == 380
    assert new.token_id(b"<|new|>") == old.vocab_size
    assert new.special_tokens == {**old.special_tokens, "<|new|>": old.vocab_size}
    for token in range(old.vocab_size):
        assert new.token_bytes(token) == old.token_bytes(token)
    assert new.spec.merges[: len(old.spec.merges)].tolist() == old.spec.merges.tolist()
    assert sum(map(len, map(new.encode, MORE))) < sum(map(len, map(old.encode, MORE)))
    new.save(tmp_path / "new")
    assert Tokenizer.load(tmp_path / "new").fingerprint == new.fingerprint
    same_as_library(tmp_path / "new", new)


def test_limit_is_how_many_merges_are_added(tmp_path: Path) -> None:
    path = write(byte_level(300), tmp_path / "tokenizer.json")
    old = Tokenizer.load(path)
    counts = count_pretokens(MORE, normalize="none")
    new = train(counts, vocab_size=10**6, limit=7, continue_from=path)
    assert new.vocab_size == old.vocab_size + 7
    assert new.eos_id == old.eos_id


def test_text_that_was_cut_or_normalized_otherwise_is_refused_by_name(tmp_path: Path) -> None:
    path = write(byte_level(300), tmp_path / "tokenizer.json")
    llama = count_pretokens(MORE, pattern="llama3", normalize="none")
    with pytest.raises(TokenizerError, match=r"pretokenize\.pattern: .*found 'llama3'.*: 'gpt2'"):
        train(llama, vocab_size=310, continue_from=path)
    with pytest.raises(TokenizerError, match=r"normalize\.form: .*found 'nfc'.*form: none"):
        train(count_pretokens(MORE), vocab_size=310, continue_from=path)
    counts = count_pretokens(MORE, normalize="none")
    with pytest.raises(TokenizerError, match=r"too small \(found 290\).* need 300"):
        train(counts, vocab_size=290, continue_from=path)
    with pytest.raises(TokenizerError, match="is an ordinary token"):
        train(counts, vocab_size=310, continue_from=path, special_tokens=("a",))
    with pytest.raises(TokenizerError, match=r"alphabet: .*made of bytes \(found 'characters'\)"):
        train(counts, vocab_size=310, continue_from=path, alphabet="characters")


def test_a_vocabulary_of_characters_is_continued_with_text_treated_alike_only(
    tmp_path: Path,
) -> None:
    marked = count_pretokens(["나는 너를"], word_marker="▁")
    settings = {"alphabet": "characters", "word_marker": "▁", "allow_smaller": True}
    train(marked, vocab_size=100, **settings).save(tmp_path)
    going_on = {"vocab_size": 310, "continue_from": tmp_path}
    with pytest.raises(TokenizerError, match=r"alphabet: .*of characters \(found 'bytes'\)"):
        train(marked, **going_on)
    plain = count_pretokens(["나는 너를"])
    with pytest.raises(TokenizerError, match=r"word_marker: .*found 'none'\); set '▁' here"):
        train(plain, alphabet="characters", **going_on)
    other = count_pretokens(["나는 너를"], word_marker="▁", normalize="nfkc")
    with pytest.raises(TokenizerError, match=r"form: .*found 'nfkc'\); count with 'nfc'"):
        train(other, **settings, **going_on)
    train(plain, vocab_size=100, alphabet="characters", allow_smaller=True).save(tmp_path)
    otherwise = count_pretokens(["나는 너를"], pattern="llama3")
    with pytest.raises(TokenizerError, match=r"pattern: .*found 'llama3'\); count with the"):
        train(otherwise, alphabet="characters", **going_on)


@pytest.mark.parametrize("ties", ["smallest_ids", "lexicographic", "largest", "first_seen"])
@pytest.mark.parametrize(
    ("marker", "fallback", "coverage", "longest"),
    [
        ("none", False, 1.0, None),
        ("▁", True, 0.9, None),
        ("▁", False, 0.8, 3),
        ("</w>", False, 0.9, 3),
    ],
)
def test_characters_continued_to_2000_equal_those_trained_to_2000(
    tmp_path: Path, ties: str, marker: str, fallback: bool, coverage: float, longest: int | None
) -> None:
    pattern = "gpt2" if marker == "none" else None
    counts = count_pretokens([*TEXTS, *MORE], pattern=pattern, word_marker=marker)
    kept = {
        "alphabet": "characters",
        "word_marker": marker,
        "max_token_chars": longest,
        "ties": ties,
        "min_count": 1,
        "allow_smaller": True,
    }
    anew = {**kept, "byte_fallback": fallback, "character_coverage": coverage}
    going_on = {**kept, "continue_from": tmp_path}
    smallest = train(counts, vocab_size=10**6, limit=0, **anew).vocab_size
    train(counts, vocab_size=smallest + 12, **anew).save(tmp_path)
    for size in (smallest + 12, smallest + 13, smallest + 60, 2000):
        whole = train(counts, vocab_size=size, **anew)
        assert train(counts, vocab_size=size, **going_on).fingerprint == whole.fingerprint


def test_options_that_exclude_each_other_are_config_errors() -> None:
    counts = PretokenCounts.from_mapping({"가나": 3})
    for settings, message in (
        ({"weights": {"und": 1}, "temperature": 0.5}, "temperature: 'weights' is given too"),
        ({"weights": {"und": -1.0}}, "weights"),
        ({"weights": {"und": float("nan")}}, "weights"),
        ({"temperature": 0.0}, "temperature"),
        ({"continue_from": "x", "initial_syllables": "ksx1001"}, "initial_syllables: "),
        (
            {"continue_from": "x", "alphabet": "characters", "byte_fallback": True},
            "byte_fallback: the tokenizer of 'continue_from' has its beginning",
        ),
        ({"initial_syllables": "ksx1001", "max_token_bytes": 2}, "has 3 bytes"),
    ):
        with pytest.raises(ConfigError, match=message):
            train(counts, vocab_size=300, **settings)


@pytest.mark.parametrize("alphabet", ["bytes", "characters"])
def test_every_initial_syllable_is_one_token_in_a_plain_tokenizer(
    tmp_path: Path, alphabet: str
) -> None:
    counts = count_pretokens([*TEXTS, *MORE], normalize="none")
    tokenizer = train(
        counts, vocab_size=2900, initial_syllables="ksx1001", alphabet=alphabet, allow_smaller=True
    )
    assert len(KSX1001_SYLLABLES) == len(set(KSX1001_SYLLABLES)) == 2350
    for syllable in KSX1001_SYLLABLES:
        assert len(tokenizer.encode(syllable)) == 1
    tokenizer.save(tmp_path)
    library = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    model = json.loads(library.to_str())["model"]
    assert model["type"] == "BPE"
    assert not model["ignore_merges"]
    for text in [*TEXTS, *MORE, "뷁똠방각하 쀍", "".join(KSX1001_SYLLABLES)]:
        assert tokenizer.encode(text).tolist() == library.encode(text).ids


def test_a_vocabulary_too_small_for_the_syllables_is_refused() -> None:
    counts = PretokenCounts.from_mapping({"가나": 3})
    with pytest.raises(TokenizerError, match=r"initial syllables need 2,7\d\d; raise it"):
        train(counts, vocab_size=2000, initial_syllables="ksx1001")


def weighed(**settings: object) -> dict[str, float]:
    totals = {"ko": LanguageTotals(1, 400, 1), "en": LanguageTotals(1, 100, 1)}
    counts = PretokenCounts.from_mapping({"a": 1})
    object.__setattr__(counts, "totals", totals)
    options = TrainOptions(vocab_size=300, **settings)
    return {name: float(weight) for name, weight in language_weights(counts, options).items()}


def test_weights_and_temperature_as_documented() -> None:
    assert weighed() == {"ko": 1, "en": 1}
    assert weighed(weights={"ko": 0.1}) == {"ko": 0.1, "en": 1}
    assert weighed(temperature=0.5) == {"ko": 1, "en": 2}
    assert weighed(temperature=0.3) == {"ko": 1, "en": 2.639}
    assert weighed(temperature=1.0) == {"ko": 1, "en": 1}


def test_weights_of_unknown_languages_and_of_none_are_refused() -> None:
    counts = merge_counts([PretokenCounts.from_mapping({w: 9}, language=w) for w in ("ko", "en")])
    with pytest.raises(TokenizerError, match=r"no language 'kr' \(found: en, ko\)"):
        train(counts, vocab_size=260, weights={"kr": 2})
    with pytest.raises(TokenizerError, match="every language has weight 0"):
        train(counts, vocab_size=260, weights={"ko": 0, "en": 0})
    with pytest.raises(TokenizerError, match="too many to count"):
        train(counts, vocab_size=260, weights={"ko": 2**62})
    only = train(counts, vocab_size=258, weights={"ko": 0}, special_tokens=(), allow_smaller=True)
    assert only.token_bytes(256) == b"en"


def test_training_that_would_not_fit_into_memory_is_refused_with_what_would() -> None:
    words = {f"{word:07}": 100 - word // 1000 for word in range(9000)}
    counts = PretokenCounts.from_mapping(words)
    check_memory(counts, 2 * 10**6)
    with pytest.raises(
        TokenizerError, match=r"9,000 distinct .* 3,9\d\d most frequent would fit, .* at least 9\d"
    ):
        check_memory(counts, 5 * 10**5)
    available = available_bytes()
    assert available is None or available > 2**20


def test_available_memory_is_the_least_of_machine_and_container(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    assert available_bytes(meminfo, tmp_path) is None
    meminfo.write_text("MemTotal: 9 kB\nMemAvailable:  2000 kB\n")
    assert available_bytes(meminfo, tmp_path) == 2000 * 1024
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("700000\n")
    (tmp_path / "memory.stat").write_text("anon 400000\nfile 300000\n")
    assert available_bytes(meminfo, tmp_path) == 600_000
    (tmp_path / "memory.max").write_text("max\n")
    assert available_bytes(meminfo, tmp_path) == 2000 * 1024
