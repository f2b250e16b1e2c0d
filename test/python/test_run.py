"""The command line of uop-run: inputs, outputs, and every kind of bad input."""

import numpy as np
import pytest

ADD = """%0 = buffer 6 : dtype=f32 slot=0
%1 = reshape %0, (2, 3)
%2 = add %1, 1
"""

# Doubles slot 0 into slot 1, and into itself.
LOOPS = """%in = buffer 4 : dtype=f32 slot=0
%out = buffer 4 : dtype=f32 slot=1
%r = range 4 : idx=0
%p = index %in, %r
%v = load %p
%d = mul %v, 2
%q = index %out, %r
%s = store %q, %d
%e = end %s, %r
%sink = sink %e
"""


@pytest.fixture
def add(tmp_path):
    file = tmp_path / "add.uir"
    file.write_text(ADD)
    return file


@pytest.fixture
def loops(tmp_path):
    file = tmp_path / "loops.uir"
    file.write_text(LOOPS)
    return file


def good(result):
    assert result.status == 0, result.err
    return result.out


def bad(result, *parts):
    assert result.status == 1, result
    assert result.out == ""
    for part in parts:
        assert part in result.err
    return result.err


def write(tmp_path, text, name="a.uir"):
    file = tmp_path / name
    file.write_text(text)
    return file


@pytest.mark.parametrize("backend", ["c", "interpreter"])
def test_input_and_output_files(build, add, tmp_path, backend):
    np.save(tmp_path / "x.npy", np.arange(6, dtype=np.float32).reshape(3, 2))
    good(build.run("uop-run", add, "--input", f"0={tmp_path}/x.npy",
                   f"--output={tmp_path}/y.npy", f"--backend={backend}"))
    y = np.load(tmp_path / "y.npy")
    assert y.dtype == np.float32
    np.testing.assert_array_equal(y, np.arange(1, 7).reshape(2, 3))
    assert [f.name for f in tmp_path.iterdir()].count("y.npy") == 1


@pytest.mark.parametrize("backend", ["c", "interpreter"])
def test_stored_buffers_print_by_slot(build, loops, backend):
    out = good(build.run("uop-run", loops, "--fill=iota", f"--backend={backend}"))
    assert out == "slot 1: [0.0, 2.0, 4.0, 6.0]\n"


def test_fill(build, add):
    assert good(build.run("uop-run", add, "--fill=ones")) == "[[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]\n"
    one = good(build.run("uop-run", add, "--fill=random:1"))
    assert one == good(build.run("uop-run", add, "--fill=random:1"))
    assert one != good(build.run("uop-run", add, "--fill=random:2"))


@pytest.mark.parametrize(
    "dtype, want",
    [
        ("bool", "[false, true, true, true]"),
        ("i32", "[0, 1, 2, 3]"),
        ("f32", "[0.0, 1.0, 2.0, 3.0]"),
        ("f16", "[0.0, 1.0, 2.0, 3.0]"),
    ],
)
def test_every_dtype_prints_its_literals(build, tmp_path, dtype, want):
    file = write(tmp_path, f"%0 = buffer 4 : dtype={dtype} slot=0\n%1 = reshape %0, (4,)\n")
    assert good(build.run("uop-run", file, "--fill=iota")) == want + "\n"


def test_large_arrays_are_abbreviated(build, tmp_path):
    file = write(tmp_path, "%0 = buffer 4000 : dtype=i32 slot=0\n%1 = reshape %0, (2, 2000)\n")
    out = good(build.run("uop-run", file, "--fill=iota"))
    assert out == "[[0, 1, 2, ..., 1997, 1998, 1999], [2000, 2001, 2002, ..., 3997, 3998, 3999]]\n"


@pytest.mark.parametrize("shape, want", [("(0,)", "[]"), ("(2, 0)", "[[], []]")])
@pytest.mark.parametrize("backend", ["c", "interpreter"])
def test_no_elements(build, tmp_path, shape, want, backend):
    file = write(tmp_path, f"%0 = buffer 0 : slot=0\n%1 = reshape %0, {shape}\n")
    assert good(build.run("uop-run", file, f"--backend={backend}", "--fill=ones")) == want + "\n"


