"""Hugging Face datasets: their Parquet files where they are made of such, else the dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jogak.errors import SourceError

if TYPE_CHECKING:
    import datasets

    from jogak.config import Source


def parquet_files(source: Source, number: int) -> list[str]:
    """List the Parquet files of one split, as paths or `hf://` URLs that name a commit.

    They are then planned and read by row group, without a copy in the cache of `datasets`.

    Returns:
        The files in the dataset's order; none when it is of another kind, was written by
        `save_to_disk`, or when the split is not one of those it names (a slice, for example).
    """
    is_parquet, files = _split_files(source, number)
    return files if is_parquet else []


def streamed_files(source: Source, number: int) -> list[str]:
    """List the files of one split of a dataset that is streamed; none when it is not.

    They are of any kind but Parquet that `datasets` knows without code of the dataset's own.
    """
    is_parquet, files = _split_files(source, number)
    return [] if is_parquet else files


def open_stream(source: Source, number: int) -> datasets.IterableDataset:
    """Open a dataset as a stream of Arrow tables, in as many shards as its kind can be cut in.

    Raises:
        SourceError: it is not readable.
    """
    import datasets

    try:
        found = datasets.load_dataset(
            str(source.hf),
            source.config,
            split=source.split or next(iter(_data_files(source, number)[1]), None),
            revision=source.revision,
            streaming=True,
        )
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        message = f"{source.hf}: not a readable dataset ({error}); set read.sources[{number}].hf"
        raise SourceError(message) from error
    # Cuts files where their kind has cheap places for it; older versions lack it.
    found = found.reshard() if hasattr(found, "reshard") else found
    return found.with_format("arrow")


def _split_files(source: Source, number: int) -> tuple[bool, list[str]]:
    """Tell whether the files of a split are Parquet, and list them."""
    if _is_saved(str(source.hf)):
        return False, []
    is_parquet, files = _data_files(source, number)
    split = source.split if source.split is not None or len(files) > 1 else next(iter(files), None)
    return is_parquet, files.get(split, []) if split is not None else []


def _data_files(source: Source, number: int) -> tuple[bool, dict[str, list[str]]]:
    """Tell whether a dataset is Parquet; list its files by split."""
    import datasets
    from datasets.packaged_modules.parquet.parquet import Parquet

    hf = str(source.hf)
    try:
        builder = datasets.load_dataset_builder(hf, source.config, revision=source.revision)
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        message = f"{hf}: not a readable dataset ({error}); set read.sources[{number}].hf"
        raise SourceError(message) from error
    files = builder.config.data_files or {}
    named = {str(split): [str(file) for file in files[split]] for split in files}
    return isinstance(builder, Parquet), named


def _is_saved(hf: str) -> bool:
    """Tell a folder that `save_to_disk` wrote."""
    return any((Path(hf) / name).is_file() for name in ("state.json", "dataset_dict.json"))


def open_dataset(hf: str, source: Source, number: int) -> datasets.Dataset:
    """Open a Hugging Face dataset: a folder of `save_to_disk`, or what `load_dataset` takes."""
    import datasets

    try:
        if _is_saved(hf):
            found = datasets.load_from_disk(hf)
        else:
            found = datasets.load_dataset(
                hf, source.config, split=source.split, revision=source.revision
            )
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        message = f"{hf}: not a readable dataset ({error}); set read.sources[{number}].hf"
        raise SourceError(message) from error
    if isinstance(found, datasets.Dataset):
        return found
    split = source.split if source.split is not None or len(found) > 1 else next(iter(found))
    if split not in found:
        message = (
            f"{hf}: no split '{split}' (found: {', '.join(found)}); "
            f"set read.sources[{number}].split"
        )
        raise SourceError(message)
    return found[split]
