"""An installed Uop as others meet it: find_package(Uop) in a project outside this
one, and the plugin in a stock mlir-opt."""

import subprocess

import pytest


@pytest.fixture(scope="module")
def prefix(build, tmp_path_factory):
    """The build, installed."""
    folder = tmp_path_factory.mktemp("install")
    subprocess.run(
        ["cmake", "--install", build.folder, "--prefix", folder],
        check=True,
        capture_output=True,
        timeout=300,
    )
    return folder


def test_headers_and_definitions_are_installed(prefix):
    for file in (
        "include/Uop/Dialect/Uop.h",
        "include/Uop/Dialect/UopOps.td",
        "include/Uop/Dialect/UopValueOps.h.inc",
        "include/Uop/Transforms/Passes.td",
        "include/Uop/Transforms/Passes.h.inc",
        "include/Uop/Transforms/Rules.pdll",
        "lib/cmake/Uop/UopConfigVersion.cmake",
        "lib/libUopPlugin.so",
        "bin/uop-opt",
    ):
        assert (prefix / file).is_file(), file
    targets = (prefix / "lib/cmake/Uop/UopTargets.cmake").read_text()
    for library in ("Dialect", "Graph", "Transforms", "Target", "Runtime"):
        assert f"add_library(Uop::Uop{library} STATIC IMPORTED)" in targets


def build_outside(build, prefix, source, folder):
    """Builds a project outside this one, against the install, in `folder`."""
    configure = [
        "cmake", "-G", "Ninja", "-S", source, "-B", folder,
        f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Debug",
    ]
    for name in (
        "CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "CMAKE_C_COMPILER_LAUNCHER",
        "CMAKE_CXX_COMPILER_LAUNCHER", "CMAKE_C_FLAGS", "CMAKE_CXX_FLAGS",
        "CMAKE_EXE_LINKER_FLAGS",
    ):
        if value := build.variable(name):
            configure.append(f"-D{name}={value}")
    for command in (configure, ["cmake", "--build", folder]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr


def mlir_tool(build, name):
    if "-fsanitize" in build.variable("CMAKE_CXX_FLAGS"):
        pytest.skip(f"a stock {name} lacks the sanitizers' runtime")
    return build.variable("MLIR_DIR").rsplit("/lib/", 1)[0] + "/bin/" + name


def test_outside_project(build, prefix, tmp_path):
    source = build.source / "test" / "Integration" / "outside-project"
    build_outside(build, prefix, source, tmp_path)
    counted = build.run(tmp_path / "count-uops", source / "rowsum.mlir")
    assert counted.status == 0, counted.err
    before, after = counted.out.splitlines()
    assert before == "rowsum: 4 UOps, 3 reached"
    uops, reached = (int(word) for word in after.split() if word.isdigit())
    assert uops == reached > 10


def test_installed_tool_runs_where_it_stands(build, prefix):
    program = build.source / "test" / "Integration" / "outside-project" / "rowsum.mlir"
    printed = build.run(prefix / "bin" / "uop-opt", program)
    assert printed.status == 0, printed.err
    assert "uop.reduce add 1" in printed.out


def test_plugin_in_a_stock_mlir_opt(build, prefix):
    mlir_opt = mlir_tool(build, "mlir-opt")
    load = f"--load-dialect-plugin={prefix}/lib/libUopPlugin.so"
    source = build.source / "test" / "Integration" / "outside-project"

    unique = build.run(
        mlir_opt, load, source / "rowsum.mlir",
        "--pass-pipeline=builtin.module(uop.program(uop-unique))",
    )
    assert unique.status == 0, unique.err
    assert "uop.reduce add 1" in unique.out
    assert "uop.const" not in unique.out, "what the root does not reach is gone"

    kernel = build.run(
        mlir_opt, load, source / "rowsum.mlir",
        "--pass-pipeline=builtin.module(uop-to-kernel)",
    )
    assert kernel.status == 0, kernel.err
    assert "uop.range 1" in kernel.out
    assert "uop.yield" in kernel.out

    wrong = build.run(
        mlir_opt, load,
        stdin="%0 = uop.const 1 : i32\n%1 = uop.recip %0 : i32\n",
    )
    assert wrong.status == 1
    assert "RECIP needs a float, got i32" in wrong.err


DOUBLED = "--pass-pipeline=builtin.module(uop.program(double-by-adding))"


def test_pass_plugin(build, prefix, tmp_path):
    """The template for passes outside of Uop, in uop-opt and a stock mlir-opt."""
    source = build.source / "examples" / "pass-plugin"
    build_outside(build, prefix, source, tmp_path)
    plugin = f"--load-pass-plugin={tmp_path}/libDoubleByAdding.so"
    program = tmp_path / "x.uir"
    program.write_text("%0 = range 8 : idx=0 kind=loop\n%1 = mul %0, 2\n")

    doubled = build.run(prefix / "bin" / "uop-opt", program, plugin, DOUBLED)
    assert doubled.status == 0, doubled.err
    assert "uop.add %1, %1" in doubled.out
    assert "uop.mul" not in doubled.out

    text = build.run(prefix / "bin" / "uop-translate", "--uir-to-mlir", program)
    assert text.status == 0, text.err
    stock = build.run(
        mlir_tool(build, "mlir-opt"),
        f"--load-dialect-plugin={prefix}/lib/libUopPlugin.so",  # it comes first
        plugin, DOUBLED,
        stdin=text.out,
    )
    assert stock.status == 0, stock.err
    assert "uop.add %1, %1" in stock.out


RULES = """#include "Uop/Transforms/Rules.pdll"
Pattern MulOne => replace op<uop.mul>(
  x: Value, op<uop.const>{value = attr<"1 : i32">}) with x;
"""


def test_rules_from_an_install(build, prefix, tmp_path):
    """A rule file finds the installed .td files, whatever loads it."""
    rules, program = tmp_path / "rules.pdll", tmp_path / "x.uir"
    rules.write_text(RULES)
    program.write_text("%0 = range 8 : idx=0 kind=loop\n%1 = mul %0, 1\n")
    applied = build.run(
        prefix / "bin" / "uop-opt", program,
        f"--uop-apply-rules={rules}", "--uop-rule-stats",
    )
    assert applied.status == 0, applied.err
    assert "uop.mul" not in applied.out
    assert f"1  rules/MulOne  at {program}:2:1" in applied.err

    text = build.run(prefix / "bin" / "uop-translate", "--uir-to-mlir", program)
    assert text.status == 0, text.err
    stock = build.run(
        mlir_tool(build, "mlir-opt"),
        f"--load-dialect-plugin={prefix}/lib/libUopPlugin.so",
        "--pass-pipeline=builtin.module(uop.program("
        f"uop-apply-rules{{file={rules} rule-stats trace-rules}}))",
        stdin=text.out,
    )
    assert stock.status == 0, stock.err
    assert "uop.mul" not in stock.out
    assert "1  rules/MulOne" in stock.err
    assert "# before\n" in stock.err
    assert "= uop.const 8 : i32\n" in stock.err

    compiled = build.run(
        mlir_tool(build, "mlir-pdll"), "-x=mlir", "-I", prefix / "include",
        "-I", build.variable("MLIR_DIR").rsplit("/lib/", 1)[0] + "/include", rules,
    )
    assert compiled.status == 0, compiled.err
    assert "pdl.pattern @MulOne" in compiled.out
