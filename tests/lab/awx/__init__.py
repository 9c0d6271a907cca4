# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for the REST API of AWX 24.6.1, as far as `extensions/awx/configure.yml` uses it.

It keeps objects of all types in the same form. `options.json` is what AWX answers to OPTIONS, `types.json` says
how types belong together, and `rules.json` and `rules.py` add what OPTIONS does not state. Nothing ever runs: a
project's update is successful at once.
"""

from __future__ import annotations

from .rules import OPTIONS, TYPES
from .server import AwxLab

__all__ = ["OPTIONS", "TYPES", "AwxLab"]
