#!/usr/bin/env bash
# Check the blueprints: findings for code scanning in a file, and as annotations in the log. Fails nothing yet: the review is still to come.
# Outputs: code, the exit code of `iacgen check`; sarif, the file, where a blueprint was there to check.
set -euo pipefail
shopt -s nullglob globstar

files=()
IFS=''                                  # a pattern with a space is one pattern
while read -r pattern; do
    # shellcheck disable=SC2206         # globs are to be expanded here
    files+=($pattern)
done <<<"$BLUEPRINTS"
if [ ${#files[@]} = 0 ]; then
    echo "::notice title=iacgen::no blueprint matches the input blueprints"
    echo "code=0" >>"$GITHUB_OUTPUT"
    exit 0
fi
iacgen=$RUNNER_TEMP/iacgen/bin/iacgen
sarif=$RUNNER_TEMP/iacgen-review/findings.sarif
code=0
"$iacgen" check --profile "$PROFILE" --format sarif -- "${files[@]}" >"$sarif" || code=$?
[ ! -s "$sarif" ] || printf 'sarif=%s\n' "$sarif" >>"$GITHUB_OUTPUT"
if [ $code = 0 ]; then
    "$iacgen" check --profile "$PROFILE" --format github --fail-on "$FAIL_ON_FINDINGS" -- "${files[@]}" || code=$?
fi
printf 'code=%s\n' "$code" >>"$GITHUB_OUTPUT"
