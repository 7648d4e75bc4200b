"""
The native core of Jogak: scanning, normalizing, counting, training, encoding.
"""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy
from numpy.typing import NDArray


def validate_utf8(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], isa: str = '') -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    Find the first byte of each document that is not valid UTF-8: int64 (documents,),
    the offset in the document as Python's UnicodeDecodeError.start, or -1.
    """

def line_offsets(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], isa: str = '') -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    Return where the lines of a text begin, and its end: int64 (lines + 1,).
    """

def measure_text(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    Count the characters and the eojeol (len(text.split()) of Python) of each document
    of valid UTF-8: int64 (documents,) and int64 (documents,).
    """

def check_form(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], form: str) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
    """
    Check each document of valid UTF-8 for a normal form (nfc, nfkc, nfkc_keep_jamo):
    uint8 (documents,), 0 in the form, 1 but for jamo that compose, 2 unknown.
    """

def compose_jamo(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]:
    """
    Compose conjoining jamo: data, offsets and which documents changed, uint8
    (documents,). When none did, data and offsets are empty.
    """

def clean_text(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, lf_newlines: bool, remove_control: bool, collapse_spaces: bool) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]:
    """
    Apply cleaning rules: data, offsets and which documents changed, uint8
    (documents,). When none did, data and offsets are empty.
    """

class Scanner:
    """A compiled pattern; immutable, shared by threads."""

    def __init__(self, pattern: str, isa: str = '') -> None:
        """
        Compile a pattern; ValueError names a construct outside the subset.

        isa is scalar, avx2 or avx512; by default what JOGAK_ISA says, or the best there is.
        """

    def scan(self, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        Find the pretokens of documents (valid UTF-8): their ends as offsets into data,
        int64 (pretokens,), and how many there are up to each document's end, int64 (documents,).
        """

    @property
    def matches_everything(self) -> bool:
        """No text has a part that the pattern leaves unmatched."""

    @property
    def linear(self) -> bool:
        """No text is read more than a few times."""

    @property
    def by_masks(self) -> bool:
        """Vector kernels scan this pattern here."""

    @property
    def states(self) -> int:
        """The states of the automaton."""

def character_class(pattern: str) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
    """
    Find the code points that a pattern of one character matches, Unicode 16: uint32
    (2 * ranges,), the first and last of each range; ValueError outside the subset.
    """

def unicode_version() -> str:
    """The version of the Unicode tables."""

class PretokenCounter:
    """
    Counts distinct pretokens, one table per language; one thread at a time.
    """

    def __init__(self, single_part: bool = False) -> None:
        """
        A counter for documents, or one that sums pretokens of a single part as well as of all.
        """

    def add(self, scanner: Scanner, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], languages: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], base: int, place: tuple[int, int, int] = (0, 0, 0), limit_bytes: int = 18446744073709551615) -> tuple[int, int, int]:
        """
        Count the pretokens of documents; languages int32 (documents,) chooses the tables.
        A pretoken's position is base plus its offset from the first document's beginning.
        Returns the place reached, whose document is the number of documents unless
        limit_bytes were about to be passed; then call again with it after clear().
        """

    def add_ends(self, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], languages: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], base: int, place: tuple[int, int, int] = (0, 0, 0), limit_bytes: int = 18446744073709551615) -> tuple[int, int, int]:
        """
        The same for pretokens found elsewhere: ends int64 (pretokens,), offsets into data.
        """

    def add_counts(self, language: int, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Add pretokens counted elsewhere: counts are summed, first positions minimized.
        """

    def finish(self, language: int, keep: bool = True, others: Sequence[PretokenCounter] = [], threads: int = 1) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))]]:
        """
        Return a table as (data uint8, offsets int64 (n + 1,), counts uint64 (n,), first
        uint64 (n,)), by count descending, then first position; with those of other
        counters added. Without `keep` the tables are emptied, which needs less memory.
        """

    def expect(self, text_bytes: int) -> None:
        """
        Say how much text add() is going to be given, about; tables then grow to fit it.
        """

    def merge(self, other: PretokenCounter) -> None:
        """Add everything that another counter holds."""

    def part(self, language: int, index: int) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))]]:
        """
        Return one of count_parts parts of a table, as finish does but in no order; a
        pretoken is in the same part of every table.
        """

    def clear(self) -> None:
        """Forget what was counted, and free its memory."""

    @property
    def languages(self) -> int:
        """The number of tables."""

    def pretokens(self, language: int) -> int:
        """
        Return the pretokens of a language found in documents, repetitions included; clear()
        leaves it.
        """

    @property
    def memory_bytes(self) -> int:
        """Bytes that the tables hold."""

count_parts: int = 64

def find_pretokens(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], wanted_data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], wanted_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    Return the rows, int64 (wanted,), at which wanted pretokens stand among distinct
    ones, -1 where they do not.
    """

class TrainControl:
    """Lets other threads watch a training run and stop it."""

    def __init__(self) -> None: ...

    def cancel(self) -> None:
        """Stop the run after the merge under way."""

    @property
    def cancelled(self) -> bool:
        """Whether cancel() was called."""

    def snapshot(self) -> tuple[int, int, bytes]:
        """
        Return (merges made, count of the last one, bytes of the token it made).
        """

class TrainTuning:
    """Parameters that change time and memory, never the result."""

    def __init__(self) -> None: ...

    @property
    def exact_length(self) -> int: ...

    @exact_length.setter
    def exact_length(self, arg: int, /) -> None: ...

    @property
    def prune_below(self) -> int: ...

    @prune_below.setter
    def prune_below(self, arg: int, /) -> None: ...

    @property
    def block(self) -> int: ...

    @block.setter
    def block(self, arg: int, /) -> None: ...

    @property
    def bucket_limit(self) -> int: ...

    @bucket_limit.setter
    def bucket_limit(self, arg: int, /) -> None: ...

    @property
    def narrow_tokens(self) -> int: ...

    @narrow_tokens.setter
    def narrow_tokens(self, arg: int, /) -> None: ...

    @property
    def short_text(self) -> int: ...

    @short_text.setter
    def short_text(self, arg: int, /) -> None: ...

    @property
    def share(self) -> int: ...

    @share.setter
    def share(self, arg: int, /) -> None: ...

    @property
    def parallel_from(self) -> int: ...

    @parallel_from.setter
    def parallel_from(self, arg: int, /) -> None: ...

    @property
    def segment_merges(self) -> int: ...

    @segment_merges.setter
    def segment_merges(self, arg: int, /) -> None: ...

    @property
    def segment_percent(self) -> int: ...

    @segment_percent.setter
    def segment_percent(self, arg: int, /) -> None: ...

    @property
    def segment_joins(self) -> int: ...

    @segment_joins.setter
    def segment_joins(self, arg: int, /) -> None: ...

    @property
    def segments(self) -> int: ...

    @segments.setter
    def segments(self, arg: int, /) -> None: ...

    @property
    def check_counts(self) -> bool: ...

    @check_counts.setter
    def check_counts(self, arg: bool, /) -> None: ...

class TrainOptions:
    """What to train; see train.hpp."""

    def __init__(self) -> None: ...

    @property
    def merges(self) -> int: ...

    @merges.setter
    def merges(self, arg: int, /) -> None: ...

    @property
    def ties(self) -> str: ...

    @ties.setter
    def ties(self, arg: str, /) -> None: ...

    @property
    def min_count(self) -> int: ...

    @min_count.setter
    def min_count(self, arg: int, /) -> None: ...

    @property
    def max_token_bytes(self) -> int: ...

    @max_token_bytes.setter
    def max_token_bytes(self, arg: int, /) -> None: ...

    @property
    def max_token_chars(self) -> int: ...

    @max_token_chars.setter
    def max_token_chars(self, arg: int, /) -> None: ...

    @property
    def whole_characters(self) -> bool: ...

    @whole_characters.setter
    def whole_characters(self, arg: bool, /) -> None: ...

    @property
    def threads(self) -> int: ...

    @threads.setter
    def threads(self, arg: int, /) -> None: ...

    @property
    def tuning(self) -> TrainTuning: ...

    @tuning.setter
    def tuning(self, arg: TrainTuning, /) -> None: ...

    def forbid(self, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Name the strings that no merge may make."""

def train_merges(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], alphabet_data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], alphabet_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: TrainOptions, control: TrainControl, characters: bool = False, suffix: str = '') -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))]]:
    """
    Train on counted pretokens; returns (left uint32, right uint32, counts uint64), each
    (merges,). Merge i makes token alphabet + i. Returns early when cancelled.
    """

def count_characters(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]:
    """
    Count the characters of pretokens, valid UTF-8: occurrences uint64 and whether one ends a
    pretoken uint8, each (0x110000,) by code point.
    """

def train_encoded(symbols: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], token_data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], token_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: TrainOptions, control: TrainControl, suffix: str = '') -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))]]:
    """
    Train on words that are encoded in these tokens already; returns as train_merges. Merge i makes
    token tokens + i.
    """

class Encoder:
    """
    A byte-level BPE vocabulary, ready to encode; immutable, shared by threads.
    """

    def __init__(self, token_data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], token_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], merges: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], rule: str, whole_first: bool, *, _short_slots: int = 0, _narrow_slots: int = 0, _wide_slots: int = 0, _cutting: bool = True, _classes: int = 8192) -> None:
        """
        Token i's bytes are token_data[token_offsets[i]:token_offsets[i + 1]], none for ids
        without bytes. rule 'pairs': merges, uint32 (3 * merges,), are left, right and result
        in rank order; 'ranks': a token's rank is its id and merges is empty.
        ValueError names a merge or ids that contradict each other. The underscored sizes
        (0: chosen by vocabulary) are for tests.
        """

    def encode(self, scanner: Scanner | None, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        Encode documents of valid UTF-8, cut by a scanner or at given ends of pretokens
        (int64 (pretokens,), offsets into data): ids, uint32 (n,), and how many there are up
        to each document's end, int64 (documents,).
        """

    def encode_text(self, scanner: Scanner, text: bytes) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """Encode one text of valid UTF-8: its ids, uint32 (n,)."""

    @property
    def cutting(self) -> bool:
        """Whether pretokens are cut where no token can join two characters."""

    @property
    def shared_bytes(self) -> int:
        """Memory of the tables, which all threads share."""

    @property
    def thread_bytes(self) -> int:
        """Memory that each concurrent call of encode adds."""

class CharacterEncoder:
    """A character-level BPE vocabulary, ready to encode; immutable."""

    def __init__(self, token_data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], token_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], merges: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], byte_ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], unknown: int | None, *, fuse_unknown: bool, whole_first: bool, ranks: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], prefix: str = '', suffix: str = '') -> None:
        """
        Piece i is token_data[token_offsets[i]:token_offsets[i + 1]], UTF-8; merges, uint32
        (3 * merges,), are left, right and result in rank order; byte_ids, uint32 (256,), are
        the ids of the bytes' pieces, or (0,) without byte fallback; ranks, uint32 (merges,),
        may say which merges are equal, the leftmost pair before the others: (0,) where none are.
        """

    def encode(self, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], with_ends: bool = False) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        Encode documents of valid UTF-8, cut at ends of pretokens (int64, offsets into
        data): ids, uint32 (n,), how many there are up to each document's end, int64
        (documents,), and, if asked for, where each id's text ends in data, int64 (n,).
        """

    @property
    def cutting(self) -> bool:
        """Whether pretokens are cut where no token can join two characters."""

class UnigramEncoder:
    """A Unigram vocabulary, ready to encode; immutable."""

    def __init__(self, token_data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], token_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], user_defined: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], byte_ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], unknown: int) -> None:
        """
        Pieces as in CharacterEncoder, their scores, float32 (ids,), and the ids of those
        that are chosen wherever they can be, uint32 (n,).
        """

    def encode(self, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], with_ends: bool = False) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        Encode documents of valid UTF-8, each as a whole; returns as CharacterEncoder does.
        """

