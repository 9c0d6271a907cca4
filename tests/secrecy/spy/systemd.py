# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""In the place of python-systemd, so that AnsibleModule logs to a journal that the audit hook sees."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

# Whether this run's modules log to the journal; else they log to syslog.
daemon = SimpleNamespace(booted=lambda: os.environ.get("CANARY_JOURNAL") == "1")
journal = SimpleNamespace(
    send=lambda **fields: sys.audit("canary.journal", fields),
    sendv=lambda *fields: sys.audit("canary.journal", list(fields)),
)
