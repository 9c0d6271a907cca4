# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The two entry points to a batch module's work: its own process, and Ansible's worker process.

Both use the same argument spec and the same task, so the result is the same.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Mapping
from typing import Any, Callable, NoReturn, Protocol, TextIO

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.errors import NoLogError, UnsupportedError

from ..model.errors import ConfigurationError, PullSecretError
from ..model.shown import MISPLACED
from ..runtime.batch import Failure, stop_on_signals
from ..runtime.secrecy import Mask, forms_in, misplaced, unquoted
from ..workflows.options import exclusive, with_targets
from .fitting import check_arguments, wrong_targets
from .quiet_module import QuietModule
from .secret_options import public_texts

__all__ = [
    "run_here",
    "run_module",
    "run_with",
    "safely",
    "validated",
    "validated_by_spec",
    "whole_spec",
    "without_stderr",
]

# The exceptions of Ansible's validation: at a number instead of a mapping, at numbers as keys of a mapping,
# and at an infinite number instead of an integer.
_BREAKS = (TypeError, ValueError, OverflowError)
_UNNAMED = "an option has the wrong type"
_TargetOptions = Callable[[], dict[str, Any]]


class _Task(Protocol):
    def __call__(
        self, params: Mapping[str, Any], *, check_mode: bool, diff: bool, stop: threading.Event
    ) -> dict[str, Any]:
        """Handle all targets, and return the module's result. No further target is begun once ``stop`` is
        set.
        """
        raise NotImplementedError


class _Module(QuietModule):
    """A module whose errors about its arguments do not quote them."""

    is_validated = False
    _given: Mapping[str, Any]

    def __init__(self, argument_spec: dict[str, Any], **kwargs: Any) -> None:
        try:
            super().__init__(argument_spec=argument_spec, **kwargs)
        except _BREAKS:
            self.is_validated = True
            self.fail_json(msg=_argument_error(_UNNAMED, self.params, argument_spec))
        # Ansible accepts more, such as false for a number.
        problem = _misfit(self._given, argument_spec)
        if problem is not None:
            self.is_validated = True
            self.fail_json(msg=problem + wrong_targets(self._given, argument_spec))
        self.no_log_values -= public_texts(argument_spec, self.params)

    def _load_params(self) -> None:
        """Also keep the arguments as they were given: Ansible replaces them with converted ones."""
        super()._load_params()
        self._given = dict(self.params)

    def fail_json(self, msg: Any, **kwargs: Any) -> NoReturn:
        """Fail as AnsibleModule does, but without quoting arguments."""
        if not self.is_validated:
            msg = _argument_error(self._named(str(msg)), self.params, self.argument_spec)
        super().fail_json(msg=msg, **kwargs)
        raise SystemExit(1)  # for the reader and the type checker: the line above ends the process

    def _named(self, message: str) -> str:
        """Return Ansible's error about the arguments with the option's name, which it lacks, as for no_log."""
        found = getattr(self, "validation_result", None)
        errors = found.errors if found is not None else []
        if not errors or not isinstance(errors[0], NoLogError):
            return message
        return next((error.msg for error in errors if not isinstance(error, NoLogError)), message)


def run_module(target_options: _TargetOptions, task: _Task) -> None:
    """Run a batch module in this process, which is its own. Never returns."""
    run_with(with_targets(target_options()), task)


def run_with(spec: Mapping[str, Any], task: _Task, *, with_commands: bool = False) -> None:
    """Run a module with this argument spec in this process, which is its own. Never returns.

    :param with_commands: whether the task receives ``run_command``, to run programs.
    """
    module = _Module(
        argument_spec=dict(spec),
        mutually_exclusive=exclusive(spec),
        supports_check_mode=True,
        no_log=True,
    )
    module.is_validated = True
    more: dict[str, Any] = {"run_command": module.run_command} if with_commands else {}

    def work() -> dict[str, Any]:
        # The action plugin also checks, before Ansible splits texts into lists.
        astray = misplaced(module.params)
        if astray:
            raise ConfigurationError(f"{', '.join(astray)}: {MISPLACED}")
        stop = threading.Event()
        with stop_on_signals(stop):
            return task(
                module.params, check_mode=module.check_mode, diff=module.shows_diff, stop=stop, **more
            )

    result = safely(work)
    # Otherwise Ansible would return all parameters: most of the response, and not for any log.
    result["invocation"] = {}
    # Given with the result, they are deprecated. Only results without targets have some.
    mask = Mask(forms_in(module.params))
    for text in result.pop("warnings", ()):
        module.warn(mask.text(text))
    if result.get("failed"):
        module.fail_json(**result)
    module.exit_json(**result)


