//! Greedy growth of one regression tree, shared by forests, extra trees and boosting.
//!
//! A split of rows with weights `w` and targets `y` into left and right maximizes
//!
//! ```text
//! Σ_targets (Σ_left w y)² / (Σ_left w + λ) + (Σ_right w y)² / (Σ_right w + λ)
//! ```
//!
//! which for a penalty λ = 0 minimizes the squared error. [`Thresholds::Best`] tries every threshold: columns are
//! sorted once for all trees, and a split divides each sorted list in place, so that a level costs rows × columns.
//! [`Thresholds::Random`] draws one threshold per column and needs no order. A missing value (NaN) goes to the side
//! with the larger gain; if a node had none in training, to the side with more rows.

use windlass::simd;

use super::{LEAF, Node};

/// Multiple that rows are padded to, for vector loops.
const LANES: usize = 8;
/// Rank of a missing value.
const MISSING: u32 = u32::MAX;

/// Which thresholds a split tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thresholds {
    /// The middle between every two neighboring values.
    Best,
    /// One between the smallest and the largest value, drawn uniformly.
    Random,
}

/// Limits of a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Growth {
    pub(super) thresholds: Thresholds,
    /// Columns that a split tries.
    pub(super) features: usize,
    /// Fewest distinct rows of a leaf.
    pub(super) leaf: usize,
    pub(super) depth: usize,
    /// Penalty λ on squared leaf values.
    pub(super) penalty: f64,
}

/// A value of a sorted column: equal values have equal ranks.
#[derive(Debug, Clone, Copy)]
struct Entry {
    rank: u32,
    row: u32,
}

/// Features of the training rows, as all trees share them.
pub(super) struct Features {
    rows: usize,
    width: usize,
    /// Values of a row, with zeros at the end: a multiple of [`LANES`].
    stride: usize,
    x: Vec<f64>,
    /// Every column in ascending order, missing values last; empty without [`Thresholds::Best`].
    sorted: Vec<Entry>,
    missing_columns: Vec<usize>,
}

impl Features {
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2³² rows")]
    pub(super) fn new(x: ndarray::ArrayView2<'_, f64>, thresholds: Thresholds) -> Self {
        let (rows, width) = x.dim();
        let stride = if width < LANES { width } else { width.next_multiple_of(LANES) };
        let mut padded = vec![0.0; rows * stride];
        for (to, from) in padded.chunks_exact_mut(stride.max(1)).zip(x.rows()) {
            to.iter_mut().zip(from).for_each(|(to, &from)| *to = from);
        }
        let (mut sorted, mut missing_columns) = (vec![], vec![]);
        let mut order: Vec<(f64, u32)> = Vec::with_capacity(rows);
        for (number, column) in x.columns().into_iter().enumerate() {
            if column.iter().any(|value| value.is_nan()) {
                missing_columns.push(number);
            }
            if thresholds == Thresholds::Best {
                order.clear();
                order.extend(column.iter().zip(0..).map(|(&value, row)| (value, row)));
                let missing = |value: f64| value.is_nan();
                order.sort_unstable_by(|a, b| {
                    let finite = || a.0.partial_cmp(&b.0).unwrap_or(std::cmp::Ordering::Equal);
                    missing(a.0).cmp(&missing(b.0)).then_with(finite).then(a.1.cmp(&b.1))
                });
                let mut rank = 0;
                for (place, &(value, row)) in order.iter().enumerate() {
                    if place > 0 && order[place - 1].0 != value {
                        rank = place as u32;
                    }
                    let rank = if value.is_nan() { MISSING } else { rank };
                    sorted.push(Entry { rank, row });
                }
            }
        }
        Self { rows, width, stride, x: padded, sorted, missing_columns }
    }

    fn value(&self, row: u32, column: usize) -> f64 {
        self.x[row as usize * self.stride + column]
    }

    /// The features of a row.
    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.x[row * self.stride..][..self.width]
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }
}

/// A generator of random numbers for one tree (Steele, Lea and Flood's `SplitMix64`): a tree draws millions.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform on `[0, 1)`.
    pub(super) fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * f64::EPSILON / 2.0
    }

    /// Uniform on `0, …, bound − 1`.
    #[expect(clippy::cast_possible_truncation, reason = "below the bound")]
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }
}

/// A grown tree: nodes, and a value of every target for every node (0 for splits).
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) values: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Split {
    column: usize,
    threshold: f64,
    missing_left: bool,
    gain: f64,
}

/// A node that is still to be split.
struct Pending {
    node: usize,
    start: usize,
    end: usize,
    depth: usize,
}

