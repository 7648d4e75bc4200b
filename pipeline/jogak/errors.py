"""The error tree; every message reads *where: what is wrong (what was found); what to do*.

JogakError
├── ConfigError      the job file is wrong (exit code 2)
├── SourceError      an input is missing, unreadable, or not what the job says (exit code 1)
│   └── BadFileError     one whose bytes are damaged: `read.on_bad_file` may leave it out
├── TokenizerError   a tokenizer cannot be loaded, trained or applied exactly (exit code 1)
├── ShardError       an output cannot be written, or is not what the manifest says (exit code 1)
└── WorkerError      a worker process failed or died (exit code 1)
"""

from __future__ import annotations


class JogakError(Exception):
    """Base of every error that Jogak raises on purpose."""

    exit_code = 1

    def __reduce__(self) -> tuple[type[JogakError], tuple[object, ...]]:
        """Cross process boundaries with the message intact."""
        return type(self), self.args


class ConfigError(JogakError):
    """The job file, or a value given on the command line, is wrong."""

    exit_code = 2


class SourceError(JogakError):
    """An input is missing, unreadable, or not what the job says it is."""


class BadFileError(SourceError):
    """An input file is damaged, ends early, or cannot be opened."""


class TokenizerError(JogakError):
    """A tokenizer cannot be loaded, trained or applied exactly."""


class ShardError(JogakError):
    """An output cannot be written, or does not hold what its manifest says."""


class WorkerError(JogakError):
    """A worker process failed for a reason of its own, or died."""
