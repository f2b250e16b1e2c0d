#!/usr/bin/env python3
"""Runs the benchmarks of a build folder and prints one table.

usage: run.py BUILD_DIR

The C++ benchmarks print a line per figure: name, value, unit, bound, separated
by tabs. To these come the latencies of whole `uop-run` processes, cold (an empty
kernel cache) and warm. A bound is "at most", or "at least" with a leading `>`.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

SMALL = """%0 = buffer 12 : dtype=f32 slot=0
%1 = reshape %0, (3, 4)
%2 = reduce %1 : op=add pop=1
"""


def read_figures(tool, *args, cache=None):
    env = {**os.environ, "UOPC_CACHE": cache} if cache else None
    out = subprocess.run([tool, *args], check=True, capture_output=True, text=True, env=env).stdout
    for line in out.splitlines():
        name, value, unit, bound = line.split("\t")
        yield name, float(value), unit, bound


def run_ms(command, env):
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=env)
    return (time.perf_counter() - start) * 1e3


def latencies(uop_run, runs=15):
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "rowsum.uir")
        with open(program, "w") as file:
            file.write(SMALL)
        command = [uop_run, program, "--fill=iota"]
        cold, warm = [], []
        for i in range(runs):
            env = {**os.environ, "UOPC_CACHE": os.path.join(folder, f"cache{i}")}
            cold.append(run_ms(command, env))
            warm.append(run_ms(command, env))
    yield "`.uir` text to first result, cold (median)", statistics.median(cold), "ms", "120"
    yield "`.uir` text to first result, warm (median)", statistics.median(warm), "ms", "60"


def plans(tool, runs=9):
    """What is cold is so in a process and a kernel cache of its own."""
    with tempfile.TemporaryDirectory() as folder:
        caches = (os.path.join(folder, str(i)) for i in range(runs + 1))
        yield from read_figures(tool, cache=next(caches))
        [cold] = zip(*(read_figures(tool, "cold", cache=cache) for cache in caches))
        name, _, unit, bound = cold[0]
        yield f"{name} (median)", statistics.median(value for _, value, *_ in cold), unit, bound


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tools = os.path.join(sys.argv[1], "bin")
    figures = []
    for name in ("uop-bench-graph", "uop-bench-linearize", "uop-bench-simplify"):
        figures += read_figures(os.path.join(tools, name))
    figures += plans(os.path.join(tools, "uop-bench-plan"))
    figures += latencies(os.path.join(tools, "uop-run"))
    width = max(len(name) for name, *_ in figures)
    print(f"{'':{width}}  {'measured':>12}        wanted")
    for name, value, unit, bound in figures:
        if not bound:
            wanted, verdict = "", ""
        elif bound.startswith(">"):
            wanted, verdict = f">= {bound[1:]} {unit}", "ok" if value >= float(bound[1:]) else "MISSED"
        else:
            wanted, verdict = f"<= {bound} {unit}", "ok" if value <= float(bound) else "MISSED"
        print(f"{name:{width}}  {value:12.3f} {unit:<5}  {wanted:<12} {verdict}")


if __name__ == "__main__":
    main()
