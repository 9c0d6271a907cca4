# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ListSecrets: filters, order, pages. Each filter includes the workspace's own label: a project may be
shared.
"""

from __future__ import annotations

import pytest

from tests.secret_manager.contract.support import Workspace, refused


@pytest.fixture
def fleet(work: Workspace) -> list[str]:
    """Three secrets, oldest first."""
    ids = [work.secret_id() for dummy in range(3)]
    for number, secret_id in enumerate(ids):
        labels = {"run": work.prefix, "cluster-id": f"cls-{number}", "managed-by": "hyperfleet"}
        if number == 2:
            labels["managed-by"] = "other"
        work.create(secret_id, labels=labels)
    return ids


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("", [2, 1, 0]),
        ("labels.managed-by=hyperfleet", [1, 0]),
        ('labels.managed-by="hyperfleet"', [1, 0]),
        ("labels.managed-by=hyperfleet AND labels.cluster-id=cls-1", [1]),
        ("labels.managed-by=hyper", []),
    ],
)
def test_filters_newest_first(work: Workspace, fleet: list[str], where: str, found: list[int]) -> None:
    own = f"labels.run={work.prefix}"
    assert work.secrets(f"{own} AND {where}" if where else own) == [fleet[number] for number in found]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_pages_hold_every_secret_once(work: Workspace, fleet: list[str], size: int) -> None:
    request = {"parent": work.parent, "filter": f"labels.run={work.prefix}", "page_size": size}
    pages = [
        [secret.name.rpartition("/")[2] for secret in page.secrets]
        for page in work.client.list_secrets(request=request).pages
    ]
    assert [secret_id for page in pages for secret_id in page] == fleet[::-1]
    assert all(len(page) <= size for page in pages)


def test_a_secret_deleted_between_pages_does_not_hide_another(work: Workspace, fleet: list[str]) -> None:
    request = {"parent": work.parent, "filter": f"labels.run={work.prefix}", "page_size": 1}
    pages = work.client.list_secrets(request=request).pages
    first = next(pages)
    work.client.delete_secret(name=first.secrets[0].name)
    rest = [secret.name.rpartition("/")[2] for page in pages for secret in page.secrets]
    assert rest == [fleet[1], fleet[0]]


def test_updates_show_in_the_list(work: Workspace, fleet: list[str]) -> None:
    work.client.update_secret(
        secret={"name": work.name(fleet[0]), "labels": {"run": work.prefix, "managed-by": "other"}},
        update_mask={"paths": ["labels"]},
    )
    both = f"labels.run={work.prefix} AND labels.managed-by=other"
    assert work.secrets(both) == [fleet[2], fleet[0]]


@pytest.mark.parametrize("where", ["labels.a=b AND", "(labels.a=b", "no_such_field=1", "="])
def test_a_filter_that_cannot_be_read_is_refused(work: Workspace, where: str) -> None:
    with refused("INVALID_ARGUMENT"):
        work.secrets(where)


def test_a_page_token_of_ones_own_making_is_refused(work: Workspace) -> None:
    with refused("INVALID_ARGUMENT"):
        list(work.client.list_secrets(request={"parent": work.parent, "page_token": "not-a-token"}))
    with refused("INVALID_ARGUMENT"):
        list(work.client.list_secrets(request={"parent": work.parent, "page_size": -1}))
