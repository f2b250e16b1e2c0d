"""lit configuration of the project's text tests: every folder here but python/.

The tools come from the build folder, FileCheck and its kin from LLVM.
"""

import os

import lit.formats
from lit.llvm import llvm_config

config.name = "Uop"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".uir", ".pdll", ".test"]
config.excludes = ["Inputs", "python", "Conformance", "Integration"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.uop_obj_root, "test")

# One cache folder for all tests: they never touch the user's own.
config.environment["UOPC_CACHE"] = os.path.join(config.test_exec_root, "cache")
for name in ("CC", "CFLAGS", "DEBUG"):
    config.environment.pop(name, None)
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "CUDA_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.add_tool_substitutions(
    [
        "FileCheck", "not", "count", "split-file", "mlir-opt", "mlir-translate",
        "mlir-pdll",
    ],
    [config.llvm_tools_dir],
)
llvm_config.add_tool_substitutions(
    [
        name
        for name in ("uop-opt", "uop-translate", "uop-run")
        if os.path.exists(os.path.join(config.uop_tools_dir, name))
    ],
    [config.uop_tools_dir],
)
config.substitutions.append(("%python", config.python_executable))
config.substitutions.append(
    ("%uop_plugin", os.path.join(config.uop_obj_root, "lib", "libUopPlugin.so"))
)
# What rule files include.
config.substitutions.append(
    ("%uop_include", os.path.join(config.test_source_root, "..", "include"))
)
config.substitutions.append(
    ("%mlir_include", os.path.join(config.llvm_tools_dir, "..", "include"))
)
