# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sources on the machine that the module runs on: the task itself, a file, an environment variable."""

from __future__ import annotations

import json
import os
import re
from typing import Any, ClassVar

from ..model.cluster import OPTIONS
from ..model.errors import ConfigurationError, NotFound
from ..model.shown import shown_path
from ..runtime.atomic_file import file_error, read_regular
from ..runtime.retry import Deadline
from .base import Source

__all__ = ["EnvSource", "FileSource", "InlineSource"]

# POSIX's names, and the dots and dashes that Kubernetes allows.
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,252}\Z")


class InlineSource(Source):
    """The docker config itself, masked by ``no_log``."""

    NAME: ClassVar[str] = "inline"
    SPEC: ClassVar[dict[str, Any]] = {"type": "raw", "no_log": True}

    def read(self, reference: Any, deadline: Deadline) -> bytes:
        """Return a string unchanged, and a mapping as JSON."""
        if isinstance(reference, str):
            return reference.encode("utf-8", "surrogatepass")
        if isinstance(reference, dict):
            try:
                return json.dumps(reference, sort_keys=True).encode("utf-8")
            except (TypeError, ValueError):
                # The message of json's error holds the value.
                raise ConfigurationError("source.inline holds something that JSON cannot express") from None
        raise ConfigurationError("source.inline must be a string or a mapping")

    def describe(self, reference: Any) -> str:
        """Never the value."""
        return "inline"


class FileSource(Source):
    """A file on the machine that the module runs on."""

    NAME: ClassVar[str] = "file"
    SPEC: ClassVar[dict[str, Any]] = {"type": "path"}

    @classmethod
    def check(cls, reference: Any) -> None:
        """Refuse an empty path: it is an unset variable, not a missing file."""
        if not reference:
            raise ConfigurationError("source.file is empty")

    def read(self, reference: Any, deadline: Deadline) -> bytes:
        """Return the file's bytes."""
        try:
            return read_regular(reference)[0]
        except FileNotFoundError:
            raise NotFound(
                f"{self.describe(reference)} does not exist",
                "check the path on the machine that runs the task",
            ) from None
        except OSError as error:
            raise file_error(self.describe(reference), "read", error) from None
        except ValueError:
            raise NotFound(f"{self.describe(reference)} cannot be read: not a usable path") from None

    def describe(self, reference: Any) -> str:
        """``file:PATH``, unless PATH cannot be a real path."""
        return f"file:{shown_path(reference)}"


class EnvSource(Source):
    """An environment variable of the module's process, as a container gets it from a Kubernetes Secret."""

    NAME: ClassVar[str] = "env"
    SPEC: ClassVar[dict[str, Any]] = {"type": "str"}

    @classmethod
    def check(cls, reference: Any) -> None:
        """Check the name: a user may have given the value instead."""
        if not _VARIABLE.match(reference):
            raise ConfigurationError("source.env must be the name of an environment variable")

    def read(self, reference: Any, deadline: Deadline) -> bytes:
        """Return the variable's value. An unset and an empty variable are both missing."""
        self.check(reference)
        value = os.environ.get(reference, "")
        if not value.strip():
            raise NotFound(f"{self.describe(reference)} is not set, or empty")
        return value.encode("utf-8", "surrogateescape")

    def has_other_forms(self, reference: Any) -> bool:
        """The job contract's variable holds a docker config and nothing else."""
        return bool(reference != OPTIONS["source"].variable)

    def describe(self, reference: Any) -> str:
        """``env:NAME``."""
        return f"env:{reference}"
