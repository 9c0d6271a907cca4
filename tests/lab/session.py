# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""For tests: a running Kubernetes, stand-in or real, behind the same few attributes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.stand_ins.kubernetes.lab import KubernetesLab

STAND_IN = "stand-in"
REAL = "real"


@dataclass(frozen=True)
class KubernetesEnv:
    """A Kubernetes API server that tests may use as cluster admin.

    ``viewer_token`` belongs to the user ``viewer`` of the group ``viewers``, who has no rights. ``ca_file``
    is None for plain HTTP. ``lab`` is the stand-in itself (faults, calls, store), None on a real server;
    ``audit_log`` is the real server's, None on the stand-in.
    """

    kind: str
    url: str
    token: str
    viewer_token: str
    ca_file: str | None = None
    lab: KubernetesLab | None = None
    audit_log: Path | None = None

    def kubeconfig(self, path: str | Path, *, token: str | None = None, context: str = "mgmt-1") -> Path:
        """Write a kubeconfig (mode 0600) for the admin, or for another token, and return its path."""
        ca = Path(self.ca_file).read_bytes() if self.ca_file else None
        return write_kubeconfig(path, [Cluster(context, self.url, token or self.token, ca)])


def kubernetes(kind: str | None = None) -> contextlib.AbstractContextManager[KubernetesEnv]:
    """Give a Kubernetes: ``kind`` is "stand-in" or "real", by default "real" when the environment's LAB is.

    A stand-in is this process's own. The real control plane is shared: it is started unless it is up, and
    ended by the last that uses it unless it was started by hand. LabError when it cannot be started.
    """
    wanted = kind or (REAL if os.environ.get("LAB") == REAL else STAND_IN)
    return _stand_in() if wanted == STAND_IN else _real()


@contextlib.contextmanager
def _stand_in() -> Iterator[KubernetesEnv]:
    with KubernetesLab() as lab:
        yield KubernetesEnv(STAND_IN, lab.url, lab.admin_token, lab.viewer_token, lab=lab)


@contextlib.contextmanager
def _real() -> Iterator[KubernetesEnv]:
    # Imported late: a laptop's fast tests need nothing of it.
    from tests.lab.control_plane import ControlPlane, leased
    from tests.lab.control_plane.cluster import SHARED

    with leased(ControlPlane(SHARED)) as state:
        yield KubernetesEnv(
            REAL,
            state.url,
            state.token,
            state.viewer_token,
            ca_file=state.ca_file,
            audit_log=Path(state.audit_log),
        )
