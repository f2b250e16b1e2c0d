#!/usr/bin/env python3
"""Train the network of mlp.uir and write its weights beside this file.

    .venv/bin/python examples/digits/train.py

Plain numpy: the whole training set at each step, Adam, a fixed seed, so two
runs on one machine give the same files. Every fifth digit is held out: the
network never sees it while it is trained.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

SEED = 1797
HIDDEN = 32
STEPS = 600
LEARNING_RATE = 0.01
WEIGHT_DECAY = 1e-3


def held_out(count):
    """The mask, of shape (count,), of the digits kept away from training."""
    return np.arange(count) % 5 == 0


def forward(x, weights):
    """Hidden units (n, 32) and logits (n, 10) of pixels x (n, 64) in [0, 1]."""
    w1, b1, w2, b2 = weights
    hidden = np.maximum(x @ w1 + b1, 0)
    return hidden, hidden @ w2 + b2


def gradients(x, labels, weights):
    """The gradient of the mean cross-entropy in each of the weights."""
    hidden, logits = forward(x, weights)
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    slope = exponentials / exponentials.sum(axis=1, keepdims=True)
    slope[np.arange(len(labels)), labels] -= 1
    slope /= len(labels)
    hidden_slope = (slope @ weights[2].T) * (hidden > 0)
    return (
        x.T @ hidden_slope,
        hidden_slope.sum(axis=0),
        hidden.T @ slope,
        slope.sum(axis=0),
    )


def train(x, labels):
    """Weights (w1, b1, w2, b2) fitted by Adam (Kingma and Ba, 2014)."""
    rng = np.random.default_rng(SEED)
    weights = [
        rng.normal(0, np.sqrt(2 / 64), (64, HIDDEN)),
        np.zeros(HIDDEN),
        rng.normal(0, np.sqrt(2 / HIDDEN), (HIDDEN, 10)),
        np.zeros(10),
    ]
    means = [np.zeros_like(w) for w in weights]
    squares = [np.zeros_like(w) for w in weights]
    for step in range(1, STEPS + 1):
        # A rate that falls to zero lets the last steps settle.
        rate = LEARNING_RATE * (1 - (step - 1) / STEPS)
        for w, m, s, g in zip(
            weights, means, squares, gradients(x, labels, weights)
        ):
            m += 0.1 * (g - m)
            s += 0.001 * (g * g - s)
            w -= rate * (m / (1 - 0.9**step)) / (
                np.sqrt(s / (1 - 0.999**step)) + 1e-8
            )
            if w.ndim == 2:
                w -= rate * WEIGHT_DECAY * w
    return weights


def main():
    digits = load_digits()
    x, labels = digits.data / 16, digits.target
    hidden_away = held_out(len(labels))
    weights = [
        w.astype(np.float32)
        for w in train(x[~hidden_away], labels[~hidden_away])
    ]
    right = forward(x, weights)[1].argmax(axis=1) == labels
    print(f"trained on {(~hidden_away).sum()}, accuracy "
          f"{right[~hidden_away].mean():.2%}")
    print(f"held out   {hidden_away.sum()}, accuracy "
          f"{right[hidden_away].mean():.2%}")
    print(f"all        {len(right)}, accuracy {right.mean():.2%}")
    for name, value in zip(("w1", "b1", "w2", "b2"), weights):
        np.save(Path(__file__).with_name(f"{name}.npy"), value)


if __name__ == "__main__":
    main()
