# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The limits of the house: ``python -m tests.tools.house`` prints ``file:line: what`` for each violation.

All files: no path of one machine, no host of a package registry, no large file, a licence line in Python files.
Plugins and extensions: short files and functions, no private names of other modules, listed public names with one
meaning, no imports that ``make layers`` cannot see. Tests: a feature imports no other feature.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator

from tests.tools.env import ROOT
from tests.tools.tree import sources

LICENCE = "SPDX-License-Identifier: GPL-3.0-or-later"
MAX_BYTES = 1 << 20
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
# Ansible reads these variables as documentation. They do not count as code.
DOCUMENTATION = {"DOCUMENTATION", "EXAMPLES", "RETURN"}
# In pieces, so that the patterns do not match this file.
LINES = {
    r"(?<![\w.-])/(?:wo" + r"rk|fa" + r"rm)(?:/|\b(?=[\s\"']))": "a path of one machine",
    r"\b(?:py" + r"pi|files\.pythonhosted|(?:proxy|sum)\.golang|deb\.debian|registry\.npmjs)\.org\b"
    r"|\bindex\.crates\.io\b": "the host of a package registry",
    r"pytest\.mark\.skip\b|unittest\.skip\b": "a test that is always skipped",
    # On a busy machine, an answer may take more than a second.
    r"""\bapi_timeout["']?\s*[=:]\s*0?\.\d""": "a test that depends on the machine's speed",
}
# Private by their name, but public according to the documentation of named tuples and os.
DOCUMENTED = {"_asdict", "_exit", "_fields", "_replace"}
# Ansible's private names without a public alternative in each supported ansible-core.
FOREIGN = {("plugins/action/check_variables.py", "_role"), ("plugins/callback/job_log.py", "_result")}
# Names that several modules may define: Ansible looks them up, or they are an interface of all tasks or programs.
SHARED_NAMES = {
    *("ActionModule", "CallbackModule", "FilterModule", "LookupModule", "ModuleDocFragment"),
    *("build_target", "full_place", "run", "spec", "target_options", "targets_of"),
    *("compile_all", "load_all", "main"),
}
# Modules in these folders list their public names in ``__all__``.
LISTED = re.compile(r"(plugins/(module|plugin)_utils|extensions/eda/(monitoring|receiving))/.*(?<!__)\.py")
# The folders of tests that others may import. All other folders are features, which may import all of these.
SHARED_TESTS: dict[str, tuple[str, ...]] = {
    "stand_ins": (),
    "tools": ("stand_ins",),
    "lab": ("stand_ins", "tools"),
    "support": ("lab", "stand_ins", "tools"),
}
IMPORT = re.compile(r"^ *(?:from|import) tests(?:\.(\w+)| import (\([^)]*\)|.*))", re.MULTILINE)
# What extensions/eda may import. The contract "event-sources" in pyproject.toml has to forbid everything else.
OPEN = re.compile(r"module_utils(\.(clients|runtime|model|workflows(\.adapter(\.config)?)?))?")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (ast.ClassDef, *FUNCTIONS)
Complaint = tuple[int, str]


def text_rules(name: str, text: str) -> Iterator[Complaint]:
    for pattern, what in LINES.items():
        for match in re.finditer(pattern, text):
            yield text.count("\n", 0, match.start()) + 1, what
    if name.endswith(".py") and text.strip() and LICENCE not in text[:600]:
        yield 1, "no licence line"


