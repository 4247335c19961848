"""Where the packages lie: the folders engine/ and sessions/ are installed as rfview.engine and rfview.sessions."""

from setuptools import find_packages, setup

INSIDE = ("engine", "sessions")

setup(
    packages=[*find_packages(include=["rfview", "rfview.*"]),
              *(f"rfview.{name}" for folder in INSIDE for name in find_packages(include=[folder, f"{folder}.*"]))],
    package_dir={f"rfview.{folder}": folder for folder in INSIDE},
)
