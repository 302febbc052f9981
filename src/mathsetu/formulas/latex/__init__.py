"""The LaTeX parser: tokens, macro expansion, then rows of boxes with their scripts.

`reader` has the main loop, the tables (`symbols`, `commands`, `fonts`) define what each name
means, and `boxes` defines the output.
"""
