# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs of the Ansible Operator, without the operator."""

from __future__ import annotations

from tests.lab.operator.installation import CRDS, installed, kubectl, wait_until_served
from tests.lab.operator.runner import Controller, Proxy, RunnerRun, proxy

__all__ = [
    "CRDS",
    "Controller",
    "Proxy",
    "RunnerRun",
    "installed",
    "kubectl",
    "proxy",
    "wait_until_served",
]
