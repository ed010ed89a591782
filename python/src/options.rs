//! Keyword arguments of methods and networks, converted for the core. Arguments that equal the default of the core
//! count as not set.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr as _;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use windlass::regress::AnchorRegression;
use windlass::{ControlPoint, METHODS, MethodInfo, MethodParams, Param, RareSpec, Relevance};
use windlass_compare::CompareConfig;
use windlass_model::{
    ActivationName, DistillConfig, Kind, NetworkOptions, OptimizerName, Scaling, Split, Validation,
};
use windlass_table::{AugmentConfig, Bounds, IntegerHandling, MethodConfig, RareSources};
use windlass_train::{Loss, Schedule, Shuffle, TrainConfig};

use crate::errors::{InputError, InputTypeError, Refused as _};

/// Keyword arguments of a class that differ from their defaults.
pub(crate) struct Options<'py> {
    given: Bound<'py, PyDict>,
}

impl<'py> Options<'py> {
    /// Selects the arguments that differ from the defaults of a class.
    pub(crate) fn of(class: &str, options: &Bound<'py, PyDict>) -> PyResult<Self> {
        let py = options.py();
        let all = defaults(py)?;
        let Some(usual) = all.get_item(class)? else {
            return Err(InputError::new_err(format!("unknown method `{class}`")));
        };
        let usual = usual.cast_into::<PyDict>()?;
        let given = PyDict::new(py);
        for (name, value) in options.iter() {
            let Some(default) = usual.get_item(&name)? else {
                let known: Vec<String> = usual.keys().iter().map(|name| name.to_string()).collect();
                let text =
                    format!("{class} has no option `{name}`: its options are {}", known.join(", "));
                return Err(InputTypeError::new_err(text));
            };
            if !value.is_none() && !value.eq(default)? {
                given.set_item(name, value)?;
            }
        }
        Ok(Self { given })
    }

