"""A folder that appears under its name only when everything in it is written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from jogak.errors import ShardError
from jogak.output import explained, remove, sync_folder, temporary_path


@contextlib.contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Give a temporary folder to write into; rename it to `target` at the end of the block.

    After an error nothing stays. What a killed export left beside `target` is removed.

    Raises:
        ShardError: there is a `target` already, or the disk refuses.
    """
    if target.exists():
        message = f"{target}: it is there already; remove it, or name another folder"
        raise ShardError(message)
    temporary = temporary_path(target)
    with explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        for leftover in target.parent.glob(f".{target.name}.*.tmp"):
            if not _is_alive(leftover.name.split(".")[-2]):
                remove(leftover)
        temporary.mkdir()
        try:
            yield temporary
            for path in sorted(temporary.iterdir()):
                _sync(path)
            sync_folder(temporary)
            temporary.rename(target)
            sync_folder(target.parent)
        finally:
            remove(temporary)


def _is_alive(process: str) -> bool:
    """Tell whether a process of this machine has the id that a temporary name holds."""
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
