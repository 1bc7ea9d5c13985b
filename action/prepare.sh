#!/usr/bin/env bash
# First step of action.yml: refuse what cannot be right, make the folder that the review is written to.
set -euo pipefail

refuse() { printf '::error title=iacgen::%s\n' "$1"; exit 1; }

[ "${GITHUB_EVENT_NAME:-}" != pull_request_target ] || refuse "use on: pull_request; pull_request_target would hand a token that can write to a job that reads a stranger's files"
case $FAIL_ON in
    never | nothing | reconfigure | restart | drain | replace | stop | recable | destroy | impossible) ;;
    *) refuse "fail-on is never, nothing, reconfigure, restart, drain, replace, stop, recable, destroy or impossible" ;;
esac
rm -rf "$RUNNER_TEMP/iacgen-review"
mkdir "$RUNNER_TEMP/iacgen-review"
printf 'folder=%s\n' "$RUNNER_TEMP/iacgen-review" >>"$GITHUB_OUTPUT"
