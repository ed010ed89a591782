"""windlass.torch: the maps and their gradients, batches of tensors, and loaders with workers."""

import copy
import json
import multiprocessing
import pickle

import numpy as np
import pytest
from common import ROOT, rows

torch = pytest.importorskip("torch")

import windlass.torch as wt  # noqa: E402
from windlass import (  # noqa: E402
    ADA,
    CEMS,
    FOMA,
    CMixup,
    InputError,
    InputTypeError,
    LocalMixup,
    Mixup,
    Noise,
)
from windlass import _windlass as core  # noqa: E402

# Groups of two and three rows, and two of one; labels need neither be near nor positive.
GROUPS = [7, -2, 7, 40, -2, 7, 3]
ROW_GAMMAS = [0.5, 1.0, 2.0, 4.0, 0.1, 9.0, 3.0]
LAMS = [0.0, 0.25, 0.5, 0.9, 1.0, 0.3, 0.6]
PARTNER = [3, 0, 0, 6, 4, 1, 2]

gammas = pytest.mark.parametrize("gamma", [2.5, 0.3, ROW_GAMMAS], ids=["toward", "away", "rows"])
lams = pytest.mark.parametrize("lam", [0.3, LAMS], ids=["shared", "rows"])
shapes = pytest.mark.parametrize("shape", [(7,), (7, 3), (7, 2, 3), (7, 2, 1, 2)], ids=len)
dtypes = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Layers and batches this small are slower on more threads of torch."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def made(*shape, dtype=torch.float64, seed=0, requires_grad=False):
    """Make a tensor of random numbers."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(shape, generator=generator, dtype=torch.float64)
    return values.to(dtype).requires_grad_(requires_grad)


def by_definition(h, groups, gamma):
    """ADA, slowly: a mean for every group, in 64 bits."""
    h, groups = h.detach().double(), torch.as_tensor(groups)
    gamma = torch.as_tensor(gamma, dtype=torch.float64).expand(len(h))
    out = torch.empty_like(h)
    for row, label in enumerate(groups):
        mean = h[groups == label].mean(0)
        out[row] = mean + (h[row] - mean) / gamma[row].sqrt()
    return out


def close(left, right):
    """Whether two tensors are the same but for rounding."""
    tolerance = 1e-12 if left.dtype == torch.float64 else 2e-6
    return torch.allclose(left.double(), right.double(), rtol=tolerance, atol=tolerance)


def same(left, right):
    """Whether two tensors are the same to the bit."""
    return left.dtype == right.dtype and left.shape == right.shape and torch.equal(left, right)


# Maps


@shapes
@gammas
@dtypes
def test_ada_moves_rows_by_its_definition(shape, gamma, dtype):
    h = made(*shape, dtype=dtype)
    out = wt.ada(h, GROUPS, gamma)
    assert out.dtype == dtype and out.shape == h.shape
    assert close(out, by_definition(h, GROUPS, gamma))


@shapes
@lams
@dtypes
def test_mixup_mixes_by_its_definition_to_the_bit(shape, lam, dtype):
    h = made(*shape, dtype=dtype)
    out = wt.mixup(h, lam, PARTNER)
    both = torch.cat([h, h[PARTNER]])
    assert same(wt.mixup(both, lam), out)
    # In the width of the rows, as the core does it.
    weight = np.asarray(lam, dtype=h.numpy().dtype)
    weight = weight.reshape(-1, *[1] * (h.ndim - 1)) if weight.ndim else weight
    first, second = both.numpy()[:7], both.numpy()[7:]
    assert same(torch.from_numpy(weight * first + (1 - weight) * second), out)
    share = torch.tensor(lam, dtype=torch.float64).reshape(-1, *[1] * (h.ndim - 1))
    share = share if isinstance(lam, list) else lam
    assert close(out, share * h.double() + (1 - share) * h[PARTNER].double())


@shapes
@gammas
@dtypes
def test_operations_of_torch_do_what_the_core_does(shape, gamma, dtype):
    # The way of CUDA, of other devices and of torch.compile, tried where there is no device.
    h = made(*shape, dtype=dtype)
    labels = np.array(GROUPS)
    strength = np.array(gamma) if isinstance(gamma, list) else gamma
    for by_torch, transposed in ((wt._moved, False), (wt._moved_back, True)):
        expected = torch.from_numpy(core.group_mean(h.numpy(), labels, strength, transposed))
        assert close(by_torch(h, torch.from_numpy(labels), strength), expected)


@dtypes
def test_rows_that_need_not_move_stay_to_the_bit(dtype):
    h = made(7, 3, dtype=dtype)
    for move in (wt.ada, lambda h, groups, gamma: wt._moved(h, torch.tensor(groups), gamma)):
        assert same(move(h, GROUPS, 1.0), h)
        assert same(move(h, [*range(7)], 3.0), h)


@gammas
@shapes
def test_gradients_of_ada(gamma, shape):
    h = made(*shape, requires_grad=True)
    for move in (wt.ada, by_operations):
        assert torch.autograd.gradcheck(lambda h: move(h, GROUPS, gamma), h)
        assert torch.autograd.gradgradcheck(lambda h: move(h, GROUPS, gamma).pow(3), h)


def by_operations(h, groups, gamma):
    strength = np.array(gamma) if isinstance(gamma, list) else gamma
    return wt._moved(h, torch.tensor(groups), strength)


@lams
@shapes
@pytest.mark.parametrize("partner", [None, PARTNER], ids=["halves", "partner"])
def test_gradients_of_mixup(lam, shape, partner):
    h = made(*shape, requires_grad=True)
    both = h if partner else torch.cat([h, 2 - h.detach()]).requires_grad_()
    assert torch.autograd.gradcheck(lambda h: wt.mixup(h, lam, partner), both)
    assert torch.autograd.gradgradcheck(lambda h: wt.mixup(h, lam, partner).pow(3), both)


def test_a_gradient_is_of_the_labels_that_the_map_was_given():
    groups, gamma = torch.tensor(GROUPS), np.array(ROW_GAMMAS)
    h = made(7, 3, requires_grad=True)
    out = wt.ada(h, groups, gamma)
    expected = torch.autograd.grad(wt.ada(h, GROUPS, ROW_GAMMAS).square().sum(), h)[0]
    groups.zero_()
    gamma[:] = 1.0
    assert same(torch.autograd.grad(out.square().sum(), h)[0], expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_sixteen_bits_are_summed_in_thirty_two(dtype):
    h = made(7, 3, dtype=dtype, requires_grad=True)
    out = wt.ada(h, GROUPS, ROW_GAMMAS)
    assert same(out, wt.ada(h.float(), GROUPS, ROW_GAMMAS).to(dtype))
    out.sum().backward()
    assert h.grad.dtype == dtype
    assert same(wt.mixup(h, 0.3, PARTNER), wt.mixup(h.float(), 0.3, PARTNER).to(dtype))
    # A sum of these overflows in 16 bits.
    large = torch.full((64, 2), 6e4).to(dtype)
    assert same(wt.ada(large, [0] * 64, 2.0), large)


def test_any_layout_in_memory():
    h = made(7, 3)
    expected = wt.ada(h, GROUPS, 2.0)
    layouts = {
        "transposed": h.T.contiguous().T,
        "every other": torch.stack([h, -h], 1).reshape(14, 3)[::2],
        "flipped": h.flip(0).contiguous().flip(0),
        "negated": torch.complex(h, -h).conj().imag,
        "parameter": torch.nn.Parameter(h),
    }
    assert layouts["negated"].is_neg()
    for name, layout in layouts.items():
        assert same(wt.ada(layout, GROUPS, 2.0).detach(), expected), name
    one = h[:1].expand(7, 3)
    assert close(wt.ada(one, GROUPS, 2.0), one)
    images = made(7, 2, 3, 4)
    last = images.contiguous(memory_format=torch.channels_last)
    assert same(wt.ada(last, GROUPS, 2.0), wt.ada(images, GROUPS, 2.0))
    assert wt.ada(made(7, 0), GROUPS, 2.0).shape == (7, 0)


@pytest.mark.parametrize(
    "groups",
    [
        np.array(GROUPS),
        np.array(GROUPS, dtype=np.int8),
        np.array(GROUPS * 2)[::2][[0, 4, 1, 5, 2, 6, 3]],
        torch.tensor(GROUPS),
        torch.tensor(GROUPS, dtype=torch.int32),
    ],
    ids=["numpy", "int8", "strided", "tensor", "int32"],
)
def test_groups_of_any_kind(groups):
    h = made(7, 3)
    assert same(wt.ada(h, groups, 2.0), wt.ada(h, [int(label) for label in groups], 2.0))


def test_groups_that_must_not_be_written_to():
    groups = np.array(GROUPS)
    groups.flags.writeable = False
    assert same(wt.ada(made(7, 3), groups, 2.0), wt.ada(made(7, 3), GROUPS, 2.0))


def test_strengths_of_any_kind():
    h = made(7, 3)
    alike = (2, np.float32(2), np.array(2.0), torch.tensor(2.0), torch.tensor(2).bfloat16())
    for gamma in alike:
        assert same(wt.ada(h, GROUPS, gamma), wt.ada(h, GROUPS, 2.0)), gamma
    rows = torch.tensor(ROW_GAMMAS, dtype=torch.float64)
    for gamma in (np.array(ROW_GAMMAS), rows, tuple(ROW_GAMMAS), rows.repeat_interleave(2)[::2]):
        assert same(wt.ada(h, GROUPS, gamma), wt.ada(h, GROUPS, ROW_GAMMAS))
    assert same(wt.mixup(h, torch.tensor(0.25), PARTNER), wt.mixup(h, 0.25, PARTNER))
    assert same(wt.mixup(h, np.array(LAMS), torch.tensor(PARTNER)), wt.mixup(h, LAMS, PARTNER))


def test_no_graph_where_none_is_wanted():
    h = made(7, 3, requires_grad=True)
    expected = wt.ada(h, GROUPS, 2.0)
    assert expected.requires_grad
    with torch.no_grad():
        assert not wt.ada(h, GROUPS, 2.0).requires_grad
        assert not wt.mixup(h, 0.3, PARTNER).requires_grad
    with torch.inference_mode():
        out = wt.ada(h, GROUPS, 2.0)
        assert same(wt.ada(h * 1, GROUPS, 2.0), expected)
    assert same(out, expected) and not out.requires_grad
    assert not wt.ada(h.detach(), GROUPS, 2.0).requires_grad


# Numbers that are not finite


@pytest.mark.parametrize("bad", [float("inf"), float("nan"), 3e38], ids=str)
def test_gradients_that_overflow_go_on(bad):
    h = made(7, 3, dtype=torch.float32, requires_grad=True)
    gradient = torch.ones(7, 3)
    gradient[0, 1] = bad
    wt.ada(h, GROUPS, 2.0).backward(gradient)
    members = torch.tensor(GROUPS) == GROUPS[0]
    assert torch.isfinite(h.grad[~members]).all() and torch.isfinite(h.grad[:, [0, 2]]).all()
    assert torch.isfinite(h.grad[members, 1]).any() == np.isfinite(bad)


def test_values_that_overflow_go_on():
    h = made(7, 3, dtype=torch.float32)
    h[0, 1] = float("inf")
    out = wt.ada(h, GROUPS, 2.0)
    members = torch.tensor(GROUPS) == GROUPS[0]
    assert torch.isfinite(out[~members]).all() and torch.isfinite(out[:, [0, 2]]).all()
    assert not torch.isfinite(out[members, 1]).any()


def test_a_scaler_finds_its_scale():
    layer = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127, backoff_factor=2.0**-20)
    x, scales, weights = made(7, 3, dtype=torch.float32), [], [layer.weight.detach().clone()]
    for _ in range(8):
        optimizer.zero_grad()
        h = wt.ada(layer(x), GROUPS, 2.0)
        scaler.scale(100 * h.square().mean()).backward()
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
        weights.append(layer.weight.detach().clone())
    # Steps whose gradients overflow are left out, until the scale is small enough.
    assert scales[0] == 2.0**107 and same(weights[1], weights[0])
    assert scales[-1] == scales[-2]
    assert torch.isfinite(weights[-1]).all() and not torch.equal(weights[-1], weights[0])


# Devices, compilers and transforms


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA here")
@gammas
def test_cuda_does_what_the_cpu_does(gamma):
    h = made(7, 3, requires_grad=True)
    on_device = h.detach().cuda().requires_grad_()
    for groups in (GROUPS, torch.tensor(GROUPS).cuda()):
        expected, out = wt.ada(h, GROUPS, gamma), wt.ada(on_device, groups, gamma)
        assert out.is_cuda and close(out.cpu(), expected)
        gradient = torch.autograd.grad(out.pow(3).sum(), on_device)[0]
        assert close(gradient.cpu(), torch.autograd.grad(expected.pow(3).sum(), h)[0])
    mixed = wt.mixup(on_device, LAMS, torch.tensor(PARTNER).cuda())
    assert close(mixed.cpu(), wt.mixup(h, LAMS, PARTNER))


def test_a_device_without_numbers_keeps_shapes():
    h = torch.empty(7, 2, 3, device="meta", dtype=torch.float16)
    assert wt.ada(h, GROUPS, ROW_GAMMAS).shape == wt.mixup(h, LAMS, PARTNER).shape == h.shape
    with pytest.raises(InputError, match="gamma must be in"):
        wt.ada(h, GROUPS, 0.0)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled(backend):
    from torch._dynamo.testing import CompileCounterWithBackend

    torch._dynamo.reset()
    graphs = CompileCounterWithBackend(backend)

    def step(h, groups, gamma, lam, partner):
        return wt.mixup(wt.ada(h.tanh(), groups, gamma), lam, partner).square().sum()

    compiled = torch.compile(step, backend=graphs, fullgraph=True)
    h, groups, partner = made(7, 3, requires_grad=True), torch.tensor(GROUPS), torch.tensor(PARTNER)
    strengths = [(2.0, 0.3), (3.0, 0.4), (1.5, 0.5), (0.7, 0.6)]
    for gamma, lam in strengths:
        results = [f(h, groups, gamma, lam, partner) for f in (compiled, step)]
        gradients = [torch.autograd.grad(result, h)[0] for result in results]
        assert close(*results) and close(*gradients)
    # One graph for the first number, one for all others.
    assert graphs.frame_count == 2
    given = (groups, torch.tensor(ROW_GAMMAS), torch.tensor(LAMS), partner)
    assert torch.allclose(compiled(h, *given), step(h, *given))
    loose = torch.compile(lambda h: wt.ada(h, GROUPS, -1.0), backend=backend)
    with pytest.raises(InputError, match=r"gamma must be in \[1e-16, 1e16\], got -1"):
        loose(h)


def test_transforms_of_torch():
    h, tangent = made(7, 3), made(7, 3, seed=1)

    def step(h):
        return wt.mixup(wt.ada(h, GROUPS, ROW_GAMMAS), LAMS, PARTNER).pow(3).sum()

    asked = h.clone().requires_grad_()
    expected = torch.autograd.grad(step(asked), asked)[0]
    assert close(torch.func.grad(step)(h), expected)
    value, change = torch.func.jvp(step, (h,), (tangent,))
    assert close(value, step(h)) and close(change, (expected * tangent).sum())
    many = torch.func.vmap(lambda h: wt.ada(h, GROUPS, 2.0))(torch.stack([h, tangent]))
    assert close(many[1], wt.ada(tangent, GROUPS, 2.0))


# Refusals


H = made(7)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((H.numpy(), GROUPS, 2.0), TypeError, r"h must be a tensor, got ndarray\nhint: torch"),
        (([1.0], [0], 2.0), TypeError, "h must be a tensor, got list$"),
        ((H.int(), GROUPS, 2.0), TypeError, r"h must be a tensor of floats, got torch.int32\nhint: h.float"),
        ((H.to_sparse(), GROUPS, 2.0), TypeError, r"h must be dense.*\nhint: h.to_dense"),
        ((H[0], GROUPS, 2.0), ValueError, "h must have one row per sample"),
        ((H[:0], [], 2.0), ValueError, r"h has no rows\nhint:"),
        ((H, [0, 1], 2.0), ValueError, r"groups must .* 7 rows of h, got shape \(2,\)"),
        ((H, [GROUPS], 2.0), ValueError, r"groups must .*, got shape \(1, 7\)"),
        ((H, [0.5] * 7, 2.0), TypeError, r"groups must be integers, got float64\nhint:"),
        ((H, ["a"] * 7, 2.0), TypeError, r"groups must be integers, got <U1"),
        ((H, GROUPS, 0.0), ValueError, r"gamma must be in \[1e-16, 1e16\], got 0$"),
        ((H, GROUPS, -1), ValueError, r"gamma must be in \[1e-16, 1e16\], got -1$"),
        ((H, GROUPS, 1e17), ValueError, r"gamma must be in \[1e-16, 1e16\], got 1e\+17$"),
        ((H, GROUPS, float("nan")), ValueError, "gamma must be in .*, got nan"),
        ((H.half(), GROUPS, 0.0), ValueError, "gamma must be in .*, got 0"),
        ((H, GROUPS, [1.0] * 6 + [-3.0]), ValueError, "gamma must be in .*, got -3"),
        ((H, GROUPS, [1.0] * 6), ValueError, r"gamma .* 7 rows, got shape \(6,\)\nhint: ada.draw_ga"),
        ((H, GROUPS, "two"), TypeError, "gamma must be a number, .* got str"),
        ((H, GROUPS, None), TypeError, "gamma must be a number, .* got NoneType"),
        ((H, GROUPS, made(requires_grad=True)), TypeError, r"hint: gamma.detach\(\)"),
    ],
)
def test_ada_says_what_is_wrong(arguments, error, message):
    with pytest.raises(error, match=message) as caught:
        wt.ada(*arguments)
    assert isinstance(caught.value, (InputError, InputTypeError))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((H[:0], 0.5), ValueError, "h has no rows"),
        ((H, 0.5), ValueError, r"an even number of rows without partner, got 7\nhint: pass partner"),
        ((H, 0.5, PARTNER[:3]), ValueError, r"partner must .* 7 rows of h, got shape \(3,\)"),
        ((H, 0.5, [7] + PARTNER[1:]), ValueError, r"partner must be in \[0, 6\], got 7"),
        ((H, 0.5, [-1] + PARTNER[1:]), ValueError, r"partner must be in \[0, 6\], got -1"),
        ((H, 0.5, [0.0] * 7), TypeError, "partner must be integers, got float64"),
        ((H, 0.5, [True] * 7), TypeError, "partner must be integers, got bool"),
        ((H, 1.1, PARTNER), ValueError, r"lam must be in \[0, 1\], got 1.1"),
        ((H.half(), -0.1, PARTNER), ValueError, r"lam must be in \[0, 1\], got -0.1"),
        ((H, [0.5] * 7 + [2.0], PARTNER), ValueError, r"lam .* 7 rows, got shape \(8,\)$"),
        ((H, "half", PARTNER), TypeError, "lam must be a number"),
        ((H, made(requires_grad=True), PARTNER), TypeError, "hint: lam.detach"),
    ],
)
def test_mixup_says_what_is_wrong(arguments, error, message):
    with pytest.raises(error, match=message) as caught:
        wt.mixup(*arguments)
    assert isinstance(caught.value, (InputError, InputTypeError))


# Batches of tensors

X, Y = rows(90, 4)
METHODS = [
    ADA(clusters=5, random_state=3),
    ADA(clusters=5, per="row", gamma="log-uniform"),
    CMixup(bandwidth="0.5sd"),
    Mixup(beta=0.5, per="row"),
    LocalMixup(epsilon=3.0),
    Noise(target_noise=0.2, feature_noise=0.1),
    FOMA(0.8),
    CEMS(0.3),
]
methods = pytest.mark.parametrize("method", METHODS, ids=repr)
IDX = np.random.default_rng(1).permutation(90)[:24]


@methods
@dtypes
def test_a_batch_of_tensors_is_that_of_arrays(method, dtype):
    x, y = torch.from_numpy(X).to(dtype), torch.from_numpy(Y).to(dtype)
    method.fit(x, y)
    expected = method.batch(x.numpy()[IDX], y.numpy()[IDX], IDX, step=3)
    for idx in (IDX, torch.from_numpy(IDX), IDX.tolist(), torch.from_numpy(IDX).int()):
        out = method.batch(x[IDX], y[IDX], idx, step=3)
        for side, array in zip(out, expected):
            assert isinstance(side, torch.Tensor) and side.device == x.device
            assert same(side, torch.from_numpy(array))
    narrow = method.batch(x[IDX].bfloat16(), y[IDX].half(), IDX, step=3)
    assert [side.dtype for side in narrow] == [torch.bfloat16, torch.float16]


@pytest.mark.parametrize("per", ["copy", "row"])
@dtypes
def test_ada_of_tensors_is_the_batch_of_an_augmenter(per, dtype):
    x, y = torch.from_numpy(X).to(dtype), torch.from_numpy(Y).to(dtype)
    ada = ADA(clusters=5, per=per).fit(x, y)
    for step in range(3):
        groups, gamma = ada.groups_[IDX], ada.draw_gamma(step, IDX)
        expected = ada.batch(x[IDX], y[IDX], IDX, step=step)
        for side, whole in zip(expected, (x, y)):
            assert same(wt.ada(whole[IDX], groups, gamma), side)


@dtypes
def test_mixup_of_tensors_is_the_batch_of_an_augmenter(dtype):
    x, y = torch.from_numpy(X).to(dtype), torch.from_numpy(Y).to(dtype)
    method = CMixup(per="row").fit(x, y)
    drawn = method.draw(IDX, step=4)
    expected = method.batch(x[IDX], y[IDX], IDX, step=4)
    for side, whole in zip(expected, (x, y)):
        both = torch.cat([whole[IDX], whole[drawn["partner"]]])
        assert same(wt.mixup(both, drawn["lambda"]), side)


def network(width, seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(width, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))


@pytest.mark.parametrize("hidden", [False, True], ids=["batch", "hidden"])
def test_a_loop_of_torch_learns_the_same_every_time(hidden):
    x, y = torch.from_numpy(X).float(), torch.from_numpy(Y).float()
    ada = ADA(clusters=5).fit(x, y)

    def losses():
        model = network(4)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
        for step, idx in enumerate(torch.randperm(90 * 30).remainder(90).split(30)):
            xb, yb = x[idx], y[idx]
            if hidden:
                gamma, groups = ada.draw_gamma(step), ada.groups_[idx]
                h = wt.ada(model[:2](xb), groups=groups, gamma=gamma)
                yb, out = wt.ada(yb, groups=groups, gamma=gamma), model[2](h)
            else:
                xb, yb = ada.batch(xb, yb, idx, step=step)
                out = model(xb)
            loss = (out.squeeze(1) - yb).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            yield loss.item()

    first = list(losses())
    assert first == list(losses())
    assert np.mean(first[-10:]) < 0.2 * np.mean(first[:10])


# The published training code

STEPS = json.loads((ROOT / "crates/windlass-train/tests/golden/training_steps.json").read_text())


def tensor(item):
    return torch.tensor(item["data"], dtype=torch.float32).reshape(item["shape"])


class Published:
    """The network of the published code, with its starting parameters."""

    def __init__(self):
        given = STEPS["initial_parameters"]
        self.parameters = {name: tensor(item).requires_grad_() for name, item in given.items()}
        slope = STEPS["leaky_slope"]
        self.activation = lambda h: torch.nn.functional.leaky_relu(h, slope)

    def layer(self, number, h):
        return torch.nn.functional.linear(
            h, self.parameters[f"w{number}"], self.parameters[f"b{number}"]
        )

    def __call__(self, x, mixed=lambda h: h):
        h = mixed(self.activation(self.layer(1, x)))
        return self.layer(3, self.activation(self.layer(2, h)))


@pytest.mark.parametrize("run", STEPS["runs"], ids=lambda run: run["method"])
def test_steps_of_the_published_code(run):
    x, y, groups = tensor(STEPS["X"]), tensor(STEPS["y"]), np.array(STEPS["labels"])
    model = Published()
    optimizer = torch.optim.Adam(
        model.parameters.values(),
        lr=STEPS["lr"],
        betas=(STEPS["beta1"], STEPS["beta2"]),
        eps=STEPS["eps"],
    )
    method, _, where = run["method"].partition("_")
    for step, expected in enumerate(run["losses"]):
        idx = torch.tensor(STEPS["batches"][step])

        def mixed(h, step=step, idx=idx):
            if method == "ada":
                return wt.ada(h, groups[idx], STEPS["gammas"][step])
            return wt.mixup(h, STEPS["mix_lambdas"][step]) if method == "mixup" else h

        taken = idx
        if method == "mixup":
            taken = torch.cat([idx, torch.tensor(STEPS["mix_partners"][step])])
        if where == "manifold":
            out = model(x[taken], mixed)
        else:
            out = model(mixed(x[taken]))
        loss = (out - mixed(y[taken])).square().mean()
        assert loss.item() == pytest.approx(expected, rel=1e-5)
        optimizer.zero_grad()
        loss.backward()
        if step == 0:
            for name, item in run["first_gradient"].items():
                assert torch.allclose(model.parameters[name].grad, tensor(item), atol=1e-5), name
        optimizer.step()
    for name, item in run["final_parameters"].items():
        assert torch.allclose(model.parameters[name], tensor(item), atol=1e-5), name


# Loaders

# A worker that waits for threads that are not there waits for ever.
PATIENCE = 60
STARTS = [start for start in ("fork", "spawn") if start in multiprocessing.get_all_start_methods()]


class Samples(torch.utils.data.Dataset):
    """Samples of one kind: tensors, arrays or numbers of Python."""

    def __init__(self, x, y, kind="tensor"):
        self.x, self.y, self.kind = x, y, kind

    def __len__(self):
        return len(self.x)

    def __getitem__(self, row):
        if self.kind == "tensor":
            return torch.from_numpy(self.x[row]), torch.tensor(self.y[row]), torch.tensor(row)
        if self.kind == "array":
            return self.x[row], self.y[row], np.int32(row)
        return [self.x[row], float(self.y[row]), row]


class Every:
    """Several collates in one, so that one set of workers tries them all."""

    def __init__(self, collates):
        self.collates = collates

    def set_epoch(self, epoch):
        for collate in self.collates:
            collate.set_epoch(epoch)

    def __call__(self, samples):
        return [collate(samples) for collate in self.collates]


def every(x, y, methods=METHODS):
    return Every([wt.Collate(method.fit(x, y), keep_index=True) for method in methods])


def epochs(collate, data, workers=0, start=None, count=2, batch_size=16, shuffle=True):
    """All batches of some epochs."""
    options = {}
    if workers:
        options = {
            "num_workers": workers,
            "multiprocessing_context": start,
            "persistent_workers": True,
            "timeout": PATIENCE,
        }
    if shuffle:
        # The loader's own generator serves workers too, and shuffles otherwise if they stay.
        generator = torch.Generator().manual_seed(5)
        options["sampler"] = torch.utils.data.RandomSampler(data, generator=generator)
    loader = torch.utils.data.DataLoader(data, batch_size, collate_fn=collate, **options)
    out = []
    for epoch in range(count):
        collate.set_epoch(epoch)
        out.append([[[side.clone() for side in made] for made in batch] for batch in loader])
    return out


def assert_same(left, right):
    """Check that nested lists of tensors are the same to the bit."""
    assert len(left) == len(right)
    for one, other in zip(left, right):
        if isinstance(one, torch.Tensor):
            assert same(one, other)
        else:
            assert_same(one, other)


@pytest.mark.filterwarnings("ignore:This DataLoader will create 4 worker")
def test_any_number_of_workers_gives_the_same_batches():
    collate, data = every(X, Y), Samples(X, Y)
    alone = epochs(collate, data, count=3)
    for workers in (2, 4):
        assert_same(epochs(collate, data, workers, count=3), alone)


@pytest.mark.parametrize("start", STARTS)
def test_any_way_to_start_workers_gives_the_same_batches(start):
    collate, data = every(X, Y), Samples(X, Y)
    assert_same(epochs(collate, data, 2, start), epochs(collate, data))


def test_batches_of_a_loader_are_batches_of_the_augmenter():
    collate = every(X, Y)
    for epoch, batches in enumerate(epochs(collate, Samples(X, Y))):
        for made in batches:
            for one, (x, y, idx) in zip(collate.collates, made):
                step = core.step_of(idx.numpy(), epoch)
                expected = one.augmenter.batch(X[idx], Y[idx], idx.numpy(), step=step)
                assert same(x, torch.from_numpy(expected[0]))
                assert same(y, torch.from_numpy(expected[1]))


def test_every_epoch_draws_anew():
    first, second = epochs(every(X, Y), Samples(X, Y), shuffle=False)
    for made, again in zip(first, second):
        for (_, y, idx), (_, other, same_idx) in zip(made, again):
            assert same(idx, same_idx) and not torch.equal(y, other)


@pytest.mark.parametrize("kind", ["array", "number"])
def test_samples_of_any_kind(kind):
    collate = every(X, Y)
    expected = epochs(collate, Samples(X, Y), count=1)
    out = epochs(collate, Samples(X, Y, kind), count=1)
    for made, other in zip(out[0], expected[0]):
        for (x, y, idx), (other_x, other_y, other_idx) in zip(made, other):
            assert same(x, other_x) and same(y, other_y) and torch.equal(idx.long(), other_idx)


def test_a_batch_is_without_its_rows_unless_asked():
    collate = wt.Collate(ADA(clusters=5).fit(X, Y))
    batch = collate([(torch.from_numpy(X[row]), Y[row], row) for row in range(4)])
    assert [side.shape for side in batch] == [(4, 4), (4,)]


@pytest.mark.skipif("fork" not in STARTS, reason="there is no fork here")
@pytest.mark.parametrize(
    ("batch_size", "outputs"), [(600, 1), (2000, 1), (5000, 1), (40, 5000)]
)
def test_workers_have_threads_of_their_own(batch_size, outputs):
    # The core has threads in the parent, and uses threads for batches of these sizes.
    x, y = rows(200_000, 8)
    ADA(clusters=8).fit_resample(x, y)
    data = Samples(x[: 2 * batch_size], y[: 2 * batch_size, None].repeat(outputs, 1))
    collate = every(data.x, data.y)
    alone = epochs(collate, data, batch_size=batch_size, count=1)
    assert_same(epochs(collate, data, 2, "fork", batch_size=batch_size, count=1), alone)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_a_copy_of_a_collate_tells_its_workers_the_epoch(again):
    collate, data = every(X, Y, METHODS[:1]), Samples(X, Y)
    assert_same(epochs(again(collate), data, 2), epochs(collate, data))


def test_collate_says_what_is_wrong():
    with pytest.raises(InputTypeError, match="augmenter must be one of windlass, .* got str"):
        wt.Collate("ada")
    with pytest.raises(InputError, match="not fitted yet"):
        wt.Collate(ADA())
    collate = wt.Collate(ADA(clusters=5).fit(X, Y))
    with pytest.raises(InputError, match="epoch must be in"):
        collate.set_epoch(-1)
    with pytest.raises(InputTypeError, match="epoch must be an integer"):
        collate.set_epoch(0.5)
    x = torch.from_numpy(X[0])
    for samples in ([(x, 1.0)], [x], [{"x": x, "y": 1.0, "index": 0}], [5]):
        with pytest.raises(InputError, match=r"samples must be \(x, y, index\)\nhint: Tensor"):
            collate(samples)
    with pytest.raises(InputTypeError, match="y of samples must be numbers, .* returns a "):
        collate([(x, "high", 0)])
    for index in (0.0, True):
        with pytest.raises(InputTypeError, match="idx must be an array of integers"):
            collate([(x, 1.0, index)])
    with pytest.raises(InputError, match=r"got shape \(1, 1\)"):
        collate([(x, 1.0, torch.tensor([0]))])
    with pytest.raises(InputError, match="row 90 does not exist: there are 90 rows"):
        collate([(x, 1.0, 90)])


def test_a_batch_need_not_stand_where_floats_do():
    """Tensors over packed bytes, without columns, or as views are augmented, or refused, like others."""
    x, y = made(60, 3, dtype=torch.float32), made(60, dtype=torch.float32)
    ada = ADA(4).fit(x, y)
    idx = torch.arange(9)
    wanted = ada.batch(x[:9].numpy(), y[:9].numpy(), idx.numpy(), step=2)
    packed = torch.frombuffer(bytearray(b"." + y[:9].numpy().tobytes()), dtype=torch.float32, offset=1)
    assert packed.data_ptr() % 4
    for xb, yb in ((x[:9], packed), (x[:9].t().contiguous().t(), y[:9])):
        out = ada.batch(xb, yb, idx, step=2)
        assert all(same(a, torch.from_numpy(b)) for a, b in zip(out, wanted))
    with pytest.raises(ValueError):
        ADA(4).fit(x[:, :0], y)
