"""Plans of kernels through uop-run, against numpy; what it says about them."""

import json
import os
import pty
import re
import subprocess

import numpy as np
import pytest

SOFTMAX = """%0 = buffer 12 : slot=0
%x = reshape %0, (3, 4)
%m = reduce %x : op=max pop=1
%ms = stage %m
%m1 = reshape %ms, (3, 1)
%n = mul %m1, -1.0
%d = add %x, %n
%e0 = mul %d, 1.442695
%e = exp2 %e0
%s = reduce %e : op=add pop=1
%ss = stage %s
%s1 = reshape %ss, (3, 1)
%r = recip %s1
%y = mul %e, %r
"""

# y sees x before the first STORE, z after it.
IN_PLACE = """%x = buffer 4 : slot=0
%y = mul %x, 3.0
%twice = mul %x, 2.0
%s = store %x, %twice
%now = after %x, %s
%z = add %now, 1.0
%k = sink %y, %z, %s
"""

LAUNCH = (
    r"  (\S+) +\d+\.\d{3} ms +\d+\.\d{2} GFLOP/s +\d+\.\d{2} GB/s"
)
REALIZE = r"realize: (\d+) kernels?, schedule \d+\.\d ms, run \d+\.\d ms"


def softmax(x):
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def write(tmp_path, text, name="a.uir"):
    file = tmp_path / name
    file.write_text(text)
    return file


@pytest.fixture
def program(tmp_path):
    return write(tmp_path, SOFTMAX, "softmax.uir")


def good(result):
    assert result.status == 0, result.err
    return result.out


def bad(result, part):
    assert result.status == 1, result
    assert result.out == ""
    assert part in result.err
    return result.err


# Results ---------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["c", "interpreter"])
def test_a_program_is_cut_and_run(build, program, tmp_path, backend):
    x = np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    good(build.run("uop-run", program, "--kernelize", f"--backend={backend}",
                   f"--input=0={tmp_path}/x.npy", f"--output={tmp_path}/y.npy"))
    y = np.load(tmp_path / "y.npy")
    assert y.shape == (3, 4)
    np.testing.assert_allclose(y, softmax(x), atol=1e-6)


@pytest.mark.parametrize("backend", ["c", "interpreter"])
def test_stores_happen_in_order(build, tmp_path, backend):
    file = write(tmp_path, IN_PLACE)
    out = good(build.run("uop-run", file, "--kernelize", "--fill=iota", f"--backend={backend}"))
    assert out == (
        "out 0: [0.0, 3.0, 6.0, 9.0]\nout 1: [1.0, 3.0, 5.0, 7.0]\nslot 0: [0.0, 2.0, 4.0, 6.0]\n"
    )
    good(build.run("uop-run", file, "--kernelize", "--fill=iota", f"--backend={backend}",
                   f"--output=out1={tmp_path}/z.npy", f"--output=0={tmp_path}/x.npy"))
    assert np.load(tmp_path / "z.npy").tolist() == [1, 3, 5, 7]
    assert np.load(tmp_path / "x.npy").tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize("text", [SOFTMAX, IN_PLACE])
def test_strict_plans_and_the_interpreter_agree_to_the_bit(build, tmp_path, text):
    file = write(tmp_path, text)
    args = [file, "--kernelize", "--strict", "--fill=random:7"]
    assert good(build.run("uop-run", *args)) == good(build.run("uop-run", *args, "--backend=interpreter"))


def test_a_module_with_a_plan_runs_it(build, program, tmp_path):
    wanted = good(build.run("uop-run", program, "--fill=iota", "--kernelize"))
    text = good(build.run("uop-run", program, "--print=mlir", "--kernelize"))
    planned = write(tmp_path, text, "planned.mlir")
    for extra in ([], ["--kernelize"], ["--program=softmax"], ["--backend=interpreter"]):
        out = good(build.run("uop-run", planned, "--fill=iota", *extra))
        assert out == wanted if "--backend=interpreter" not in extra else out.count("[") == 4
    # Its kernels are programs like any other, when there is no plan in the way.
    alone = write(tmp_path, text[: text.index("  uop.plan")] + "}\n", "kernels.mlir")
    assert good(build.run("uop-run", alone, "--program=r_3", "--fill=iota")).startswith("slot 1: ")
    bad(build.run("uop-run", planned, "--program=nobody", "--fill=iota"), "no such program")
    assert good(build.run("uop-run", planned, "--print=mlir")) == text


def test_kernels_print_once_in_the_order_of_launches(build, tmp_path):
    file = write(tmp_path, """%a = buffer 4 : slot=0
%b = exp2 %a
%bs = stage %b
%c = exp2 %bs
%cs = stage %c
%d = sqrt %cs
""")
    text = good(build.run("uop-run", file, "--kernelize", "--print=c"))
    assert text.count("#include <math.h>") == 1
    names = re.findall(r"^void (\w+)\(", text, re.M)
    plan = good(build.run("uop-run", file, "--kernelize", "--print=mlir"))
    launched = re.findall(r"uop\.launch @(\w+)", plan)
    assert len(launched) > len(names)
    assert names == list(dict.fromkeys(launched))