class CharsMap:
    """The normalization that a SentencePiece model carries; immutable."""

    def __init__(self, blob: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], kept: Sequence[str] = []) -> None:
        """
        Take a model's precompiled_charsmap; ValueError when damaged. Strings to be kept stay
        as they are, the longest at a place before any of the map.
        """

    def apply(self, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """Normalize documents: the new data, uint8 (n,), and its offsets, int64."""

def edit_spaces(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, strip_start: bool = False, squeeze: bool = False, strip_end: str = '') -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    Edit the white space of documents: take U+0020 off the front, make one of a run of
    several, take a text off the end as often as it is there. Returns the new data,
    uint8 (n,), and its offsets, int64 (documents + 1,).
    """

class Matcher:
    """A set of strings to find at once; immutable."""

    def __init__(self, patterns: Sequence[str]) -> None:
        """Take distinct strings, none empty; ValueError otherwise."""

    def find(self, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]:
        """
        Find the occurrences in documents, leftmost first and then the longest, without
        overlaps: starts and ends into data, int64 (n,), and pattern numbers, uint32 (n,).
        """

def replace_text(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], old_text: str, new_text: str) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    Replace every occurrence of a text in documents: the new data, uint8 (n,), and
    its offsets, int64 (documents + 1,).
    """

def merge_ids(tokens: bytes, separator: bytes, ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], merges: bytes, outer: bytes, inner: bytes, count: int, prefix_characters: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
    """
    Return left, right and result of merges as ids, uint32 (3 * count,), 2**32 - 1
    where there is no such token. Tokens stand apart by a separator, merges by
    `outer`, the two parts of each by `inner`; ValueError where they do not.
    """

def join_merges(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], left: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    Return the bytes of all ids, end to end, uint8, and their offsets, int64: those of
    the base given, then what each merge of two earlier ids makes.
    """

def inspect_text(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
    """
    Look for damage in each document of valid UTF-8: uint8 (documents,), bit 0
    decomposed Hangul, bit 1 mojibake.
    """

class TokenMeter:
    """Sums over tokens, from the bytes of each; immutable."""

    def __init__(self, token_data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], token_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], unknown: int = -1, strip_start: int = 0, strip_last_space: bool = False) -> None:
        """Take the bytes of every token, none for an id that stands for no text."""

    def measure(self, ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        Add up the tokens of documents by group: int64 (groups * 8,), in the order of
        jogak.measures.TokenSums. `counts`, int64 (groups, ids), is added to; with the
        texts that were encoded, documents are compared with them.
        """

def join_texts(texts: list[Any]) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]] | None:
    """
    Join a list of str: the UTF-8 of all, uint8 (n,), and its offsets, int64
    (texts + 1,). None where one is no str, or holds a surrogate.
    """
