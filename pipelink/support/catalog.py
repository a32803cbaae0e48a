"""The catalog of diagnostic ids: one line each on what the defect is.  ``docs/diagnostics.md`` is generated from it,
and a test requires an expected-error test for every id.  Ids are kebab-case and name the defect."""

CATALOG: dict[str, str] = {
    # support
    "internal-error": "a bug in PipeLink or a vendor library; a reproducer was written",
    "usage": "the command line is wrong",
    "unreadable-input": "an input file cannot be read",
    "empty-input": "an input file is empty",
    "unwritable-output": "an output file cannot be written",
    "bad-expression": "a launch-contract expression does not parse or uses an unknown name",
    # place: target and launch contract
    "unknown-target": "the target architecture is not one PipeLink has facts about",
    "unknown-symbol": "a launch-contract expression names something that no tensor, derived value or argument is",
    "unbound-parameter": "a tensor map or pointer parameter is bound to no tensor",
    "cyclic-derivation": "derived values of the launch contract depend on each other",
    "launch-conflict": "two declarations of one name in the launch contract disagree",
    "parameter-overflow": "the parameter block is larger than the parameter space",
}