def test_print(build, add):
    assert good(build.run("uop-run", add, "--print=type")) == "dtype=f32 shape=(2, 3) addrspace=ALU\n"
    uir = good(build.run("uop-run", add, "--print=uir"))
    assert good(build.run("uop-run", "-", "--print=uir", stdin=uir)) == uir
    mlir = good(build.run("uop-run", add, "--print=mlir"))
    assert "uop.program @add" in mlir
    assert good(build.run("uop-run", "-", "--fill=ones", stdin=mlir)).startswith("[[2.0")
    c = good(build.run("uop-run", add, "--print=c"))
    assert "void add(float* restrict data0, float* restrict data1) {" in c
    assert "add.uir:3" in good(build.run("uop-run", add, "--print=c", "--locations"))


def test_one_program_of_several(build, tmp_path):
    file = write(tmp_path, """
uop.program @one {
  %0 = uop.const 1 : i32
  uop.yield %0 : i32
}
uop.program @two {
  %0 = uop.const 2 : i32
  uop.yield %0 : i32
}
""", "two.mlir")
    bad(build.run("uop-run", file), "--program=NAME")
    assert good(build.run("uop-run", file, "--program=two")) == "2\n"
    bad(build.run("uop-run", file, "--program=three"), "no such program")


def test_debug_and_time_go_to_standard_error(build, add):
    plain = good(build.run("uop-run", add, "--fill=ones"))
    for extra, level, parts in (
        (["--time"], "0", ["add", " ms", "GFLOP/s"]),
        ([], "2", ["add", " ms", "GFLOP/s"]),
        ([], "4", ["void add(", " ms"]),
    ):
        result = build.run("uop-run", add, "--fill=ones", *extra, DEBUG=level)
        assert good(result) == plain
        for part in parts:
            assert part in result.err


def test_threads_share_a_loop(build, tmp_path):
    file = write(tmp_path, LOOPS.replace("idx=0", "idx=0 kind=thread"))
    for threads in (1, 2, 5):
        out = good(build.run("uop-run", file, "--fill=iota", f"--threads={threads}"))
        assert out == "slot 1: [0.0, 2.0, 4.0, 6.0]\n"


def test_strict_keeps_the_order_of_a_sum(build, tmp_path):
    file = write(tmp_path, "%0 = buffer 1000 : slot=0\n%1 = reduce %0\n")
    strict = good(build.run("uop-run", file, "--fill=random:3", "--strict"))
    assert strict == good(build.run("uop-run", file, "--fill=random:3", "--backend=interpreter"))


@pytest.mark.parametrize("compiler", ["gcc", "clang-22"])
def test_another_compiler(build, add, compiler):
    assert good(build.run("uop-run", add, "--fill=ones", CC=compiler)).startswith("[[2.0")


@pytest.mark.parametrize("compiler", ["", "clang-22", "gcc"])
@pytest.mark.parametrize(
    "name", ["abs", "exit", "memcpy", "time", "main", "int", "uop_entry", "uop_kernel", "__int128", "_Bool", "9-a b", "\u00e9"]
)
def test_kernels_are_named_for_any_file(build, tmp_path, name, compiler):
    file = write(tmp_path, ADD, f"{name}.uir")
    out = good(build.run("uop-run", file, "--fill=iota", CC=compiler))
    assert out == "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]\n"


@pytest.mark.parametrize("backend", ["c", "interpreter"])
def test_outputs_are_written_all_or_none(build, tmp_path, backend):
    file = write(
        tmp_path,
        "%a = buffer 2 : slot=0\n%b = buffer 2 : slot=1\n%p = index %a, 0\n%q = index %b, 1\n"
        "%s = store %p, 3.5\n%t = store %q, 4.5\n%z = sink %s, %t\n",
    )
    kept = tmp_path / "kept.npy"
    kept.write_bytes(b"kept")
    for broken in (tmp_path / "none" / "x.npy", tmp_path):
        bad(build.run("uop-run", file, f"--backend={backend}", f"--output=0={kept}", f"--output=1={broken}"), str(broken))
        assert kept.read_bytes() == b"kept"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.uir", "kept.npy"]
    other = tmp_path / "other.npy"
    good(build.run("uop-run", file, f"--backend={backend}", f"--output=0={kept}", f"--output=1={other}"))
    assert np.load(kept).tolist() == [3.5, 0.0]
    assert np.load(other).tolist() == [0.0, 4.5]


