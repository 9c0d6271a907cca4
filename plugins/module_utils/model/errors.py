# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The collection's exceptions.

Only a module's ``main()`` turns these into a failure. Their messages are printed and logged, so they consist
of names (secrets, registries, rules, service accounts) and never of values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

__all__ = [
    "ConfigurationError",
    "Conflict",
    "DependencyMissing",
    "FileSystemError",
    "Internal",
    "InvalidDocument",
    "NotFound",
    "OwnershipConflict",
    "PermissionDenied",
    "PullSecretError",
    "QuotaExceeded",
    "TimedOut",
    "Unavailable",
    "ValueDisabled",
    "VerificationFailed",
    "WrongOption",
    "copied_error",
    "missing_package",
    "repeated_error",
]

# An option's name in a rule.
_BRACES = re.compile(r"\{(\w+)\}")


class PullSecretError(Exception):
    """An error that a person can act on.

    :param message: what happened and where.
    :param hint: what to do about it, a sentence, or None.

    ``retry_after``: seconds of the server's Retry-After, if it sent one.
    """

    kind: ClassVar[str] = "error"
    retryable: bool = False
    retry_after: float | None = None

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class ConfigurationError(PullSecretError):
    """The task is wrong: nothing was read or written."""

    kind = "configuration"


class WrongOption(ConfigurationError):
    """An option of a module breaks a rule.

    The rules are the same for every input, but each has its own name for the option: ``project`` of the
    module is ``gcp_project_id`` in a list of clusters and ``GCP_PROJECT_ID`` in the Job's environment.

    :param option: the option, or a path into it: ``labels``, ``retention.keep``, ``service_accounts[0]``.
    :param rule: what is wrong. Other options are in braces: ``requires {replication}: user_managed``.
    """

    def __init__(self, option: str, rule: str) -> None:
        super().__init__(f"{option} {_BRACES.sub(lambda found: found[1], rule)}")
        self.option = option
        self.rule = rule

    def called(self, words: Mapping[str, str]) -> WrongOption:
        """Return the same error with an input's names.

        :param words: the modules' options to the input's names.
        """
        name = self.option if self.option in words else re.split(r"[.\[]", self.option)[0]
        option = words.get(name, name) + self.option[len(name) :]
        return WrongOption(option, _BRACES.sub(lambda found: words.get(found[1], found[1]), self.rule))


class InvalidDocument(PullSecretError):
    """A docker config that at least one of its readers would refuse, until its owner fixes it."""

    kind = "invalid_document"


class PermissionDenied(PullSecretError):
    """The service refuses us; a retry changes nothing."""

    kind = "permission_denied"


class NotFound(PullSecretError):
    """The object to read does not exist."""

    kind = "not_found"


class FileSystemError(PullSecretError):
    """The file system is read-only, full or broken."""

    kind = "file_system"


class ValueDisabled(PullSecretError):
    """The value exists, but was disabled or destroyed."""

    kind = "precondition"


class OwnershipConflict(PullSecretError):
    """The object exists and belongs to another owner."""

    kind = "ownership"


class VerificationFailed(PullSecretError):
    """The value that was read back is not the one that was written."""

    kind = "verification"


class Internal(PullSecretError):
    """A defect of ours, named by its type and line, because its message could hold a value."""

    kind = "internal"


class TimedOut(PullSecretError):
    """The target's time limit ran out."""

    kind = "timeout"


class DependencyMissing(PullSecretError):
    """An object of another component (a namespace, a service account) does not exist yet."""

    kind = "dependency"
    retryable = True


class QuotaExceeded(PullSecretError):
    """The service limits our requests."""

    kind = "quota"
    retryable = True


class Unavailable(PullSecretError):
    """The service did not answer, or is temporarily unavailable."""

    kind = "unavailable"
    retryable = True


class Conflict(PullSecretError):
    """Another client changed the object between our read and our write: read again."""

    kind = "conflict"


def copied_error(error: PullSecretError) -> PullSecretError:
    """Return a copy of an error, to raise in one more thread: each raise adds to an error's own traceback."""
    # Without calling the class: its subclasses take other arguments.
    copy = type(error).__new__(type(error), *error.args)
    copy.__dict__.update(error.__dict__)
    return copy


def repeated_error(error: PullSecretError) -> PullSecretError:
    """Return a copy of an error, to raise for one more target. Its call has already been retried."""
    copy = copied_error(error)
    copy.retryable = False
    return copy


def missing_package(error: ImportError, install: str) -> ConfigurationError:
    """Return the error for a package that cannot be imported.

    :param install: the packages' names for pip.
    """
    if isinstance(error, ModuleNotFoundError):
        return ConfigurationError(
            f"the Python package {error.name} is missing on the machine that runs the task",
            f"pip install {install}",
        )
    return ConfigurationError(
        f"the Python package {error.name or '?'} on the machine that runs the task is broken "
        f"or does not fit the others: it cannot be imported",
        f"pip install --upgrade {install}",
    )
