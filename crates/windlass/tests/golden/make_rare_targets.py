"""Makes `rare_targets.json` with numpy 2.4: relevance, SMOTER and SMOGN from the papers, by the book.

    python make_rare_targets.py > rare_targets.json

It shares no code with the library: φ is evaluated with Hermite's basis functions, neighbors come from the matrix of
all distances, and random numbers from numpy's own Philox, seeded as `crates/windlass/src/rng/mod.rs` describes.
"""

import json
import math

import numpy as np

LAMBDA, PARTNER, FEATURE_NOISE, TARGET_NOISE = 3, 4, 5, 6
RARE = 0.8


class Draws:
    """The random numbers of one stream, step and row."""

    def __init__(self, seed, stream, step, row):
        counter = ((step << 128 | row << 64) - 1) % 2**256
        self.bits = np.random.Philox(key=stream << 64 | seed, counter=counter)

    def word(self):
        return int(self.bits.random_raw())

    def uniform(self):
        return (self.word() >> 11) * 2.0**-53

    def below(self, bound):
        while True:
            product = self.word() * bound
            if product % 2**64 >= (2**64 - bound) % bound:
                return product >> 64

    def normal(self):
        open_uniform = ((self.word() >> 12) + 0.5) * 2.0**-52
        return math.sqrt(-2 * math.log(open_uniform)) * math.cos(2 * math.pi * self.uniform())


def box_plot(y, tails):
    """Control points with slopes of 0: φ is 0 at the median and 1 at the adjacent values."""
    q1, median, q3 = np.quantile(y, [0.25, 0.5, 0.75])
    fences = q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1)
    points = []
    if tails in ("low", "both"):
        points.append((y[y >= fences[0]].min(), 1.0))
    points.append((median, 0.0))
    if tails in ("high", "both"):
        points.append((y[y <= fences[1]].max(), 1.0))
    return [(at, phi, 0.0) for at, phi in points]


def phi_at(points, y):
    """Cubic Hermite interpolation, constant outside."""
    if y <= points[0][0]:
        return points[0][1]
    for (y0, p0, m0), (y1, p1, m1) in zip(points, points[1:]):
        if y <= y1:
            h = y1 - y0
            t = (y - y0) / h
            basis = (1 + 2 * t) * (1 - t) ** 2, t * (1 - t) ** 2, t**2 * (3 - 2 * t), t**2 * (t - 1)
            return float(np.dot(basis, (p0, h * m0, p1, h * m1)))
    return points[-1][1]


def limited(points):
    """Slopes of Fritsch and Carlson: the mean of both secants, 0 at the ends and at turns, in the circle of radius 3."""
    y, phi = np.array([p[0] for p in points]), np.array([p[1] for p in points])
    secants = np.diff(phi) / np.diff(y)
    slopes = np.zeros(len(y))
    for k in range(1, len(y) - 1):
        if secants[k - 1] * secants[k] > 0:
            slopes[k] = (secants[k - 1] + secants[k]) / 2
    slopes = [own if given is None else given for own, (_, _, given) in zip(slopes, points)]
    for k, secant in enumerate(secants):
        a, b = (max(slopes[k + i] / secant, 0) if secant else 0 for i in (0, 1))
        factor = min(1, 3 / math.hypot(a, b)) if a or b else 0
        slopes[k], slopes[k + 1] = factor * a * secant, factor * b * secant
    return list(zip(y, phi, slopes))


def neighbors(x, rare_rows):
    """Rare rows by distance, the nearest first, and the median distance, among rows of the same tail."""
    z = (x - x.mean(0)) / x.std(0)
    out = {}
    for tail in rare_rows:
        for row in tail:
            others = [other for other in tail if other != row]
            distances = {other: math.dist(z[row], z[other]) for other in others}
            order = sorted(others, key=lambda other: (distances[other], other))
            out[row] = [(other, distances[other]) for other in order], np.median([*distances.values()])
    return out


def resampled(x, y, seed, step, k, perturbation):
    """Synthetic rows of SMOTER, or of SMOGN if there is a perturbation."""
    points = box_plot(y, "both")
    median = points[1][0]
    is_rare = [phi_at(points, value) >= RARE for value in y]
    rows = [i for i in range(len(y)) if is_rare[i]]
    tails = [i for i in rows if y[i] < median], [i for i in rows if y[i] > median]
    found = neighbors(x, tails)
    out = {"rows": rows, "partner": [], "lambda": [], "x": [], "y": []}
    for row in rows:
        near, middle = found[row]
        near = near[:k]
        partner, distance = near[Draws(seed, PARTNER, step, row).below(len(near))]
        lam = Draws(seed, LAMBDA, step, row).uniform()
        if perturbation is None or distance < middle / 2:
            new_x, new_y = lam * x[row] + (1 - lam) * x[partner], lam * y[row] + (1 - lam) * y[partner]
        else:
            scale = min(perturbation, middle / 2)
            draws = Draws(seed, FEATURE_NOISE, step, row)
            new_x = [value + scale * sd * draws.normal() for value, sd in zip(x[row], x.std(0))]
            new_y = y[row] + scale * y.std() * Draws(seed, TARGET_NOISE, step, row).normal()
            partner, lam = None, None
        out["partner"].append(partner)
        out["lambda"].append(lam)
        out["x"] += [float(value) for value in new_x]
        out["y"].append(float(new_y))
    return out


def main():
    rng = np.random.default_rng(29)
    cases = []
    skewed = np.round(np.exp(rng.standard_normal(41)), 3)
    for tails in ("high", "low", "both"):
        points = box_plot(skewed, tails)
        phi = [phi_at(points, value) for value in skewed]
        cases.append({"relevance": tails, "y": skewed.tolist(), "phi": phi})
    at = np.linspace(-1, 9, 41)
    for slopes in ([None] * 5, [0.0, 3.0, 0.1, -2.0, 0.4]):
        points = list(zip([0.0, 1.0, 2.5, 4.0, 8.0], [0.0, 0.2, 0.9, 1.0, 0.3], slopes))
        phi = [phi_at(limited(points), value) for value in at]
        cases.append({"relevance": "points", "points": points, "y": at.tolist(), "phi": phi})
    x = np.round(rng.standard_normal((48, 3)) * [1, 10, 0.1], 4)
    y = np.round(3 * x[:, 0] + 0.1 * x[:, 1] ** 2 + rng.standard_normal(48), 4)
    data = {"x": {"shape": [48, 3], "data": x.ravel().tolist()}, "y": y.tolist()}
    for step, k in ((0, 5), (7, 3)):
        for method, perturbation in (("smoter", None), ("smogn", 0.02), ("smogn", 5.0)):
            made = resampled(x, y, 11, step, k, perturbation)
            settings = {"method": method, "seed": 11, "step": step, "neighbors": k}
            cases.append({**settings, "perturbation": perturbation, **data, "made": made})
    print(json.dumps({"cases": cases}))


main()
