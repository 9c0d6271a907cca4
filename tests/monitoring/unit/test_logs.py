# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event source's log lines beside ansible-rulebook's own."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring import logs
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError

LOGGER = logging.getLogger("hyperfleet.pull_secret.cluster_events")


@pytest.fixture
def rulebook() -> Iterator[io.StringIO]:
    """Set up the root logger as ansible-rulebook does; yields the stream it writes to."""
    root = logging.getLogger()
    before, stream = root.level, io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(asctime)s - %(name)s - %(levelname)s - %(message)s"))
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    yield stream
    root.removeHandler(handler)
    root.setLevel(before)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_has_the_job_contracts_fields(rulebook: io.StringIO) -> None:
    stream = io.StringIO()
    undo = logs.configure_logging(stream=stream)
    LOGGER.info("Receiving from %s", "queue-sub", extra={"password": "never"})
    LOGGER.warning("Two\nlines")
    LOGGER.debug("Not at this level")
    undo()
    first, second = lines(stream)
    assert first.pop("timestamp").endswith("Z")
    assert first == {
        "level": "info",
        "component": "pullsecret-adapter",
        "message": "Receiving from queue-sub",
    }
    assert (second["level"], second["message"]) == ("warn", "Two\nlines")
    # The line is not written a second time as text.
    assert rulebook.getvalue() == ""


def test_others_lines_stay_as_they_are(rulebook: io.StringIO) -> None:
    stream = io.StringIO()
    undo = logs.configure_logging(stream=stream)
    logging.getLogger("ansible_rulebook.engine").warning("theirs")
    logging.getLogger("ansible_rulebook.engine").info("theirs, and not wanted")
    undo()
    assert stream.getvalue() == ""
    assert "WARNING - theirs" in rulebook.getvalue()
    assert "not wanted" not in rulebook.getvalue()


def test_text_is_ansible_rulebooks_own_form_at_our_level(rulebook: io.StringIO) -> None:
    undo = logs.configure_logging(form="text", level="info")
    LOGGER.info("ours")
    LOGGER.debug("not at this level")
    undo()
    LOGGER.info("no longer")
    assert rulebook.getvalue().endswith("hyperfleet.pull_secret.cluster_events - INFO - ours\n")


def test_an_exceptions_text_is_not_logged(rulebook: io.StringIO) -> None:
    stream = io.StringIO()
    undo = logs.configure_logging(stream=stream)
    try:
        raise ValueError("hunter2")
    except ValueError:
        LOGGER.exception("A run's result cannot be read")
    undo()
    (line,) = lines(stream)
    assert line["error"].startswith("ValueError at test_logs.py:")
    assert "hunter2" not in stream.getvalue()


def test_a_wrong_line_is_a_line_all_the_same(rulebook: io.StringIO) -> None:
    stream = io.StringIO()
    undo = logs.configure_logging(stream=stream)
    LOGGER.error("%d clusters", "no number")
    LOGGER.critical("x" * 10_000)
    undo()
    first, second = lines(stream)
    assert first["message"] == "%d clusters"
    assert len(second["message"]) == 4000
    assert second["level"] == "error"


@pytest.mark.parametrize(("option", "value"), [("form", "xml"), ("level", "loud")])
def test_an_invalid_choice_is_a_word_of_the_configuration(option: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=r"logging\.(format|level)"):
        logs.configure_logging(**{option: value})  # type: ignore[arg-type]
