"""Batches that the workers of a DataLoader augment: any number of workers gives the same ones."""

from __future__ import annotations

import torch
from torch.utils.data import DataLoader, TensorDataset

from windlass import CMixup
from windlass.torch import Collate


def batches(workers: int, epochs: int = 2) -> list[torch.Tensor]:
    torch.manual_seed(0)
    x = torch.randn(200, 5)
    y = x.sum(1) + 0.1 * torch.randn(200)
    # Samples are (x, y, row number): a method must know which training rows it sees.
    rows = TensorDataset(x, y, torch.arange(len(x)))
    collate = Collate(CMixup().fit(x, y))
    loader = DataLoader(rows, 32, shuffle=True, num_workers=workers, collate_fn=collate)
    made = []
    for epoch in range(epochs):
        collate.set_epoch(epoch)  # or every epoch would draw the same random numbers
        made += [torch.cat([xb, yb[:, None]], 1) for xb, yb in loader]
    return made


def main() -> None:
    alone, shared = batches(workers=0), batches(workers=2)
    same = all(torch.equal(left, right) for left, right in zip(alone, shared))
    print(f"{len(alone)} batches, the same with 0 and 2 workers: {same}")


if __name__ == "__main__":
    main()
