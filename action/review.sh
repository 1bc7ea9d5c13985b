#!/usr/bin/env bash
# Review the change between two commits: review.md and review.json in the folder, the former in the job summary too.
# Output: verdict; "unknown" when no review could be made, and review.md says that.
set -euo pipefail

folder=$RUNNER_TEMP/iacgen-review

# Checkout leaves one commit, without its parents: fetch what is named and not there.
fetched() { git cat-file -e "$1^{commit}" 2>/dev/null || git fetch --quiet --no-tags --depth=1 origin "$1"; }

# What GitHub checks out for a pull request is the merge of its head into the base: its first parent is what the change would meet.
# The base of the event may be older. A commit knows its parents also where they are not there.
base_of_the_change() {
    local parents
    parents=$(git cat-file commit HEAD | sed -n '/^$/q; s/^parent //p')
    if [ "$(sed -n 2p <<<"$parents")" = "$HEAD_SHA" ]; then
        head -n 1 <<<"$parents"
    else
        fetched "$BASE_SHA" && { git merge-base "$BASE_SHA" HEAD || printf '%s\n' "$BASE_SHA"; }
    fi
}

reviewed() {
    local base
    if [ -n "$BASE" ]; then
        base=$(git rev-parse --verify --quiet --end-of-options "$BASE^{commit}") || base=$BASE
    elif [ -n "$BASE_SHA" ]; then
        base=$(base_of_the_change) || return
    else
        echo "::error title=iacgen::no pull request and no input base: nothing to compare with"
        return 1
    fi
    case $base in
        *[!0-9a-f]* | '') echo "::error title=iacgen::the base is no commit of this repository: fetch it first (fetch-depth: 0 of actions/checkout)"; return 1 ;;
    esac
    fetched "$base" || return
    "$RUNNER_TEMP/iacgen/bin/iacgen" review "$base" HEAD --profile "$PROFILE" --format json --output "$folder/review.json" || return
    "$RUNNER_TEMP/iacgen/bin/iacgen" review "$base" HEAD --profile "$PROFILE" --format markdown --output "$folder/review.md" || return
}

verdict=unknown
if reviewed; then
    verdict=$(python3 -I -c 'import json, sys; print(json.load(open(sys.argv[1], encoding="utf-8"))["verdict"])' "$folder/review.json")
else
    printf '# Review of the cluster\n\n**No review could be made of this change.** The log of the job says why.\n' >"$folder/review.md"
fi
cat "$folder/review.md" >>"$GITHUB_STEP_SUMMARY"
printf 'verdict=%s\n' "$verdict" >>"$GITHUB_OUTPUT"
