//! How many dots are drawn of many, and how small.

/// Most dots of a kind: more would cost megabytes and show nothing new.
pub(crate) const MOST_DRAWN: usize = 5_000;

/// Not more than a number of them, evenly spread.
pub(crate) fn some_of<T>(all: &[T], most: usize) -> impl ExactSizeIterator<Item = &T> {
    let drawn = all.len().min(most);
    (0..drawn).map(move |i| &all[i * all.len() / drawn])
}

/// What the radius of so many dots is multiplied with.
pub(crate) fn shrink(drawn: usize) -> f64 {
    [1.0, 0.75, 0.5][usize::from(drawn > 600) + usize::from(drawn > 2_000)]
}
