"""PyTorch's half of the benchmark: the same works on the CPU, as one JSON object a line.

    python pytorch.py [--threads N] [--only WORK] [--versions]

Times are wall milliseconds. The networks are those of `tests/networks_golden/make.py`, at full size.
"""

import argparse
import json
import platform
import statistics
import sys
import time
from pathlib import Path

import torch
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "networks_golden"))

from make import DeepDta, LstNet, ResNet18, mix_groups  # noqa: E402

SECONDS = 2.0
WARM_UP = 3
LEAST = 8


def training(net, x, y, augment=None):
    adam = torch.optim.Adam(net.parameters(), lr=1e-3)
    net.train()

    def step():
        inputs, targets = augment(x, y) if augment else (x, y)
        adam.zero_grad()
        functional.mse_loss(net(inputs), targets).backward()
        adam.step()

    return step


def lstnet(augment=None):
    net = LstNet(168, 8, channels=50, kernel=6, hidden=50, skip_hidden=5, skip=24, highway=24, dropout=0.2)
    return training(net, torch.randn(64, 168 * 8), torch.randn(64, 8), augment)


def lstnet_ada():
    labels = torch.randint(0, 40, (64,))

    def augment(x, y):
        # One draw a step, as ADA does.
        gamma = torch.empty(()).uniform_(0.5, 2.0).item()
        return mix_groups(x, labels, 40, gamma), mix_groups(y, labels, 40, gamma)

    return lstnet(augment)


def resnet18():
    return training(ResNet18(28, [64, 128, 256, 512]), torch.randn(32, 3 * 28 * 28), torch.randn(32, 1))


def deepdta():
    channels = [32, 64, 96]
    net = DeepDta((63, 100, channels, [4, 6, 8]), (26, 1000, channels, [4, 8, 12]), 256, [256, 128, 128])
    tokens = torch.cat([torch.randint(0, 63, (32, 100)), torch.randint(0, 26, (32, 1000))], 1)
    return training(net, tokens.float(), torch.randn(32, 1))


WORKS = {
    "lstnet_step": lstnet,
    "lstnet_step_ada": lstnet_ada,
    "resnet18_step": resnet18,
    "deepdta_step": deepdta,
}


def timed(step):
    for _ in range(WARM_UP):
        step()
    times, begin = [], time.perf_counter()
    while len(times) < LEAST or time.perf_counter() - begin < SECONDS:
        start = time.perf_counter()
        step()
        times.append(1e3 * (time.perf_counter() - start))
    return times


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--only", choices=WORKS)
    arguments.add_argument("--versions", action="store_true")
    arguments = arguments.parse_args()
    if arguments.versions:
        print(json.dumps({"python": platform.python_version(), "torch": torch.__version__}))
        return
    torch.set_num_threads(arguments.threads)
    for work, make_step in WORKS.items():
        if arguments.only in (None, work):
            torch.manual_seed(0)
            times = timed(make_step())
            best, median = round(min(times), 3), round(statistics.median(times), 3)
            print(json.dumps({"work": work, "threads": arguments.threads, "best": best, "median": median}), flush=True)


if __name__ == "__main__":
    main()