    fn get<T>(
        &self,
        name: &str,
        of: impl FnOnce(Bound<'py, PyAny>) -> Option<T>,
        what: &str,
    ) -> PyResult<Option<T>> {
        let Some(value) = self.given.get_item(name)? else { return Ok(None) };
        let shown = value.repr()?.to_string();
        let type_name = value.get_type().name()?.to_string();
        match of(value) {
            Some(value) => Ok(Some(value)),
            None => Err(InputTypeError::new_err(format!(
                "{name} must be {what}, got {shown} of type {type_name}"
            ))),
        }
    }

    pub(crate) fn number(&self, name: &str) -> PyResult<Option<f64>> {
        self.get(name, |value| value.extract().ok(), "a number")
    }

    fn count(&self, name: &str) -> PyResult<Option<usize>> {
        self.count_from(name, 0)
    }

    /// An integer of at least `least`.
    fn count_from(&self, name: &str, least: usize) -> PyResult<Option<usize>> {
        let Some(value) = self.given.get_item(name)? else { return Ok(None) };
        if let Ok(count) = value.extract::<i64>() {
            let whole = usize::try_from(count).ok().filter(|&count| count >= least);
            return whole.map(Some).ok_or_else(|| {
                InputError::new_err(format!("{name} must be in [{least}, inf), got {count}"))
            });
        }
        self.get(name, |_| None, "an integer")
    }

    pub(crate) fn flag(&self, name: &str) -> PyResult<Option<bool>> {
        self.get(name, |value| value.extract().ok(), "True or False")
    }

    pub(crate) fn text(&self, name: &str) -> PyResult<Option<String>> {
        self.get(name, |value| value.extract().ok(), "text")
    }

    /// One of a few words.
    pub(crate) fn word<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> PyResult<Option<T>> {
        self.text(name)?.map(|text| word(name, &text, words)).transpose()
    }

    /// The value of a parameter as text: a word, a number, or a list of numbers.
    fn param(&self, param: &Param) -> PyResult<Option<String>> {
        let Some(value) = self.given.get_item(param.name)? else { return Ok(None) };
        if let (Ok(text), false) = (value.cast::<PyString>(), param.is_number) {
            return Ok(Some(text.to_string()));
        }
        if let Ok(count) = value.extract::<i64>() {
            return Ok(Some(count.to_string()));
        }
        if let Ok(number) = value.extract::<f64>() {
            return Ok(Some(number.to_string()));
        }
        let list = (!value.is_instance_of::<PyString>()).then(|| value.extract::<Vec<f64>>().ok());
        if let (Some(Some(list)), false) = (list, param.is_number) {
            let numbers: Vec<String> = list.iter().map(f64::to_string).collect();
            return Ok(Some(format!("list:{}", numbers.join(","))));
        }
        let what = if param.is_number { "a number" } else { param.range };
        self.get(param.name, |_| None, what)
    }

    /// Text for a parser, or a number.
    fn read<T>(
        &self,
        name: &str,
        number: impl FnOnce(f64) -> T,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> PyResult<Option<T>> {
        let Some(value) = self.given.get_item(name)? else { return Ok(None) };
        if let Ok(text) = value.cast::<PyString>() {
            let text = text.to_string();
            return read(&text).map(Some).map_err(|says| format!("{name}: {says}")).refused();
        }
        Ok(self.number(name)?.map(number))
    }
}

pub(crate) const INTEGERS: [(&str, IntegerHandling); 2] =
    [("round", IntegerHandling::Round), ("float", IntegerHandling::Float)];
const SCALING: [(&str, Scaling); 3] =
    [("standard", Scaling::Standard), ("minmax", Scaling::MinMax), ("none", Scaling::None)];
const ACTIVATION: [(&str, ActivationName); 5] = [
    ("relu", ActivationName::Relu),
    ("leaky-relu", ActivationName::LeakyRelu),
    ("sigmoid", ActivationName::Sigmoid),
    ("tanh", ActivationName::Tanh),
    ("identity", ActivationName::Identity),
];
const OPTIMIZER: [(&str, OptimizerName); 3] =
    [("adamw", OptimizerName::AdamW), ("adam", OptimizerName::Adam), ("sgd", OptimizerName::Sgd)];
const SCHEDULE: [(&str, Schedule); 2] =
    [("constant", Schedule::Constant), ("cosine", Schedule::Cosine)];
const SHUFFLE: [(&str, Shuffle); 3] =
    [("epoch", Shuffle::EveryEpoch), ("once", Shuffle::Once), ("never", Shuffle::Never)];

/// How synthetic values are clipped.
pub(crate) const CLIP: [(&str, bool); 2] = [("none", false), ("observed", true)];

/// The value of a word that a parameter takes.
pub(crate) fn word<T: Copy>(name: &str, word: &str, words: &[(&str, T)]) -> PyResult<T> {
    let found = words.iter().find(|(known, _)| *known == word);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
        InputError::new_err(format!("{name} must be {}, got {word:?}", known.join(" or ")))
    })
}

/// Bounds of columns, from pairs of numbers.
pub(crate) fn bounds(
    pairs: BTreeMap<String, (Option<f64>, Option<f64>)>,
) -> PyResult<BTreeMap<String, Bounds>> {
    let bounds = pairs.into_iter().map(|(column, (low, high))| {
        let bounds = Bounds::new(low, high);
        let bounds = bounds.map_err(|why| format!("bounds of `{column}`: {why}")).refused()?;
        Ok((column, bounds))
    });
    bounds.collect()
}

