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
}
