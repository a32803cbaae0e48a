"""Audits: whether code is what was said of it.

======== =============================================================================================================
kernel   the linked cubin is what contracts and placement allow
objects  what an object's code does is what its contract declares (``code``, ``ports``, ``registers``: the rules;
         ``values``, ``placement``: what values in PTX are made of; ``claims``: what a contract says about code)
contract an object's contract is the one that its device code was compiled with
report   what audits find; a cached link needs no more than that
======== =============================================================================================================
"""