/// Grows trees, one after the other, in the same memory.
pub(super) struct Builder<'a> {
    features: &'a Features,
    growth: Growth,
    targets: usize,
    /// For every row its weight, then its weighted targets.
    stats: Vec<f64>,
    /// Rows of the tree; those of a node are neighbors.
    rows: Vec<u32>,
    /// The same rows in the order of every column.
    lists: Vec<Entry>,
    goes_left: Vec<bool>,
    spare_rows: Vec<u32>,
    spare_entries: Vec<Entry>,
    /// Columns in the order in which a node tries them.
    columns: Vec<usize>,
    /// Sums over the rows of a node, as `stats`.
    total: Vec<f64>,
    random: RandomSplits,
}

/// Memory for [`Thresholds::Random`], a value for every column.
#[derive(Default)]
struct RandomSplits {
    low: Vec<f64>,
    high: Vec<f64>,
    threshold: Vec<f64>,
    /// Sums of weights, then of each target.
    left: Vec<f64>,
    missing: Vec<f64>,
    left_count: Vec<usize>,
    missing_count: Vec<usize>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(features: &'a Features, targets: usize, growth: Growth) -> Self {
        let (rows, width) = (features.rows, features.width);
        Self {
            features,
            growth,
            targets,
            stats: vec![0.0; rows * (targets + 1)],
            rows: Vec::with_capacity(rows),
            lists: Vec::with_capacity(features.sorted.len()),
            goes_left: vec![false; rows],
            spare_rows: vec![0; rows],
            spare_entries: vec![Entry { rank: 0, row: 0 }; rows],
            columns: (0..width).collect(),
            total: vec![0.0; targets + 1],
            random: RandomSplits::default(),
        }
    }

    /// Grows a tree on the rows that have a weight above 0; there must be one. `y` has the targets of every row.
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2³² rows and nodes")]
    pub(super) fn grow(&mut self, y: &[f64], weights: &[f64], random: &mut Random) -> Tree {
        let (width, targets) = (self.features.width, self.targets);
        for ((stats, y), &weight) in
            self.stats.chunks_exact_mut(targets + 1).zip(y.chunks_exact(targets)).zip(weights)
        {
            stats[0] = weight;
            stats[1..].iter_mut().zip(y).for_each(|(stat, y)| *stat = weight * y);
        }
        self.rows.clear();
        self.rows.extend((0..self.features.rows as u32).filter(|&row| weights[row as usize] > 0.0));
        self.lists.clear();
        let drawn = |entry: &&Entry| weights[entry.row as usize] > 0.0;
        self.lists.extend(self.features.sorted.iter().filter(drawn));
        self.columns.clear();
        self.columns.extend(0..width);
        for place in (1..width).rev() {
            self.columns.swap(place, random.below(place + 1));
        }
        let mut tree = Tree::default();
        tree.push_leaf(targets);
        let mut stack = vec![Pending { node: 0, start: 0, end: self.rows.len(), depth: 0 }];
        while let Some(Pending { node, start, end, depth }) = stack.pop() {
            let is_pure = self.add_up(y, start, end);
            let may_split = self.may_split(end - start, depth) && !is_pure;
            let split = may_split.then(|| self.find_split(start, end, random)).flatten();
            let Some(split) = split else {
                let values = &mut tree.values[node * targets..][..targets];
                let weight = self.total[0] + self.growth.penalty;
                values.iter_mut().zip(&self.total[1..]).for_each(|(to, sum)| *to = sum / weight);
                continue;
            };
            let (middle, any_missing) = self.divide(&split, start, end, depth + 1);
            let left = tree.nodes.len();
            let more_left = middle - start > end - middle;
            tree.nodes[node] = Node {
                threshold: split.threshold,
                feature: split.column as u32,
                left: left as u32,
                right: left as u32 + 1,
                missing_left: if any_missing { split.missing_left } else { more_left },
            };
            tree.push_leaf(targets);
            tree.push_leaf(targets);
            stack.push(Pending { node: left + 1, start: middle, end, depth: depth + 1 });
            stack.push(Pending { node: left, start, end: middle, depth: depth + 1 });
        }
        tree
    }

    fn may_split(&self, rows: usize, depth: usize) -> bool {
        rows / 2 >= self.growth.leaf && rows > 1 && depth < self.growth.depth
    }

