//! The compiled part of the Python package `windlass`: the crates of this workspace, as Python calls them.
//!
//! The public API is in `windlass/*.py`; this crate converts arrays, tables and options for the core, and its errors
//! to exceptions.

mod arrays;
mod augment;
mod command;
mod compare;
mod distributed;
mod errors;
mod metrics;
mod mixing;
mod model;
mod options;
mod regress;
mod runtime;
mod table;

/// The core, compiled.
#[pyo3::pymodule]
mod _windlass {
    #[pymodule_export]
    use super::arrays::rounded;
    #[pymodule_export]
    use super::augment::{FittedMethod, Plan, relevance};
    #[pymodule_export]
    use super::command::run_command;
    #[pymodule_export]
    use super::compare::{EstimatorComparison, Outcome};
    #[pymodule_export]
    use super::distributed::{
        FitDriver, FittedTable, PassAccumulator, RowGenerator, ids_of_rows, write_rows,
    };
    #[pymodule_export]
    use super::errors::{InputError, InputTypeError, NeedsMemoryError};
    #[pymodule_export]
    use super::metrics::{density_weights, errors_by_range, sera};
    #[pymodule_export]
    use super::mixing::{group_mean, step_of};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::options::defaults;
    #[pymodule_export]
    use super::regress::{Condensed, predict_linear};
    #[pymodule_export]
    use super::table::{Table, augment, similarity, write_atomic};

    #[pymodule_export]
    const GAMMAS: [f64; 7] = windlass::regress::GAMMAS;
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
