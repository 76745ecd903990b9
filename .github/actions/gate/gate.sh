#!/usr/bin/env bash
# Runs `reshuffle gate` with the words of ARGUMENTS, which are never evaluated, and fails as FAIL_ON says.
set -euo pipefail

fail() { echo "::error::$1" && exit "$2"; }

case "$FAIL_ON" in
    inconclusive | reject | nothing) ;;
    *) fail "fail-on must be inconclusive, reject or nothing, got $FAIL_ON" 2 ;;
esac

words=()
read -r -d '' -a words <<< "$ARGUMENTS" || true
results=$(mktemp -d "${RUNNER_TEMP:-/tmp}/reshuffle-gate.XXXXXX")
code=0
reshuffle gate "${words[@]}" ${PAGE:+--page "$PAGE"} \
    -o "$results/gate.json" -o "$results/gate.html" -o "$results/gate.xml" -o "$results/gate.md" \
    -o - --format github || code=$?
case $code in
    0 | 1 | 5) ;;
    *) fail "reshuffle gate has no verdict: exit code $code" "$code" ;;
esac
# An uncaught error also ends with 1: without a file there is no verdict.
[ -s "$results/gate.json" ] || fail "reshuffle gate has no verdict: it ended without a result" 2
verdict=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1], encoding="utf-8"))["verdict"])' "$results/gate.json")

cat "$results/gate.md" >> "$GITHUB_STEP_SUMMARY"
for output in "verdict=$verdict" "json=$results/gate.json" "html=$results/gate.html"; do
    echo "$output" >> "$GITHUB_OUTPUT"
done

comment() {
    # The first line is a hidden marker, by which the comment of an earlier run is found.
    local marker earlier comments="repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments"
    marker=$(head -n 1 "$results/gate.md")
    earlier=$(MARKER=$marker gh api --paginate "$comments" \
        --jq '.[] | select((.body | startswith(env.MARKER)) and .user.type == "Bot") | .id') || return
    if [ -n "$earlier" ]; then
        comments="repos/$GITHUB_REPOSITORY/issues/comments/${earlier%%$'\n'*}"
        gh api --method PATCH "$comments" -F "body=@$results/gate.md" > /dev/null
    else
        gh api --method POST "$comments" -F "body=@$results/gate.md" > /dev/null
    fi
}

# Whether it can be written, as from a fork it cannot, is not part of the verdict.
if [ "$COMMENT" = true ] && [ -n "$PULL_REQUEST" ]; then
    comment || echo "::warning::the comment could not be written: the job needs the permission pull-requests: write"
fi

case "$FAIL_ON $verdict" in
    *" allow" | "nothing "* | "reject inconclusive") ;;
    *) exit "$code" ;;
esac
