"""PyTorch's half of `cargo xtask bench train`, as one JSON object a line.

    python peers.py WORK THREADS [AIRFOIL]

Plain eager PyTorch, as a user writes it. ADA is the dense projection of the published method: one-hot
anchors of the batch, a pseudo-inverse, an L x L matrix (the equation, not the published code).
"""

import json
import statistics
import struct
import sys
import time

import numpy as np
import torch
from torch import nn

EPOCHS = 20


def network(inputs, hidden, slope):
    """Dense layers with (leaky) ReLU between them."""
    widths = [inputs, *hidden]
    layers = []
    for before, after in zip(widths, widths[1:]):
        layers += [nn.Linear(before, after), nn.LeakyReLU(slope) if slope else nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(widths[-1], 1))


def ada(rows, targets, labels, groups, gamma):
    """Rows and targets, moved by the dense projection onto one-hot anchors of the batch."""
    anchors = nn.functional.one_hot(labels, groups).float()
    anchors = anchors[:, anchors.sum(0) > 0]
    projection = anchors @ torch.linalg.pinv(anchors.T @ anchors) @ anchors.T
    strength = gamma**0.5 - 1
    norm = 1 + strength * projection.sum(1, keepdim=True)

    def move(values):
        mean = values.mean(0)
        centered = values - mean
        return mean + (centered + strength * projection @ centered) / norm

    return move(rows), move(targets)


def step(model, optimizer, x, y, moved=None):
    """One step; `moved` are labels, their number and gamma, for ADA after the first hidden layer."""
    optimizer.zero_grad()
    if moved is None:
        predicted, wanted = model(x), y
    else:
        hidden, wanted = ada(model[:2](x), y, *moved)
        predicted = model[2:](hidden)
    loss = nn.functional.mse_loss(predicted, wanted)
    loss.backward()
    optimizer.step()
    return loss


def time_steps(work, inputs, hidden, slope, batch, steps, with_ada):
    torch.manual_seed(0)
    per_epoch = steps // EPOCHS
    x = torch.rand(per_epoch * batch, inputs)
    y = x.sum(1, keepdim=True)
    labels = torch.randint(0, 8, (len(x),))
    gammas = [0.5 + 1.5 * i / 19 for i in range(20)]
    model = network(inputs, hidden, slope)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    times = []
    for _ in range(EPOCHS):
        started = time.perf_counter()
        order = torch.randperm(len(x))
        for i in range(per_epoch):
            rows = order[i * batch : (i + 1) * batch]
            moved = (labels[rows], 8, gammas[i % 20]) if with_ada else None
            step(model, optimizer, x[rows], y[rows], moved)
        times.append((time.perf_counter() - started) * 1e6 / per_epoch)
    print(json.dumps({"work": work, "best": min(times), "median": statistics.median(times)}))


def airfoil(path, seeds):
    """A whole run with the published settings: 200 epochs, ADA after the first hidden layer."""
    raw = open(path, "rb").read()
    data = np.array(struct.unpack(f"<{len(raw) // 8}d", raw)).reshape(-1, 6)
    low, high = data.min(0), data.max(0)
    gammas = [1.05 + 0.95 * i / 9 for i in range(10)]
    gammas = gammas + [1 / gamma for gamma in gammas]
    errors, started = [], time.perf_counter()
    for seed in range(seeds):
        torch.manual_seed(seed)
        order = np.random.default_rng(seed).permutation(len(data))
        x = torch.tensor(((data - low) / (high - low))[order, :5], dtype=torch.float32)
        y = torch.tensor(data[order, 5:], dtype=torch.float32)
        labels = kmeans(np.concatenate([x[:1003], y[:1003]], 1), 8, seed)
        model = network(5, [128, 128], 0.1)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        best = (float("inf"), None)
        for _ in range(200):
            rows = torch.randperm(1003)
            for i in range(1003 // 16):
                batch = rows[i * 16 : (i + 1) * 16]
                gamma = gammas[int(torch.randint(0, 20, (1,)))]
                step(model, optimizer, x[batch], y[batch], (labels[batch], 8, gamma))
            with torch.no_grad():
                valid = nn.functional.mse_loss(model(x[1003:1303]), y[1003:1303]).item()
                if valid <= best[0]:
                    best = (valid, {k: v.clone() for k, v in model.state_dict().items()})
        model.load_state_dict(best[1])
        with torch.no_grad():
            errors.append(nn.functional.mse_loss(model(x[1303:]), y[1303:]).item() ** 0.5)
    seconds = (time.perf_counter() - started) / seeds
    print(json.dumps({"work": "airfoil", "seconds": seconds, "rmse": errors}))


def kmeans(rows, groups, seed):
    """Lloyd's algorithm, for want of scikit-learn; its time is not worth measuring."""
    generator = np.random.default_rng(seed)
    centers = rows[generator.choice(len(rows), groups, replace=False)]
    for _ in range(50):
        labels = ((rows[:, None] - centers) ** 2).sum(2).argmin(1)
        centers = np.stack([rows[labels == g].mean(0) if (labels == g).any() else centers[g] for g in range(groups)])
    return torch.tensor(labels)


def main():
    work, threads, *rest = sys.argv[1:]
    torch.set_num_threads(int(threads))
    if work == "step_erm":
        time_steps(work, 5, [128, 128], 0.1, 16, 2000, False)
    elif work == "step_ada":
        time_steps(work, 5, [128, 128], 0.1, 16, 1000, True)
    elif work == "step_256":
        time_steps(work, 5, [128, 128], 0.1, 256, 1000, False)
    elif work == "step_small":
        time_steps(work, 19, [10], 0.0, 16, 2000, False)
    elif work == "airfoil":
        airfoil(rest[0], 2)
    elif work == "versions":
        print(json.dumps({"python": sys.version.split()[0], "torch": torch.__version__, "numpy": np.__version__}))
    else:
        sys.exit(f"no work {work}")


if __name__ == "__main__":
    main()
