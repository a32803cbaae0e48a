"""Without the MLIR bindings there is one clear error, not a traceback."""

import subprocess
import sys

CODE = """
import sys
sys.modules["mlir"] = None  # as if not installed
from pipelink.support.diagnostics import LinkError
try:
    import pipelink.ir
except LinkError as problem:
    print(problem.diagnostics[0].id, problem.diagnostics[0].hint)
"""


def test_missing_bindings() -> None:
    result = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.startswith("toolchain-missing pip install 'pipelink[compiler]'")
