# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the checkout importable as ``ansible_collections.hyperfleet.pull_secret`` and keeps skips honest.

``ansible_collections`` is a PEP 420 namespace, so a link in a directory on ``sys.path`` is all it takes;
each pytest-xdist worker makes a directory of its own. A test that is skipped while ``CI=true`` has failed.
"""

from __future__ import annotations

import atexit
import faulthandler
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parent
COLLECTION = Path("ansible_collections", "hyperfleet", "pull_secret")
_NO_PARAMETERS = SimpleNamespace(params={})
IN_CI = os.environ.get("CI", "").lower() == "true"


def _collections_path() -> Path:
    """The directory that holds ``ansible_collections``: the checkout's own if it lies in such a tree."""
    if ROOT.parts[-3:] == COLLECTION.parts:
        return ROOT.parents[2]
    tree = Path(tempfile.mkdtemp(prefix="pull-secret-collections-"))
    atexit.register(shutil.rmtree, tree, ignore_errors=True)
    link = tree / COLLECTION
    link.parent.mkdir(parents=True)
    link.symlink_to(ROOT, target_is_directory=True)
    return tree


pytest_plugins = ["tests.support.fixtures", "tests.support.node_fixtures"]

COLLECTIONS_PATH = _collections_path()
sys.path[:0] = [str(COLLECTIONS_PATH), str(ROOT)]
# Set on some machines, and not on a user's: what is written too late would not be noticed.
os.environ.pop("PYTHONUNBUFFERED", None)
# No test may reach the user's own cluster.
for name in [name for name in os.environ if name.startswith("K8S_AUTH_")]:
    del os.environ[name]
# The stand-in of Secret Manager has gRPC in the tests' own process, which would write into what commands say.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")
# For the ansible-playbook processes that tests start.
os.environ.setdefault("ANSIBLE_COLLECTIONS_PATH", str(COLLECTIONS_PATH))
# nohup and a shell's `&` have the tests' children ignore what the tests end them with.
for _number, _usual in ((signal.SIGHUP, signal.SIG_DFL), (signal.SIGINT, signal.default_int_handler)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "real(*needs): runs a real part (API server, kubelet's own code); each need is 'root', 'nodes' (what "
        "tests/lab/nodes needs), 'pubsub-emulator', or a command on PATH such as 'go'. Runs in "
        "`make test-real`.",
    )
    config.addinivalue_line(
        "markers",
        "nightly: is not in the gate, because another test shows its rule in one way, or because it takes long. "
        "Runs in `make test-all`, with `real` or without.",
    )
    config.addinivalue_line(
        "markers",
        "both: runs against a stand-in and, in `make test-real`, against a real server. The test against the real "
        "server is nightly without this marker.",
    )
    config.addinivalue_line(
        "markers",
        "cores: starts Ansible, and what it shows differs between versions of ansible-core. Runs in `make cores` "
        "on the oldest and the newest one, and not in `make test`.",
    )
    config.addinivalue_line(
        "markers",
        "alone: a real part, or a page's commands, that shares neither control plane nor nodes with the others. "
        "Runs beside them in `make real-alone`.",
    )
    config.addinivalue_line(
        "markers", "row(*names): shows rows of the table of outcomes on the page about nodes."
    )


def _lacking(need: str) -> str | None:
    """What the machine lacks of a need, in a few words; None when it is there."""
    if need == "nodes":
        from tests.lab.nodes.needs import lacking

        return lacking()
    if need == "pubsub-emulator":
        from tests.lab import pubsub

        return None if pubsub.is_here() else "the Pub/Sub emulator of the Google Cloud SDK"
    is_here = os.geteuid() == 0 if need == "root" else shutil.which(need) is not None
    return None if is_here else need


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if (
            isinstance(item, pytest.Function)
            and "integration" in item.path.parts
            and "real" in getattr(item, "callspec", _NO_PARAMETERS).params.values()
            and item.get_closest_marker("real")
            and not item.get_closest_marker("both")
        ):
            item.add_marker("nightly")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("real"):
        # Some take minutes, and to print the stacks of threads that go on has ended an interpreter.
        faulthandler.cancel_dump_traceback_later()
    for marker in item.iter_markers("real"):
        missing = [lack for need in marker.args if (lack := _lacking(need))]
        if missing:
            pytest.skip("a real part needs what this machine lacks: " + ", ".join(missing))


def _fail_if_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    if not IN_CI or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    report.outcome = "failed"
    report.longrepr = f"skipped although CI=true: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    """Collect the garbage of other tests only between tests: where a test fills the stack, a finalizer fails."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _fail_if_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _fail_if_skipped(report)
    return report
