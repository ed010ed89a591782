//! Errors of networks and their training.

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A rejected argument, with the values needed to correct it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum Error {
    /// An error of the core.
    #[error(transparent)]
    Core(#[from] windlass::Error),
    /// A setting lies outside its range.
    #[error("{name} must be in {range}, got {got}")]
    OutOfRange { name: &'static str, range: &'static str, got: f64 },
    /// A layer without units.
    #[error("every layer of a network needs a unit, and its input a feature")]
    NoUnits,
    /// A network larger than any that a table needs.
    #[error("a network has at most {most} weights")]
    TooManyWeights { most: usize },
    /// Weights for a network of another shape.
    #[error("these weights are of a network with other {what}")]
    OtherShape { what: &'static str },
    /// A number that is not finite.
    #[error("{what} is not a finite number")]
    NotFinite { what: &'static str },
    /// Rows of another width.
    #[error("expected {expected} {what}, got {got}")]
    Columns { what: &'static str, expected: usize, got: usize },
    /// All batches would be dropped, because none is full.
    #[error("no batch of {batch} rows can be filled from {rows}, and the last is to be dropped")]
    NoFullBatch { batch: usize, rows: usize },
    /// A layer that the network does not have.
    #[error("there is no hidden layer {layer}: the network has {hidden}")]
    NoSuchLayer { layer: usize, hidden: usize },
    /// Augmentation without a layer.
    #[error("a method needs a layer to work after; 0 is the input")]
    NoLayer,
    /// A method that applies to the input only.
    #[error("this method adds noise or uses means of the whole set, which a hidden layer has not")]
    NotOnHiddenLayer,
    /// A network that cannot be built or used here.
    #[error("{why}")]
    Network { why: String },
    /// A checkpoint of another run, or a damaged one.
    #[error("not the state of such a run: {why}")]
    BadState { why: String },
}
