"""The configurations of all families, as one list: what is linked, compared and run.

Adding a configuration is one entry of its family's module in benchmarks/families, adding a family one module and one
line there.  Data only; imported on machines without a compiler.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.families import FAMILIES
from benchmarks.families.base import Configuration, Family

CONFIGURATIONS: tuple[Configuration, ...] = tuple(c for family in FAMILIES for c in family.configurations)
BY_NAME = {configuration.name: configuration for configuration in CONFIGURATIONS}
#: Where the components' sources are.
FOLDERS: tuple[Path, ...] = tuple(dict.fromkeys(folder for family in FAMILIES for folder in family.sources))
_FAMILY = {configuration.name: family for family in FAMILIES for configuration in family.configurations}


def family_of(configuration: Configuration) -> Family:
    return _FAMILY[configuration.name]