    /// Computes `total` for the rows of a node. Returns whether all have the same targets.
    fn add_up(&mut self, y: &[f64], start: usize, end: usize) -> bool {
        let (targets, rows) = (self.targets, &self.rows[start..end]);
        let mut is_pure = true;
        self.total.fill(0.0);
        let own = |row: u32| &y[row as usize * targets..][..targets];
        for &row in rows {
            let stats = &self.stats[row as usize * (targets + 1)..][..=targets];
            self.total.iter_mut().zip(stats).for_each(|(total, stat)| *total += stat);
            is_pure &= own(row) == own(rows[0]);
        }
        is_pure
    }

    /// The best split of a node, if it can be split.
    fn find_split(&mut self, start: usize, end: usize, random: &mut Random) -> Option<Split> {
        let width = self.features.width;
        if self.growth.features < width {
            for place in 0..width - 1 {
                self.columns.swap(place, place + random.below(width - place));
            }
        } else {
            // The order decides only between equal gains.
            self.columns.rotate_left(random.below(width));
        }
        let best = match self.growth.thresholds {
            Thresholds::Best => self.best_thresholds(start, end),
            Thresholds::Random => self.random_thresholds(start, end, random),
        };
        // With a penalty, a split can be worse than none.
        let penalty = self.growth.penalty;
        let whole = || {
            let squares = self.total[1..].iter().map(|sum| sum * sum).sum::<f64>();
            squares / (self.total[0] + penalty)
        };
        best.filter(|split| penalty == 0.0 || split.gain > whole())
    }

    fn best_thresholds(&mut self, start: usize, end: usize) -> Option<Split> {
        let (drawn, targets) = (self.rows.len(), self.targets);
        let mut best: Option<Split> = None;
        let mut tried = 0;
        for &column in &self.columns {
            let entries = &self.lists[column * drawn..][start..end];
            if entries[0].rank == entries[entries.len() - 1].rank {
                continue;
            }
            let present = match entries[entries.len() - 1].rank {
                MISSING => entries.partition_point(|entry| entry.rank != MISSING),
                _ => entries.len(),
            };
            let mut scan = |before: &[f64], missing_left: bool| {
                let scan = Scan {
                    entries,
                    stats: &self.stats,
                    total: &self.total,
                    before,
                    count_before: if missing_left { entries.len() - present } else { 0 },
                    present,
                    leaf: self.growth.leaf,
                    penalty: self.growth.penalty,
                    least: best.as_ref().map_or(f64::NEG_INFINITY, |best| best.gain),
                };
                let found = if targets == 1 { scan.one_target() } else { scan.several_targets() };
                if let Some((place, gain)) = found {
                    let low = self.features.value(entries[place].row, column);
                    let threshold = match entries.get(place + 1) {
                        Some(next) if next.rank != MISSING => {
                            middle(low, self.features.value(next.row, column))
                        }
                        _ => low,
                    };
                    best = Some(Split { column, threshold, missing_left, gain });
                }
            };
            scan(&[0.0; 2][..], false);
            if present < entries.len() {
                let mut sums = vec![0.0; targets + 1];
                for entry in &entries[present..] {
                    let stats = &self.stats[entry.row as usize * (targets + 1)..][..=targets];
                    sums.iter_mut().zip(stats).for_each(|(sum, stat)| *sum += stat);
                }
                scan(&sums, true);
            }
            tried += 1;
            if tried == self.growth.features {
                break;
            }
        }
        best
    }

    fn random_thresholds(
        &mut self,
        start: usize,
        end: usize,
        random: &mut Random,
    ) -> Option<Split> {
        self.sum_missing(start, end);
        let (rows, targets) = (&self.rows[start..end], self.targets);
        let Features { stride, x, .. } = self.features;
        let (stride, width) = (*stride, self.features.width);
        let RandomSplits { low, high, threshold, left, left_count, missing_count, .. } =
            &mut self.random;
        reset(low, stride, f64::INFINITY);
        reset(high, stride, f64::NEG_INFINITY);
        simd::vectorized(
            (&mut low[..], &mut high[..]),
            #[inline(always)]
            |(low, high)| {
                for &row in rows {
                    let x = &x[row as usize * stride..][..stride];
                    for ((low, high), &x) in low.iter_mut().zip(high.iter_mut()).zip(x) {
                        *low = if x < *low { x } else { *low };
                        *high = if x > *high { x } else { *high };
                    }
                }
            },
        );
        let length = stride * (targets + 1);
        let missing_rows = |column: usize| missing_count.get(column).copied().unwrap_or(0);
        reset(threshold, stride, f64::NAN);
        let mut tried = 0;
        for &column in &self.columns {
            let (low, high) = (low[column], high[column]);
            if low < high {
                let drawn = low + random.uniform() * (high - low);
                threshold[column] = if drawn < high { drawn } else { low };
            } else if low == high && missing_rows(column) > 0 {
                threshold[column] = high;
            } else {
                continue;
            }
            tried += 1;
            if tried == self.growth.features {
                break;
            }
        }
        reset(left, length, 0.0);
        simd::vectorized(
            (&mut left[..], &threshold[..], &self.stats[..]),
            #[inline(always)]
            |(left, threshold, stats)| {
                for &row in rows {
                    let x = &x[row as usize * stride..][..stride];
                    let stats = &stats[row as usize * (targets + 1)..][..=targets];
                    for (left, &stat) in left.chunks_exact_mut(stride).zip(stats) {
                        for ((left, &threshold), &x) in left.iter_mut().zip(threshold).zip(x) {
                            *left += if x <= threshold { stat } else { 0.0 };
                        }
                    }
                }
            },
        );
        left_count.clear();
        if self.growth.leaf > 1 {
            left_count.extend(threshold[..width].iter().enumerate().map(|(column, &threshold)| {
                rows.iter().filter(|&&row| self.features.value(row, column) <= threshold).count()
            }));
        }
        self.best_drawn(end - start)
    }

