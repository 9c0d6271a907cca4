# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What AnsibleModule asks of python-systemd's daemon."""

from __future__ import annotations

import os


def booted() -> bool:
    """Whether this run's modules log to the journal; else they log to syslog."""
    return os.environ.get("CANARY_JOURNAL") == "1"
