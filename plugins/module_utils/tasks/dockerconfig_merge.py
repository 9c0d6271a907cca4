# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The work of ``dockerconfig_merge``: lint and merge docker configs, and write the result to a file."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..dockerconfig import DockerConfig, DockerConfigError, load
from ..dockerconfig.image_credentials import READERS, image_credentials, image_problem
from ..model.errors import (
    ConfigurationError,
    NotFound,
    OwnershipConflict,
    PullSecretError,
    TimedOut,
)
from ..model.limits import Limits
from ..model.outcome import Outcome
from ..model.shown import shown
from ..places.reader import check_references
from ..places.recognise import is_docker_config, other_kind
from ..runtime.atomic_file import file_error, read_regular, remove_leftover, replace_file
from ..runtime.retry import Deadline
from ..workflows.options import document_options
from ..workflows.run import Run, Work
from ..workflows.targets import Wanted, build_targets

__all__ = ["FileTarget", "build_target", "run", "target_options", "targets_elsewhere", "targets_of"]


_OCTAL = re.compile(r"(0o)?[0-7]{1,4}\Z")
_MOST_IMAGES = 1000
_FEW_IMAGES = 5


def target_options() -> dict[str, Any]:
    """The options of one target."""
    return dict(
        id={"type": "str"},
        dest={"type": "path"},
        mode={"type": "raw"},
        state={"type": "str", "choices": ["present", "absent"]},
        follow={"type": "bool"},
        force={"type": "bool"},
        images={"type": "list", "elements": "str"},
        require_credentials={"type": "bool"},
        **document_options(),
    )


_LIMITS = Limits(target_options())


@dataclass(frozen=True)
class FileTarget:
    """The target's file, and the images that its docker config is for.

    :param dest: None if nothing is written.
    :param mode: None if it is not given.
    :param follow: whether ``dest`` may be a symbolic link to the file.
    :param force: whether a file may be replaced or deleted that is not a docker config.
    :param images: None if they are not given.
    :param require_credentials: whether an image without a credential is an error.
    """

    dest: str | None
    mode: int | None
    follow: bool = False
    force: bool = False
    images: tuple[str, ...] | None = None
    require_credentials: bool = False


def build_target(wanted: Mapping[str, Any]) -> FileTarget:
    """Return the target that the options describe.

    :raises ConfigurationError: names the invalid option.
    """
    _LIMITS.check(wanted)
    if wanted["state"] == "absent":
        if not wanted.get("dest"):
            raise ConfigurationError("state: absent needs dest")
    elif not (wanted.get("source") or wanted.get("layers")):
        raise ConfigurationError("source or layers is required")
    else:
        check_references(wanted)
    return FileTarget(
        dest=wanted.get("dest") or None,
        mode=_mode(wanted.get("mode")),
        follow=bool(wanted.get("follow")),
        force=bool(wanted.get("force")),
        images=_images(wanted),
        require_credentials=bool(wanted.get("require_credentials")),
    )


def targets_of(params: Mapping[str, Any]) -> list[Wanted[FileTarget]]:
    """Return the task's targets.

    :raises ConfigurationError: two have the same id or the same file.
    """
    return build_targets(params, list(target_options()), build_target, _full_place)


def targets_elsewhere(params: Mapping[str, Any]) -> list[Wanted[FileTarget]]:
    """Return the task's targets on the controller, where links of the files' machine cannot be followed.

    :raises ConfigurationError: two have the same id, or the same file by name.
    """
    return build_targets(params, list(target_options()), build_target, _named_place)


def run(
    params: Mapping[str, Any], *, check_mode: bool, diff: bool, stop: threading.Event | None = None
) -> dict[str, Any]:
    """Handle all targets, and return the module's result."""
    shared = Run(params, "dockerconfig", check_mode=check_mode, diff=diff, stop=stop)
    targets = targets_of(params)

    def work(target: FileTarget, current: Work) -> None:
        outcome = current.outcome
        if current.options["state"] == "absent":
            _remove(target, outcome, check_mode)
            return
        document = shared.documents.read(current.options, current.deadline, current.seen)
        config = outcome.after = current.note(document).config
        outcome.extra.setdefault("conflicts", [])
        if target.images is not None:
            _look_up(target.images, target.require_credentials, config, current)
        if target.dest:
            _write(target, config, current, check_mode)

    shared.prepare(targets)
    return shared.over(targets, _place, work)


def _place(wanted: Wanted[FileTarget]) -> str:
    dest = wanted.options.get("dest")
    return f"file:{dest}" if dest else "nowhere"


def _named_place(target: FileTarget) -> str | None:
    """Without following links, after which ``..`` may be anywhere."""
    if not target.dest:
        return None
    parts = [part for part in target.dest.split("/") if part not in ("", ".")]
    return f"file:{'/' if target.dest.startswith('/') else ''}{'/'.join(parts)}"


def _full_place(target: FileTarget) -> str | None:
    return f"file:{os.path.realpath(target.dest)}" if target.dest else None


def _mode(value: Any) -> int | None:
    """An octal string or a number; None keeps an existing file's mode, and means 0600 for a new file."""
    if value is None:
        return None
    mode = -1
    if isinstance(value, str) and _OCTAL.match(value):
        mode = int(value, 8)
    elif isinstance(value, int) and not isinstance(value, bool):
        mode = value
    if not 0 <= mode <= 0o777:
        raise ConfigurationError("mode must be an octal number in quotes, such as '0600'")
    if mode & 0o007:
        raise ConfigurationError("mode must not let others read or write the file: its last digit must be 0")
    return mode


