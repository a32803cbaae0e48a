"""How lit runs the tests of this folder: with its own shell, FileCheck from the LLVM tools' wheel, and the commands of
the environment that lit itself is installed in.  Nothing here needs a GPU, a driver or a CUDA toolkit."""

import os
import sys
from pathlib import Path

import llvm

root = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root))

from test import zygote  # noqa: E402

zygote.preload()  # in lit itself, whose workers then have it

config.name = "PipeLink"
config.test_format = zygote.ForkedTools()
config.suffixes = [".mlir", ".test", ".cu"]
config.excludes = ["Inputs", "lit.cfg.py"]
config.test_source_root = str(root / "test" / "lit")
config.test_exec_root = str(root / "build" / "lit")

config.environment["PATH"] = os.pathsep.join(
    [str(Path(sys.executable).parent), str(Path(llvm.__path__[0]) / "bin"), os.environ.get("PATH", "")]
)
config.environment["PYTHONPATH"] = str(root)  # the sources that lie here, whatever is installed
config.environment["FILECHECK_OPTS"] = "--enable-var-scope"
# No test reads or fills the cache of the person who runs it.
config.environment["PIPELINK_CACHE_DIR"] = str(root / "build" / "lit" / "cache")

config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%components", str(root / "pipelink" / "components")))
config.substitutions.append(("%examples", str(root / "examples")))
config.substitutions.append(("%root", str(root)))