def _length(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def size_rules(name: str, text: str, module: ast.Module) -> Iterator[Complaint]:
    assigned = [node for node in module.body if isinstance(node, ast.Assign)]
    documented = [_length(node) for node in assigned if ast.unparse(node.targets[0]) in DOCUMENTATION]
    count = len(text.splitlines()) - sum(documented)
    if count > MAX_FILE_LINES and "/doc_fragments/" not in name:
        yield 1, f"{count} lines, more than {MAX_FILE_LINES}"
    for node in ast.walk(module):
        if isinstance(node, FUNCTIONS) and _length(node) > MAX_FUNCTION_LINES:
            yield node.lineno, f"{node.name} has {_length(node)} lines, more than {MAX_FUNCTION_LINES}"


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def import_rules(name: str, module: ast.Module) -> Iterator[Complaint]:
    """Imports by a string; private names of other modules: imported ones, and members not defined here."""
    nodes = list(ast.walk(module))
    own = {node.name for node in nodes if isinstance(node, FUNCTIONS)}
    fields = (node.target for node in nodes if isinstance(node, ast.AnnAssign))
    own |= {field.id for field in fields if isinstance(field, ast.Name)}
    members = [node for node in nodes if isinstance(node, ast.Attribute) and _is_private(node.attr)]
    own |= {node.attr for node in members if isinstance(node.ctx, ast.Store) and _is_own(node)}
    for member in members:
        if not _is_own(member) and member.attr not in own | DOCUMENTED and (name, member.attr) not in FOREIGN:
            yield member.lineno, f"uses {member.attr}, a private name of another module"
    for imported in (node for node in nodes if isinstance(node, ast.ImportFrom)):
        for part in [*(alias.name for alias in imported.names), *(imported.module or "").split(".")]:
            if _is_private(part):
                yield imported.lineno, f"imports {part}, a private name of another module"
    for constant in (node for node in nodes if isinstance(node, ast.Constant)):
        if str(constant.value).startswith("ansible_collections.hyperfleet."):
            yield (
                constant.lineno,
                "names a module of the collection in a string, which make layers cannot see",
            )


def name_rules(module: ast.Module) -> Iterator[Complaint]:
    """A module lists exactly its public names."""
    defined, listed = dict(_definitions(module)), set()
    for node in module.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            listed = set(ast.literal_eval(node.value))
    # A single letter is a type variable.
    public = {word for word in defined if not word.startswith("_") and len(word) > 1}
    for word in sorted(public ^ listed):
        yield defined.get(word, 1), f"{word} is {'not in' if word in public else 'only in'} __all__"


def _definitions(module: ast.Module) -> Iterator[tuple[str, int]]:
    for node in module.body:
        if isinstance(node, DEFINITIONS):
            yield node.name, node.lineno
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield from ((word.id, node.lineno) for word in ast.walk(target) if isinstance(word, ast.Name))


def feature_rules(name: str, text: str) -> Iterator[Complaint]:
    folder = name.split("/")[1]
    allowed = SHARED_TESTS if name.startswith("tests/tools/unit/") else SHARED_TESTS.get(folder, SHARED_TESTS)
    for match in IMPORT.finditer(text):
        for other in re.findall(r"\w+", match[1] or match[2]):
            if other not in (folder, *allowed):
                yield text.count("\n", 0, match.start()) + 1, f"tests/{folder} imports tests/{other}"


def contract_rules() -> Iterator[Complaint]:
    """The contract of the event sources forbids each package that is not open to them."""
    plugins = ROOT / "plugins"
    folders = ("*", "module_utils/*", "module_utils/workflows/*", "module_utils/workflows/adapter/*")
    existing = {
        ".".join(path.relative_to(plugins).with_suffix("").parts)
        for path in (path for folder in folders for path in plugins.glob(folder))
        if path.name != "__init__.py" and (path.suffix == ".py" or any(path.rglob("*.py")))
    }
    closed = {word for word in existing if not OPEN.fullmatch(word)}
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = (entry for entry in contracts if entry["id"] == "event-sources")
    forbidden = {word.split(".plugins.", 1)[1] for word in contract["forbidden_modules"]}
    for word in sorted(forbidden ^ closed):
        yield 1, f"contract event-sources: {'add' if word in closed else 'remove'} {word}"


def violations() -> Iterator[tuple[str, int, str]]:
    definitions: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for path in (path for path in sources() if (ROOT / path).is_file()):
        name, content = path.as_posix(), (ROOT / path).read_bytes()
        if len(content) > MAX_BYTES:
            yield name, 1, f"{len(content) >> 10} KiB"
        if path.match("tests/sanity/ignore-*.txt"):
            yield name, 1, "the sanity tests pass without exceptions"
        text = content.decode(errors="replace")
        complaints = list(text_rules(name, text))
        if path.suffix == ".py" and path.parts[0] in ("plugins", "extensions"):
            module = ast.parse(text)
            complaints += [*size_rules(name, text, module), *import_rules(name, module)]
            if LISTED.fullmatch(name):
                complaints += name_rules(module)
            for node in module.body:
                if isinstance(node, DEFINITIONS):
                    definitions[node.name].append((name, node.lineno))
        elif path.parts[0] == "tests" and path.suffix == ".py":
            complaints += feature_rules(name, text)
        yield from ((name, line, what) for line, what in complaints)
    for word, places in definitions.items():
        if len(places) > 1 and not word.startswith("_") and word not in SHARED_NAMES:
            yield from ((*place, f"{len(places)} modules define {word}") for place in places)
    yield from (("pyproject.toml", *complaint) for complaint in contract_rules())


def main() -> int:
    found = [f"{name}:{line}: {what}" for name, line, what in sorted(violations())]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