def test_cached_kernels_are_used_again(build, add, tmp_path):
    cache = str(tmp_path / "cache")
    first = build.run("uop-run", add, "--fill=ones", "--time", UOPC_CACHE=cache)
    second = build.run("uop-run", add, "--fill=ones", "--time", UOPC_CACHE=cache)
    assert "compiled" in first.err and "from the kernel cache" in second.err
    for entry in (tmp_path / "cache").iterdir():
        entry.write_bytes(entry.read_bytes()[:100])
    third = build.run("uop-run", add, "--fill=ones", "--time", UOPC_CACHE=cache)
    assert good(third) == first.out and "compiled" in third.err


# Bad input -------------------------------------------------------------------


@pytest.mark.parametrize(
    "args, part",
    [
        ([], "slot 0 (f32(6,)) has no contents"),
        (["--input=0"], "--input takes SLOT=FILE.npy"),
        (["--input=x=a.npy"], "--input takes SLOT=FILE.npy"),
        (["--input=0=a.npy", "--input=0=b.npy"], "slot 0 twice"),
        (["--input=7=a.npy"], "no buffer of slot 7"),
        (["--output=7=a.npy", "--fill=ones"], "no buffer of slot 7"),
        (["--input=0=/nonexistent/a.npy"], "/nonexistent/a.npy"),
        (["--fill=twos"], "--fill takes iota, ones or random:SEED"),
        (["--fill=random:x"], "--fill takes"),
        (["--print=cuda"], "--print is type, uir, mlir or c"),
        (["--backend=cuda"], "--backend is c or interpreter"),
        (["--threads=0"], "--threads takes a number"),
        (["--kernels"], "unknown option '--kernels'"),
        (["--opts=gpu"], "unknown option '--opts=gpu'"),
        (["--input"], "--input takes a value"),
        (["other.uir"], "one program at a time"),
        (["--fill=ones", "--output=/nonexistent/y.npy"], "/nonexistent/y.npy"),
        (["--fill=ones", "--output="], "--output takes"),
        (["--fill=ones", "--output=0=a.npy"], "does not store to slot 0"),
        (["--fill=ones", "--output=1=a.npy", "--output=b.npy"], "slot 1 twice"),
        (["--fill=ones", "--output=0=a.npy", "--output=1=a.npy"], "one thing twice"),
    ],
)
def test_bad_command_lines(build, add, args, part):
    bad(build.run("uop-run", add, *args), "uop-run: ", part)


def test_missing_file_and_no_file(build):
    bad(build.run("uop-run", "/nonexistent/a.uir"), "/nonexistent/a.uir")
    bad(build.run("uop-run"), "name a .uir or .mlir file")


@pytest.mark.parametrize(
    "array, parts",
    [
        (np.zeros(6, np.int32), ["slot 0 takes f32", "holds i32"]),
        (np.zeros(6, np.float64), ["f8"]),
        (np.zeros(5, np.float32), ["slot 0 takes 6 elements", "(5,)"]),
        (np.zeros((2, 4), np.float32), ["slot 0 takes 6 elements", "(2, 4)"]),
    ],
)
def test_npy_of_another_kind(build, add, tmp_path, array, parts):
    np.save(tmp_path / "x.npy", array)
    kept = tmp_path / "y.npy"
    kept.write_bytes(b"old")
    bad(build.run("uop-run", add, f"--input=0={tmp_path}/x.npy", f"--output={kept}"), "x.npy", *parts)
    assert kept.read_bytes() == b"old"


def test_damaged_npy(build, add, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(6, np.float32))
    whole = (tmp_path / "x.npy").read_bytes()
    for content in (b"", b"hello", whole[:9], whole[:-1], whole[:100]):
        (tmp_path / "x.npy").write_bytes(content)
        bad(build.run("uop-run", add, f"--input=0={tmp_path}/x.npy"), "x.npy")


@pytest.mark.parametrize(
    "text, parts",
    [
        ("%0 = buffer 2147483648\n", [":1:", "2147483648"]),
        ("%0 = buffer 4\n%1 = index %0, 4\n", [":2:", "INDEX 4 is out of bounds"]),
        ("%0 = buffer 4\n%1 = index %0, -1\n", [":2:", "INDEX -1 is out of bounds"]),
        (LOOPS.replace("range 4", "range 5"), [":4:", "(4 elements) is 4 at ridx0=4"]),
        (LOOPS.replace("%q = index %out, %r", "%k = add %r, 1\n%q = index %out, %k"), [":8:", "is 4 at ridx0=3"]),
        ("%0 = param : slot=0\n", ["PARAM 0"]),
        ("%0 = buffer 4\n%1 = buffer 5\n", ["slot 0"]),
        (LOOPS.replace("%e = end %s, %r\n", "").replace("sink %e", "sink %s"), ["never closed", "loops [0]"]),
        ("%0 = buffer 4\n%1 = wmma %0, %0, %0\n", [":2:", "WMMA"]),
        ("%s = alloc 600000\n%p = index %s, 0\n%t = store %p, 1.0\n%z = sink %t\n", ["ALLOC"]),
    ],
)
def test_programs_that_cannot_run(build, tmp_path, text, parts):
    file = write(tmp_path, text)
    bad(build.run("uop-run", file, "--fill=ones"), *parts)


