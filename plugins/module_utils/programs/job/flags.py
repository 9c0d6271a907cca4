# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job's command line: a flag for each variable of the job contract, which the flag replaces. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...model.errors import ConfigurationError

__all__ = ["FLAGS", "VERSION", "WITHOUT_FLAG", "CommandLine", "read_command_line"]

VERSION = "0.1.0"
WITHOUT_FLAG = "PULL_SECRET_DATA"
FLAGS = {
    "CLUSTER_ID": "id of the cluster",
    "CLUSTER_NAME": "name of the cluster, for a label",
    "GCP_PROJECT_ID": "project of the secret",
    "MANAGEMENT_NAMESPACE": "namespace of the Kubernetes Secret",
    "SECRET_NAME": "id of the secret (default: hyperfleet-CLUSTER_ID-pull-secret)",
    "K8S_SECRET_NAME": "name of the Kubernetes Secret (default: CLUSTER_ID-pull-secret)",
    "REPLICATION_POLICY": "automatic (default), or user-managed:LOCATION,LOCATION",
    "GCP_API_TIMEOUT": "time that one request may take (default: 30s)",
    "LOG_LEVEL": "debug, info (default), warn or error",
    "LOG_FORMAT": "json (default) or text",
    "TRACEPARENT": "trace context of W3C",
    "TERMINATION_MESSAGE_PATH": "file for the termination message (default: /dev/termination-log)",
}
"""Variables of the job contract, with their meaning. ``WITHOUT_FLAG`` has no flag."""

_ABOUT = (
    "Stores a cluster's pull secret in Google Secret Manager, and gives the management cluster what Secret "
    "Manager holds. A flag replaces the environment variable of its name."
)
_REST = (
    f"The pull secret itself is only read from the variable {WITHOUT_FLAG}, because every process of a machine can "
    "read the arguments of the others. Exit code: 0 done, 2 a person must mend the input first, 1 any other "
    "failure."
)
_NAME = re.compile(r"--?[a-z0-9-]{1,40}\Z")
_NO_VALUE = "expected one argument"


@dataclass(frozen=True)
class CommandLine:
    """What the command line asks for.

    :param environment: with the values of the flags.
    :param text: to be printed in place of any work, or None.
    """

    environment: Mapping[str, str]
    text: str | None = None


def read_command_line(arguments: Sequence[str], environment: Mapping[str, str]) -> CommandLine:
    """Return what the arguments ask for.

    :raises ConfigurationError: an unknown flag, or one without a value. No value is shown.
    """
    if not arguments:
        return CommandLine(environment)
    # Not loaded without flags, as in a Job.
    import argparse

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> Any:
            # Other messages quote a value.
            shown = message if message.endswith(_NO_VALUE) else "a flag is used in a wrong way"
            raise ConfigurationError(shown, "see --help")

    parser = Parser(
        prog="pullsecret-job",
        description=_ABOUT,
        epilog=_REST,
        add_help=False,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    for variable, meaning in FLAGS.items():
        flag = f"--{variable.lower().replace('_', '-')}"
        parser.add_argument(flag, dest=variable, metavar="VALUE", help=f"{meaning}; {variable}")
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.add_argument("-h", "--help", action="store_true", help="print this text and exit")
    found, unknown = parser.parse_known_args(arguments)
    given: dict[str, Any] = vars(found)
    if unknown:
        raise _unknown(unknown)
    if given.pop("help", False):
        return CommandLine(environment, parser.format_help())
    if given.pop("version", False):
        return CommandLine(environment, f"pullsecret-job {VERSION}\n")
    return CommandLine({**environment, **given})


def _unknown(unknown: Sequence[str]) -> ConfigurationError:
    names = [text.partition("=")[0] for text in unknown if text.startswith("-")]
    if "--pull-secret-data" in names:
        return ConfigurationError(
            "there is no flag --pull-secret-data: every process of a machine can read arguments",
            f"set {WITHOUT_FLAG}",
        )
    shown = ", ".join(name for name in names if _NAME.match(name)) or f"{len(unknown)} (not shown)"
    return ConfigurationError(f"unknown arguments: {shown}", "see --help")
