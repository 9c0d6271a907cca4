# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles of the collection."""

from __future__ import annotations

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.role_options import role_variables


@pytest.mark.parametrize("name", ["nope", "", ".", "../roles/node", "\ud800", "nul\0", "a" * 300])
def test_a_role_that_does_not_exist_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="no role of that name"):
        role_variables(name)
