#!/usr/bin/env python3
"""Run the programs of examples/ on real data and compare them with numpy.

    make demo        or        .venv/bin/python scripts/demo.py

Each program goes through uop-run, from .uir text to compiled kernels. Inputs,
outputs and a picture are left in build/demo. Exit status 1 if a tool is
missing or fails, or if a result is not numpy's within its tolerance.
"""

import argparse
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
sys.path.insert(0, str(EXAMPLES / "digits"))

try:
    import numpy as np
    from PIL import Image
    from sklearn.datasets import load_digits, load_sample_image

    from train import held_out
except ImportError as missing:
    sys.exit(f"demo: {missing}; run scripts/setup.sh, then .venv/bin/python "
             "scripts/demo.py")

WIDTH = 80
SOBEL = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.float32)


class DemoError(Exception):
    """What stopped the demo, in words for its reader."""


@dataclass
class Example:
    """A program, its data, and what numpy computes from them."""

    program: str  # below examples/
    what: str
    inputs: list  # by slot, each of the dtype that its buffer has
    expected: np.ndarray  # computed in float64; its shape is the output's
    tolerance: float  # largest absolute error that float32 sums explain


@dataclass
class Result:
    output: np.ndarray
    error: float  # largest absolute difference from numpy
    timing: list  # the lines in which uop-run reports times


def matrix_product():
    rng = np.random.default_rng(256)
    a, b = rng.standard_normal((2, 256, 256)).astype(np.float32)
    return Example(
        "gemm_256x256.uir",
        "product of two 256x256 matrices",
        [a, b],
        a.astype(np.float64) @ b,
        2e-4,
    )


def convolution():
    # ITU-R BT.601 luma of a photograph, in [0, 1].
    photograph = load_sample_image("china.jpg") / 255
    grey = (photograph @ [0.299, 0.587, 0.114]).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(
        grey.astype(np.float64), SOBEL.shape
    )
    return Example(
        "conv2d.uir",
        "3x3 Sobel filter of a 427x640 photograph",
        [grey, SOBEL],
        np.einsum("yxrs,rs->yx", windows, SOBEL),
        5e-6,
    )


def digits_network(digits):
    weights = [
        np.load(EXAMPLES / "digits" / f"{name}.npy")
        for name in ("w1", "b1", "w2", "b2")
    ]
    w1, b1, w2, b2 = (w.astype(np.float64) for w in weights)
    hidden = np.maximum(digits.data / 16 @ w1 + b1, 0)
    return Example(
        "digits/mlp.uir",
        "two-layer network over 1,797 digits",
        [digits.data.astype(np.float32), *weights],
        hidden @ w2 + b2,
        1e-4,
    )


def run(example, tool, folder):
    """Run one example; its files go to a folder of its own below `folder`."""
    folder = folder / Path(example.program).with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    command = [str(tool), str(EXAMPLES / example.program), "--time"]
    for slot, value in enumerate(example.inputs):
        path = folder / f"slot{slot}.npy"
        np.save(path, value.ravel())
        command += ["--input", f"{slot}={path}"]
    output_path = folder / "output.npy"
    output_path.unlink(missing_ok=True)
    command += ["--output", str(output_path)]

    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
    except OSError as error:
        raise DemoError(f"{tool} cannot be run: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise DemoError(f"{example.program}: no result in 300 s") from error
    if done.returncode != 0:
        raise DemoError(
            f"{example.program}: uop-run ended with status {done.returncode}\n"
            f"{done.stderr.strip() or '(it said nothing)'}"
        )
    if not output_path.exists():
        raise DemoError(f"{example.program}: uop-run wrote no {output_path}")

    output = np.load(output_path)
    if output.shape != example.expected.shape or output.dtype != np.float32:
        raise DemoError(
            f"{example.program}: the output is {output.dtype} {output.shape}, "
            f"not float32 {example.expected.shape}"
        )
    timing = [
        line.strip()
        for line in (done.stdout + "\n" + done.stderr).splitlines()
        if " ms" in line
    ]
    return Result(output, np.abs(output - example.expected).max(), timing)


def show(example, result):
    """Print the rows of one example; say whether it is within tolerance."""
    good = result.error <= example.tolerance  # false for nan
    verdict = "ok" if good else "WRONG"
    print(
        f"{example.program:18}{example.what:43}"
        f"{result.error:9.1e}{verdict:>8}"
    )
    for line in result.timing:
        print(f"    {line}"[:WIDTH])
    return good


def share(right):
    return f"{right.mean():.2%} ({right.sum():,} of {len(right):,})"


def show_digits(digits, logits):
    right = logits.argmax(axis=1) == digits.target
    print("Digits classified correctly")
    print(f"    all of them                {share(right)}")
    unseen = right[held_out(len(right))]
    print(f"    never seen in training     {share(unseen)}")
    wrong = np.flatnonzero(~right)[:3]
    if len(wrong):
        print("    first misread              " + ", ".join(
            f"{digits.target[i]} as {logits[i].argmax()}" for i in wrong
        ))


def write_picture(path, before, gradient):
    """The photograph and the size of its gradient, side by side."""
    after = np.zeros_like(before)
    after[1:-1, 1:-1] = np.abs(gradient) / np.abs(gradient).max()
    gap = np.ones((before.shape[0], 8), np.float32)
    picture = np.hstack([before, gap, after])
    Image.fromarray(np.rint(picture * 255).astype(np.uint8)).save(path)


def demo(build, folder):
    tool = build / "bin" / "uop-run"
    if not tool.exists():
        raise DemoError(
            f"{os.path.relpath(tool)} is not built; `make demo` builds it"
        )
    digits = load_digits()
    _, filtered, network = examples = (
        matrix_product(),
        convolution(),
        digits_network(digits),
    )

    print(f"{'program':18}{'what it computes':43}{'max error':>9}{'':>8}")
    print("-" * WIDTH)
    all_good = True
    outputs = {}
    for example in examples:
        result = run(example, tool, folder)
        outputs[example.program] = result.output
        all_good &= show(example, result)
    print("-" * WIDTH)
    print("max error: largest difference from numpy, which computes in float64")
    if not all_good:
        raise DemoError("a result is not numpy's within float32's rounding")
    print()
    show_digits(digits, outputs[network.program])
    picture = folder / "conv2d.png"
    write_picture(picture, filtered.inputs[0], outputs[filtered.program])
    print()
    print("Photograph before and after the filter")
    print(f"    {os.path.relpath(picture)}")


def main():
    parser = argparse.ArgumentParser(
        description="Run examples/ on real data and compare with numpy."
    )
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build" / "release",
        help="the build folder whose bin/uop-run is used (build/release)",
    )
    parser.add_argument(
        "--out", type=Path, default=ROOT / "build" / "demo",
        help="where inputs, outputs and the picture go (build/demo)",
    )
    options = parser.parse_args()
    try:
        demo(options.build, options.out)
    except DemoError as error:
        sys.stdout.flush()
        print(f"demo: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
