"""ADA on the hidden layer of a torch network, against no augmentation, on the same splits.

Prints the error on held-out cars for every split. Whether ADA helps depends on the data, the
network and how long it is trained: try it on validation rows of your own.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import nn

import windlass.torch
from windlass import ADA

CARS = Path(__file__).resolve().parents[2] / "examples/auto_mpg.csv"
EPOCHS, BATCH, TRAINING = 60, 32, 200


class Network(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Linear(features, 64), nn.ReLU())
        self.rest = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1), nn.Flatten(0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.rest(self.first(x))


def cars() -> tuple[torch.Tensor, torch.Tensor]:
    """Read the numbers of the table, without cars that lack one."""
    table = pd.read_csv(CARS).drop(columns=["origin", "name"]).dropna()
    table["model_year"] = table["model_year"].str[:4].astype(int)
    rows = torch.tensor(table.to_numpy(dtype=np.float32))
    return rows[:, 1:], rows[:, 0]


def train(x: torch.Tensor, y: torch.Tensor, seed: int, ada: ADA | None) -> Network:
    torch.manual_seed(seed)
    network = Network(x.shape[1])
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    step = 0
    for _ in range(EPOCHS):
        for idx in torch.randperm(len(x)).split(BATCH):
            h, target = network.first(x[idx]), y[idx]
            if ada is not None:
                # The same move for the hidden layer and for the targets.
                groups, gamma = ada.groups_[idx], ada.draw_gamma(step)
                h = windlass.torch.ada(h, groups=groups, gamma=gamma)
                target = windlass.torch.ada(target, groups=groups, gamma=gamma)
            loss = nn.functional.mse_loss(network.rest(h), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
    return network


def main(seeds: int = 5) -> None:
    torch.set_num_threads(1)  # for layers this small more threads are slower
    x, y = cars()
    errors: list[list[float]] = []
    print("split   no augmentation   ADA")
    for seed in range(seeds):
        order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
        known, held_out = order[:TRAINING], order[TRAINING:]
        # Means and deviations of training rows only.
        scaled = (x - x[known].mean(0)) / x[known].std(0)
        center, spread = y[known].mean(), y[known].std()
        target = (y[known] - center) / spread
        errors.append([])
        for ada in (None, ADA(clusters=8, random_state=seed).fit(scaled[known], target)):
            network = train(scaled[known], target, seed, ada)
            with torch.no_grad():
                guess = network(scaled[held_out]) * spread + center
            errors[-1].append((guess - y[held_out]).square().mean().sqrt().item())
        print(f"{seed:5}   {errors[-1][0]:15.3f}   {errors[-1][1]:.3f}")
    without, with_ada = np.mean(errors, axis=0)
    better = sum(moved < plain for plain, moved in errors)
    print(f" mean   {without:15.3f}   {with_ada:.3f}")
    print(f"RMSE in miles per gallon; ADA was better in {better} of {seeds} splits")


if __name__ == "__main__":
    main()
