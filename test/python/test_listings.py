"""The programs of test/Conformance and what is written beside each of them.

ops/ has a program for every op, loops/ programs that are written as loops,
kernels/ programs that are cut into kernels, errors/ programs that are refused.
Beside NAME.uir stand
  NAME.type    what `uop-run --print=type` prints
  NAME.run     what `uop-run` prints
  NAME.c       the function in `uop-run --print=c`, its name aside
  NAME.kernels the functions in `uop-run --kernelize --print=c`, in order of launch
  NAME.order   the ops of `uop-opt --linearize` in order, without constants
  NAME.error   line and message, with status 1 and nothing printed
and every program that is accepted is the same after .uir -> MLIR -> .uir.
"""

import difflib
import pathlib
import re

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "Conformance"


def cases(suffix, *groups):
    """One parameter per file with this suffix: the .uir file beside it."""
    return [
        pytest.param(file.with_suffix(".uir"), id=f"{group}/{file.stem}")
        for group in groups
        for file in sorted((FOLDER / group).glob("*" + suffix))
    ]


def want(program, suffix):
    return program.with_suffix(suffix).read_text()


def get_functions(text):
    """The C functions of a listing, each under one name."""
    found, current = [], None
    for line in text.splitlines():
        if current is None and line.startswith("void "):
            current = []
        if current is not None:
            current.append(line.rstrip())
            if line.startswith("}"):
                current[0] = re.sub(r"^void \w+\(", "void f(", current[0])
                found.append("\n".join(current))
                current = None
    return found


def strip_comments(text):
    lines = (line.split("#", 1)[0].rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def check_same(have, expected):
    difference = difflib.unified_diff(
        expected.splitlines(), have.splitlines(), "expected", "printed", lineterm=""
    )
    assert have == expected, "\n".join(difference)


@pytest.mark.parametrize("program", cases(".type", "ops", "loops"))
def test_type(build, program):
    done = build.run("uop-run", "--print=type", program)
    assert done.status == 0, done.err
    check_same(done.out, want(program, ".type"))


@pytest.mark.parametrize("program", cases(".run", "ops", "loops"))
def test_value(build, program):
    done = build.run("uop-run", program)
    assert done.status == 0, done.err
    check_same(done.out, want(program, ".run"))


@pytest.mark.parametrize("program", cases(".c", "ops", "loops"))
def test_c(build, program):
    done = build.run("uop-run", "--print=c", program, OPT="0")
    assert done.status == 0, done.err
    check_same("\n".join(get_functions(done.out)),
               "\n".join(get_functions(want(program, ".c"))))


@pytest.mark.parametrize("program", cases(".kernels", "kernels"))
def test_kernels(build, program):
    done = build.run("uop-run", "--kernelize", "--print=c", program)
    assert done.status == 0, done.err
    check_same("\n".join(get_functions(done.out)),
               "\n".join(get_functions(want(program, ".kernels"))))


@pytest.mark.parametrize("program", cases(".order", "ops", "loops"))
def test_schedule(build, program):
    done = build.run("uop-opt", "--linearize", program)
    assert done.status == 0, done.err
    ops = re.findall(r"^\s*(?:%\w+ = )?uop\.(\w+)", done.out, re.MULTILINE)
    have = [op for op in ops if op not in ("const", "program", "yield")]
    expected = [line.split()[1] for line in want(program, ".order").splitlines()]
    check_same("\n".join(have), "\n".join(expected))


@pytest.mark.parametrize("program", cases(".uir", "ops", "loops"))
def test_round_trip(build, program):
    mlir = build.run("uop-translate", "--uir-to-mlir", program)
    assert mlir.status == 0, mlir.err
    back = build.run("uop-translate", "--mlir-to-uir", stdin=mlir.out)
    assert back.status == 0, back.err
    check_same(strip_comments(back.out), strip_comments(program.read_text()))


@pytest.mark.parametrize("program", cases(".error", "errors"))
def test_error(build, program):
    done = build.run("uop-translate", "--uir-to-mlir", program)
    line, message = re.match(
        r"(?:line (\d+): )?(.*)", want(program, ".error").strip()
    ).groups()
    assert done.status == 1
    assert done.out == ""
    assert message in done.err
    if line:
        assert f"{program}:{line}:" in done.err
    assert done.err.count("error: ") == 1, "one clear error"
