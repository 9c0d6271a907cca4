# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

from ansible.errors import AnsibleFilterError

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig.image_credentials import (
    image_credentials,
    image_problem,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.quiet_action import as_module_argument


def credential_for(config: Any, image: Any) -> dict[str, dict[str, Any]]:
    """Return, by reader, the entry of a docker config that it would use to pull the image, but no credential.

    :raises AnsibleFilterError: an argument has the wrong type, or both readers refuse the image's name.
    """
    config, image = as_module_argument(config), as_module_argument(image)
    if not isinstance(config, (str, Mapping)):
        raise AnsibleFilterError("credential_for: the docker config must be a string or a mapping")
    problem = image_problem(image) if isinstance(image, str) else "is not a valid image name"
    if problem is not None:
        raise AnsibleFilterError(
            f"credential_for: the argument {problem}; write it as in a pod, such as "
            "quay.io/team/app:1, without https://"
        )
    (answers,) = image_credentials(config, [image])
    return answers


class FilterModule:
    """Finds the entry of a docker config that would pull an image."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters by name."""
        return {"credential_for": credential_for}
