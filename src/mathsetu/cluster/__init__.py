"""Libraries on a Qdrant cluster: published, changed, and searched by any number of processes."""
