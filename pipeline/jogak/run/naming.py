"""What messages call units, and when there are too many bad rows to go on."""

from __future__ import annotations

from collections.abc import Iterable

from jogak.config import Job
from jogak.errors import SourceError
from jogak.plan import Unit


def unit_names(units: Iterable[Unit]) -> list[str]:
    """Return the names of units: number, first file, range."""
    return [unit_name(unit) for unit in units]


def unit_name(unit: Unit) -> str:
    """Return the name of a unit."""
    first = unit.parts[0]
    more = f" and {len(unit.parts) - 1} more" if len(unit.parts) > 1 else ""
    return f"unit {unit.index} ({first.path} {first.start}-{first.stop}{more})"


def check_bad_rows(job: Job, rejected: int) -> None:
    """Stop a run that has more bad rows than the job allows."""
    most = job.read.max_bad_rows
    if rejected > most:
        message = (
            f"read.max_bad_rows: more than {most} rows are bad ({rejected} so far); mend the "
            "sources, or allow more"
        )
        raise SourceError(message)
