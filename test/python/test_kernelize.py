"""Programs of many kernels, run by uop-run and by numpy."""

import numpy as np


def run(build, folder, text, inputs, **environment):
    """The value of a program that `--kernelize` cuts, over these inputs."""
    program = folder / "program.uir"
    program.write_text(text)
    flags = ["--kernelize", f"--output={folder / 'out.npy'}"]
    for slot, array in enumerate(inputs):
        np.save(folder / f"in{slot}.npy", array)
        flags.append(f"--input={slot}={folder / f'in{slot}.npy'}")
    done = build.run("uop-run", *flags, program, **environment)
    assert done.status == 0, done.err
    return np.load(folder / "out.npy"), done.err


def random(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def rows(value, shape):
    """Statements that repeat a value of each row along the last axis."""
    narrow = shape[:-1] + (1,)
    return (f"%{value}1 = reshape %{value}, {narrow}\n"
            f"%{value}2 = expand %{value}1, {shape}\n")


def test_attention(build, tmp_path):
    heads, length, width = 3, 20, 16
    all_pairs = (heads, length, length, width)
    scores = (heads, length, length)
    wide = (heads, length, width, length)
    text = (f"%q0 = buffer {heads * length * width} : dtype=f32 slot=0\n"
            f"%k0 = buffer {heads * length * width} : dtype=f32 slot=1\n"
            f"%v0 = buffer {heads * length * width} : dtype=f32 slot=2\n"
            f"%q = reshape %q0, ({heads}, {length}, 1, {width})\n"
            f"%k = reshape %k0, ({heads}, 1, {length}, {width})\n"
            f"%q1 = expand %q, {all_pairs}\n%k1 = expand %k, {all_pairs}\n"
            f"%qk = mul %q1, %k1\n%s0 = reduce %qk : op=add pop=1\n"
            f"%s = mul %s0, 0.25\n%m = reduce %s : op=max pop=1\n"
            + rows("m", scores) +
            f"%n = mul %m2, -1.0\n%d = add %s, %n\n%e0 = mul %d, 1.442695\n"
            f"%e = exp2 %e0\n%l = reduce %e : op=add pop=1\n"
            + rows("l", scores) +
            f"%r = recip %l2\n%p = mul %e, %r\n"
            f"%p1 = reshape %p, ({heads}, {length}, 1, {length})\n"
            f"%p2 = expand %p1, {wide}\n"
            f"%v1 = reshape %v0, ({heads}, {length}, {width})\n"
            f"%v2 = permute %v1, (0, 2, 1)\n"
            f"%v3 = reshape %v2, ({heads}, 1, {width}, {length})\n"
            f"%v4 = expand %v3, {wide}\n%pv = mul %p2, %v4\n"
            f"%o = reduce %pv : op=add pop=1\n")
    q, k, v = (random(3, heads, length, width)[i] for i in range(3))
    have, err = run(build, tmp_path, text, [a.ravel() for a in (q, k, v)], DEBUG="1")
    weights = np.exp(q @ k.transpose(0, 2, 1) * 0.25)
    weights /= weights.sum(-1, keepdims=True)
    np.testing.assert_allclose(have, weights @ v, atol=1e-4)
    assert "realize: 3 kernels" in err


def test_row_sums_and_their_sum(build, tmp_path):
    text = ("%0 = buffer 768 : dtype=f32 slot=0\n%x = reshape %0, (3, 256)\n"
            "%s = reduce %x : op=add pop=1\n%t = reduce %s : op=add pop=1\n"
            "%r = add %s, %t\n")
    x = random(3, 256)
    have, _ = run(build, tmp_path, text, [x.ravel()])
    np.testing.assert_allclose(have, x.sum(1) + x.sum(1).sum(), atol=1e-3)


def test_two_reductions_over_one_range(build, tmp_path):
    # The maximum and the sum of a row, accumulated in one loop.
    text = """%out = buffer 4 : dtype=f32 slot=1
%x = buffer 12 : dtype=f32 slot=0
%i = range 4 : idx=0 kind=loop
%k = range 3 : idx=1 kind=reduce
%m = alloc 1 : dtype=f32 slot=0
%s = alloc 1 : dtype=f32 slot=1
%mi = after %m, %i
%si = after %s, %i
%m0 = index %mi, 0
%s0 = index %si, 0
%mz = store %m0, -inf
%sz = store %s0, 0.0
%row = mul %i, 3
%at = add %row, %k
%p = index %x, %at
%v = load %p
%mk = after %m, %mz, %k
%sk = after %s, %sz, %k
%mp = index %mk, 0
%sp = index %sk, 0
%mv = load %mp
%sv = load %sp
%mn = max %mv, %v
%sn = add %sv, %v
%ms = store %mp, %mn
%ss = store %sp, %sn
%both = sink %ms, %ss
%e = end %both, %k
%ma = after %m, %e
%sa = after %s, %e
%mq = index %ma, 0
%sq = index %sa, 0
%ml = load %mq
%sl = load %sq
%sum = add %ml, %sl
%o = index %out, %i
%w = store %o, %sum
%f = end %w, %i
%root = sink %f
"""
    x = random(4, 3)
    program = tmp_path / "program.uir"
    program.write_text(text)
    np.save(tmp_path / "x.npy", x.ravel())
    for backend in ("c", "interpreter"):
        done = build.run("uop-run", "--kernelize", f"--backend={backend}", program,
                         f"--input=0={tmp_path / 'x.npy'}",
                         f"--output=1={tmp_path / 'out.npy'}")
        assert done.status == 0, done.err
        np.testing.assert_allclose(np.load(tmp_path / "out.npy"),
                                   x.max(1) + x.sum(1), atol=1e-5)


def test_a_stack_of_thousands(build, tmp_path):
    count = 6131
    text = "".join(f"%b{i} = buffer 784 : dtype=f32 slot={i % 100}\n"
                   f"%x{i} = reshape %b{i}, (28, 28)\n" for i in range(100))
    text += "%r = stack " + ", ".join(f"%x{i % 100}" for i in range(count)) + "\n"
    inputs = random(100, 784)
    have, _ = run(build, tmp_path, text, inputs)
    np.testing.assert_array_equal(
        have, inputs[np.arange(count) % 100].reshape(count, 28, 28))


def test_a_stack_of_thousands_of_buffers(build, tmp_path):
    count = 6131
    text = "".join(f"%b{i} = buffer 784 : dtype=f32 slot={i}\n"
                   f"%x{i} = reshape %b{i}, (28, 28)\n" for i in range(count))
    text += "%r = stack " + ", ".join(f"%x{i}" for i in range(count)) + "\n"
    program = tmp_path / "program.uir"
    program.write_text(text)
    done = build.run("uop-run", "--kernelize", "--fill=iota", program,
                     f"--output={tmp_path / 'out.npy'}")
    assert done.status == 0, done.err
    want = np.broadcast_to(np.arange(784, dtype=np.float32).reshape(28, 28),
                           (count, 28, 28))
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), want)


