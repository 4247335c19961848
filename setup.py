"""Locates the packages (engine/ and sessions/ are installed as rfview.engine and rfview.sessions) and the readme."""

import re
from pathlib import Path

from setuptools import find_packages, setup

INSIDE = ("engine", "sessions")

# A package index shows the readme without the repository, so pictures with relative paths would be broken there.
PICTURE = re.compile(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n\n", re.MULTILINE)

setup(
    packages=[*find_packages(include=["rfview", "rfview.*"]),
              *(f"rfview.{name}" for folder in INSIDE for name in find_packages(include=[folder, f"{folder}.*"]))],
    package_dir={f"rfview.{folder}": folder for folder in INSIDE},
    long_description=PICTURE.sub("", Path("README.md").read_text(encoding="utf-8")),
    long_description_content_type="text/markdown",
)