# What it says ----------------------------------------------------------------


@pytest.mark.parametrize("level", range(5))
def test_debug_levels(build, program, level):
    quiet = build.run("uop-run", program, "--kernelize", "--fill=iota")
    assert quiet.err == ""
    result = build.run("uop-run", program, "--kernelize", "--fill=iota", DEBUG=str(level))
    assert good(result) == quiet.out
    lines = result.err.splitlines()
    if level == 0:
        assert lines == []
        return
    assert re.fullmatch(REALIZE, lines.pop()).group(1) == "3"
    if level == 4:
        text = good(build.run("uop-run", program, "--kernelize", "--print=c")).splitlines()
        assert lines[: len(text)] == text
        lines = lines[len(text) :]
    again = r"  \(again: \d+\.\d{3} ms\)" if level >= 3 else ""
    assert [re.fullmatch(LAUNCH + again, line).group(1) for line in lines] == (
        ["r_3", "r_3n1", "e_3_4"] if level >= 2 else []
    )


def test_debug_of_one_kernel(build, program):
    result = build.run("uop-run", program, "--fill=iota", DEBUG="2")
    launch, realize = result.err.splitlines()
    assert re.fullmatch(LAUNCH, launch).group(1) == "softmax"
    assert re.fullmatch(REALIZE, realize).group(1) == "1"


def test_kernels_that_change_what_they_read_run_once(build, tmp_path):
    file = write(tmp_path, """%x = buffer 4 : slot=0
%y = add %x, 1.0
%s = store %x, %y
%k = sink %s
""")
    result = build.run("uop-run", file, "--kernelize", "--fill=iota", "--time", DEBUG="3")
    assert good(result) == "slot 0: [1.0, 2.0, 3.0, 4.0]\n"
    assert result.err.splitlines()[0].endswith("  (again: -)")


def test_lines_fit_in_100_columns(build, tmp_path):
    name = "k" * 80
    file = write(tmp_path, f"""uop.program @{name} {{
  %0 = uop.buffer 0 : !uop.mem<4xf32, global>
  %1 = uop.exp2 %0 : !uop.mem<4xf32, global>
  uop.yield %1 : tensor<4xf32>
}}
uop.plan @p arena 0 {{
  %in0 = uop.input 0 : !uop.mem<4xf32, global>
  %out0 = uop.output 0 : !uop.mem<4xf32, global>
  uop.launch @{name}(%in0, %out0) : !uop.mem<4xf32, global>, !uop.mem<4xf32, global>
}}
""", "a.mlir")
    result = build.run("uop-run", file, "--fill=iota", "--time", DEBUG="3")
    assert good(result) == "[1.0, 2.0, 4.0, 8.0]\n"
    lines = result.err.splitlines()
    assert len(lines) == 3
    for line in lines:
        assert len(line) <= 100


def test_time_says_where_the_code_came_from(build, program, tmp_path):
    for word in ("compiled", "from the kernel cache"):
        result = build.run("uop-run", program, "--kernelize", "--fill=iota", "--time",
                           UOPC_CACHE=str(tmp_path / "cache"))
        good(result)
        assert len(result.err.splitlines()) == 4
        assert f"({word})" in result.err


def test_profile(build, program, tmp_path):
    file = tmp_path / "trace.json"
    args = ["uop-run", program, "--kernelize", "--fill=iota"]
    plain = good(build.run(*args))
    result = build.run(*args, f"--profile={file}", UOPC_CACHE=str(tmp_path / "cold"))
    assert good(result) == plain
    events = json.loads(file.read_text())["traceEvents"]
    assert all(event["ts"] >= 0 and event["dur"] >= 0 for event in events if event["ph"] == "X")

    def details(name):
        chosen = [e for e in events if e["name"] == name]
        return [e["args"]["detail"] for e in sorted(chosen, key=lambda e: e["ts"])]

    kernels = ["r_3", "r_3n1", "e_3_4"]
    assert details("plan") == ["softmax"]
    assert details("lower") == details("print") == details("launch") == kernels
    # Several kernels to a compilation, each in one, on threads that are named.
    assert sorted(" ".join(details("compile")).split()) == sorted(kernels)
    main = next(e["tid"] for e in events if e["name"] == "plan")
    threads = {e["tid"] for e in events if e["name"] == "compile"}
    assert threads and main not in threads
    assert threads <= {e["tid"] for e in events if e["name"] == "thread_name"}
    # Launches come one after the other, all in the time after compilation.
    launches = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e["name"] == "launch")
    ends = [e["ts"] + e["dur"] for e in events if e["name"] == "compile"]
    for (_, before), (after, _) in zip([(0, max(ends)), *launches], launches):
        assert before <= after


