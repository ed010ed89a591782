//! Names of parameters in messages, in the style of the interface that shows the message.

use std::borrow::Cow;
use std::fmt;

/// How an interface writes the name of a parameter.
///
/// Errors that name a parameter are displayed in the style of the format: `{}` for Rust, `{:#}`
/// for the command and `{:+}` for Python.
///
/// ```
/// use windlass::{ParamName, ParamStyle};
///
/// let seed = ParamName("seed");
/// assert_eq!(format!("{seed} {seed:#} {seed:+}"), "seed --seed random_state");
/// assert_eq!(ParamStyle::Command.name("cluster_on"), "--cluster-on");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamStyle {
    /// `cluster_on`
    Rust,
    /// `--cluster-on`
    Command,
    /// `cluster_on`, and `random_state` for `seed`
    Python,
}

/// The parameters that have another name in Python, mostly by scikit-learn's conventions.
const PYTHON_NAMES: [(&str, &str); 4] =
    [("seed", "random_state"), ("folds", "cv"), ("manifold", "layer"), ("rows_by", "key")];

impl ParamStyle {
    /// The name of a parameter in this style.
    #[must_use]
    pub fn name(self, param: &'static str) -> Cow<'static, str> {
        match self {
            Self::Rust => param.into(),
            Self::Command => format!("--{}", param.replace('_', "-")).into(),
            Self::Python => {
                let renamed = PYTHON_NAMES.iter().find(|(name, _)| *name == param);
                renamed.map_or(param, |(_, python)| python).into()
            }
        }
    }
}

/// The name of a parameter, as in Rust; displayed in a [`ParamStyle`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParamName(pub &'static str);

impl fmt::Display for ParamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let style = match (f.alternate(), f.sign_plus()) {
            (true, _) => ParamStyle::Command,
            (false, true) => ParamStyle::Python,
            (false, false) => ParamStyle::Rust,
        };
        f.write_str(&style.name(self.0))
    }
}
