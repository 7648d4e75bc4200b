"""What the inputs are: files by glob, their kinds, their columns, and how they are opened."""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from jogak.errors import BadFileError, SourceError
from jogak.plan.footer import column_sizes
from jogak.plan.hub import parquet_files, streamed_files
from jogak.plan.storage import is_url, list_urls, open_url

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from jogak.config import Source

Kind = Literal["parquet", "jsonl", "text"]

JSON_LINES = (".jsonl", ".ndjson", ".json")
COMPRESSED = (".gz", ".zst")
# fmt: off
NOT_TEXT = frozenset({
    ".7z", ".arrow", ".avro", ".bin", ".bz2", ".csv", ".db", ".doc", ".docx", ".feather",
    ".gguf", ".h5", ".hwp", ".idx", ".lz4", ".mds", ".npy", ".npz", ".orc", ".pdf", ".pickle",
    ".pkl", ".pt", ".rar", ".safetensors", ".sqlite", ".tar", ".tgz", ".tsv", ".warc", ".xls",
    ".xlsx", ".xz", ".zip",
})
# fmt: on


def list_files(source: Source, number: int) -> list[str]:
    """List the files of a source, sorted by name so that no file system decides the order."""
    files = _find_files(source, number)
    for path in files:
        try:
            path.encode()
        except UnicodeEncodeError:
            known = os.fsencode(path).decode("cp949", "replace")
            message = f"{path!a}: its name is not UTF-8 (as CP949: {known}); rename the file"
            raise SourceError(message) from None
    return files


def _find_files(source: Source, number: int) -> list[str]:
    if source.hf is not None:
        folder = Path(source.hf)
        held = sorted(str(path) for path in folder.rglob("*") if path.is_file())
        return parquet_files(source, number) or streamed_files(source, number) or held
    if source.path is None:
        message = f"read.sources[{number}]: neither path nor hf is given; give one of them"
        raise SourceError(message)
    if is_url(source.path):
        urls = list_urls(source.path)
        if not urls:
            inside = list_urls(f"{source.path.rstrip('/')}/*")[:8]
            hint = f" (a folder; found in it: {', '.join(inside)})" if inside else ""
            message = f"{source.path}: no such file{hint}; set read.sources[{number}].path"
            raise SourceError(message)
        return urls
    if Path(source.path).is_file():
        return [source.path]
    if Path(source.path).is_dir():
        message = (
            f"{source.path}: a folder, not files ({_describe_nearby(source.path)}); set "
            f"read.sources[{number}].path to {source.path}/*.parquet, or the like"
        )
        raise SourceError(message)
    # Path.glob refuses absolute patterns, which a job's paths are.
    found = glob.glob(source.path, recursive=True)  # noqa: PTH207
    files = sorted(name for name in found if Path(name).is_file())
    if not files:
        message = (
            f"{source.path}: no such file ({_describe_nearby(source.path)}); "
            f"set read.sources[{number}].path"
        )
        raise SourceError(message)
    return files


def _describe_nearby(pattern: str) -> str:
    """Say what the deepest existing folder of a pattern holds, to show where it went astray."""
    folder = Path(pattern)
    while not folder.is_dir():
        folder = folder.parent
    names = sorted(entry.name + "/" * entry.is_dir() for entry in folder.iterdir())
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"found in {folder}: {', '.join(names[:8]) or 'nothing'}{more}"


def classify(path: str) -> tuple[Kind, str]:
    """Return what a file holds, by its name, and its compression (`.gz`, `.zst` or none).

    Raises:
        SourceError: the name says that it is neither Parquet, JSON lines nor text.
    """
    name = Path(path)
    compression = name.suffix.lower() if name.suffix.lower() in COMPRESSED else ""
    suffix = (name.with_suffix("") if compression else name).suffix.lower()
    if suffix == ".parquet" and not compression:
        return "parquet", ""
    if suffix in JSON_LINES:
        return "jsonl", compression
    if suffix in NOT_TEXT or suffix == ".parquet":
        message = (
            f"{path}: files of this kind are not read (found '{''.join(name.suffixes)}'); "
            "give .parquet, .jsonl or plain text, the last two also as .gz or .zst"
        )
        raise SourceError(message)
    return "text", compression