@pytest.mark.parametrize("extra", [[], ["--backend=interpreter", "--kernelize"]])
def test_profile_of_other_runs(build, program, tmp_path, extra):
    file = tmp_path / "trace.json"
    good(build.run("uop-run", program, "--fill=iota", f"--profile={file}", *extra))
    names = {event["name"] for event in json.loads(file.read_text())["traceEvents"]}
    assert "launch" in names


def test_a_profile_is_written_whole_or_not_at_all(build, program, tmp_path):
    args = ["uop-run", program, "--kernelize"]
    bad(build.run(*args, "--fill=iota", "--profile="), "--profile takes FILE.json")
    bad(build.run(*args, "--fill=iota", f"--profile={tmp_path}/none/t.json"), "none/t.json': can't be written")
    bad(build.run(*args, "--fill=iota", f"--profile={tmp_path}"), "can't be written")
    kept = write(tmp_path, "kept", "kept.json")
    bad(build.run(*args, f"--profile={kept}"), "has no contents")
    assert kept.read_text() == "kept"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kept.json", "softmax.uir"]


# Progress --------------------------------------------------------------------


def run_on_terminal(build, *args, **environment):
    """Exit status and what a terminal got as standard error."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [str(build.path("uop-run")), *map(str, args)],
        stdout=subprocess.DEVNULL,
        stderr=slave,
        env={**build.environment, **environment},
    )
    os.close(slave)
    text = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        text += part
    os.close(master)
    return process.wait(), text.decode()


@pytest.fixture
def slow_compiler(tmp_path):
    """A C compiler that takes more than a second."""
    compiler = tmp_path / "slow-cc"
    compiler.write_text('#!/bin/sh\ncase "$*" in *-shared*) sleep 1.1;; esac\nexec clang-22 "$@"\n')
    compiler.chmod(0o755)
    return str(compiler)


def test_progress_on_a_terminal(build, program, tmp_path, slow_compiler):
    args = [program, "--kernelize", "--fill=iota"]
    cache = {"CC": slow_compiler, "UOPC_CACHE": str(tmp_path / "slow")}
    status, text = run_on_terminal(build, *args, **cache)
    assert status == 0
    assert re.fullmatch(r"(\rcompiling kernels \d/3)+\r\x1b\[K", text)
    assert "3/3" in text
    # Nothing when it is quick, and nothing when it is no terminal.
    assert run_on_terminal(build, *args, **cache) == (0, "")
    result = build.run("uop-run", *args, CC=slow_compiler, UOPC_CACHE=str(tmp_path / "again"))
    good(result)
    assert result.err == ""


# Bad input -------------------------------------------------------------------


@pytest.mark.parametrize(
    "args, part",
    [
        ([], "slot 0 (f32(12,)) has no contents"),
        (["--fill=iota", "--print=uir"], "--print=uir shows a program"),
        (["--fill=iota", "--input=3=x.npy"], "the program has no buffer of slot 3"),
        (["--fill=iota", "--output=out1=x.npy"], "the program has no output 1"),
        (["--fill=iota", "--output=0=x.npy"], "the program does not store to slot 0"),
    ],
)
@pytest.mark.parametrize("backend", ["c", "interpreter"])
def test_bad_command_lines(build, program, args, part, backend):
    bad(build.run("uop-run", program, "--kernelize", f"--backend={backend}", *args), part)


def test_wrong_inputs_run_nothing(build, tmp_path):
    file = write(tmp_path, IN_PLACE)
    for array, part in (
        (np.ones(5, np.float32), "takes 4 elements"),
        (np.ones(4, np.int32), "takes f32"),
    ):
        np.save(tmp_path / "x.npy", array)
        bad(build.run("uop-run", file, "--kernelize", f"--input=0={tmp_path}/x.npy"), part)


@pytest.mark.parametrize("backend", ["c", "interpreter"])
def test_no_memory_for_temps(build, program, tmp_path, backend):
    text = good(build.run("uop-run", program, "--kernelize", "--print=mlir"))
    huge = re.sub(r"arena \d+", f"arena {1 << 62}", text)
    file = write(tmp_path, huge, "huge.mlir")
    bad(build.run("uop-run", file, "--fill=iota", f"--backend={backend}"), "out of memory")


@pytest.mark.parametrize(
    "old, new, part",
    [
        ("arena 128", "arena 12", "ends at byte 76 of an arena of 12"),
        ("arena 128", "arena -1", "must not be negative"),
        ("temp 1 at 64", "temp 1 at 9223372036854775804", "ends at byte 9223372036854775816"),
        ("launch @r_3(", "launch @nobody(", "nobody"),
    ],
)
def test_malformed_plans(build, program, tmp_path, old, new, part):
    text = good(build.run("uop-run", program, "--kernelize", "--print=mlir"))
    assert old in text
    bad(build.run("uop-run", write(tmp_path, text.replace(old, new), "a.mlir"), "--fill=iota"), part)


