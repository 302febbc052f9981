"""Shared code for models: optional packages, folders, the hub's cache.

Only safe files are read: weights in safetensors, and no code from a model's folder is run.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mathsetu.errors import InputError, MissingExtra

#: Arguments for every model that sentence-transformers loads.
SAFE_LOADING: dict[str, Any] = {
    "local_files_only": True,
    "trust_remote_code": False,
    "model_kwargs": {"use_safetensors": True},
}
# Files of a model to download; pickled weights and files of other runtimes are left out.
# A model's folder has one of these files.
_DESCRIPTIONS = ("config.json", "modules.json")
_FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]
# A name on the hub with a revision: a branch, a tag, a commit, or refs/pr/45.
_WITH_REVISION = re.compile(r"([\w.-]{1,96}(?:/[\w.-]{1,96})?)@(\w[\w./-]{0,200})")
# Architectures whose position ids start at two.
_LATE_STARTERS = ("mpnet", "roberta", "xlm-roberta", "camembert")
# Bytes hashed from each end of a file; enough to tell two versions of a model apart.
_END = 1 << 16


def require(module: str, purpose: str, extra: str) -> Any:
    """Import a package that an extra installs.

    >>> require("no_such_package", "translation with NLLB-200", "neural")
    ... # doctest: +ELLIPSIS
    Traceback (most recent call last):
    mathsetu.errors.MissingExtra: translation with NLLB-200 needs an optional dependency: ...
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        raise MissingExtra(purpose, extra) from missing


