# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes an image of one layer as the tar that ``docker save`` writes and containerd and skopeo read."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
CREATED = "2026-01-01T00:00:00Z"


def write_archive(target: Path, name: str, layer: bytes, *, config: Mapping[str, Any] | None = None) -> Path:
    """Write the image ``name``: its one layer (a tar) and its configuration."""
    image = {
        "architecture": ARCHITECTURES.get(platform.machine(), "amd64"),
        "os": "linux",
        "created": CREATED,
        "config": dict(config or {}),
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created": CREATED}],
    }
    text = json.dumps(image).encode()
    digest = hashlib.sha256(text).hexdigest()
    manifest = [{"Config": f"{digest}.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    parts = {
        f"{digest}.json": text,
        "layer.tar": layer,
        "manifest.json": json.dumps(manifest).encode(),
    }
    target.write_bytes(write_tar(parts, 0o644))
    return target


def write_tar(files: Mapping[str, bytes], mode: int) -> bytes:
    """The same bytes for the same files, at any time."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for path, content in files.items():
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(content), mode
            tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def add_layer(archive: Path, target: Path, root: Path) -> None:
    """Write the same image with one more layer, the files below ``root``, which belong to root."""
    with tempfile.TemporaryDirectory(prefix="pull-secret-layer-") as scratch:
        parts = Path(scratch)
        _untar(archive, parts)
        owner = ("--owner=0", "--group=0", "--mode=u=rwX,go=rX", "--sort=name", "--mtime=@0")
        subprocess.run(["tar", "-cf", parts / "added.tar", *owner, "-C", root, "."], check=True)
        (manifest,) = json.loads((parts / "manifest.json").read_text())
        image = json.loads((parts / manifest["Config"]).read_text())
        digest = hashlib.sha256((parts / "added.tar").read_bytes()).hexdigest()
        image["rootfs"]["diff_ids"].append(f"sha256:{digest}")
        image["history"].append({"created": CREATED})
        manifest["Layers"].append("added.tar")
        text = json.dumps(image).encode()
        manifest["Config"] = f"{hashlib.sha256(text).hexdigest()}.json"
        (parts / manifest["Config"]).write_bytes(text)
        (parts / "manifest.json").write_text(json.dumps([manifest]))
        names = ["manifest.json", manifest["Config"], *manifest["Layers"]]
        subprocess.run(["tar", "-chf", target, "-C", parts, *names], check=True)


def unpack(archive: Path, directory: Path) -> tuple[Path, dict[str, Any]]:
    """What such an archive holds: the directory that its layers make, and the image's configuration."""
    parts, root = directory / "archive", directory / "root"
    # Not tarfile, whose filters Python has since 3.11.4 only.
    _untar(archive, parts)
    manifest = json.loads((parts / "manifest.json").read_text())[0]
    for layer in manifest["Layers"]:
        _untar(parts / layer, root)
    return root, dict(json.loads((parts / manifest["Config"]).read_text())["config"])


def _untar(archive: Path, directory: Path) -> None:
    directory.mkdir(exist_ok=True)
    subprocess.run(["tar", "-xf", archive, "-C", directory], check=True)
