"""The corpus runs as the tests in ``test/lit`` do: with their configuration, from its own folder."""

from pathlib import Path

root = Path(__file__).resolve().parents[2]
lit_config.load_config(config, str(root / "test" / "lit" / "lit.cfg.py"))

config.name = "Corpus"
config.test_source_root = str(root / "test" / "corpus")
config.test_exec_root = str(root / "build" / "corpus")
