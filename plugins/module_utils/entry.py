# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The one place where a module meets Ansible: parameters in, ``exit_json`` or ``fail_json`` out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, Protocol

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import PullSecretError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.options import with_targets

__all__ = ["run_module"]


class _Task(Protocol):
    def __call__(self, params: Mapping[str, Any], *, check_mode: bool, diff: bool) -> dict[str, Any]:
        """Handle all targets; the module's result."""
        raise NotImplementedError


def run_module(target_options: Callable[[], dict[str, Any]], task: _Task) -> None:
    """Run a batch module.  Never returns."""
    module = AnsibleModule(
        argument_spec=with_targets(target_options()),
        mutually_exclusive=[("source", "layers")],
        supports_check_mode=True,
        # Not to syslog: an argument in the wrong place would be logged before it is refused.
        no_log=True,
    )
    try:
        result = task(module.params, check_mode=module.check_mode, diff=module._diff)
    except PullSecretError as error:
        module.fail_json(msg=str(error), kind=error.kind)
    # Ansible would send all parameters back otherwise: most of the answer, and no business of any log.
    result["invocation"] = {}
    if result.get("failed"):
        module.fail_json(**result)
    module.exit_json(**result)
