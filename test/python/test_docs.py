"""The documentation that is generated from the .td files: everything has a summary,
a description and an example, and the examples of the ops are programs."""

import json
import math
import re
import subprocess

import pytest


def tablegen(build, program, file, *args):
    """What one of LLVM's tablegen programs makes of a .td file."""
    mlir = build.variable("MLIR_DIR").rsplit("/lib/", 1)[0]
    done = subprocess.run(
        [
            f"{mlir}/bin/{program}", *args, f"-I{mlir}/include",
            f"-I{build.source}/include", f"{build.source}/include/{file}",
        ],
        check=True, capture_output=True, text=True, timeout=120,
    )
    return done.stdout


def read_records(build, file):
    """The records of a .td file, as JSON."""
    return json.loads(tablegen(build, "llvm-tblgen", file, "--dump-json"))


@pytest.fixture(scope="module")
def ops(build):
    return read_records(build, "Uop/Dialect/UopOps.td")


@pytest.fixture(scope="module")
def passes(build):
    return read_records(build, "Uop/Transforms/Passes.td")


def get_examples(record):
    """The texts of the mlir code blocks of a description."""
    return re.findall(r"```mlir\n(.*?)```", record["description"], re.DOTALL)


def check(records, kind, own):
    names = [n for n in records["!instanceof"][kind] if own(records[n])]
    assert names, f"no {kind} found"
    lacking = []
    for name in names:
        record = records[name]
        if not (record["summary"] or "").strip():
            lacking.append(f"{name}: no summary")
        elif record["summary"].strip().endswith("."):
            lacking.append(f"{name}: a summary is no sentence")
        if not (record["description"] or "").strip():
            lacking.append(f"{name}: no description")
        elif not get_examples(record):
            lacking.append(f"{name}: no mlir example")
    assert not lacking, "\n".join(lacking)
    return names


def is_uop(record):
    dialect = record.get("opDialect") or record.get("dialect")
    return dialect and dialect["def"] == "Uop_Dialect"


def test_every_op_is_documented(ops):
    assert len(check(ops, "Op", is_uop)) >= 37


def test_every_type_and_attribute_is_documented(ops):
    check(ops, "TypeDef", is_uop)
    check(ops, "AttrDef", is_uop)


def test_every_pass_is_documented(passes):
    check(passes, "PassBase", lambda record: True)


def test_every_option_of_a_pass_is_documented(passes):
    for name in passes["!instanceof"].get("Option", []):
        assert passes[name]["description"].strip(), name


def test_the_documents_have_a_section_for_everything(build, ops, passes):
    dialect = tablegen(build, "mlir-tblgen", "Uop/Dialect/UopOps.td",
                       "-gen-dialect-doc", "-dialect=uop")
    for name in ops["!instanceof"]["Op"]:
        if is_uop(ops[name]):
            assert f"### `uop.{ops[name]['opName']}`" in dialect
    text = tablegen(build, "mlir-tblgen", "Uop/Transforms/Passes.td", "-gen-pass-doc")
    for name in passes["!instanceof"]["PassBase"]:
        assert f"### `-{passes[name]['argument']}`" in text


def split_types(text):
    """The types after an op's colon: commas inside <> do not split."""
    return [t.strip() for t in re.findall(r"(?:[^,<]|<[^>]*>)+", text)]


def define(name, type, op, number):
    """A definition of an operand that the example leaves out."""
    if op == "uop.end" and type == "i32":
        return [f"%end_{name[1:]} = uop.const 4 : i32",
                f"{name} = uop.range {number} loop %end_{name[1:]} : i32"]
    return [f"{name} = ub.poison : {type}"]


def complete(example):
    """An op's example with what it uses defined before it."""
    lines, known = [], set()
    for line in example.splitlines():
        code = line.split("//")[0].rstrip()
        match = re.match(r"\s*(?:(%\w+) = )?(uop\.\w+)(.*)$", code)
        if match and match.group(2) not in ("uop.program", "uop.yield"):
            result, op, rest = match.groups()
            sources = re.findall(r"%\w+", rest)
            types = split_types(rest.rsplit(" : ", 1)[-1].split("->")[0])
            if len(types) == 1:
                types *= len(sources)
            for i, (source, type) in enumerate(zip(sources, types)):
                if source not in known:
                    lines += define(source, type, op, i)
                    known.add(source)
            if result:
                known.add(result)
        lines.append(code)
    return "\n".join(lines)


def make_kernel(name, types):
    """A program that takes buffers of these types."""
    lines = []
    for slot, type in enumerate(types):
        sizes, space = re.match(r"!uop.mem<(.*), (\w+)>", type).groups()
        *shape, element = sizes.split("x")
        lines.append(f"%{slot} = uop.buffer {slot} : "
                     f"!uop.mem<{math.prod(map(int, shape))}x{element}, {space}>")
    return "\n".join([f"uop.program {name} {{", *lines,
                      f"uop.yield %0 : {lines[0].split(' : ')[1]}", "}"])


def complete_plan(example):
    """The example of an op of plans, in a plan that has the memory and the kernels
    that it names."""
    text = re.sub(r"\s*\n\s+(?=[:!])", " ", example)
    kernels, memory, known = {}, [], set(re.findall(r"(%\w+) = ", text))
    for line in text.splitlines():
        used = re.findall(r"%\w+", line.split(" = ")[-1].split(":")[0])
        types = split_types(line.split(" : ")[-1].split(" to ")[0])
        if launch := re.match(r"\s*uop.launch (@\w+)", line):
            kernels[launch.group(1)] = make_kernel(launch.group(1), types)
        for source, type in zip(used, types):
            if source not in known:
                known.add(source)
                memory.append(f"{source} = uop.output {len(memory)} : {type}")
    if "uop.plan" not in text:
        text = "\n".join(["uop.plan @example arena 256 {", *memory, text, "}"])
    return "\n".join([*kernels.values(), text])


def test_the_examples_of_the_ops_are_programs(build, ops):
    programs = []
    for name in ops["!instanceof"]["Op"]:
        if not is_uop(ops[name]):
            continue
        for example in get_examples(ops[name]):
            if "Uop_PlanOpBase" in ops[name]["!superclasses"]:
                programs.append(complete_plan(example))
                continue
            if "uop.program" not in example and "uop.yield" in example:
                root, type = re.search(r"yield (%\w+) : (\S+)", example).groups()
                example = (f"uop.program @example {{\n{root} = uop.param 0 : {type}\n"
                           f"{example}}}\n")
            programs.append(complete(example))
    separator = "\n// -----\n"
    done = build.run("uop-opt", "--split-input-file", stdin=separator.join(programs))
    assert done.status == 0, done.err
    assert len(programs) >= 37


def test_the_example_of_the_dialect_is_a_program(build, ops):
    (example,) = get_examples(ops["Uop_Dialect"])
    done = build.run("uop-opt", stdin=example)
    assert done.status == 0, done.err
