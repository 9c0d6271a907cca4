# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """The attributes of every module of the collection."""

    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in check_mode and return changed status prediction without modifying target.
    support: full
  diff_mode:
    description: Will return details on what has changed (or possibly needs changing in check_mode), when in
      diff mode.
    support: full
    details:
      - A diff names registries, labels and keyed digests, never a value.
  idempotent:
    description: When run twice in a row outside check mode, with the same arguments, the second invocation
      indicates no change.
    support: full
  action_group:
    description: Use C(group/hyperfleet.pull_secret.pull_secret) in C(module_defaults) to set defaults for
      this module.
    support: full
    membership:
      - hyperfleet.pull_secret.pull_secret
  platform:
    description: Target OS/families that can be operated against.
    support: full
    platforms: posix
"""
