"""numpy arrays: ids as they follow each other, or in rows of one length, and where documents start.

Every .npy file is an array that `np.load(..., mmap_mode="r")` maps. `documents.npy` says at which
id of the whole stream each document starts, its last entry where the last one ends: so row r of a
packed export holds ids r * pack to (r + 1) * pack, and a search in `documents.npy` gives the
boundaries in it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from jogak.export.blocks import Advance, all_blocks
from jogak.shards import Tokens


def write_arrays(
    tokens: Tokens, folder: Path, pack: int | None, advance: Advance
) -> dict[str, Any]:
    """Write NAME.npy for each shard, and documents.npy.

    Args:
        tokens: the output.
        folder: where to.
        pack: ids a row; without it an array is flat. A row may begin in one shard and end in the
            next, where it is written. What is left in the end and fills no row goes to tail.npy,
            so that no id is lost or made up.
        advance: called with the ids that are done.
    """
    width = pack or 1
    files = []
    held: NDArray[Any] = np.empty(0, tokens.dtype)
    with (folder / "documents.npy").open("wb") as documents:
        _header(documents, np.dtype("<i8"), (len(tokens) + 1,))
        documents.write(np.zeros(1, "<i8").data)
        for index, (name, blocks) in enumerate(all_blocks(tokens, advance)):
            rows = (len(held) + tokens.size(index)[1]) // width
            with (folder / f"{name}.npy").open("wb") as file:
                _header(file, tokens.dtype, (rows, pack) if pack else (rows,))
                for block in blocks:
                    documents.write((block.ends + block.start).astype("<i8").data)
                    ids = np.concatenate([held, block.ids]) if len(held) else block.ids
                    whole = len(ids) // width * width
                    file.write(np.ascontiguousarray(ids[:whole], tokens.dtype).data)
                    held = ids[whole:].copy()
            files.append({"name": f"{name}.npy", "rows" if pack else "tokens": rows})
    if len(held):
        np.save(folder / "tail.npy", held)
    facts = {"pack": pack, "tail_tokens": len(held)} if pack else {}
    return {**facts, "files": files}


def _header(file: BinaryIO, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    described = {"descr": dtype.newbyteorder("<").str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, described)
