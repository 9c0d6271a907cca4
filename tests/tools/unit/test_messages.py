# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``make messages`` finds all messages and no other strings."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.tools.messages import ROOT, in_python, in_yaml, messages


def said(source: str) -> list[tuple[str, str]]:
    return [(message.maker, message.text) for message in in_python(source, "x.py")]


@pytest.mark.parametrize(
    ("source", "maker", "text"),
    [
        ("raise Wrong('missing')", "Wrong", "missing"),
        ("raise Wrong(f'{a.b} is not a {kind!r}')", "Wrong", "{a.b} is not a {kind}"),
        ("raise Wrong('one part, '\n 'and the other')", "Wrong", "one part, and the other"),
        ("raise Wrong('one part, ' + more)", "Wrong", "one part, {more}"),
        ("raise Wrong('%s is wrong' % name)", "Wrong", "%s is wrong"),
        ("raise Wrong('{} is wrong'.format(name))", "Wrong", "{} is wrong"),
        ('raise Wrong(f\'is {"on" if x else "off"}\')', "Wrong", "is (on|off)"),
        ("raise Wrong('is wrong', 'do this') from None", "Wrong", "is wrong; do this"),
        ("raise Wrong(problem, 'do this')", "Wrong", "{problem}; do this"),
        ("raise a.Wrong('is wrong', None)", "Wrong", "is wrong"),
        ("module.fail_json(msg=f'cannot use {name}')", "fail_json", "cannot use {name}"),
        ("refuse('a-rule', None, 'not an image')", "refuse", "not an image"),
        ("def problem():\n    return 'is not a name'", "return", "is not a name"),
        ("def problems():\n    yield f'{name} is missing'", "yield", "{name} is missing"),
        ("result = {'failed': True, 'msg': 'nothing was done'}", "result", "nothing was done"),
        ("PROBLEM = 'stands where it should not'", "PROBLEM", "stands where it should not"),
        ("LOGGER.error('a run ended (%s)', name)", "error", "a run ended (%s)"),
        (
            "return_ = f'{name}{\": is missing\" if x else empty}'",
            "return_",
            "{name}{': is missing' if x else empty}",
        ),
        ("found = {key: f'{key} is missing' for key in keys}", "found", "{key} is missing"),
    ],
)
def test_a_message_is_found(source: str, maker: str, text: str) -> None:
    assert said(source) == [(maker, text)]


@pytest.mark.parametrize(
    "source",
    [
        '"""The module\'s own words."""',
        'def f():\n    """Not a message."""',
        'DOCUMENTATION = r"""\nshort_description: Not a message\n"""',
        "if text == 'not a message': pass",
        "re.compile('not a message')",
        "text.startswith('not a message')",
        "kind = 'word'",
        "path = f'/api/{quote(name, safe=text or other)}'",
        "found = {'not a message': 1}",
        "found = {f'label {key}': value for key, value in labels}",
        "raise Wrong(problem)",
        "raise",
    ],
)
def test_what_is_no_message_is_not(source: str) -> None:
    assert said(source) == []


def test_a_role_says_its_own() -> None:
    source = (
        "- ansible.builtin.assert:\n    that: x\n    fail_msg: is wrong\n"
        "- block:\n    - ansible.builtin.fail:\n        msg: >-\n          two\n          lines\n"
    )
    assert [(one.line, one.maker, one.text) for one in in_yaml(source, "main.yml")] == [
        (3, "fail_msg", "is wrong"),
        (6, "msg", "two lines"),
    ]


def test_it_is_one_line_a_message_by_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text("raise Wrong('second\\nmessage')\nraise Wrong('third message')\n")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.yml").write_text("- fail:\n    msg: first\n")
    assert [str(one) for one in messages([tmp_path], tmp_path)] == [
        "a/b.yml:2: msg: first",
        "b.py:1: Wrong: second message",
        "b.py:2: Wrong: third message",
    ]


def test_a_documentation_fragment_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "doc_fragments").mkdir()
    (tmp_path / "doc_fragments" / "a.py").write_text("_SHARED = 'not a message'\n")
    assert messages([tmp_path], tmp_path) == []


def test_every_raise_with_a_text_is_listed() -> None:
    """Compare with a second method: lines with ``raise`` that create an exception with a text."""
    listed = {(one.file, one.line) for one in messages([ROOT / "plugins", ROOT / "extensions"])}
    missing = []
    raised = 0
    for path in [*(ROOT / "plugins").rglob("*.py"), *(ROOT / "extensions").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
                continue
            if any(isinstance(one, ast.JoinedStr) for one in node.exc.args):
                raised += 1
                if (str(path.relative_to(ROOT)), node.exc.lineno) not in listed:
                    missing.append(f"{path}:{node.lineno}")
    assert missing == []
    assert raised > 100