def find_column(schema: pa.Schema, column: str, path: str, key: str) -> list[str]:
    """Resolve a column name, or the path `a.b` of a field in structs, to its names by level.

    Args:
        schema: the schema of the file.
        column: the name as the job gives it.
        path: the file, for the message.
        key: the key of the job that gives the name, for the message.

    Raises:
        SourceError: there is no such column, or it does not hold text.
    """
    import pyarrow as pa

    names: list[str] = []
    fields, found, rest = {field.name: field.type for field in schema}, schema.names, column
    while rest not in fields:
        head, dot, tail = rest.partition(".")
        kind = fields.get(head)
        if not dot or kind is None or not pa.types.is_struct(kind):
            listed = ", ".join([".".join([*names, name]) for name in found][:20])
            message = f"{path}: no column '{column}' (found: {listed}); set {key}"
            raise SourceError(message)
        names.append(head)
        fields, rest = {field.name: field.type for field in kind}, tail
        found = list(fields)
    if [*found].count(rest) > 1:
        message = f"{path}: {[*found].count(rest)} columns are called '{rest}'; give them names"
        raise SourceError(message)
    if not _is_textual(fields[rest]):
        message = f"{path}: column '{column}' is not text (found {fields[rest]}); set {key}"
        raise SourceError(message)
    return [*names, rest]


def source_columns(schema: pa.Schema, source: Source, number: int, path: str) -> list[list[str]]:
    """Resolve the text column of a source, and its language column if it has one."""
    columns = [find_column(schema, source.text, path, f"read.sources[{number}].text")]
    if source.language_column is not None:
        key = f"read.sources[{number}].language_column"
        columns.append(find_column(schema, source.language_column, path, key))
    return columns


@contextmanager
def open_parquet(path: str) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file; pages are read as they are needed, not whole column chunks.

    Pages that carry a checksum are checked against it. What pyarrow says of a damaged file, whether
    now or within the block, becomes a BadFileError.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # A request to a store costs more than a read from disk, so it asks for more at once.
        place, buffer_size = (open_url(path), 2**23) if is_url(path) else (path, 2**20)
        file = pq.ParquetFile(
            place, pre_buffer=False, buffer_size=buffer_size, page_checksum_verification=True
        )
        with file:
            yield file
    # A damaged footer may hold names that are not UTF-8, and fewer columns than its schema.
    except (pa.ArrowException, OSError, ValueError, IndexError) as error:
        reason = " ".join(str(error).split())  # some of them end in a newline
        what = f"{path}: not a readable Parquet file ({reason})"
        raise damage(what, error) from error


def damage(what: str, error: Exception) -> Exception:
    """Return the error to raise for a file that cannot be read: a BadFileError if it is to blame.

    A file that was not read for want of memory or of descriptors is no damaged file, which
    `read.on_bad_file` may leave out.
    """
    if isinstance(error, MemoryError):
        return error
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
        return SourceError(f"{what}; use fewer workers, or raise the system's limit (ulimit -a)")
    return BadFileError(f"{what}; restore the file")


def row_groups(
    file: pq.ParquetFile, source: Source, number: int, path: str
) -> Iterator[tuple[int, int]]:
    """Yield the rows of each row group of a file, and the bytes of its text column."""
    metadata = file.metadata
    if metadata.num_rows == 0:
        return  # writers give columns without a value the type null
    names = source_columns(file.schema_arrow, source, number, path)[0]
    for index, text_bytes in enumerate(column_sizes(path, file, names)):
        yield metadata.row_group(index).num_rows, text_bytes


def _is_textual(kind: pa.DataType) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return any(
        is_kind(kind)
        for is_kind in (
            pa.types.is_null,  # as writers call a column of nulls alone
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_string_view,
            pa.types.is_binary,
            pa.types.is_large_binary,
            pa.types.is_binary_view,
        )
    )