    /// Sums over the rows of a node whose value is missing, for every column with missing values.
    fn sum_missing(&mut self, start: usize, end: usize) {
        let (rows, targets) = (&self.rows[start..end], self.targets);
        let Features { stride, width, missing_columns, .. } = self.features;
        let RandomSplits { missing, missing_count, .. } = &mut self.random;
        if missing_columns.is_empty() {
            return;
        }
        reset(missing, stride * (targets + 1), 0.0);
        missing_count.clear();
        missing_count.resize(*width, 0);
        for &column in missing_columns {
            for &row in rows.iter().filter(|&&row| self.features.value(row, column).is_nan()) {
                missing_count[column] += 1;
                let stats = &self.stats[row as usize * (targets + 1)..][..=targets];
                for (place, stat) in stats.iter().enumerate() {
                    missing[place * stride + column] += stat;
                }
            }
        }
    }

    /// The best of the drawn thresholds of a node with so many rows.
    fn best_drawn(&self, rows: usize) -> Option<Split> {
        let RandomSplits { low, high, threshold, left, missing, left_count, missing_count } =
            &self.random;
        let (stride, leaf) = (self.features.stride, self.growth.leaf);
        let missing_rows = |column: usize| missing_count.get(column).copied().unwrap_or(0);
        let mut best: Option<Split> = None;
        for &column in &self.columns {
            if threshold[column].is_nan() {
                continue;
            }
            for missing_left in [false, true] {
                // If present values are all equal, missing ones need the other side.
                if missing_left && (missing_rows(column) == 0 || low[column] == high[column]) {
                    continue;
                }
                if leaf > 1 {
                    let moved = if missing_left { missing_rows(column) } else { 0 };
                    let left_rows = left_count[column] + moved;
                    if left_rows < leaf || rows - left_rows < leaf {
                        continue;
                    }
                }
                let of = |place: usize| {
                    let moved = if missing_left { missing[place * stride + column] } else { 0.0 };
                    left[place * stride + column] + moved
                };
                let weight = of(0);
                let squares = (1..=self.targets).fold((0.0, 0.0), |(left, right), target| {
                    let (sum, total) = (of(target), self.total[target]);
                    (left + sum * sum, right + (total - sum) * (total - sum))
                });
                let gain = gain(squares, weight, self.total[0] - weight, self.growth.penalty);
                if gain > best.as_ref().map_or(f64::NEG_INFINITY, |best| best.gain)
                    && gain < f64::INFINITY
                {
                    best = Some(Split { column, threshold: threshold[column], missing_left, gain });
                }
            }
        }
        best
    }

    /// Divides the rows of a node. Returns where those of the right child begin, and whether a value is missing.
    fn divide(&mut self, split: &Split, start: usize, end: usize, depth: usize) -> (usize, bool) {
        let Features { stride, x, .. } = self.features;
        let mut any_missing = false;
        for &row in &self.rows[start..end] {
            let value = x[row as usize * stride + split.column];
            let left = value <= split.threshold || (split.missing_left && value.is_nan());
            self.goes_left[row as usize] = left;
            any_missing |= value.is_nan();
        }
        let goes_left = &self.goes_left[..];
        let left = partition(&mut self.rows[start..end], &mut self.spare_rows, |&row| {
            goes_left[row as usize]
        });
        let middle = start + left;
        if self.may_split(left, depth) || self.may_split(end - middle, depth) {
            for list in self.lists.chunks_exact_mut(self.rows.len()) {
                partition(&mut list[start..end], &mut self.spare_entries, |entry| {
                    goes_left[entry.row as usize]
                });
            }
        }
        (middle, any_missing)
    }
}

