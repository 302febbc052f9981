"""Streaming readers and writers of public formats; `formats` lists them all."""
