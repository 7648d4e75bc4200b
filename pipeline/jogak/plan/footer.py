"""Sizes of Parquet columns, read from the footer itself.

pyarrow 25 ends the process when it is asked for a column chunk whose size statistics are damaged:
`RowGroupMetaData.column` lets a C++ exception through. So the one number that is needed of them is
read here; whatever else is wrong with a footer, pyarrow's readers turn into an error.

Source: the Thrift compact protocol; parquet.thrift (FileMetaData, RowGroup, ColumnChunk).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jogak.plan.storage import is_url, open_url

if TYPE_CHECKING:
    import pyarrow.parquet as pq

STOP, TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 11, 12
INTEGERS = (4, 5, 6)

# Field numbers on the way to the size.
ROW_GROUPS, COLUMNS, META_DATA, UNCOMPRESSED_SIZE = 4, 1, 3, 6


def column_sizes(path: str, file: pq.ParquetFile, names: list[str]) -> list[int]:
    """Return the uncompressed bytes of a column in each row group of a Parquet file.

    Args:
        path: the file.
        file: the same, open.
        names: of the column, by level.

    Raises:
        ValueError, IndexError: there is no such column, or the footer is damaged.
    """
    metadata = file.metadata
    leaves = [metadata.schema.column(leaf).path for leaf in range(metadata.num_columns)]
    size = metadata.serialized_size
    with open_url(path) if is_url(path) else Path(path).open("rb") as stream:
        stream.seek(-8 - size, 2)
        footer = _Footer(stream.read(size))
    sizes = footer.column_sizes(leaves.index(".".join(names)))
    if len(sizes) != metadata.num_row_groups:
        message = f"{len(sizes)} row groups in the footer, expected {metadata.num_row_groups}"
        raise ValueError(message)
    return sizes


class _Footer:
    """Walks through a footer once; everything on the way is skipped."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def column_sizes(self, leaf: int) -> list[int]:
        """Return the size of column `leaf` in each row group."""
        if not self._find(ROW_GROUPS, LIST):
            return []
        sizes = []
        for _ in range(self._list_of(STRUCT)):
            if not self._find(COLUMNS, LIST):
                message = "a row group without columns"
                raise ValueError(message)
            count = self._list_of(STRUCT)
            for column in range(count):
                if column == leaf:
                    sizes.append(self._chunk_size())
                else:
                    self._skip(STRUCT)
            if leaf >= count:
                message = f"a row group of {count} columns, expected more than {leaf}"
                raise ValueError(message)
            self._skip_fields(COLUMNS)
        return sizes

    def _chunk_size(self) -> int:
        if not self._find(META_DATA, STRUCT) or not self._find(UNCOMPRESSED_SIZE, INTEGERS[2]):
            message = "a column chunk without its size"
            raise ValueError(message)
        zigzag = self._varint()
        size = zigzag >> 1 ^ -(zigzag & 1)
        if size < 0:
            message = f"a column chunk of {size} bytes"
            raise ValueError(message)
        self._skip_fields(UNCOMPRESSED_SIZE)
        self._skip_fields(META_DATA)
        return size

    def _find(self, wanted: int, kind: int) -> bool:
        """Go to the value of a field of the struct that begins here; False at its end."""
        field = 0
        while True:
            field, found = self._field(field)
            if found == STOP:
                return False
            if (field, found) == (wanted, kind):
                return True
            self._skip(found)

    def _skip_fields(self, field: int) -> None:
        """Skip the rest of a struct, behind a field of it."""
        while True:
            field, found = self._field(field)
            if found == STOP:
                return
            self._skip(found)

    def _field(self, before: int) -> tuple[int, int]:
        head = self._byte()
        if head == STOP:
            return before, STOP
        if head >> 4:
            return before + (head >> 4), head & 15
        zigzag = self._varint()
        return zigzag >> 1 ^ -(zigzag & 1), head & 15

    def _list_of(self, kind: int) -> int:
        count, found = self._list()
        if found != kind and count:
            message = f"a list of type {found}, expected {kind}"
            raise ValueError(message)
        return count

    def _list(self) -> tuple[int, int]:
        head = self._byte()
        count = head >> 4
        if count == 15:
            count = self._varint()
        if count > len(self._data) - self._at:
            message = f"a list of {count} elements in {len(self._data) - self._at} bytes"
            raise ValueError(message)
        return count, head & 15

    def _skip(self, kind: int, depth: int = 0) -> None:
        if kind in INTEGERS:
            self._varint()
        elif kind == BINARY:
            size = self._varint()  # which moves on itself
            self._at += size
        elif kind == STRUCT and depth < 32:
            field = 0
            while True:
                field, found = self._field(field)
                if found == STOP:
                    return
                self._skip(found, depth + 1)
        elif kind in (LIST, SET) and depth < 32:
            count, found = self._list()
            for _ in range(count):
                # Alone in a field its type says what a boolean is; in a list it takes a byte.
                self._skip(BYTE if found in (TRUE, FALSE) else found, depth + 1)
        elif kind in (BYTE, DOUBLE):
            self._at += 1 if kind == BYTE else 8
        elif kind not in (TRUE, FALSE):
            message = f"type {kind} {depth} levels deep, which no footer has"
            raise ValueError(message)

    def _byte(self) -> int:
        value = self._data[self._at]
        self._at += 1
        return value

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                message = "a number of more than 64 bits"
                raise ValueError(message)
