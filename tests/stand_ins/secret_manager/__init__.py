# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for Google Secret Manager: gRPC and REST over one store, with a fault table.

In a test: `with SecretManagerLab() as lab:`.
As a process: `python -m tests.stand_ins secret_manager --ready-file F`.
"""

from __future__ import annotations

from .faults import Fault, FaultTable
from .lab import SecretManagerLab
from .store import Store

__all__ = ["Fault", "FaultTable", "SecretManagerLab", "Store"]
