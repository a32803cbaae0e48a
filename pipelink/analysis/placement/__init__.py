"""Placement: one joint problem over everything that the components of a kernel share, as plain data.

``build`` reads the problem from a kernel's views, ``solve`` answers it (``warps``, ``depths``, ``pack`` in closed form
where that is provably optimal, ``exact`` with CP-SAT where it is not), ``explain`` says why there is no answer.
"""

from pipelink.analysis.placement.solve import solve
from pipelink.model.demand import Options, Problem, Solution

__all__ = ["Options", "Problem", "Solution", "solve"]
