"""The Python half of `cargo xtask bench python`, as one JSON object a line.

    python bench.py WORK [ROWS]
"""

import json
import platform
import statistics
import sys
import time

import numpy as np

REPEATS = 7


def report(work, times, **more):
    line = {"work": work, "best": min(times), "median": statistics.median(times), **more}
    print(json.dumps(line))


def timed(run, repeats=REPEATS):
    run()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return times


def resample(rows):
    from windlass import ADA

    x = np.fromfile(rows).reshape(-1, 16)
    y = x[:, 0].copy()
    labels = np.arange(len(x)) % 8
    given = ADA(anchors=labels, copies=4)
    report("fit_resample", timed(lambda: given.fit_resample(x, y)))
    found = ADA(8, copies=4)
    report("fit_resample_kmeans", timed(lambda: found.fit_resample(x, y), 3))


def dense_ada(x, y, anchors, gamma):
    """The published method as its equation says: a projection of L × L on one-hot anchors."""
    import torch

    anchors = anchors[:, anchors.sum(0) > 0]
    projection = anchors @ torch.linalg.pinv(anchors.T @ anchors) @ anchors.T
    strength = gamma**0.5 - 1
    norm = 1 + strength * projection.sum(1, keepdim=True)

    def move(values):
        mean = values.mean(0)
        centered = values - mean
        return mean + (centered + strength * projection @ centered) / norm

    return move(x), move(y)


def batch():
    import torch

    from windlass import ADA

    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    x, y = torch.randn(1000, 8, generator=generator), torch.randn(1000, 1, generator=generator)
    ada = ADA(8).fit(x, y)
    idx = torch.randint(0, 1000, (64,), generator=generator)
    xb, yb = x[idx], y[idx]
    anchors = torch.nn.functional.one_hot(torch.from_numpy(ada.groups_)[idx], 8).float()
    steps = 2000

    def ours():
        for step in range(steps):
            ada.batch(xb, yb, idx, step=step)

    def arrays():
        xa, ya, rows = xb.numpy(), yb.numpy(), idx.numpy()
        for step in range(steps):
            ada.batch(xa, ya, rows, step=step)

    def published():
        for _ in range(steps):
            dense_ada(xb, yb, anchors, 2.0)

    for name, run in (("batch", ours), ("batch_numpy", arrays), ("batch_published", published)):
        report(name, [taken / steps for taken in timed(run)])


def regressor(airfoil):
    """The same network, batches and steps: 5-128-128-1, batches of 16, Adam, no validation rows."""
    import torch
    from sklearn.neural_network import MLPRegressor

    from windlass import ADA, Regressor

    rows = np.fromfile(airfoil).reshape(-1, 6)
    x, y = rows[:1000, :5], rows[:1000, 5]
    x, y = (x - x.mean(0)) / x.std(0), (y - y.mean()) / y.std()
    epochs, steps = 20, 20 * 63
    common = {"epochs": epochs, "batch": 16, "lr": 1e-3, "valid": "none"}
    plain = Regressor((128, 128), optimizer="adam", scale="none", target_scale="none", **common)
    report("regressor", timed(lambda: plain.fit(x, y), 5), steps=steps)
    with_ada = Regressor(
        (128, 128), augment=ADA(8), layer=1, optimizer="adam", scale="none", target_scale="none", **common
    )
    report("regressor_ada", timed(lambda: with_ada.fit(x, y), 5), steps=steps)
    for threads in (1, 2):
        import warnings

        from threadpoolctl import threadpool_limits

        warnings.simplefilter("ignore")
        mlp = MLPRegressor(
            hidden_layer_sizes=(128, 128), batch_size=16, max_iter=epochs, alpha=0.0, random_state=0, tol=0.0,
            n_iter_no_change=10**6,
        )
        with threadpool_limits(threads):
            times = timed(lambda: mlp.fit(x, y), 3)
        assert mlp.n_iter_ == epochs
        report(f"mlp_{threads}", times, steps=steps)
        torch.set_num_threads(threads)
        report(f"torch_{threads}", timed(lambda: train(x, y, epochs), 3), steps=steps)


def process():
    """300 × 10 with the same kernel, first start and number of starts."""
    import warnings

    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, Matern, WhiteKernel
    from threadpoolctl import threadpool_limits

    from windlass import Regressor

    warnings.simplefilter("ignore")
    generator = np.random.default_rng(7)
    x = generator.normal(size=(600, 10))
    y = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + x[:, 3] + 0.3 * generator.normal(size=600)
    (x, new), (y, expected) = np.split(x, 2), np.split(y, 2)
    error = lambda model: float(np.sqrt(np.mean((model.predict(new) - expected) ** 2)))
    ours = Regressor(model="gp")
    report("process", timed(lambda: ours.fit(x, y), 3), error=error(ours))
    kernel = ConstantKernel(1.0) * Matern(np.full(10, 3 * 10**0.5), nu=2.5)
    kernel += ConstantKernel(0.003) * DotProduct(sigma_0_bounds="fixed") + WhiteKernel(0.1)
    peer = GaussianProcessRegressor(kernel, alpha=0, normalize_y=True, n_restarts_optimizer=1, random_state=0)
    for threads in (1, 2):
        with threadpool_limits(threads):
            report(f"process_sklearn_{threads}", timed(lambda: peer.fit(x, y), 1), error=error(peer))


def train(x, y, epochs):
    """Plain eager PyTorch, as a user writes it."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    x = torch.from_numpy(np.float32(x))
    y = torch.from_numpy(np.float32(y))[:, None]
    layers = [nn.Linear(5, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1)]
    model = nn.Sequential(*layers)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(16):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x[rows]), y[rows]).backward()
            optimizer.step()


def versions():
    import sklearn
    import torch

    import windlass

    names = {"windlass": windlass, "numpy": np, "scikit-learn": sklearn, "torch": torch}
    found = {name: module.__version__ for name, module in names.items()}
    print(json.dumps({"python": platform.python_version(), **found}))


if __name__ == "__main__":
    works = {"resample": resample, "batch": batch, "regressor": regressor, "process": process, "versions": versions}
    works[sys.argv[1]](*sys.argv[2:])
