"""What the Python tests share: the build folder and its tools.

The build folder is that of the variable UOP_BUILD_DIR (ctest sets it), else
build/release of this checkout.
"""

import dataclasses
import os
import pathlib
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(
    os.environ.get("UOP_BUILD_DIR", SOURCE / "build" / "release")
).resolve()


@dataclasses.dataclass
class Result:
    """What a tool came to: exit status, standard output, standard error."""

    status: int
    out: str
    err: str


class Build:
    """The tools of one build folder."""

    def __init__(self, folder, cache):
        self.folder = folder
        self.source = SOURCE
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("CC", "CFLAGS", "DEBUG", "OPT")
        }
        self.environment["UOPC_CACHE"] = str(cache)

    def variable(self, name):
        """The value of a CMake variable in the cache of the build."""
        for line in (self.folder / "CMakeCache.txt").read_text().splitlines():
            if line.startswith(name + ":"):
                return line.split("=", 1)[1]
        return ""

    def path(self, tool):
        return self.folder / "bin" / tool

    def run(self, tool, *args, stdin=None, timeout=120, **environment):
        """Runs a tool of the build, or any program given by its path."""
        program = tool if os.sep in str(tool) else self.path(tool)
        done = subprocess.run(
            [str(program), *map(str, args)],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**self.environment, **environment},
        )
        return Result(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    if not BUILD.is_dir():
        pytest.fail(f"no build folder {BUILD}: build first, or set UOP_BUILD_DIR")
    return Build(BUILD, tmp_path_factory.mktemp("cache"))
