"""Random tensor programs, run by uop-run and by numpy.

A program is grown statement by statement beside its value in numpy. A value is
exact when every op on its way rounds as IEEE says and in the order of the loops;
those must agree to the bit under --strict. The others, and every program under
the default flags, agree within a tolerance.
"""

import dataclasses
from random import Random

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

DTYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "bool": np.bool_}
NAMES = {np.dtype(type): name for name, type in DTYPES.items()}
TOLERANCE = {"f32": 1e-4, "f16": 2e-2, "i32": 0, "bool": 0}
LARGEST = 1e4


@dataclasses.dataclass
class Value:
    """A statement, what numpy says it is, and what that is worth."""

    name: str
    array: np.ndarray
    exact: bool = True
    # Whether a comparison or a truncation of a computed float is on the way: under
    # the default flags it may fall to the other side.
    brittle: bool = False
    slots: frozenset = frozenset()

    @property
    def dtype(self):
        return NAMES[self.array.dtype]

    @property
    def is_float(self):
        return self.dtype in ("f32", "f16")


class Program:
    """Statements, the values they name, and the contents of the buffers."""

    def __init__(self):
        self.lines, self.values, self.buffers = [], [], []

    def add(self, text, array, sources, exact=True, brittle=False):
        """Appends a statement, unless its value is not a tame one."""
        array = np.asarray(array)
        if array.dtype.kind == "f":
            large = ~(np.abs(array.astype(np.float64)) <= LARGEST)
            if large.any():
                return None
        if array.size > 4096 or array.ndim > 4:
            return None
        value = Value(
            f"%{len(self.lines)}", array,
            exact and all(s.exact for s in sources),
            brittle or any(s.brittle for s in sources),
            frozenset().union(*(s.slots for s in sources)),
        )
        self.lines.append(f"{value.name} = {text}")
        self.values.append(value)
        return value

    def add_buffer(self, dtype, shape, random):
        size = int(np.prod(shape))
        if dtype == "i32":
            data = random.integers(-9, 10, size)
        elif dtype == "bool":
            data = random.integers(0, 2, size)
        else:
            data = random.normal(size=size).round(2)
        data = data.astype(DTYPES[dtype])
        slot = len(self.buffers)
        self.buffers.append(data)
        name = f"%{len(self.lines)}"
        self.lines.append(f"{name} = buffer {size} : dtype={dtype} slot={slot}")
        flat = Value(name, data, slots=frozenset([slot]))
        return self.add(f"reshape {name}, {format_tuple(shape)}",
                        data.reshape(shape), [flat])


def format_tuple(items):
    items = [format_tuple(i) if isinstance(i, tuple) else str(i) for i in items]
    return "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"


def fold(array, pop, combine, start):
    """A reduction of the last axes, element after element."""
    keep = array.ndim - pop
    flat = array.reshape(array.shape[:keep] + (int(np.prod(array.shape[keep:])),))
    result = np.full(flat.shape[:-1], start, array.dtype)
    for i in range(flat.shape[-1]):
        result = combine(result, flat[..., i])
    return result


def larger(a, b):
    return np.where(a > b, a, b)


def plus(a, b):
    return a + b if a.dtype != np.bool_ else a | b


def get_least(dtype):
    return {"i32": -(2**31), "bool": False}.get(dtype, -np.inf)


UNARY = {
    "exp2": lambda x: np.exp2(x), "sin": lambda x: np.sin(x),
    "sqrt": lambda x: np.sqrt(x), "log2": lambda x: np.log2(x),
    "recip": lambda x: x.dtype.type(1) / x,
}


def add_unary(random, program, x):
    if not x.is_float:
        return
    name = random.choice(sorted(UNARY))
    wide = x.array.astype(np.float32)
    program.add(f"{name} {x.name}", UNARY[name](wide).astype(x.array.dtype), [x],
                exact=name in ("sqrt", "recip"))


def add_binary(random, program, x):
    """Two values of one dtype whose shapes broadcast, or a value and a literal."""
    fits = [v for v in program.values if v.dtype == x.dtype and broadcasts(v, x)]
    y = random.choice(fits)
    name = random.choice(
        ["add", "mul", "max", "cmplt", "cmpne"]
        + (["floordiv", "floormod"] * 2 if x.dtype == "i32" else []))
    a, b = x.array, y.array
    text = y.name
    sources = [x, y]
    if x.dtype != "bool" and random.random() < 0.4:
        literal = random.randint(-7, 7)
        text = str(literal) if x.dtype == "i32" else f"{literal}.5"
        b = x.array.dtype.type(float(text) if x.is_float else literal)
        sources = [x]
    if name in ("cmplt", "cmpne") and not all(s.exact for s in sources):
        return
    if name in ("floordiv", "floormod"):
        divisor = np.where(b == 0, 1, b).astype(np.int32)
        divide = np.floor_divide if name == "floordiv" else np.mod
        result = np.where(b == 0, 0, divide(a, divisor)).astype(np.int32)
    else:
        result = {
            "add": plus, "mul": lambda a, b: a * b, "max": larger,
            "cmplt": lambda a, b: a < b if x.dtype != "bool" else ~a & b,
            "cmpne": lambda a, b: a != b,
        }[name](a, b)
    program.add(f"{name} {x.name}, {text}", result, sources,
                brittle=x.is_float and name in ("cmplt", "cmpne"))


def broadcasts(x, y):
    try:
        np.broadcast_shapes(x.array.shape, y.array.shape)
    except ValueError:
        return False
    return True