def run_here(
    target_options: _TargetOptions,
    task: _Task,
    arguments: Mapping[str, Any],
    *,
    check_mode: bool,
    diff: bool,
    stop: threading.Event,
) -> dict[str, Any]:
    """Do a batch module's work in the calling process, and return its result.

    :param arguments: as for a module: plain dictionaries, lists and scalars.
    :raises ConfigurationError: they are invalid.
    """
    params = validated(target_options, arguments)
    with without_stderr():
        return task(params, check_mode=check_mode, diff=diff, stop=stop)


def without_stderr() -> contextlib.redirect_stderr[TextIO]:
    """Libraries write warnings to stderr, which is not the module's own here. They also pass it to exec
    plugins, so it must be a file.
    """
    return contextlib.redirect_stderr(_nowhere())


@functools.cache
def _nowhere() -> TextIO:
    """Never closed: a library's logging may keep it, and would complain on the real one, with the message."""
    return open(os.devnull, "w", encoding="utf-8")


def validated(target_options: _TargetOptions, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a batch module's parameters.

    :param target_options: a target's options, or the complete spec of a module without ``targets``.
    :raises ConfigurationError: AnsibleModule's message, without quoting arguments.
    """
    return validated_by_spec(whole_spec(target_options), arguments)


def whole_spec(target_options: _TargetOptions) -> dict[str, Any]:
    """Return a batch module's argument spec.

    :param target_options: as for ``validated``.
    """
    options = target_options()
    return options if "api_timeout" in options else with_targets(options)


def validated_by_spec(spec: dict[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a module with a complete argument spec.

    :raises ConfigurationError: as for ``validated``.
    """
    try:
        fits = check_arguments(arguments if isinstance(arguments, Mapping) else {}, spec, expands=True)
    except ConfigurationError as error:
        raise ConfigurationError(str(error) + wrong_targets(arguments, spec)) from None
    # Ansible would take a second for thousands of targets, and make the same of them.
    own = {"targets": fits["targets"]} if "targets" in fits else {}
    rest = {**arguments, "targets": []} if own else arguments
    try:
        checked = ArgumentSpecValidator(spec, mutually_exclusive=exclusive(spec)).validate(rest)
    except _BREAKS:
        raise ConfigurationError(_UNNAMED) from None
    if checked.error_messages:
        kind = "Unsupported parameters: " if isinstance(checked.errors[0], UnsupportedError) else ""
        raise ConfigurationError(_argument_error(kind + checked.errors.msg, arguments, spec))
    return {**checked.validated_parameters, **own}


def _misfit(arguments: Any, spec: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the arguments, with the option's name, which Ansible's own message often
    lacks.
    """
    try:
        check_arguments(arguments if isinstance(arguments, Mapping) else {}, spec)
    except ConfigurationError as error:
        return str(error)
    return None


def safely(work: Callable[[], dict[str, Any]], *ansibles: type[Exception]) -> dict[str, Any]:
    """Return the result of ``work``, or a failed result: Ansible would print the message of an exception.

    :param ansibles: exceptions for which Ansible has its own result, such as an unreachable host.
    """
    try:
        return work()
    except ansibles:
        raise
    except PullSecretError as error:
        return {"failed": True, "msg": str(error), "kind": error.kind}
    except Exception as error:  # noqa: BLE001 - a traceback ends with the error's text, which may hold a value
        failure = Failure.of(error)
        return {"failed": True, "msg": str(failure), "kind": failure.kind, "exception": "(not shown)"}


def _argument_error(message: str, arguments: Any, spec: Mapping[str, Any]) -> str:
    return (_misfit(arguments, spec) or unquoted(message, arguments)) + wrong_targets(arguments, spec)
