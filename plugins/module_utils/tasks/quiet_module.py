# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An AnsibleModule that does not repeat its arguments.

ansible-core has no public way to keep a module's arguments from syslog and from its result. This file is the
only one that overrides or reads private members of AnsibleModule. ``tests/secrecy/test_quiet_module.py`` runs
on both ends of the ansible-core range, and fails if one of them no longer exists.
"""

from __future__ import annotations

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..runtime.secrecy import Mask, forms_in

__all__ = ["QuietModule"]


class QuietModule(AnsibleModule):
    """Writes no argument to syslog, and no docker config of the arguments into its result."""

    @property
    def shows_diff(self) -> bool:
        """Return whether the task was run with ``--diff``."""
        return bool(self._diff)

    def _log_invocation(self) -> None:
        """Write nothing to syslog: the controller overrides a module's no_log, and masking misses escaped
        values.
        """

    def _return_formatted(self, kwargs: dict[str, Any]) -> None:
        kwargs["invocation"] = {}
        mask = Mask(forms_in(self.params))
        for name in list(kwargs):
            # An exception's summary is Ansible's own object, made from msg.
            if name != "exception" or isinstance(kwargs[name], str):
                kwargs[name] = mask.value(kwargs[name])
        super()._return_formatted(kwargs)