def add_where(random, program, x):
    conditions = [v for v in program.values
                  if v.dtype == "bool" and v.array.shape == x.array.shape]
    if not conditions:
        return
    c = random.choice(conditions)
    y = random.choice([v for v in program.values if v.dtype == x.dtype
                       and v.array.shape == x.array.shape])
    program.add(f"where {c.name}, {x.name}, {y.name}",
                np.where(c.array, x.array, y.array), [c, x, y])


def add_cast(random, program, x):
    to = random.choice(sorted(DTYPES))
    if x.is_float and to in ("i32", "bool") and not x.exact:
        return
    program.add(f"cast {x.name} : dtype={to}", x.array.astype(DTYPES[to]), [x],
                brittle=x.is_float and to in ("i32", "bool"))


def add_movement(random, program, x):
    shape = x.array.shape
    rank = len(shape)
    name = random.choice(["reshape", "permute", "expand", "shrink"])
    if name == "reshape":
        size = x.array.size
        splits = [(size,), (1, size)]
        splits += [(n, size // n) for n in (2, 3, 4, 6) if size and size % n == 0]
        splits += [(2, size // 4, 2)] if size and size % 4 == 0 else []
        target = random.choice(splits)
        result = x.array.reshape(target)
    elif name == "permute":
        target = tuple(random.sample(range(rank), rank))
        result = x.array.transpose(target)
    elif name == "expand":
        target = tuple(random.randint(0, 4) if n == 1 else n for n in shape)
        result = np.broadcast_to(x.array, target)
    else:
        target, cut = (), ()
        for n in shape:
            begin = random.randint(0, n)
            end = random.randint(begin, n)
            target, cut = target + ((begin, end),), cut + (slice(begin, end),)
        result = x.array[cut]
    program.add(f"{name} {x.name}, {format_tuple(target)}", result, [x])


def add_reduce(random, program, x):
    pop = random.randint(0, x.array.ndim)
    name = random.choice(["add", "max"])
    combine, start = (plus, 0) if name == "add" else (larger, get_least(x.dtype))
    result = fold(x.array, pop, combine, start) if pop else x.array
    program.add(f"reduce {x.name} : op={name} pop={pop}", result, [x])


def add_stack(random, program, x):
    same = [v for v in program.values
            if v.dtype == x.dtype and v.array.shape == x.array.shape]
    parts = [x] + random.choices(same, k=random.randint(0, 2))
    program.add("stack " + ", ".join(p.name for p in parts),
                np.stack([p.array for p in parts]), parts)


def add_index(random, program, x):
    if not x.array.ndim or not x.array.shape[0]:
        return
    i = random.randint(0, x.array.shape[0] - 1)
    program.add(f"index {x.name}, {i}", x.array[i], [x])


STEPS = [add_unary, add_unary, *[add_binary] * 4, add_where, add_cast, add_movement,
         add_movement, add_reduce, add_stack, add_index]


@st.composite
def programs(draw):
    """The first statements of an endless random program, so that one that fails
    shrinks to its shortest start that does."""
    random = Random(draw(st.integers(0, 2**32)))
    data = np.random.default_rng(random.randint(0, 2**32))
    program = Program()
    for _ in range(random.randint(2, 4)):
        shape = [random.randint(1, 6) for _ in range(random.randint(1, 3))]
        shape = random.choice([v.array.shape for v in program.values] + [shape])
        program.add_buffer(random.choice(["f32", "f32", "f16", "i32", "i32", "bool"]),
                           tuple(shape), data)
    with np.errstate(all="ignore"):
        for _ in range(draw(st.integers(1, 14))):
            x = random.choice(program.values[-4:])
            random.choice(STEPS)(random, program, x)
    return program


def run(build, folder, program, *flags):
    """What uop-run makes of the last value of a program."""
    result = program.values[-1]
    (folder / "p.uir").write_text("\n".join(program.lines) + "\n")
    inputs = []
    for slot in sorted(result.slots):
        np.save(folder / f"{slot}.npy", program.buffers[slot])
        inputs.append(f"--input={slot}={folder}/{slot}.npy")
    done = build.run("uop-run", folder / "p.uir", *inputs,
                     f"--output={folder}/out.npy", *flags)
    assert done.status == 0, done.err
    return np.load(folder / "out.npy")


def check(build, folder, program):
    want = program.values[-1]
    tolerance = TOLERANCE[want.dtype]
    for flags in ("--strict",), ():
        if not flags and want.brittle:
            continue
        have = run(build, folder, program, *flags)
        assert have.dtype == want.array.dtype
        assert have.shape == want.array.shape
        if flags and want.exact:
            np.testing.assert_array_equal(have, want.array)
        else:
            np.testing.assert_allclose(
                have.astype(np.float64), want.array.astype(np.float64),
                rtol=tolerance, atol=tolerance)


# Derandomised, so that a run today tests what a run tomorrow does.
FEW = settings(max_examples=60, deadline=None, derandomize=True, database=None,
               suppress_health_check=list(HealthCheck))


def test_programs_agree_with_numpy(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("numpy")

    @FEW
    @given(programs())
    def agree(program):
        check(build, folder, program)

    agree()


def test_interpreter_agrees_with_numpy(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("interpreter")

    @settings(FEW, max_examples=30)
    @given(programs())
    def agree(program):
        want = program.values[-1]
        have = run(build, folder, program, "--backend=interpreter")
        if want.exact:
            np.testing.assert_array_equal(have, want.array)
        else:
            np.testing.assert_allclose(
                have.astype(np.float64), want.array.astype(np.float64),
                rtol=TOLERANCE[want.dtype], atol=TOLERANCE[want.dtype])

    agree()
