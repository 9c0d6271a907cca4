# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rule table: what is refused, what is repaired, and each reader's verdict.

One row per rule, as data: documentation is generated from it and the ids are stable. The verdicts are those
of kubelet (``k8s.io/kubernetes``, ``pkg/credentialprovider``) and of containers/image (``pkg/docker/config``,
used by CRI-O, podman and skopeo); ``tests/dockerconfig/oracle`` compares ours with their own code.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["BY_ID", "ERROR", "WARNING", "Rule", "rules"]

ERROR: Final = "error"
WARNING: Final = "warning"

_REJECTS = "rejects the whole file"
_NOTHING = "finds no credential"
_EMPTY = "tries an empty credential"
_SKIPS = "ignores the entry"
_FAILS = "fails for this registry"
_USES = "uses it"
_NEVER = "never matches it"
_AS_IT_IS = "tries it as it is"


class Rule(NamedTuple):
    """One row: ``id`` (kebab-case, stable), ``severity``, ``text`` and both readers' verdicts.

    ``strict``: a warning that the option ``strict`` makes an error.
    """

    id: str
    severity: str
    text: str
    kubelet: str
    containers_image: str
    strict: bool = False


_ROWS: tuple[Rule, ...] = (
    # The document.
    Rule("not-json", ERROR, "the document is not JSON", _REJECTS, _REJECTS),
    Rule(
        "byte-order-mark",
        ERROR,
        "the document begins with a byte order mark; save it as UTF-8 without one",
        _REJECTS,
        _REJECTS,
    ),
    Rule(
        "not-utf8",
        ERROR,
        "the document contains bytes that are not UTF-8, or an unpaired surrogate",
        "replaces the character",
        "replaces the character",
    ),
    Rule(
        "too-large", ERROR, "the document is too large for the place where it would be stored", _USES, _USES
    ),
    Rule("too-deep", ERROR, "the document is nested too deeply", _USES, _USES),
    Rule("number-out-of-range", ERROR, "a number is too long or is not finite", _REJECTS, _REJECTS),
    Rule("name-not-a-string", ERROR, "a name in the document is not a string", _REJECTS, _REJECTS),
    Rule("value-not-json", ERROR, "the document holds a value that JSON does not know", _REJECTS, _REJECTS),
    Rule("not-an-object", ERROR, "the document is not an object", _REJECTS, _REJECTS),
    Rule(
        "duplicate-key", ERROR, "a name occurs twice in one object", "uses the last one", "uses the last one"
    ),
    Rule("auths-missing", ERROR, "the document has no 'auths'", _NOTHING, _NOTHING),
    Rule("auths-wrong-case", ERROR, "'auths' is not written in lower case", _USES, _USES),
    Rule("auths-not-an-object", ERROR, "'auths' is not an object", _REJECTS, _REJECTS),
    Rule("auths-empty", ERROR, "'auths' has no entry", _NOTHING, _NOTHING),
    # An entry and its fields.
    Rule("entry-not-an-object", ERROR, "the entry is not an object", _REJECTS, _REJECTS),
    Rule("field-wrong-case", ERROR, "a known field is written in the wrong case", _USES, _USES),
    Rule(
        "field-not-a-string",
        ERROR,
        "a known field is not a string; if a template makes it, add the filter 'string'",
        _REJECTS,
        _REJECTS,
    ),
    Rule(
        "no-credentials",
        ERROR,
        "the entry has no 'auth', and no pair of 'username' and 'password'",
        _EMPTY,
        _SKIPS,
    ),
    Rule(
        "token-only",
        ERROR,
        "the entry has a token but no 'auth'; neither kubelet nor containers/image can pull with it",
        _EMPTY,
        _SKIPS,
    ),
    Rule(
        "helper-only",
        ERROR,
        "the credential is left to a credential store or helper, which a node does not have",
        _EMPTY,
        "runs the helper, or ignores the entry",
    ),
    Rule("auth-not-base64", ERROR, "'auth' is not base64", _REJECTS, _FAILS),
    Rule("auth-url-safe", ERROR, "'auth' is written in the URL-safe base64 alphabet", _REJECTS, _FAILS),
    Rule("auth-whitespace", ERROR, "'auth' contains white space", _REJECTS, _FAILS),
    Rule("auth-no-colon", ERROR, "the decoded 'auth' is not user:password", _REJECTS, _SKIPS),
    Rule("user-with-colon", ERROR, "the user name has a colon, so 'auth' cannot be made", _USES, _SKIPS),
    # Warnings about an entry that both readers accept, but with which a pull probably fails.
    Rule(
        "control-character",
        WARNING,
        "the user name or password contains a control character; remove it, or, if the password is a Google key "
        "file, write that on one line (jq -c . key.json) or in base64 for the user _json_key_base64",
        _AS_IT_IS,
        "tries it, without the NULs at either end",
        strict=True,
    ),
    Rule(
        "trailing-newline",
        WARNING,
        "the password ends in a newline; if the registry refuses it, write the password without the newline "
        "(printf '%s' instead of echo)",
        "takes the newline for a part of the password",
        "takes the newline for a part of the password",
        strict=True,
    ),
    Rule("empty-user", WARNING, "the user name is empty; add it", _AS_IT_IS, _AS_IT_IS, strict=True),
    Rule(
        "empty-password",
        WARNING,
        "the password is empty; add it, unless a token replaces it",
        _AS_IT_IS,
        _AS_IT_IS,
        strict=True,
    ),
    Rule(
        "key-empty",
        WARNING,
        "the registry is an empty string; write its host name, or remove the entry",
        _NEVER,
        _NEVER,
        strict=True,
    ),
    Rule(
        "key-whitespace",
        WARNING,
        "the registry contains white space or a control character; remove it",
        _NEVER,
        _NEVER,
        strict=True,
    ),
    Rule(
        "key-at-sign",
        WARNING,
        "the registry contains an '@'; write it without the digest or user name",
        "cuts off what stands before the '@'",
        _NEVER,
        strict=True,
    ),
    Rule("key-tag", WARNING, "the registry ends in a tag; remove the tag", _NEVER, _NEVER, strict=True),
    Rule(
        "key-glob-in-path",
        WARNING,
        "the registry has a glob in its path; end the path before the glob",
        _NEVER,
        _NEVER,
        strict=True,
    ),
    Rule(
        "key-upper-case",
        WARNING,
        "the registry contains upper case, which no image name has; write it in lower case",
        "compares it as written",
        "compares it as written",
        strict=True,
    ),
    Rule(
        "key-invalid",
        WARNING,
        "the registry must be a host name with an optional port and path; correct it",
        _NEVER,
        _NEVER,
        strict=True,
    ),
    # Other warnings; what can be repaired is repaired in the output.
    Rule(
        "username-password-only",
        WARNING,
        "'username' and 'password' without 'auth'; 'auth' was added",
        _USES,
        _SKIPS,
    ),
    Rule("auth-unpadded", WARNING, "'auth' lacked its base64 padding; the padding was added", _USES, _FAILS),
    Rule("auth-line-breaks", WARNING, "'auth' contained line breaks; they were removed", _USES, _USES),
    Rule(
        "docker-hub-alias",
        WARNING,
        "only some readers use registry-1.docker.io for Docker Hub; an entry for docker.io was added",
        "does not use it for docker.io",
        "uses it for docker.io",
    ),
    Rule(
        "key-path-prefix",
        WARNING,
        "kubelet matches the path as a prefix, so it also uses this credential for neighbours such as <path>-other",
        "uses it for neighbours too",
        _USES,
    ),
    Rule("key-glob-host", WARNING, "the host name is a glob", _USES, _NEVER),
    Rule("key-api-path", WARNING, "the registry ends in an API path or a slash", _USES, _NEVER),
    Rule(
        "key-scheme-with-path",
        WARNING,
        "the registry has both a scheme and a path",
        "uses it for the path",
        "uses it for the whole registry",
    ),
    Rule(
        "key-duplicate-spelling",
        WARNING,
        "the registry is named more than once, in different spellings",
        "tries each, in random order",
        "prefers the spelling without scheme",
    ),
    Rule(
        "auth-overrides-fields",
        WARNING,
        "'auth' and 'username'/'password' differ",
        "uses 'auth'",
        "uses 'auth'",
    ),
    Rule("auth-not-utf8", WARNING, "the decoded 'auth' is not UTF-8", "uses the bytes", "uses the bytes"),
    Rule(
        "identity-token",
        WARNING,
        "the entry has an identity token too",
        "ignores the token",
        "uses the token",
    ),
    Rule(
        "helper-shadows-auth",
        WARNING,
        "credHelpers names a helper for this registry",
        "ignores the helper",
        "runs the helper, never reads 'auth'",
    ),
    Rule("creds-store", WARNING, "'credsStore' is set", "ignores it", "ignores it"),
)

BY_ID: Final = {row.id: row for row in _ROWS}


def rules() -> tuple[Rule, ...]:
    """Return every rule, errors of the document first, in the order of the documentation."""
    return _ROWS
