#!/usr/bin/env bash
# Saves a library on a Qdrant cluster into a folder, and brings it back (docs/cluster.md).
#
#   docs/cluster-backup.sh save math backup http://first:6333 http://second:6333 http://third:6333
#   docs/cluster-backup.sh restore math backup http://first:6333 http://second:6333 http://third:6333
#
# Name every node: each shard is saved once, from a node that has it, and brought to all that are to
# have it. The cluster may have another number of nodes when it is restored. QDRANT_API_KEY is the key
# that writes. Make no change of the library meanwhile: a snapshot is of one shard. Needs curl and jq.
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

# The shards of a collection that a node has whole.
shards() {
  ask "$1/collections/$2/cluster" |
    jq --raw-output '.result.local_shards[] | select(.state == "Active") | .shard_id'
}

# How a collection is made again, and which fields it has indexes of.
description() {
  ask "$1/collections/$2" | jq '.result | {
    collection: (.config | (.params | {vectors, sparse_vectors, shard_number, replication_factor,
        write_consistency_factor, on_disk_payload})
      + {hnsw_config, wal_config, quantization_config, optimizers_config: .optimizer_config}
      | with_entries(select(.value != null))),
    indexes: [.payload_schema | to_entries[]
      | {field_name: .key, field_schema: (.value.params // .value.data_type)}]}'
}

save() {
  local meta collection shard place url file node
  meta=$(state "$1")
  for collection in $(ask "$1/collections" | jq --raw-output --arg meta "$meta" \
    '.result.collections[].name | select(. == $meta or startswith($meta + "-"))'); do
    mkdir -p "$folder/$collection"
    description "$1" "$collection" >"$folder/$collection/description.json"
    for node in "$@"; do
      for shard in $(shards "$node" "$collection"); do
        place=$folder/$collection/$shard.snapshot
        [ ! -e "$place" ] || continue
        url=$node/collections/$collection/shards/$shard/snapshots
        file=$(ask --request POST "$url?wait=true" | jq --raw-output .result.name)
        ask --output "$place.part" "$url/$file"
        ask --request DELETE "$url/$file" >/dev/null
        mv "$place.part" "$place"
      done
    done
  done
  # Written last: a folder without it is not a whole backup.
  printf '%s\n' "$meta" >"$folder/state"
}

# Waits until all nodes have all shards of a collection at work.
await() {
  local collection=$1 left=120 node
  shift
  for node in "$@"; do
    until ask "$node/collections/$collection/cluster" | jq --exit-status \
      '.result | [(.local_shards + .remote_shards)[].state] | length > 0 and all(. == "Active")' \
      >/dev/null; do
      left=$((left - 1))
      [ $left -gt 0 ] || { echo "$collection: not all shards are active" >&2; exit 1; }
      sleep 1
    done
  done
}

restore() {
  local meta collection place node shard index
  meta=$(cat "$folder/state")
  for place in "$folder"/*/; do
    collection=$(basename "$place")
    ask --request DELETE "$1/collections/$collection" >/dev/null
    jq .collection "$place/description.json" |
      ask --request PUT --header 'content-type: application/json' --data @- --output /dev/null \
        "$1/collections/$collection"
    await "$collection" "$@"
    # Every node that is to have a shard is given it: none has to be sent from node to node.
    for node in "$@"; do
      for shard in $(shards "$node" "$collection"); do
        ask --request POST --form "snapshot=@$place/$shard.snapshot" --output /dev/null \
          "$node/collections/$collection/shards/$shard/snapshots/upload?priority=no_sync&wait=true"
      done
    done
    jq --compact-output '.indexes[]' "$place/description.json" | while read -r index; do
      ask --request PUT --header 'content-type: application/json' --data "$index" \
        --output /dev/null "$1/collections/$collection/index?wait=true"
    done
    await "$collection" "$@"
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
