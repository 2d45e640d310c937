#!/bin/sh
# idpyoidc, a server and client for OpenID Connect, withholds a claim from an application that says more about it than
# the core of the standard has. A request for `email` with `null` or as essential gets it; with `"purpose": "To send the
# answers"` beside that, as the standard's extension for identity assurance has it, or with an empty object, in which
# all members are optional, the claim is missing, though the user has it and its scope alone would give it. No error, no
# warning, as for a user without an address. Most would expect it: OpenID Connect Core, 5.5.1, says that members which
# are not understood must be ignored, and the function's own text that it implements 5.5.1. The package's messages for
# identity assurance check `purpose`, so that they know it. `groups` or `roles` that are missing leave a user who signs
# on without any right. The manual has nothing of it.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet idpyoidc==5.0.0 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^idpyoidc '
echo "expected: email and groups in each line"
"$folder/venv/bin/python" - <<'PYTHON'
import json
import sys
from types import SimpleNamespace

from idpyoidc.server.session.claims import ClaimsInterface, claims_match
from idpyoidc.server.user_info import UserInfo

USERS = {"diana": {"sub": "diana", "email": "diana@example.org", "groups": ["reviewers", "staff"]}}
context = SimpleNamespace(userinfo=UserInfo(db=USERS))
claims = ClaimsInterface(lambda *_: context)
print(" ".join(claims_match.__doc__.split()[:7]))
REQUESTS = {
    "null": None,
    "essential": {"essential": True},
    "voluntary": {"essential": False},
    "with a purpose": {"essential": True, "purpose": "To send the answers"},
    "only a purpose": {"purpose": "To send the answers"},
    "empty": {},
}
found = {}
for name, request in REQUESTS.items():
    asked = json.loads(json.dumps({"email": request, "groups": request}))
    found[name] = claims.get_user_claims("diana", asked, "application")
    print(f"{name}: {json.dumps(found[name])}")
given = {name: USERS["diana"][name] for name in ("email", "groups")}
sys.exit(0 if list(found.values()) == [given, given, given, {}, {}, {}] else 1)
PYTHON
