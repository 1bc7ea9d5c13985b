#!/usr/bin/env bash
# Last step of action.yml, after everything is shown: fail on what the inputs say.
set -euo pipefail

status=0
fail() { printf '::error title=iacgen::%s\n' "$1"; status=1; }

rank() {
    local n=0 name
    for name in nothing reconfigure restart drain replace stop recable destroy impossible; do
        [ "$name" != "$1" ] || { echo $n; return; }
        n=$((n + 1))
    done
    return 1
}

case $FINDINGS in
    0) ;;
    1) fail "the blueprints have findings that fail the job (input fail-on-findings)" ;;
    *) fail "a blueprint could not be checked" ;;
esac
if ! found=$(rank "$VERDICT"); then
    fail "the change could not be reviewed"
elif [ "$FAIL_ON" != never ] && [ "$found" -ge "$(rank "$FAIL_ON")" ]; then
    fail "the verdict is '$VERDICT' and the input fail-on is '$FAIL_ON'"
fi
exit $status