impl Tree {
    fn push_leaf(&mut self, targets: usize) {
        let leaf = Node { threshold: 0.0, feature: LEAF, left: 0, right: 0, missing_left: false };
        self.nodes.push(leaf);
        self.values.resize(self.values.len() + targets, 0.0);
    }
}

/// Moves what goes left to the front, both sides in their order, and returns how many go left.
#[inline]
fn partition<T: Copy>(list: &mut [T], spare: &mut [T], goes_left: impl Fn(&T) -> bool) -> usize {
    let spare = &mut spare[..list.len()];
    let (mut left, mut right) = (0, 0);
    for place in 0..list.len() {
        let value = list[place];
        let goes_left = usize::from(goes_left(&value));
        // Both are written, only one counts: there is no branch to mispredict.
        list[left] = value;
        spare[right] = value;
        left += goes_left;
        right += 1 - goes_left;
    }
    list[left..].copy_from_slice(&spare[..right]);
    left
}

fn reset(list: &mut Vec<f64>, length: usize, value: f64) {
    list.clear();
    list.resize(length, value);
}

/// Between two values, and not equal to the higher one.
fn middle(low: f64, high: f64) -> f64 {
    let middle = low / 2.0 + high / 2.0;
    if low < middle && middle < high { middle } else { low }
}

/// What a split gains, from the squared sums of targets on both sides. One division is faster than two.
#[inline(always)]
fn gain((left, right): (f64, f64), left_weight: f64, right_weight: f64, penalty: f64) -> f64 {
    let (left_weight, right_weight) = (left_weight + penalty, right_weight + penalty);
    (left * right_weight + right * left_weight) / (left_weight * right_weight)
}

/// A search for the best threshold of a sorted column.
struct Scan<'a> {
    entries: &'a [Entry],
    stats: &'a [f64],
    total: &'a [f64],
    /// Sums over rows that go left at every threshold, and their number.
    before: &'a [f64],
    count_before: usize,
    /// Entries that are not missing.
    present: usize,
    leaf: usize,
    penalty: f64,
    /// What must be exceeded.
    least: f64,
}

impl Scan<'_> {
    /// The last place of the left side, and the gain.
    fn one_target(&self) -> Option<(usize, f64)> {
        let Self { entries, total, before, penalty, .. } = *self;
        let (mut weight, mut sum) = (before[0], before[1]);
        let (mut best, mut at) = (self.least, None);
        let (first, last) = self.places();
        for (place, pair) in entries.windows(2).take(last).enumerate() {
            let stats = &self.stats[pair[0].row as usize * 2..][..2];
            weight += stats[0];
            sum += stats[1];
            if pair[0].rank != pair[1].rank && place >= first {
                let squares = (sum * sum, (total[1] - sum) * (total[1] - sum));
                let gain = gain(squares, weight, total[0] - weight, penalty);
                if gain > best && gain < f64::INFINITY {
                    (best, at) = (gain, Some(place));
                }
            }
        }
        at.map(|at| (at, best))
    }

    fn several_targets(&self) -> Option<(usize, f64)> {
        let Self { entries, total, penalty, .. } = *self;
        let mut sums = vec![0.0; total.len()];
        sums.iter_mut().zip(self.before).for_each(|(sum, before)| *sum += before);
        let (mut best, mut at) = (self.least, None);
        let (first, last) = self.places();
        for (place, pair) in entries.windows(2).take(last).enumerate() {
            let stats = &self.stats[pair[0].row as usize * total.len()..][..total.len()];
            sums.iter_mut().zip(stats).for_each(|(sum, stat)| *sum += stat);
            if pair[0].rank != pair[1].rank && place >= first {
                let mut squares = (0.0, 0.0);
                for (sum, total) in sums[1..].iter().zip(&total[1..]) {
                    squares.0 += sum * sum;
                    squares.1 += (total - sum) * (total - sum);
                }
                let gain = gain(squares, sums[0], total[0] - sums[0], penalty);
                if gain > best && gain < f64::INFINITY {
                    (best, at) = (gain, Some(place));
                }
            }
        }
        at.map(|at| (at, best))
    }

    /// The first place that leaves enough rows on the left, and the one after the last that leaves enough on the
    /// right.
    fn places(&self) -> (usize, usize) {
        let most = (self.entries.len() - self.count_before).saturating_sub(self.leaf);
        (self.leaf.saturating_sub(self.count_before + 1), self.present.min(most))
    }
}
