# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for the HyperFleet API, held to exchanges recorded from the real one."""

from __future__ import annotations

from .server import HyperFleetLab

__all__ = ["HyperFleetLab"]
