# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The one place where a module meets Ansible: parameters in, ``exit_json`` or ``fail_json`` out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, NoReturn, Protocol

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.batch import Failure
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import PullSecretError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.options import with_targets
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.secrecy import Mask, forms_in, unquoted

__all__ = ["run_module"]


class _Task(Protocol):
    def __call__(self, params: Mapping[str, Any], *, check_mode: bool, diff: bool) -> dict[str, Any]:
        """Handle all targets; the module's result."""
        raise NotImplementedError


class _Module(AnsibleModule):
    """An AnsibleModule that does not repeat what it was given, in a result, an error or the system's log."""

    _validated = False

    def _log_invocation(self) -> None:
        """Not to syslog: the controller overrides a module's no_log, and masking misses escaped values."""

    def fail_json(self, msg: Any, **kwargs: Any) -> NoReturn:
        """As AnsibleModule does, but an error about the arguments does not quote them."""
        super().fail_json(msg=msg if self._validated else unquoted(str(msg), self.params), **kwargs)
        raise SystemExit(1)  # for the reader and the type checker: the line above ends the process

    def _return_formatted(self, kwargs: dict[str, Any]) -> None:
        kwargs["invocation"] = {}
        mask = Mask(forms_in(self.params))
        for name in list(kwargs):
            # An exception's summary is Ansible's own object, and made from msg.
            if name != "exception" or isinstance(kwargs[name], str):
                kwargs[name] = mask.value(kwargs[name])
        super()._return_formatted(kwargs)


def run_module(target_options: Callable[[], dict[str, Any]], task: _Task) -> None:
    """Run a batch module.  Never returns."""
    module = _Module(
        argument_spec=with_targets(target_options()),
        mutually_exclusive=[("source", "layers")],
        supports_check_mode=True,
        no_log=True,
    )
    module._validated = True
    try:
        result = task(module.params, check_mode=module.check_mode, diff=module._diff)
    except PullSecretError as error:
        module.fail_json(msg=str(error), kind=error.kind)
    except Exception as error:  # noqa: BLE001 - a traceback ends with the error's text, which may hold a value
        failure = Failure.of(error)
        module.fail_json(msg=f"{failure.message}; {failure.hint}", kind=failure.kind, exception="(not shown)")
    # Ansible would send all parameters back otherwise: most of the answer, and no business of any log.
    result["invocation"] = {}
    if result.get("failed"):
        module.fail_json(**result)
    module.exit_json(**result)