def test_what_has_no_c_form_is_one_error(build, tmp_path):
    file = write(
        tmp_path,
        "%o = buffer 1 : slot=0\n%p = index %o, 0\n%s = store %p, 1\n%b = barrier %s\n%z = sink %b\n",
    )
    err = bad(build.run("uop-run", file), ":4:1: BARRIER has no C form")
    assert err.count("\n") == 1


def test_random_bytes(build, tmp_path):
    file = tmp_path / "noise.uir"
    file.write_bytes(np.random.default_rng(1).bytes(10_000_000))
    err = bad(build.run("uop-run", file), "noise.uir:")
    assert err.count("error:") == 1 and len(err) < 1000


def test_unwritable_cache_and_failing_compilers(build, add):
    bad(build.run("uop-run", add, "--fill=ones", UOPC_CACHE="/proc/none"), "/proc/none")
    bad(build.run("uop-run", add, "--fill=ones", CC="false"), "false")
    bad(build.run("uop-run", add, "--fill=ones", CC="/nonexistent/cc"), "/nonexistent/cc")
    bad(build.run("uop-run", add, "--fill=ones", CFLAGS="-fno-such-flag"), "-fno-such-flag")


def test_cflags_never_undo_the_meaning(build, tmp_path):
    """i32 wraps whatever CFLAGS say."""
    file = write(tmp_path, "%0 = buffer 1 : dtype=i32 slot=0\n%1 = add %0, 2147483647\n%2 = cmplt %1, %0\n")
    for flags in ("-O3", "-O3 -ftrapv", "-O2 -fno-wrapv", "-Ofast"):
        assert good(build.run("uop-run", file, "--fill=ones", CFLAGS=flags)) == "[true]\n"


# Size ------------------------------------------------------------------------


def test_two_to_the_33_virtual_elements(build, tmp_path):
    """A 2048-cube product lowers; one as thin runs."""
    text = """%a = buffer {n} : slot=0
%b = buffer {n} : slot=1
%x = reshape %a, (1, {m}, {k})
%y = reshape %b, ({m}, 1, {k})
%p = mul %x, %y
%r = reduce %p
"""
    file = write(tmp_path, text.format(n=2048 * 2048, m=2048, k=2048))
    assert "ridx2 < 2048" in good(build.run("uop-run", file, "--print=c"))
    # (1, 1, 70000, 70000): summed over more elements than i32 counts.
    file = write(tmp_path, """%0 = buffer 70000 : dtype=i32 slot=0
%1 = reshape %0, (70000, 1)
%2 = expand %1, (70000, 70000)
%3 = shrink %2, ((0, 70000), (69990, 70000))
%4 = reduce %3 : pop=2
""")
    assert good(build.run("uop-run", file, "--fill=ones")) == "700000\n"


def test_many_stores_and_a_deep_chain(build, tmp_path):
    count = 20000
    lines = [f"%b = buffer {count} : slot=0"]
    for i in range(count):
        lines += [f"%p{i} = index %b, {i}", f"%s{i} = store %p{i}, 1.0"]
    lines.append("%z = sink " + ", ".join(f"%s{i}" for i in range(count)))
    file = write(tmp_path, "\n".join(lines) + "\n")
    assert good(build.run("uop-run", file, "--print=c")).count(" = 1.0f;") == count
    chain = ["%0 = buffer 2 : slot=0"] + [f"%{i} = max %{i - 1}, %0" for i in range(1, 20000)]
    file = write(tmp_path, "\n".join(chain) + "\n")
    good(build.run("uop-run", file, "--print=c"))
    assert good(build.run("uop-run", file, "--fill=iota", "--backend=interpreter")) == "[0.0, 1.0]\n"
