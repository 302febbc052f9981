"""Reads LaTeX into rows of boxes: tokens, macros, then what stands on, above and below a line.

`reader` is the main loop; the tables (`symbols`, `commands`, `fonts`) say what each name means,
and `boxes` is what comes out.
"""
