//! Coverage and power of the confidence intervals, by simulation.
//!
//! Each simulation makes a new table with ten columns and `y = Σ xⱼ/√10 + noise`. Ridge regression on the
//! first five columns and ridge regression on the last five are the two methods. By symmetry neither is
//! better on average, but on one table one of them is, and its splits agree on which: the case that the
//! correction is for. Of the comparisons simulated for the table in `statistics.rs` this is among the
//! hardest; coverage is higher on others.

use ndarray::{Array1, Array2, Axis, s};
use windlass::regress::Ridge;
use windlass::{Samples, Seed, Stream};
use windlass_compare::statistics::{
    Interval, SplitSizes, log_ratio, over_repeats, over_splits, random_blocks,
};

const COLUMNS: usize = 10;
/// Standard deviation of the noise; the signal's is 1.
const NOISE: f64 = 0.5;
const REPEATS: u64 = 3;
const FOLDS: usize = 5;

/// A table, and the seed of everything that is done with it.
struct Table {
    x: Array2<f64>,
    y: Array1<f64>,
    seed: Seed,
}

impl Table {
    fn new(rows: usize, seed: Seed) -> Self {
        let mut draws = seed.at(Stream::FeatureNoise, 0, 0);
        let x = Array2::from_shape_simple_fn((rows, COLUMNS), || draws.normal());
        let signal = x.sum_axis(Axis(1)) / (COLUMNS as f64).sqrt();
        let y = signal.mapv(|signal| signal + NOISE * draws.normal());
        Self { x, y, seed }
    }

    fn ridge(&self, columns: std::ops::Range<usize>, train: &[usize], test: &[usize]) -> Vec<f64> {
        let x = self.x.slice(s![.., columns]);
        let (train_x, train_y) = (x.select(Axis(0), train), self.y.select(Axis(0), train));
        let samples = Samples::new(train_x.view(), train_y.view()).unwrap();
        let model = Ridge::new(1.0).fit(&samples).unwrap();
        let predicted = model.predict(x.select(Axis(0), test).view()).unwrap();
        test.iter().zip(&predicted).map(|(&row, p)| self.y[row] - p).collect()
    }

    /// The residuals of ridge regression on either half of the columns.
    fn halves(&self, train: &[usize], test: &[usize]) -> [Vec<f64>; 2] {
        [0..COLUMNS / 2, COLUMNS / 2..COLUMNS].map(|columns| self.ridge(columns, train, test))
    }

    /// The residuals of ridge regression, and the same with noise that makes the first RMSE 5 % lower.
    fn planted(&self, train: &[usize], test: &[usize]) -> [Vec<f64>; 2] {
        let better = self.ridge(0..COLUMNS, train, test);
        let size = NOISE * (0.95_f64.powi(-2) - 1.0).sqrt();
        let noise = |row| size * self.seed.at(Stream::TargetNoise, 0, row as u64).normal();
        let worse = test.iter().zip(&better).map(|(&row, r)| r + noise(row)).collect();
        [better, worse]
    }

    /// The interval of repeated folds; `train` rows of each fold's training part are trained on.
    fn compare(
        &self,
        train: usize,
        residuals: impl Fn(&Self, &[usize], &[usize]) -> [Vec<f64>; 2],
    ) -> Interval {
        let all = self.y.len();
        let mut differences = Vec::new();
        for repeat in 0..REPEATS {
            let mut order: Vec<usize> = (0..all).collect();
            self.seed.shared(Stream::Split, repeat).shuffle(&mut order);
            for fold in 0..FOLDS {
                let (from, to) = (fold * all / FOLDS, (fold + 1) * all / FOLDS);
                let mut rest = [&order[..from], &order[to..]].concat();
                self.seed.at(Stream::Sample, repeat, fold as u64).shuffle(&mut rest);
                let [method, erm] = residuals(self, &rest[..train], &order[from..to]);
                let size = |residuals: &[f64]| residuals.iter().map(|r| r * r).sum::<f64>().sqrt();
                differences.push(log_ratio(size(&method), size(&erm)));
            }
        }
        over_splits(&differences, SplitSizes { train, test: all / FOLDS, all })
    }
}

/// Percentage of simulations for which a condition holds.
fn per_cent(simulations: u64, holds: impl Fn(Seed) -> bool) -> f64 {
    100.0 * (0..simulations).filter(|&seed| holds(Seed(seed))).count() as f64 / simulations as f64
}

fn holds_zero(found: Interval) -> bool {
    found.low <= 0.0 && found.high >= 0.0
}

/// The middle of a grid of 60 to 400 rows and noise of 0.2 to 1, whose twelve settings gave 96.0 to 97.6 %
/// in 2,000 simulations each, this one 96.4 %: a little careful, most so (97.4 to 97.6 %) from 200 rows on.
#[test]
fn intervals_over_folds_cover_the_truth() {
    let got = per_cent(400, |seed| holds_zero(Table::new(100, seed).compare(80, Table::halves)));
    assert!((93.0..=97.0).contains(&got), "{got} %");
}

/// A point of a learning curve, 20 of 400 rows. In 2,000 simulations this gave 95.4 %; the same share with
/// noise of 0.2 and 1 gave 94.5 and 96.8 %, 20 of 200 rows 95.6 to 97.2 %, 20 of 100 rows 97.2 to 98.1 %.
/// With Nadeau and Bengio's test/train, 4 here, it would be 100 %.
#[test]
fn intervals_of_small_training_sets_cover_the_truth() {
    let got = per_cent(400, |seed| holds_zero(Table::new(400, seed).compare(20, Table::halves)));
    assert!((93.0..=97.0).contains(&got), "{got} %");
}

/// In 300 simulations each, 37 % of the gains were found with 200 rows, 77 % with 400, 90 % with 600 and
/// all with 1,000.
#[test]
fn a_gain_of_five_percent_is_significant() {
    let found = |seed| Table::new(1_000, seed).compare(800, Table::planted).high < 0.0;
    let got = per_cent(100, found);
    assert!(got >= 95.0, "{got} %");
}

/// Two trained methods err by half a standard deviation of a column each, not of the same one, and every
/// seed moves each of them along a further column: equal by symmetry, on rows that are a sample.
fn on_fixed_test_rows(rows: usize, repeats: u64, seed: Seed) -> Interval {
    let columns: Vec<[f64; 5]> = (0..rows as u64)
        .map(|row| {
            let mut draws = seed.at(Stream::FeatureNoise, 0, row);
            [0; 5].map(|_| draws.normal())
        })
        .collect();
    let errors = |method: usize| -> Vec<Vec<f64>> {
        let of_repeat = |repeat| {
            let moved = 0.3 * seed.at(Stream::Weights, method as u64, repeat).normal();
            let error = |x: &[f64; 5]| (x[4] + 0.5 * x[method] + moved * x[2 + method]).powi(2);
            columns.iter().map(error).collect()
        };
        (0..repeats).map(of_repeat).collect()
    };
    over_repeats(&errors(0), &errors(1), &random_blocks(rows, seed))
}

/// In 2,000 simulations each of 50, 200 and 1,000 rows with 2 to 10 repeats: 94.1 to 96.2 %, here 95.5 %.
#[test]
fn intervals_on_fixed_test_rows_cover_the_truth() {
    let got = per_cent(400, |seed| holds_zero(on_fixed_test_rows(200, 5, seed)));
    assert!((93.0..=97.0).contains(&got), "{got} %");
}
