"""The placement map: what lies where in a placed kernel, as an SVG picture and as text for a terminal.

``collect`` gathers both from the same data: shared memory over lifetimes, warps with their registers, named barriers,
mbarriers and tensor memory, each with its owner.  :mod:`pipelink.map.trace` draws counterexamples in the same manner.
"""

from pipelink.map.collect import PlacementMap, collect
from pipelink.map.svg import render_svg
from pipelink.map.text import render_text

__all__ = ["PlacementMap", "collect", "render_svg", "render_text"]
