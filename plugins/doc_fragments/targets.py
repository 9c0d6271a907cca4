# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """The option of a module with targets; each names its own suboptions."""

    DOCUMENTATION = r"""
options:
  targets:
    description:
      - Several targets, processed concurrently in one process. Options at the top level are the defaults of
        every target.
      - A target that fails does not stop the others. An unknown option, or a value of the wrong type, fails
        the task before anything is done.
    type: list
    elements: dict
"""
