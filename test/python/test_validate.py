"""Every pass over every program of the lit and conformance tests, with the
interpreter before and after it (`uop-opt --uop-validate-passes`).

Programs that a pass refuses are fine: only a difference is a failure.
"""

import pathlib
import re

import pytest

TEST = pathlib.Path(__file__).resolve().parents[1]
PIPELINES = [
    ["--rangeify", "--linearize"],
    ["--uop-simplify"],
    ["--uop-unique", "--rangeify", "--uop-simplify", "--linearize"],
]


def programs():
    """The inputs of RUN lines that name a tool of ours, and the conformance files."""
    for file in sorted(TEST.rglob("*")):
        if file.suffix not in (".mlir", ".uir") or "Integration" in file.parts:
            continue
        text = file.read_text(errors="replace")
        if "Conformance" in file.parts or re.search(r"RUN:.*\buop-\w+", text):
            yield pytest.param(file, id=str(file.relative_to(TEST)))


@pytest.mark.parametrize("file", list(programs()))
def test_no_pass_changes_what_a_program_computes(build, file):
    for passes in PIPELINES:
        done = build.run(
            "uop-opt", file, "--split-input-file", "--allow-unregistered-dialect",
            "--uop-validate-passes", "--uop-validate-verbose", *passes,
        )  # fmt: skip
        assert done.status in (0, 1), done.err
        assert "changes what program" not in done.err, done.err


def test_programs_are_compared(build, tmp_path):
    """The flag is no promise if everything is skipped."""
    file = tmp_path / "a.uir"
    file.write_text("%0 = buffer 4 : dtype=f32 slot=0\n%1 = add %0, %0\n")
    done = build.run(
        "uop-opt", file, "--uop-validate-passes", "--uop-validate-verbose",
        "--rangeify", "--linearize",
    )  # fmt: skip
    assert done.status == 0 and done.err == ""


def test_what_cannot_be_run_is_said_on_request(build):
    file = TEST / "Conformance" / "ops" / "28-wmma.uir"
    text = file.read_text()
    assert "wmma" in text
    quiet = build.run("uop-opt", file, "--uop-validate-passes", "--uop-unique")
    assert quiet.status == 0 and quiet.err == ""
