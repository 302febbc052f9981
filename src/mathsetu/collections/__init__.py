"""Readers and writers of public formats, streaming; see `formats` for the table of them."""