/// Which targets are rare: a word, the name of a file, or control points `(y, phi)` or `(y, phi, slope)`.
pub(crate) fn rare(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<RareSpec>> {
    let Some(value) = value else { return Ok(None) };
    if let Ok(text) = value.extract::<PathBuf>() {
        return windlass_table::read_rare(&text.to_string_lossy()).refused().map(Some);
    }
    let Ok(rows) = value.extract::<Vec<Vec<f64>>>() else {
        let (shown, kind) = (value.repr()?, value.get_type().name()?);
        return Err(InputTypeError::new_err(format!(
            "rare must be one of {}, a file, or control points (y, phi), got {shown} of type {kind}",
            RareSpec::WORDS
        )));
    };
    let point = |row: &Vec<f64>| match row[..] {
        [y, phi] => Ok(ControlPoint { y, phi, slope: None }),
        [y, phi, slope] => Ok(ControlPoint { y, phi, slope: Some(slope) }),
        _ => {
            let text = format!("a control point is (y, phi) or (y, phi, slope), got {row:?}");
            Err(InputError::new_err(text))
        }
    };
    let points = rows.iter().map(point).collect::<PyResult<Vec<_>>>()?;
    Ok(Some(RareSpec::Points(Relevance::from_points(&points).refused()?)))
}

/// The rare sources of a method, as requested or by its default, and whether the number of copies follows from them.
pub(crate) fn rare_sources(
    method: &MethodConfig,
    rare: Option<&Bound<'_, PyAny>>,
    copies: Option<usize>,
) -> PyResult<Option<RareSources>> {
    let default = || method.info().rare.then(RareSpec::default);
    let targets = self::rare(rare)?.or_else(default);
    Ok(targets.map(|targets| RareSources { targets, balance: copies.is_none() }))
}

/// The word for a value.
fn word_of<T: PartialEq>(value: &T, words: &[(&'static str, T)]) -> &'static str {
    words.iter().find(|(_, other)| other == value).map_or("", |(word, _)| word)
}

/// A method with its parameters, from the keywords of its class.
pub(crate) fn method(name: &str, options: &Bound<'_, PyDict>) -> PyResult<MethodConfig> {
    let given = Options::of(name, options)?;
    let method = MethodInfo::named(name)
        .ok_or_else(|| InputError::new_err(format!("unknown method `{name}`")))?;
    let mut params = MethodParams::default();
    for param in method.params {
        if let Some(value) = given.param(param)? {
            let named = |why: String| format!("{}: {why}", param.name);
            (param.set)(&mut params, &value).map_err(named).refused()?;
        }
    }
    MethodConfig::new(method, &params).refused()
}

/// A network with its training, and the scaling of features and targets.
pub(crate) struct ParsedNetwork {
    pub(crate) options: NetworkOptions,
    pub(crate) valid: Validation,
    pub(crate) split: Split,
    pub(crate) scaling: Scaling,
    pub(crate) target_scaling: Scaling,
}

pub(crate) fn network(options: &Bound<'_, PyDict>) -> PyResult<ParsedNetwork> {
    let said = Options::of("regressor", options)?;
    let valid = match (said.count("committee")?, said.given.get_item("valid")?) {
        (Some(members), None) => Validation::Folds(members),
        (Some(_), Some(_)) => {
            let text = "committee does not apply to valid: its members validate each other's rows";
            return Err(InputError::new_err(text));
        }
        (None, None) => NetworkOptions::VALID,
        (None, Some(text)) if text.is_instance_of::<PyString>() => {
            said.word("valid", &[("none", Validation::None)])?.unwrap_or(Validation::None)
        }
        (None, Some(_)) => {
            said.number("valid")?.map_or(NetworkOptions::VALID, Validation::Fraction)
        }
    };
    let hidden = said.get("hidden", |value| value.extract().ok(), "a tuple of layer sizes")?;
    #[expect(clippy::cast_possible_truncation, reason = "networks have 32 bits")]
    let slope = said.number("slope")?.map(|slope| slope as f32);
    let options = NetworkOptions {
        hidden,
        activation: said.word("activation", &ACTIVATION)?,
        slope,
        epochs: said.count("epochs")?,
        batch_size: said.count("batch")?,
        learning_rate: said.number("lr")?,
        schedule: said.word("schedule", &SCHEDULE)?,
        optimizer: said.word("optimizer", &OPTIMIZER)?,
        momentum: said.number("momentum")?,
        weight_decay: said.number("weight_decay")?,
        clip_norm: said.number("clip_norm")?,
        loss: said.read("loss", |_| Loss::default(), windlass_model::parse_loss)?,
        patience: said.count("patience")?,
        drop_last: said.flag("drop_last")?.unwrap_or_default(),
        shuffle: said.word("shuffle", &SHUFFLE)?,
    };
    options.check(valid).refused()?;
    let split = said.text("split")?.map(|text| split(&text)).transpose()?.unwrap_or_default();
    if split != Split::Rows && valid == Validation::None {
        let text = "split does not apply to training without validation rows\nhint: omit it";
        return Err(InputError::new_err(text));
    }
    Ok(ParsedNetwork {
        options,
        valid,
        split,
        scaling: said.word("scale", &SCALING)?.unwrap_or_default(),
        target_scaling: said.word("target_scale", &SCALING)?.unwrap_or_default(),
    })
}

/// How rows are held out.
pub(crate) fn split(text: &str) -> PyResult<Split> {
    Split::from_str(text).map_err(|says| format!("split: {says}")).refused()
}

/// The defaults of every class, from the core.
#[pyfunction]
pub(crate) fn defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for method in METHODS {
        let own = PyDict::new(py);
        for param in method.params {
            match (param.default, param.default.map(str::parse::<f64>)) {
                (_, Some(Ok(number))) => own.set_item(param.name, number)?,
                (default, _) => own.set_item(param.name, default)?,
            }
        }
        all.set_item(method.name, own)?;
    }
    let settings = AugmentConfig::new(&[]);
    let augment = PyDict::new(py);
    augment.set_item("copies", "auto")?;
    augment.set_item("originals", settings.originals)?;
    augment.set_item("random_state", settings.seed)?;
    augment.set_item("clip", word_of(&settings.clip, &CLIP))?;
    augment.set_item("integers", word_of(&IntegerHandling::default(), &INTEGERS))?;
    augment.set_item("drop_missing_target", settings.drop_missing_target)?;
    all.set_item("augment", augment)?;
    all.set_item("regressor", network_defaults(py)?)?;
    all.set_item("distill", distill_defaults(py)?)?;
    let regression = AnchorRegression::default();
    let anchor = PyDict::new(py);
    anchor.set_item("gamma", regression.gamma())?;
    anchor.set_item("alpha", regression.ridge())?;
    all.set_item("anchor", anchor)?;
    let (folds, repeats) = (CompareConfig::FOLDS, CompareConfig::REPEATS);
    let compare = PyDict::new(py);
    compare.set_item("cv", folds)?;
    compare.set_item("repeats", repeats)?;
    compare.set_item("split", Split::default().to_string())?;
    all.set_item("compare", compare)?;
    Ok(all)
}

fn distill_defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let usual = DistillConfig::default();
    let distill = PyDict::new(py);
    distill.set_item("copies", DistillConfig::COPIES)?;
    distill.set_item("method", DistillConfig::method().name())?;
    distill.set_item("steps", usual.steps)?;
    distill.set_item("out_of_fold_labels", usual.out_of_fold_labels)?;
    distill.set_item("expected_error", usual.estimate_error)?;
    distill.set_item("random_state", usual.seed)?;
    if let Kind::Network(network) = usual.student {
        distill.set_item("hidden", pyo3::types::PyTuple::new(py, &network.hidden)?)?;
        distill.set_item("batch", network.training.batch_size)?;
        distill.set_item("lr", network.training.learning_rate)?;
        distill.set_item("weight_decay", network.training.weight_decay)?;
    }
    Ok(distill)
}

fn network_defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let training = TrainConfig::default();
    let (hidden, _) = NetworkOptions::default().hidden_layers();
    let network = PyDict::new(py);
    network.set_item("hidden", pyo3::types::PyTuple::new(py, hidden)?)?;
    network.set_item("activation", word_of(&ActivationName::Relu, &ACTIVATION))?;
    network.set_item("epochs", training.epochs)?;
    network.set_item("batch", training.batch_size)?;
    network.set_item("lr", training.learning_rate)?;
    network.set_item("optimizer", word_of(&OptimizerName::default(), &OPTIMIZER))?;
    network.set_item("loss", "mse")?;
    network.set_item("shuffle", word_of(&training.shuffle, &SHUFFLE))?;
    network.set_item("drop_last", training.drop_last)?;
    network.set_item("scale", word_of(&Scaling::default(), &SCALING))?;
    network.set_item("target_scale", word_of(&Scaling::default(), &SCALING))?;
    network.set_item("split", Split::default().to_string())?;
    for name in
        ["schedule", "slope", "momentum", "weight_decay", "clip_norm", "patience", "committee"]
    {
        network.set_item(name, py.None())?;
    }
    if let Validation::Fraction(share) = NetworkOptions::VALID {
        network.set_item("valid", share)?;
    }
    Ok(network)
}
