"""A library on a Qdrant cluster: published, searched by any number of processes, and changed."""
