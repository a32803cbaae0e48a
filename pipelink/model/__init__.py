"""What the steps of a link hand to each other, as plain data: the graph of connections, who uses what and when, the
demand on the SM and its solution, the functions that the linker defines, and what roles do together.

The transfers speak in these terms, and so do the steps that ask them (:mod:`pipelink.analysis`).
"""
