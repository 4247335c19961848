"""`python -m rfview` is the command `rfview`."""

import sys

from rfview.cli import main

sys.exit(main())