def test_a_deep_chain(build, tmp_path):
    lines, want = ["%0 = buffer 1024 : dtype=f32 slot=0"], random(1024)
    x = want
    for i in range(10000):
        op, number = ("mul", 0.75) if i % 2 else ("max", -0.5)
        lines.append(f"%{i + 1} = {op} %{i}, {number}")
        want = want * np.float32(0.75) if i % 2 else np.maximum(want, np.float32(-0.5))
    have, _ = run(build, tmp_path, "\n".join(lines) + "\n", [x])
    np.testing.assert_allclose(have, want, atol=1e-6)


def test_in_place_steps(build, tmp_path):
    # p -= 0.1 * g for two parameters, and a result that wants the old and the new.
    text = """%p = buffer 64 : dtype=f32 slot=0
%g = buffer 64 : dtype=f32 slot=1
%step = mul %g, -0.1
%new = add %p, %step
%s = store %p, %new
%after = after %p, %s
%twice = mul %after, 2.0
%both = add %twice, %p
%root = sink %both, %s
"""
    program = tmp_path / "program.uir"
    program.write_text(text)
    p, g = random(2, 64)
    np.save(tmp_path / "p.npy", p)
    np.save(tmp_path / "g.npy", g)
    for backend in ("c", "interpreter"):
        done = build.run("uop-run", "--kernelize", f"--backend={backend}", program,
                         f"--input=0={tmp_path / 'p.npy'}",
                         f"--input=1={tmp_path / 'g.npy'}",
                         f"--output=0={tmp_path / 'p2.npy'}",
                         f"--output=out0={tmp_path / 'both.npy'}")
        assert done.status == 0, done.err
        new = p - np.float32(0.1) * g
        np.testing.assert_allclose(np.load(tmp_path / "p2.npy"), new, atol=1e-6)
        np.testing.assert_allclose(np.load(tmp_path / "both.npy"), 2 * new + p,
                                   atol=1e-6)
