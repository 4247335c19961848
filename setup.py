"""The readme for a package index, and a check that a checkout has its links; all else is in pyproject.toml."""

import re
from pathlib import Path

from setuptools import setup

# A package index shows the readme without the repository, so pictures with relative paths would be broken there.
PICTURE = re.compile(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n\n", re.MULTILINE)

for link in ("rfview/engine", "rfview/sessions"):
    if not Path(link).is_dir():
        raise SystemExit(f"{link} is a link to a folder of this checkout, and git made a file of it: this system or its "
                         "settings do not allow links. On Windows: switch on Developer Mode, then `git config "
                         "core.symlinks true` and `git checkout rfview`.")

setup(long_description=PICTURE.sub("", Path("README.md").read_text(encoding="utf-8")),
      long_description_content_type="text/markdown")
