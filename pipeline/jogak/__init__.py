"""Jogak: the tokenization stage of a pretraining data pipeline, Korean first.

One YAML job streams text through plan, read, normalize, pretokenize and count, trains byte-pair
merges, encodes every document into token shards, and reports tokens by language and source.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jogak.budget import Budget, budget
    from jogak.config import Job, load_job
    from jogak.count import PretokenCounts, count_pretokens
    from jogak.encode import tokenize
    from jogak.errors import (
        ConfigError,
        JogakError,
        ShardError,
        SourceError,
        TokenizerError,
        WorkerError,
    )
    from jogak.manifest import Manifest
    from jogak.run import run
    from jogak.shards import open_tokens
    from jogak.tokenizer import TokenBatch, Tokenizer
    from jogak.train import train

    __version__: str

__all__ = [
    "Budget",
    "ConfigError",
    "Job",
    "JogakError",
    "Manifest",
    "PretokenCounts",
    "ShardError",
    "SourceError",
    "TokenBatch",
    "Tokenizer",
    "TokenizerError",
    "WorkerError",
    "__version__",
    "budget",
    "count_pretokens",
    "load_job",
    "open_tokens",
    "run",
    "tokenize",
    "train",
]

_MODULES = {
    "Budget": "budget",
    "Job": "config",
    "Manifest": "manifest",
    "PretokenCounts": "count",
    "TokenBatch": "tokenizer",
    "Tokenizer": "tokenizer",
    "budget": "budget",
    "count_pretokens": "count",
    "load_job": "config",
    "open_tokens": "shards",
    "run": "run",
    "tokenize": "encode",
    "train": "train",
}
"""Where public names are defined; the errors are in `errors`. Loaded when first used."""


def __getattr__(name: str) -> object:
    if name == "__version__":
        return _installed_version()
    if name not in __all__:
        message = f"module 'jogak' has no attribute '{name}'"
        raise AttributeError(message)
    module = importlib.import_module(f"jogak.{_MODULES.get(name, 'errors')}")
    return getattr(module, name)


def _installed_version() -> str:
    """Return the version of the installed package; a source tree alone does not state one."""
    from importlib import metadata

    try:
        return metadata.version("jogak")
    except metadata.PackageNotFoundError:
        return "0+source"


class _Package(ModuleType):
    """Keeps `jogak.budget`, `jogak.run` and `jogak.train` the functions.

    Importing the module of that name would otherwise put the module in the function's place.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in ("budget", "run", "train") and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
