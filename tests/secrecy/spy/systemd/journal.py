# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What AnsibleModule calls of python-systemd's journal."""

from __future__ import annotations

import sys
from typing import Any


def send(MESSAGE: str, **fields: Any) -> None:  # noqa: N803 - the journal's own name
    """Shown to the audit hook and nobody else."""
    sys.audit("canary.journal", {"MESSAGE": MESSAGE, **fields})


def sendv(*fields: str) -> None:
    """AnsibleModule asks whether it is there."""
    sys.audit("canary.journal", list(fields))
