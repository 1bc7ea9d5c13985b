#!/bin/sh
# Reads the GUIDs of a fabric off its cables, by the names of the plan:
#
#     ibnetdiscover | sh guids.sh plan.csv /etc/opensm/NAME
#
# writes /etc/opensm/NAME-root-guids (switches at the top of the tree) and /etc/opensm/NAME-cn-guids (ports of compute nodes), each
# only where the plan has any, and says "changed" or "unchanged". It needs no subnet manager. Whatever is missing, unknown or there
# twice is named, nothing is written then, and the answer is 1. Hosts that the plan has as down may be missing.
#
# Switches are known by their node description, of which a managed one makes MF0;NAME:MODEL/U1. A switch without a processor has no
# name of its own: give ibnetdiscover a map (--node-name-map). Adapters are "HOST DEVICE", as rdma-ndd names them.
set -eu

if [ $# -ne 2 ] || [ ! -r "$1" ]; then
    echo "usage: ibnetdiscover | sh guids.sh plan.csv PREFIX" >&2
    exit 2
fi
plan=$1 prefix=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk -F, -v out="$work" '
function complain(text) { print "guids: " text > "/dev/stderr"; wrong = 1 }
function name_of(line) { sub(/^[^#]*#[ \t]*"/, "", line); sub(/".*/, "", line); return line }
# The plan.
FNR == NR {
    if (FNR == 1) {
        if ($0 != "kind,description,role,device,port,guids,state") { complain("this is no plan: " $0); exit 1 }
        next
    }
    key = $1 SUBSEP $2
    wanted[key]++; guids[key] = $6; state[key] = $7
    if (wanted[key] == 1) order[++planned] = key
    if ($6 != "") needed[$6] = 1
    next
}
# The fabric, in the words of ibnetdiscover.
/^Switch/ {
    adapter = ""
    name = name_of($0)
    if (name ~ /^MF[0-9]+;/) { sub(/^MF[0-9]+;/, "", name); sub(/:[^:]*$/, "", name) }
    match($0, /"S-[0-9a-f]+"/)
    meet("switch", name, substr($0, RSTART + 3, RLENGTH - 4))
    next
}
/^Ca/ {
    adapter = name_of($0); fresh = 1
    if (adapter ~ /Aggregation Node/) adapter = ""  # a part of a switch
    next
}
/^Rt/ { adapter = ""; next }
/^\[/ && adapter != "" {
    match($0, /\([0-9a-f]+\)/)
    meet("adapter", adapter, substr($0, RSTART + 1, RLENGTH - 2))
}
function meet(kind, name, guid,    key, host) {
    key = kind SUBSEP name
    if (!(key in wanted) && kind == "adapter") {  # the plan may know the host alone
        host = name; sub(/ .*/, "", host)
        if ((kind SUBSEP host) in wanted) key = kind SUBSEP host
    }
    if (!(key in wanted)) { complain(kind " " name " (0x" guid ") is not in the plan"); return }
    if (++found[key] > wanted[key]) { complain(kind " " name " is there " found[key] " times, the last as 0x" guid); return }
    if (guids[key] != "") print "0x" guid > (out "/" guids[key])
}
END {
    for (i = 1; i <= planned; i++) {
        key = order[i]
        split(key, part, SUBSEP)
        if (found[key] < wanted[key] && state[key] != "down") complain(part[1] " " part[2] " is missing")
    }
    for (file in needed) printf "" >> (out "/" file)
    exit wrong
}' "$plan" -

said=unchanged
for found in "$work"/*; do
    [ -e "$found" ] || continue
    kept=$prefix-${found##*/}-guids
    sort -u "$found" >"$work/.sorted"
    if ! cmp -s "$work/.sorted" "$kept"; then
        cat "$work/.sorted" >"$kept.new"
        mv "$kept.new" "$kept"
        said=changed
    fi
done
echo "$said"