def onnx_runtime() -> Any:
    """Import onnxruntime with telemetry disabled.

    Newer versions write events to a file in the user's cache and look up a host of the vendor.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    runtime = import_module("onnxruntime")
    runtime.disable_telemetry_events()
    return runtime


def check_installed(module: str, purpose: str, extra: str) -> None:
    """Raise the error of `require` without importing: large packages take seconds.

    >>> check_installed("no_such_package", "an IVF index", "neural")
    ... # doctest: +ELLIPSIS
    Traceback (most recent call last):
    mathsetu.errors.MissingExtra: an IVF index needs an optional dependency: ...
    """
    if find_spec(module) is None:
        raise MissingExtra(purpose, extra)


def is_path(model: str) -> bool:
    """Whether a model is a folder on this machine rather than a name on the hub.

    >>> is_path("./models/nllb"), is_path("facebook/nllb-200-distilled-600M")
    (True, False)
    >>> is_path("facebook/nllb-200-distilled-600M@refs/pr/45")
    False
    """
    if _WITH_REVISION.fullmatch(model):
        return Path(model).is_dir()
    looks_so = model.startswith((".", "~", "/")) or "\\" in model or model.count("/") > 1
    return looks_so or Path(model).is_dir()


def hub_name(model: str) -> tuple[str, str | None]:
    """The name of a model on the hub, and the requested revision.

    >>> hub_name("facebook/nllb-200-distilled-600M@refs/pr/45")
    ('facebook/nllb-200-distilled-600M', 'refs/pr/45')
    >>> hub_name("all-mpnet-base-v2")
    ('all-mpnet-base-v2', None)
    """
    found = _WITH_REVISION.fullmatch(model)
    return (found[1], found[2]) if found else (model, None)


def check_not_pickled(folder: Path) -> None:
    """Refuse a folder whose weights are pickled: reading them could run code."""
    for pickled in sorted(folder.rglob("pytorch_model*.bin")):
        if not any(pickled.parent.glob("*.safetensors")):
            raise InputError(
                f"{pickled}: pickled weights are not read; convert them to safetensors once (see "
                "docs/translation.md), or take a revision that has them (NAME@REVISION)"
            )


def folder_of(model: str, setting: str = "") -> Path:
    """The folder that a path names; raise `InputError` if it does not exist.

    Args:
        model: The path.
        setting: The setting of a recipe that names it, for the error.

    >>> folder_of("./nowhere", "rerank.model")
    Traceback (most recent call last):
    mathsetu.errors.InputError: nowhere: no such folder; put the model's files there or name \
another folder (--set rerank.model=FOLDER)
    """
    folder = Path(model).expanduser()
    how = f" (--set {setting}=FOLDER)" if setting else ""
    if not model:
        raise InputError(f"the model has no name; name a folder{how}")
    if not folder.is_dir():
        raise InputError(
            f"{folder}: no such folder; put the model's files there or name another folder{how}"
        )
    return folder


def model_folder(model: str, organisation: str, purpose: str, setting: str = "") -> Path:
    """The folder of a model; a name on the hub is downloaded first.

    A model is downloaded once into the hub's cache; ``HF_HUB_OFFLINE=1`` forbids downloads.

    Args:
        model: A folder, or a name on the hub, optionally with a revision (``NAME@REVISION``).
        organisation: The organisation on the hub, if the name has none.
        purpose: What the model is for; named in the error if a package is missing.
        setting: The setting of a recipe that names it, for the error.
    """
    if is_path(model):
        folder = folder_of(model, setting)
    else:
        folder = _fetched(model, organisation, purpose, setting)
    check_not_pickled(folder)
    _check_modules(folder / "modules.json")
    return folder


def check_described(folder: Path) -> None:
    """Raise an error if a folder has no file that describes a model, without loading it."""
    if not _is_described(folder):
        hint = f"; name the folder {folder / 'model'}" if _is_described(folder / "model") else ""
        raise InputError(f"{folder}: is not the folder of a model; there is no config.json{hint}")


def _is_described(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _DESCRIPTIONS)


def _check_modules(path: Path) -> None:
    """Refuse classes outside sentence-transformers: loading the model would import them."""
    if not path.is_file():
        return
    try:
        kinds = [str(module["type"]) for module in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from error
    for kind in kinds:
        if not kind.startswith("sentence_transformers."):
            raise InputError(f"{path}: names {kind!r}, which is not part of sentence-transformers")


def model_fingerprint(folder: Path) -> str:
    """A hash of a model's files, computed quickly; different models do not collide by chance.

    If a ``model.json`` lists the checksums of all files, only this file is hashed. Otherwise the
    hash covers name, size and both ends of each file. Markdown and hidden files are ignored.
    """
    digest = blake2b(digest_size=12)
    card = folder / "model.json"
    if card.is_file() and b'"sha256"' in (content := card.read_bytes()):
        digest.update(content)
        return digest.hexdigest()
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.suffix == ".md" or path.name.startswith("."):
            continue
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder).as_posix()} {size}\n".encode())
        with path.open("rb") as file:
            digest.update(file.read(_END))
            file.seek(max(size - _END, 0))
            digest.update(file.read(_END))
    return digest.hexdigest()


def max_tokens_of(folder: Path) -> int:
    """The most tokens that the model of a folder can read; 0 if its files do not say."""
    try:
        return max_tokens_in(json.loads((folder / "config.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, AttributeError, TypeError):
        return 0


def max_tokens_in(config: Mapping[str, Any]) -> int:
    """The most tokens that a model can read by its configuration; 0 if that does not say.

    >>> max_tokens_in({"model_type": "mpnet", "max_position_embeddings": 514})
    512
    """
    positions = int(config.get("max_position_embeddings") or 0)
    late = config.get("model_type") in _LATE_STARTERS
    return positions - 2 if late and positions else positions


@contextmanager
def loading(model: str, what: str, purpose: str) -> Iterator[None]:
    """Load a model without progress bars, and turn errors into an `InputError` of one line.

    Args:
        model: Its name, as given.
        what: The kind of model that is expected; named in the error.
        purpose: What the model is for; named in the error if a package is missing.
    """
    try:
        with without_progress_bars(purpose):
            yield
    except (OSError, ValueError, KeyError) as problem:
        reason = str(problem).strip().partition("\n")[0]
        raise InputError(f"{model}: is not {what} ({reason})") from None


@contextmanager
def without_progress_bars(purpose: str) -> Iterator[None]:
    """Turn off progress bars and warnings of Transformers, which would disturb the output."""
    logging = require("transformers.utils.logging", purpose, "neural")
    shown = logging.is_progress_bar_enabled()
    verbosity = logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if shown:
            logging.enable_progress_bar()


def _fetched(name: str, organisation: str, purpose: str, setting: str) -> Path:
    hub = require("huggingface_hub", purpose, "neural")
    plain, revision = hub_name(name)
    full = plain if "/" in plain else f"{organisation}/{plain}"
    try:
        return Path(hub.snapshot_download(full, revision=revision, allow_patterns=_FILES))
    except (OSError, ValueError):
        how = f" (--set {setting}=FOLDER)" if setting else ""
        raise InputError(
            f"{full}: the model is not on this machine and cannot be downloaded; with a network, "
            f"'hf download {full}' gets it, or name a folder that contains it{how}"
        ) from None
