"""Fetch the few small files of a model on the hub: org/model, or org/model@revision.

The client's own settings hold: its cache, its token, its offline mode.
"""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from tplc.errors import SourceError
from tplc.sources.folder import CONFIGS, TEMPLATE_FILE, TEMPLATE_FOLDERS, TOKENS_FILE, read_folder
from tplc.sources.source import Offer

_ID = re.compile(r"(?P<repository>\w[\w.-]*/\w[\w.-]*)(@(?P<revision>\S+))?")
# An id that ends in one of these, or nearly so, is the name of a file that is not here.
_SUFFIXES = (".jinja", ".jinja2", ".j2", ".json", ".gguf", ".txt", ".py", ".peg", ".gbnf")
_NEARLY = 0.75
_FILES = [TEMPLATE_FILE, *CONFIGS, TOKENS_FILE, *(f"{folder}/*.jinja" for folder in TEMPLATE_FOLDERS)]


def is_hub_id(source: str) -> bool:
    """Return whether a source is a hub id.  Files have no revision, so a source with one is always an id."""
    parts = _ID.fullmatch(source)
    return parts is not None and (parts["revision"] is not None or not _names_a_file(parts["repository"]))


def _names_a_file(name: str) -> bool:
    return bool(get_close_matches(Path(name).suffix.lower(), _SUFFIXES, n=1, cutoff=_NEARLY))


def base_name(source: str) -> str:
    return source.partition("@")[0].rpartition("/")[2]


def read_hub(source: str) -> Offer:
    parts = _ID.fullmatch(source)
    assert parts is not None
    found = read_folder(_fetch(source, parts["repository"], parts["revision"]), source)
    # The cache is the client's own.
    return replace(found, files=())


def _fetch(source: str, repository: str, revision: str | None) -> Path:
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import (
            GatedRepoError,
            HfHubHTTPError,
            HFValidationError,
            LocalEntryNotFoundError,
            RepositoryNotFoundError,
            RevisionNotFoundError,
        )
    except ImportError as error:
        problem = "there is no such file or folder; reading it as a hub id needs the huggingface_hub package"
        raise SourceError(source, problem, "install it with: pip install 'tplc[hub]'") from error
    try:
        return Path(snapshot_download(repository, revision=revision, allow_patterns=_FILES))
    except GatedRepoError as error:
        problem = "this model is gated: the hub asks who you are"
        raise SourceError(source, problem, "log in with `hf auth login`, after access was granted") from error
    except RevisionNotFoundError as error:
        raise SourceError(source, f"the hub has no revision {revision!r} of this model") from error
    except RepositoryNotFoundError as error:
        raise SourceError(source, "there is no such file or folder here, and no such model on the hub") from error
    except LocalEntryNotFoundError as error:
        problem = (
            "there is no such file or folder here; the hub cannot be reached, and the model is not in the local cache"
        )
        raise SourceError(source, problem, "check the connection, or unset HF_HUB_OFFLINE") from error
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        raise SourceError(source, f"the hub failed: {str(error).strip().partition(chr(10))[0]}") from error
