"""Students from Python are those of the command, and any regressor can be teacher or student."""

import numpy as np
import pytest
from common import rows, windlass, write_csv
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from windlass import ADA, InputError, InputTypeError, Regressor, distill


class Recorder(RegressorMixin, BaseEstimator):
    """Keeps the rows that it is fitted on."""

    def fit(self, X, y):
        self.X_, self.y_ = X, y
        return self


def test_the_same_bits_as_the_command(tmp_path):
    x, y = rows(60, 3)
    table = write_csv(tmp_path / "rows.csv", x, y)
    teacher, student = tmp_path / "teacher", tmp_path / "student"
    words = "--hidden 8 --epochs 10 --committee 3 --quiet"
    windlass("train", table, "--target", "y", *words.split(), "--output", teacher)
    words = "--hidden 8,8 --steps 200 --method ada --clusters 4 --copies 5 --seed 3 --quiet"
    windlass("distill", teacher, table, *words.split(), "--output", student)
    for own in (Regressor((8,), epochs=10, committee=3).fit(x, y), Regressor.load(teacher)):
        made = own.distill(
            x, y, hidden=(8, 8), steps=200, method=ADA(clusters=4), copies=5, random_state=3
        )
        made.save(tmp_path / "ours", force=True)
        assert (tmp_path / "ours").read_bytes() == student.read_bytes()
    assert made.card_["valid"]["rows"] == 60
    assert made.card_["distillation"]["teacher_valid"]["rows"] == 60
    assert made.predict(x).shape == y.shape


def test_a_regressor_without_student_takes_the_core():
    x, y = rows(60, 3)
    teacher = Regressor(model="gp").fit(x, y)
    made = distill(teacher, x, y, copies=5)
    same = teacher.distill(x, y, copies=5)
    assert (made.predict(x) == same.predict(x)).all()
    assert np.corrcoef(made.predict(x), teacher.predict(x))[0, 1] > 0.95


def test_labels_of_training_rows_are_out_of_fold():
    x, y = rows(60, 3)
    teacher = KNeighborsRegressor(1).fit(x, y)
    student = Recorder()
    held_out = distill(teacher, x, y, student=student, copies=2)
    assert not hasattr(student, "y_"), "the student is cloned"
    assert held_out.X_.shape == (180, 3)
    assert (held_out.X_[:60] == x).all()
    assert (held_out.y_[:60] != y).all()
    assert (held_out.y_[60:] == teacher.predict(held_out.X_[60:])).all()
    for in_sample in (
        distill(teacher, x, y, student=student, copies=2, out_of_fold_labels=False),
        distill(teacher, x, student=student, copies=2),
    ):
        assert (in_sample.y_[:60] == y).all()


def test_unlabeled_rows_and_no_synthetic_rows():
    x, y = rows(60, 3)
    more = np.random.default_rng(0).normal(size=(7, 3))
    teacher = Ridge().fit(x, y)
    made = distill(teacher, x, student=Recorder(), method=None, unlabeled=more)
    assert (made.X_ == np.concatenate([x, more])).all()
    assert np.allclose(made.y_, teacher.predict(made.X_))


def test_tables_keep_their_columns():
    pandas = pytest.importorskip("pandas")
    x, y = rows(60, 2)
    kinds = np.array(["a", "b"])[np.arange(60) % 2]
    table = pandas.DataFrame({"u": x[:, 0], "v": x[:, 1], "kind": kinds})
    teacher = Regressor(model="ridge").fit(table, y)
    made = distill(teacher, table, y, student=Recorder(), copies=3, unlabeled=table[:5])
    assert list(made.X_.columns) == ["u", "v", "kind"] and len(made.X_) == 245
    assert set(made.X_["kind"]) == {"a", "b"}
    student = teacher.distill(table, y, copies=3, steps=200, unlabeled=table[:5])
    assert student.predict(table).shape == (60,)


def test_the_default_student_follows_a_forest():
    x, y = rows(100, 3)
    forest = RandomForestRegressor(50, random_state=0).fit(x, y)
    student = distill(forest, x, y, copies=20)
    assert isinstance(student, Regressor)
    assert np.corrcoef(student.predict(x), forest.predict(x))[0, 1] > 0.9


def test_refusals():
    x, y = rows(60, 3)
    teacher = Regressor((4,), epochs=2).fit(x, y)
    with pytest.raises(InputTypeError, match="teacher must have predict"):
        distill("cars.windlass", x, y)
    with pytest.raises(InputError, match="student must be network or boosting"):
        teacher.distill(x, y, student="gp")
    with pytest.raises(InputError, match="y has 2 targets, the teacher 1"):
        teacher.distill(x, np.stack([y, y], axis=1))
    with pytest.raises(InputError, match="without sample_weight"):
        teacher.distill(x, y, np.ones(60))
    with pytest.raises(InputTypeError, match="method must be an augmenter"):
        distill(Ridge().fit(x, y), x, y, method=3)
