"""Graphs in Penman notation, the text form in which AMR and MathAMR+ graphs are exchanged."""

from mathsetu.graphs.penman.reading import read_penman
from mathsetu.graphs.penman.records import Record, read_records, write_records
from mathsetu.graphs.penman.writing import write_penman

__all__ = ["Record", "read_penman", "read_records", "write_penman", "write_records"]
