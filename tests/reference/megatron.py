"""megatron-core's own shard builder and reader, loaded without torch (stub modules stand in)."""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path


def _module(name: str, **members: object) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__dict__.update(members)
    module.__path__ = []
    return module


def _stubs() -> dict[str, types.ModuleType]:
    """Return what indexed_dataset.py imports but does not need for files on disk."""
    return {
        "torch": _module("torch", Tensor=type("Tensor", (), {})),
        "torch.utils": _module("torch.utils"),
        "torch.utils.data": _module("torch.utils.data", Dataset=type("Dataset", (), {})),
        "torch.distributed": _module(
            "torch.distributed", is_available=lambda: False, is_initialized=lambda: False
        ),
        "megatron": _module("megatron"),
        "megatron.core": _module("megatron.core"),
        "megatron.core.datasets": _module("megatron.core.datasets"),
        "megatron.core.utils": _module(
            "megatron.core.utils", log_single_rank=lambda *_, **__: None
        ),
    }


def find() -> Path | None:
    """Return the folder of the installed megatron.core, or None (it is never imported)."""
    spec = importlib.util.find_spec("megatron")
    places = spec.submodule_search_locations if spec else None
    folders = [Path(place) / "core" for place in places or ()]
    return next((each for each in folders if (each / "datasets/indexed_dataset.py").exists()), None)


def load(core: Path) -> types.ModuleType:
    """Return the module megatron.core.datasets.indexed_dataset of the package in `core`."""
    files = {
        "megatron.core.msc_utils": core / "msc_utils.py",
        "megatron.core.datasets.object_storage_utils": core / "datasets/object_storage_utils.py",
        "megatron.core.datasets.indexed_dataset": core / "datasets/indexed_dataset.py",
    }
    stubs = _stubs()
    stubs["torch"].__dict__.update(
        utils=stubs["torch.utils"], distributed=stubs["torch.distributed"]
    )
    stubs["torch.utils"].__dict__["data"] = stubs["torch.utils.data"]
    before = {name: sys.modules.get(name) for name in (*stubs, *files)}
    sys.modules.update(stubs)
    try:
        for name, path in files.items():
            spec = importlib.util.spec_from_file_location(name, path)
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            spec.loader.exec_module(module)
        return module
    finally:
        for name, old in before.items():
            sys.modules.pop(name)
            if old is not None:
                sys.modules[name] = old


def build(core: Path, prefix: Path, dtype: type, documents: list[list[int]]) -> None:
    """Write PREFIX.bin and PREFIX.idx with megatron-core's own builder, a document at a time."""
    builder = load(core).IndexedDatasetBuilder(str(prefix.with_suffix(".bin")), dtype=dtype)
    for ids in documents:
        builder.add_document(ids, [len(ids)])
    builder.finalize(str(prefix.with_suffix(".idx")))
