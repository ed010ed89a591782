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
    #[error("a network needs at least one feature, and one unit in every layer")]
    NoUnits,
    /// A network above the size limit.
    #[error("a network can have at most {most} weights")]
    TooManyWeights { most: usize },
    /// Weights for a network of another shape.
    #[error("the weights belong to a network with different {what}")]
    OtherShape { what: &'static str },
    /// A number that is not finite.
    #[error("{what} is not a finite number")]
    NotFinite { what: &'static str },
    /// Rows of another width.
    #[error("expected {expected} {what}, got {got}")]
    Columns { what: &'static str, expected: usize, got: usize },
    /// All batches would be dropped, because none is full.
    #[error("{rows} rows do not fill a batch of {batch}, and incomplete batches are dropped")]
    NoFullBatch { batch: usize, rows: usize },
    /// A layer that the network does not have.
    #[error("hidden layer {layer} does not exist: the network has {hidden}")]
    NoSuchLayer { layer: usize, hidden: usize },
    /// Augmentation without a layer.
    #[error("augmentation needs a layer; 0 is the input")]
    NoLayer,
    /// A method that applies to the input only.
    #[error("this method applies to the input only: it adds noise or uses group means of all rows")]
    NotOnHiddenLayer,
    /// A network that cannot be built or used here.
    #[error("{why}")]
    Network { why: String },
    /// A checkpoint of another run, or a damaged one.
    #[error("not a checkpoint of this run: {why}")]
    BadState { why: String },
}
