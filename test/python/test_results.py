"""Programs of several results and in-place stores, against numpy."""

import numpy as np
import pytest

# Two values, one of them without elements, and the lower rows of a buffer.
RESULTS = """%x = buffer 12 : slot=3
%m = reshape %x, (3, 4)
%sum = reduce %m : op=add pop=1
%none = shrink %m, ((1, 1), (0, 4))
%low = shrink %m, ((1, 3), (0, 4))
%twice = mul %low, 2.0
%s = store %low, %twice
%k = sink %sum, %s, %none
"""

# Only the interpreter runs what needs a plan.
ORDERED = """%x = buffer 4 : slot=0
%y = buffer 4 : slot=1
%sum = add %x, %y
%s = store %x, %sum
%now = after %x, %s
%t = store %y, %now
%k = sink %t, %x, %now
"""


@pytest.fixture
def results(tmp_path):
    file = tmp_path / "results.uir"
    file.write_text(RESULTS)
    return file


@pytest.mark.parametrize("backend", ["c", "interpreter"])
def test_results_print_in_order(build, results, tmp_path, backend):
    # The sum does not see the STORE, but in one kernel it could not be sure to.
    text = RESULTS.replace("%sum, ", "")
    (tmp_path / "stored.uir").write_text(text)
    done = build.run("uop-run", tmp_path / "stored.uir", "--fill=iota", f"--backend={backend}")
    assert done.status == 0, done.err
    x = np.arange(12, dtype=np.float32)
    x[4:] *= 2
    assert done.out == "out 0: []\n" + f"slot 3: {x.tolist()}\n"


def test_a_kernel_refuses_what_needs_two(build, results):
    done = build.run("uop-run", results, "--fill=iota")
    assert done.status == 1
    assert "BUFFER 3 is stored to, and read where" in done.err
    assert "--uop-kernelize" in done.err
    done = build.run("uop-run", results, "--fill=iota", "--backend=interpreter")
    assert done.out.startswith("out 0: [6.0, 22.0, 38.0]\nout 1: []\nslot 3: ")


def test_ordered_stores(build, tmp_path):
    file = tmp_path / "ordered.uir"
    file.write_text(ORDERED)
    done = build.run("uop-run", file, "--fill=ones", "--backend=interpreter")
    assert done.out == ("out 0: [1.0, 1.0, 1.0, 1.0]\nout 1: [2.0, 2.0, 2.0, 2.0]\n"
                        "slot 0: [2.0, 2.0, 2.0, 2.0]\nslot 1: [2.0, 2.0, 2.0, 2.0]\n")
    done = build.run("uop-run", file, "--fill=ones")
    assert done.status == 1 and "AFTER stands in a program of shapes" in done.err


@pytest.mark.parametrize("backend", ["c", "interpreter"])
def test_output_files_by_number_and_slot(build, tmp_path, backend):
    file = tmp_path / "a.uir"
    file.write_text("""%x = buffer 6 : slot=0
%m = reshape %x, (2, 3)
%e = add %m, 1.0
%s = store %m, %e
%t = permute %m, (1, 0)
%y = buffer 6 : slot=1
%z = mul %y, 3.0
%k = sink %s, %z, %e
""")
    rng = np.random.default_rng(5)
    x, y = rng.random((2, 6), dtype=np.float32)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    done = build.run("uop-run", file, f"--input=0={tmp_path}/x.npy",
                     f"--input=1={tmp_path}/y.npy", f"--output=out1={tmp_path}/e.npy",
                     f"--output=0={tmp_path}/new.npy", f"--output=2={tmp_path}/z.npy",
                     f"--backend={backend}")
    assert done.status == 0, done.err
    assert done.out == ""
    e = np.load(tmp_path / "e.npy")
    assert e.shape == (2, 3)
    np.testing.assert_array_equal(e, x.reshape(2, 3) + np.float32(1))
    np.testing.assert_array_equal(np.load(tmp_path / "new.npy"), x + np.float32(1))
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), y * np.float32(3))


def test_the_value_of_one_output(build, tmp_path):
    file = tmp_path / "a.uir"
    file.write_text("%x = buffer 4\n%y = add %x, 1.0\n%s = store %x, %y\n%k = sink %s, %y\n")
    for name in ("", "out0=", "1="):
        done = build.run("uop-run", file, "--fill=ones", f"--output={name}{tmp_path}/y.npy")
        assert done.out == "slot 0: [2.0, 2.0, 2.0, 2.0]\n"
        np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), np.full(4, 2, np.float32))
        (tmp_path / "y.npy").unlink()


@pytest.mark.parametrize("args, part", [
    (["--output=a.npy"], "the program has 2 outputs: --output takes outN=FILE.npy, got 'a.npy'"),
    (["--output=out2=a.npy"], "the program has no output 2"),
    (["--output=out1=a.npy", "--output=out1=b.npy"], "names one thing twice"),
    (["--output=out1=a.npy", "--output=2=b.npy"], "--output gives slot 2 twice"),
    (["--output=3=a.npy"], "the program has no buffer of slot 3"),
    (["--output=0=a.npy"], "the program does not store to slot 0"),
])
def test_outputs_that_there_are_not(build, tmp_path, args, part):
    file = tmp_path / "a.uir"
    file.write_text("%x = buffer 4\n%y = add %x, 1.0\n%k = sink %y, %x\n")
    for backend in ("c", "interpreter"):
        done = build.run("uop-run", file, "--fill=ones", f"--backend={backend}", *args)
        assert done.status == 1 and done.out == ""
        assert part in done.err


def test_stores_alone_have_no_value(build, tmp_path):
    file = tmp_path / "a.uir"
    file.write_text("%x = buffer 4\n%y = exp2 %x\n%s = store %x, %y\n")
    done = build.run("uop-run", file, "--fill=ones")
    assert done.out == "slot 0: [2.0, 2.0, 2.0, 2.0]\n"
    done = build.run("uop-run", file, "--fill=ones", "--output=a.npy")
    assert done.status == 1
    assert "this program has no value: --output takes SLOT=FILE.npy, got 'a.npy'" in done.err


@pytest.mark.parametrize("backend", ["c", "interpreter"])
def test_a_store_of_nothing(build, tmp_path, backend):
    file = tmp_path / "a.uir"
    file.write_text("%x = buffer 2\n%n = shrink %x, ((1, 1),)\n%e = exp2 %n\n"
                    "%s = store %n, %e\n%k = sink %s\n")
    np.save(tmp_path / "x.npy", np.array([3, 4], np.float32))
    done = build.run("uop-run", file, f"--input=0={tmp_path}/x.npy", f"--backend={backend}")
    assert done.out == "slot 0: [3.0, 4.0]\n", done.err


def test_the_example_of_the_documentation(build, tmp_path):
    text = (build.source / "docs" / "semantics.md").read_text()
    example = text.split("```\n")[1]
    assert example.startswith("%x = buffer 12")
    (tmp_path / "a.uir").write_text(example)
    done = build.run("uop-run", tmp_path / "a.uir", "--fill=iota", "--backend=interpreter")
    before = np.arange(12, dtype=np.float32)
    after = before.copy()
    after[:4] *= 2
    assert done.out == (f"out 0: {after.reshape(3, 4).sum(1).tolist()}\n"
                        f"out 1: {before.tolist()}\nslot 0: {after.tolist()}\n")
