# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Real nodes for tests: systemd, D-Bus and Python in namespaces of their own (systemd-nspawn).

``with node_lab(3) as nodes:`` gives three that boot in half a second. Needs root; the Debian packages it
takes are installed where they lack. See ``python -m tests.lab.nodes --help``.
"""

from __future__ import annotations

from tests.lab.nodes.inventory import ansible_environment, write_inventory
from tests.lab.nodes.lab import NodeLab, node_lab
from tests.lab.nodes.node import Node

__all__ = ["Node", "NodeLab", "ansible_environment", "node_lab", "write_inventory"]
