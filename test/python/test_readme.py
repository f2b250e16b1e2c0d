"""The README's example prints what the README says."""

import os
import re
import subprocess

def sessions(text):
    """(command, expected output) of every fenced block that shows a `$` prompt."""
    for block in re.findall(r"```\n(.*?)```", text, re.S):
        if not block.startswith("$ ") or "\n$ " not in block:
            continue
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def test_readme_example(build):
    found = list(sessions((build.source / "README.md").read_text()))
    assert len(found) >= 3
    path = f"{build.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    for command, output in found:
        have = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=build.source,
            env={**build.environment, "PATH": path},
            capture_output=True,
            text=True,
        )
        assert have.returncode == 0, have.stderr
        assert have.stdout == output, command
