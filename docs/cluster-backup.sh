#!/usr/bin/env bash
# Saves a library on a Qdrant cluster into a folder, and brings it back (docs/cluster.md).
#
#   docs/cluster-backup.sh save math backup http://first:6333 http://second:6333 http://third:6333
#   docs/cluster-backup.sh restore math backup http://first:6333 http://second:6333 http://third:6333
#
# Name every node, in the same order both times: each saves the shards that it has. QDRANT_API_KEY
# is the key that writes. Make no change of the library meanwhile: a snapshot is of one collection.
# Needs curl and jq.
set -euo pipefail

usage() {
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

[ $# -ge 4 ] || usage
verb=$1 name=$2 folder=$3
shift 3
[[ $name =~ ^[A-Za-z0-9][A-Za-z0-9_]*$ ]] || usage

# The key goes by a file descriptor: arguments can be seen by everybody on the machine.
ask() {
  curl --silent --show-error --fail \
    --header @<(printf 'api-key: %s' "${QDRANT_API_KEY:-}") "$@"
}

# The collection of the library's state, which its name stands for; the others begin like it.
state() {
  ask "$1/aliases" | jq --exit-status --raw-output --arg name "$name" \
    '.result.aliases[] | select(.alias_name == $name) | .collection_name'
}

save() {
  local meta number=0 collection file
  meta=$(state "$1")
  mkdir -p "$folder"
  for node in "$@"; do
    number=$((number + 1))
    for collection in $(ask "$node/collections" | jq --raw-output --arg meta "$meta" \
      '.result.collections[].name | select(. == $meta or startswith($meta + "-"))'); do
      file=$(ask --request POST "$node/collections/$collection/snapshots?wait=true" |
        jq --raw-output .result.name)
      ask --create-dirs --output "$folder/$number/$collection.snapshot" \
        "$node/collections/$collection/snapshots/$file"
      ask --request DELETE "$node/collections/$collection/snapshots/$file" >/dev/null
    done
  done
  # Written last: a folder without it is not a whole backup.
  printf '%s\n' "$meta" >"$folder/state"
}

# Waits until all nodes have all shards of a collection at work; what was brought to one node is
# first sent to the others.
await() {
  local collection=$1 left=120 node
  shift
  for node in "$@"; do
    until ask "$node/collections/$collection/cluster" | jq --exit-status \
      '.result | [(.local_shards + .remote_shards)[].state] | length > 0 and all(. == "Active")' \
      >/dev/null; do
      left=$((left - 1))
      [ $left -gt 0 ] || { echo "$collection: not all shards are active; see its log" >&2; exit 1; }
      sleep 1
    done
  done
}

restore() {
  local meta number=0 file collection
  meta=$(cat "$folder/state")
  for node in "$@"; do
    number=$((number + 1))
    for file in "$folder/$number"/*.snapshot; do
      collection=$(basename "$file" .snapshot)
      ask --request POST --form "snapshot=@$file" --output /dev/null \
        "$node/collections/$collection/snapshots/upload?priority=snapshot&wait=true"
    done
  done
  for file in "$folder/1"/*.snapshot; do
    await "$(basename "$file" .snapshot)" "$@"
  done
  jq --null-input --arg meta "$meta" --arg name "$name" '{actions: [
    {delete_alias: {alias_name: $name}},
    {create_alias: {collection_name: $meta, alias_name: $name}}]}' |
    ask --request POST --header 'content-type: application/json' --data @- \
      --output /dev/null "$1/collections/aliases"
}

case $verb in
save) save "$@" ;;
restore) restore "$@" ;;
*) usage ;;
esac
