"""What the scripts of this folder share."""

import os
import pathlib
import subprocess
import sys
import time
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent


def enter(home, packages):
    """Goes on in the virtual environment `home`, which is made with these packages if this is not it."""
    if pathlib.Path(sys.prefix) == home:
        return
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    os.execve(python, [str(python), *sys.argv], {**os.environ, "VIRTUAL_ENV": str(home)})


def timed(work):
    started = time.perf_counter()
    answer = work()
    return time.perf_counter() - started, answer
