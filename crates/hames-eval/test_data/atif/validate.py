"""Reads ATIF documents from files and says what Harbor's own models find wrong with them."""

import sys
from importlib.metadata import version

from harbor.models.trajectories import Trajectory

wrong = 0
for file in sys.argv[1:]:
    with open(file, encoding="utf-8") as text:
        try:
            Trajectory.model_validate_json(text.read())
        except ValueError as error:
            wrong += 1
            print(f"{file}: {error}")
print(f"harbor {version('harbor')}: {len(sys.argv) - 1 - wrong} of {len(sys.argv) - 1} valid")
sys.exit(1 if wrong else 0)