def _images(wanted: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the images; none for an absent target."""
    images = wanted.get("images")
    if images is None or wanted["state"] == "absent":
        return None
    if len(images) > _MOST_IMAGES:
        raise ConfigurationError(f"images must have at most {_MOST_IMAGES} entries")
    for index, image in enumerate(images):
        problem = image_problem(image)
        if problem is not None:
            raise ConfigurationError(
                f"images[{index}] {problem}",
                "write it as in a pod, such as quay.io/team/app:1, without https://",
            )
    return tuple(images)


def _look_up(images: Sequence[str], required: bool, config: DockerConfig, current: Work) -> None:
    """Report which credential each reader would pull the images with.

    :raises NotFound: a reader has none for an image, and ``required`` is true.
    :raises TimedOut: the target's time limit passes before the last image.
    """
    outcome = current.outcome
    without: list[str] = []
    rows = outcome.extra["images"] = []
    mask = current.mask()
    found = image_credentials(config, _in_time(images, current.deadline), outcome.provenance)
    for index, (image, answers) in enumerate(zip(images, found)):
        # A password of the document may be in a tag by mistake.
        name = mask.text(shown(image))
        rows.append({"image": name, **answers})
        unable = [reader for reader in READERS if not answers[reader]["found"]]
        if unable:
            without.append(f"images[{index}] {name}: no credential for {' and '.join(unable)}")
    if required and without:
        more = len(without) - _FEW_IMAGES
        raise NotFound(
            ", ".join(without[:_FEW_IMAGES]) + (f", and {more} more images" if more > 0 else ""),
            "add a layer that has one, or set require_credentials: false",
        )
    outcome.warnings.extend(without)


def _in_time(images: Sequence[str], deadline: Deadline) -> Iterator[str]:
    """Yield the images until the time is over."""
    for index, image in enumerate(images):
        if deadline.remaining() <= 0:
            raise TimedOut(
                f"images[{index}]: the target's time limit of {deadline.seconds:g} s has passed",
                "raise timeout, or give fewer images",
            )
        yield image


def _write(target: FileTarget, config: DockerConfig, current: Work, dry_run: bool) -> None:
    """Replace the file atomically: the old or the new content exists at any time."""
    outcome, path = current.outcome, _path(target)
    there = _read(target, path)
    outcome.before = _parse(there[0]) if there else None
    # An existing file keeps its mode, without permissions for others.
    mode = target.mode if target.mode is not None else (there[1] & ~0o007 if there else 0o600)
    if outcome.before is None or not outcome.before.same_meaning(config):
        outcome.did("updated" if there else "created")
    elif there and there[1] != mode:
        outcome.did("mode changed")
    if dry_run:
        return
    if not outcome.changed:
        remove_leftover(path)
        return
    try:
        if "mode changed" in outcome.actions:
            os.chmod(path, mode)
        else:
            replace_file(path, config.canonical(), mode, lock_seconds=current.deadline.remaining())
    except TimeoutError:
        raise TimedOut(
            f"file:{target.dest} cannot be written: another process held its lock file for longer "
            f"than timeout ({current.deadline.seconds:g} s)"
        ) from None
    except OSError as error:
        raise file_error(f"file:{target.dest}", "written", error) from None
    outcome.settle()


def _remove(target: FileTarget, outcome: Outcome, dry_run: bool) -> None:
    """Delete the file that ``present`` would have written."""
    path = _path(target)
    if os.path.lexists(path):
        if not os.path.isfile(path):
            raise PullSecretError(f"file:{target.dest} is not a regular file and was not changed")
        if not target.force:
            there = _read(target, path)
            outcome.before = _parse(there[0]) if there else None
        outcome.did("deleted")
    if dry_run:
        return
    try:
        if outcome.changed:
            os.unlink(path)
        remove_leftover(path)
    except OSError as error:
        raise file_error(f"file:{target.dest}", "deleted", error) from None
    outcome.settle()


def _path(target: FileTarget) -> str:
    """Return the file's path. Links to its directory are followed; the file itself may be a link only with
    ``follow``.

    :raises OwnershipConflict: it is a link to a file that the task does not name.
    """
    dest = str(target.dest)
    if target.follow:
        return os.path.realpath(dest)
    directory, name = os.path.split(dest.rstrip("/"))
    path = os.path.join(os.path.realpath(directory), name)
    if os.path.islink(path):
        raise OwnershipConflict(
            f"file:{dest} is a symbolic link and was not changed",
            "name the file that it points to, or set follow: true",
        )
    return path


def _read(target: FileTarget, path: str) -> tuple[bytes, int] | None:
    """Return the file's content and mode; None if it does not exist.

    :raises OwnershipConflict: it is not a docker config.
    """
    try:
        content, mode = read_regular(path)
    except FileNotFoundError:
        if not os.path.isdir(os.path.dirname(path)):
            raise NotFound(f"file:{target.dest}: its directory does not exist") from None
        return None
    except OSError as error:
        raise file_error(f"file:{target.dest}", "read", error) from None
    kind = other_kind(content)
    if not target.force and (kind or not is_docker_config(content)):
        seems = f"seems to be {kind}, not" if kind else "is not"
        raise OwnershipConflict(
            f"file:{target.dest} {seems} a docker config (a JSON object with auths) and was not changed",
            "is dest the right file? force: true replaces or deletes it",
        )
    return content, mode


def _parse(data: bytes) -> DockerConfig | None:
    try:
        return load(data, allow_empty=True)
    except DockerConfigError:
        return None
