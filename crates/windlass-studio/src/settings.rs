//! What the page asks for, as configurations of the libraries, as a command line and as lines of Python.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use arrow_schema::Schema;
use serde::Deserialize;
use windlass::{MethodInfo, MethodParams, Param, RareSpec};
use windlass_compare::describe::quoted;
use windlass_compare::{CompareConfig, MethodName, ModelName};
use windlass_model::{AutoConfig, Kind, ModelConfig, Scaling, Split};
use windlass_table::{
    AnchorSource, AugmentConfig, Columns, Format, MethodConfig, Note, RareSources, ReadOptions,
    SheetName, Table,
};

use crate::http::{Failure, Result};

/// The models that a comparison offers.
pub(crate) const MODELS: [ModelName; 8] = [
    ModelName::Mlp,
    ModelName::Ridge,
    ModelName::Forest,
    ModelName::Gp,
    ModelName::ExtraTrees,
    ModelName::Boosting,
    ModelName::Auto,
    ModelName::Distilled,
];

/// The settings of a step. Fields that a step does not use are ignored, so that the page can send all it has.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// The number of the table.
    pub(crate) table: u32,
    target: Vec<String>,
    /// Requested roles by column.
    roles: BTreeMap<String, String>,
    nulls: Vec<String>,
    sheet: Option<String>,
    drop_missing_target: bool,
    seed: u64,
    split: String,
    method: String,
    params: BTreeMap<String, String>,
    copies: Option<usize>,
    rare: Option<String>,
    clip: bool,
    /// The format of the augmented table: csv or parquet.
    format: String,
    methods: Option<Vec<MethodName>>,
    models: Option<Vec<ModelName>>,
    folds: Option<u16>,
    repeats: Option<u16>,
    /// Go on with a comparison that was stopped.
    pub(crate) resume: bool,
}

/// How a table is read; tables are opened once for each.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Reading {
    nulls: Vec<String>,
    sheet: Option<String>,
}

impl Reading {
    pub(crate) fn options(&self, memory: u64) -> ReadOptions {
        ReadOptions {
            nulls: self.nulls.clone(),
            sheet: self.sheet.clone().map(SheetName::new),
            memory,
            ..ReadOptions::default()
        }
    }
}

impl Settings {
    pub(crate) fn reading(&self) -> Reading {
        Reading { nulls: self.nulls.clone(), sheet: self.sheet.clone() }
    }

    pub(crate) fn has_target(&self) -> bool {
        !self.target.is_empty()
    }

    pub(crate) fn target(&self) -> &[String] {
        &self.target
    }

    fn with_role<'a>(&'a self, role: &'a str) -> impl Iterator<Item = &'a String> {
        self.roles.iter().filter(move |(_, own)| *own == role).map(|(column, _)| column)
    }

    pub(crate) fn split(&self) -> Result<Split> {
        if self.split.is_empty() {
            return Ok(Split::Rows);
        }
        self.split.parse().map_err(Failure::new)
    }

    /// The requested roles.
    pub(crate) fn columns(&self) -> Columns {
        let list = |role| self.with_role(role).cloned().collect();
        Columns {
            target: self.target.clone(),
            exclude: list("excluded"),
            carry: list("carried"),
            categorical: list("categorical"),
            continuous: list("continuous"),
            weight: self.with_role("weight").next().cloned(),
            ..Columns::default()
        }
    }

    /// The roles for models: a column that names groups or domains is not a feature.
    fn model_columns(&self, schema: &Schema) -> Result<Columns> {
        Ok(self.columns().carrying(self.split()?.group_column(), schema))
    }

    /// The name of the augmented table.
    pub(crate) fn output(&self) -> &'static str {
        if self.format == "parquet" { "augmented.parquet" } else { "augmented.csv" }
    }

    fn method_name(&self) -> &str {
        if self.method.is_empty() { "ada" } else { &self.method }
    }

    pub(crate) fn augment_config(&self) -> Result<AugmentConfig> {
        let name = self.method_name();
        let info = MethodInfo::named(name)
            .ok_or_else(|| Failure::new(format!("unknown method `{name}`")))?;
        let mut params = MethodParams::default();
        for (name, text) in &self.params {
            let param = Param::named(name)
                .ok_or_else(|| Failure::new(format!("unknown parameter `{name}`")))?;
            (param.set)(&mut params, text)
                .map_err(|why| Failure::new(format!("--{}: {why}", name.replace('_', "-"))))?;
        }
        // The page reads no files but those that were opened.
        if matches!(params.anchors, Some(AnchorSource::Matrix(_))) {
            return Err(Failure::new("anchors of a file are an option of the command only"));
        }
        let targets = match self.rare.as_deref() {
            Some(word) => Some(
                RareSpec::named(word)
                    .ok_or_else(|| Failure::new("rare targets are high, low, both or density"))?,
            ),
            None => info.rare.then(RareSpec::default),
        };
        let config = AugmentConfig {
            columns: self.columns(),
            method: MethodConfig::new(info, &params)?,
            copies: self.copies.unwrap_or(1),
            seed: self.seed,
            clip: self.clip,
            drop_missing_target: self.drop_missing_target,
            provenance: true,
            rare: targets.map(|targets| RareSources { targets, balance: self.copies.is_none() }),
            ..AugmentConfig::new(&[])
        };
        config.check().map_err(windlass_table::Error::from)?;
        Ok(config)
    }

    pub(crate) fn compare_config(&self, schema: &Schema) -> Result<CompareConfig> {
        let usual = CompareConfig::new(self.model_columns(schema)?);
        let models = self.models.clone().unwrap_or_else(|| usual.models.clone());
        if let Some(model) = models.iter().find(|model| !MODELS.contains(model)) {
            return Err(Failure::new(format!("unknown model `{}`", model.name())));
        }
        let methods = self.methods.clone().unwrap_or_else(|| usual.methods.clone());
        let (folds, repeats) = (self.folds.map(usize::from), self.repeats.map(usize::from));
        if folds.is_some_and(|folds| !(2..=1000).contains(&folds)) {
            return Err(Failure::new("--folds must be in [2, 1000]"));
        }
        if repeats.is_some_and(|repeats| !(1..=1000).contains(&repeats)) {
            return Err(Failure::new("--repeats must be in [1, 1000]"));
        }
        Ok(CompareConfig {
            drop_missing_target: self.drop_missing_target,
            // In the order of the registry, as the command has them.
            methods: MethodName::all().into_iter().filter(|own| methods.contains(own)).collect(),
            models,
            rule: self.split()?.into(),
            folds: folds.unwrap_or(usual.folds),
            repeats: repeats.unwrap_or(usual.repeats),
            seed: self.seed,
            ..usual
        })
    }

    /// Whether the models of a comparison are the defaults, to which automatic selection may belong.
    pub(crate) fn has_default_models(&self) -> bool {
        self.models.is_none()
    }

    /// Automatic model selection.
    pub(crate) fn model_config(&self, schema: &Schema) -> Result<ModelConfig> {
        Ok(ModelConfig {
            columns: self.model_columns(schema)?,
            drop_missing_target: self.drop_missing_target,
            scaling: Scaling::Standard,
            target_scaling: Scaling::Standard,
            kind: Kind::Auto(AutoConfig::new(self.split()?)),
            pre_augment: None,
            density_weights: None,
            cross_validation: None,
            seed: self.seed,
        })
    }
}

/// A step as a command line and as lines of Python.
#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct Script {
    pub(crate) command: String,
    pub(crate) python: String,
}

/// Options of a command line.
struct Words(Vec<String>);

impl Words {
    fn option(&mut self, name: &str, value: &str) {
        // A value that looks like an option needs `=`.
        let joined = if value.starts_with('-') { "=" } else { " " };
        self.0.push(format!("--{name}{joined}{}", quoted(value)));
    }

    fn flag(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.0.push(format!("--{name}"));
        }
    }
}

/// A string of Python.
fn text(value: &str) -> String {
    serde_json::to_string(value).expect("a string")
}

fn list<'a>(values: impl IntoIterator<Item = &'a String>) -> String {
    let values: Vec<String> = values.into_iter().map(|value| text(value)).collect();
    format!("[{}]", values.join(", "))
}

impl Settings {
    /// The beginning of a command line: the table, its target and roles, and how it is read.
    fn words(&self, verb: &str, table: &str) -> Words {
        let table = if table.starts_with('-') { format!("./{table}") } else { table.to_owned() };
        let mut words = Words(vec![format!("windlass {verb} {}", quoted(&table))]);
        for target in &self.target {
            words.option("target", target);
        }
        for (role, option) in [
            ("excluded", "exclude"),
            ("carried", "carry"),
            ("categorical", "categorical"),
            ("continuous", "continuous"),
            ("weight", "weight"),
        ] {
            for column in self.with_role(role) {
                words.option(option, column);
            }
        }
        for null in &self.nulls {
            words.option("null", null);
        }
        if let Some(sheet) = &self.sheet {
            words.option("sheet", sheet);
        }
        words.flag("drop-missing-target", self.drop_missing_target);
        if self.seed != 0 {
            words.option("seed", &self.seed.to_string());
        }
        words
    }

    fn split_words(&self, words: &mut Words) {
        if !self.split.is_empty() && self.split != "rows" {
            words.option("split", &self.split);
        }
    }

    pub(crate) fn inspect_script(&self, table: &Table, name: &str) -> Script {
        let command = self.words("inspect", name).0.join(" ");
        Script { command, python: self.read_python(table, name) + "\ntable.describe()" }
    }

    pub(crate) fn augment_script(&self, table: &Table, name: &str) -> Script {
        let mut words = self.words("augment", name);
        let mut arguments = self.python_roles(&["exclude", "carry", "categorical", "continuous"]);
        let method = self.method_name();
        if method != "ada" {
            words.option("method", method);
            arguments.push(format!("method={}", text(method)));
        }
        for (name, value) in &self.params {
            words.option(&name.replace('_', "-"), value);
            let number = value.parse::<f64>().is_ok();
            arguments.push(format!("{name}={}", if number { value.clone() } else { text(value) }));
        }
        if let Some(copies) = self.copies {
            words.option("copies", &copies.to_string());
            arguments.push(format!("copies={copies}"));
        }
        if let Some(rare) = &self.rare {
            words.option("rare", rare);
            arguments.push(format!("rare={}", text(rare)));
        }
        if self.clip {
            words.option("clip", "observed");
            arguments.push("clip=\"observed\"".into());
        }
        words.flag("provenance", true);
        words.option("output", self.output());
        if let Some(weight) = self.with_role("weight").next() {
            arguments.push(format!("weight={}", text(weight)));
        }
        if self.drop_missing_target {
            arguments.push("drop_missing_target=True".into());
        }
        if self.seed != 0 {
            arguments.push(format!("random_state={}", self.seed));
        }
        arguments.push("provenance=True".into());
        let target = match &self.target[..] {
            [one] => text(one),
            several => list(several),
        };
        let write = if self.format == "parquet" {
            "augmented.to_parquet(\"augmented.parquet\")"
        } else {
            "augmented.to_csv(\"augmented.csv\", index=False)"
        };
        let python = format!(
            "{}\naugmented = windlass.augment(table, target={target}, {})\n{write}",
            self.read_python(table, name),
            arguments.join(", ")
        );
        Script { command: words.0.join(" "), python }
    }

    pub(crate) fn compare_script(&self, table: &Table, name: &str) -> Script {
        let mut words = self.words("compare", name);
        let mut arguments = vec![];
        self.split_words(&mut words);
        if let Some(methods) = &self.methods {
            let ordered = MethodName::all().into_iter().filter(|own| methods.contains(own));
            let names: Vec<&str> = ordered.map(MethodName::name).collect();
            words.option("methods", &names.join(","));
            // A hidden layer is an option of the command only.
            let inputs = methods.iter().filter(|method| !method.is_hidden());
            let names: Vec<String> = inputs.map(|method| text(method.name())).collect();
            arguments.push(format!("[{}]", names.join(", ")));
        }
        if let Some(models) = &self.models {
            let names: Vec<&str> = models.iter().map(|model| model.name()).collect();
            words.option("models", &names.join(","));
        }
        for (option, python, value) in
            [("folds", "cv", self.folds), ("repeats", "repeats", self.repeats)]
        {
            if let Some(value) = value {
                words.option(option, &value.to_string());
                arguments.push(format!("{python}={value}"));
            }
        }
        words.option("output", "comparison");
        arguments.extend(self.python_training());
        arguments.insert(0, "windlass.Regressor()".to_owned());
        let python = format!(
            "{}\nfound = windlass.compare(X, y, {})\nprint(found.verdict)\nfound.report(\"comparison.html\")",
            self.features_python(table, name),
            arguments.join(", ")
        );
        Script { command: words.0.join(" "), python }
    }

    /// The command that trains a candidate of a comparison.
    pub(crate) fn train_command(&self, name: &str, params: &[(&str, Option<&str>)]) -> String {
        let mut words = self.words("train", name);
        self.split_words(&mut words);
        for (param, value) in params {
            let option = param.replace('_', "-");
            match value {
                Some(value) => words.option(&option, value),
                None => words.flag(&option, true),
            }
        }
        words.option("output", "model.windlass");
        words.0.join(" ")
    }

    pub(crate) fn train_script(&self, table: &Table, name: &str) -> Script {
        let command = self.train_command(name, &[("auto", None)]);
        let mut arguments = vec!["model=\"auto\"".to_owned()];
        arguments.extend(self.python_roles(&["categorical", "continuous"]));
        arguments.extend(self.python_training());
        let weight = self.with_role("weight").next();
        let weight = weight.map(|name| format!(", sample_weight=table[{}]", text(name)));
        let python = format!(
            "{}\nmodel = windlass.Regressor({}).fit(X, y{})\nmodel.save(\"model.windlass\")",
            self.features_python(table, name),
            arguments.join(", "),
            weight.unwrap_or_default()
        );
        Script { command, python }
    }

    pub(crate) fn distill_script(&self, table: &Table, name: &str) -> Script {
        let mut words = vec!["windlass distill model.windlass".to_owned(), quoted(name)];
        let Words(rest) =
            Self { nulls: self.nulls.clone(), sheet: self.sheet.clone(), ..Self::default() }
                .words("distill", name);
        words.extend(rest.into_iter().skip(1));
        words.push("--output small.windlass".into());
        let python = format!(
            "{}\nstudent = windlass.Regressor.load(\"model.windlass\").distill(X, y)\nstudent.save(\"small.windlass\")",
            self.features_python(table, name)
        );
        Script { command: words.join(" "), python }
    }

    pub(crate) fn predict_script(&self, table: &Table, name: &str) -> Script {
        let mut words = vec![format!("windlass predict model.windlass {}", quoted(name))];
        let Words(rest) =
            Self { nulls: self.nulls.clone(), ..Self::default() }.words("predict", name);
        words.extend(rest.into_iter().skip(1));
        words.push("--interval 90% --output predictions.csv".into());
        let python = format!(
            "{}\nmodel = windlass.Regressor.load(\"model.windlass\")\n\
             prediction, low, high = model.predict(table, interval=0.9)",
            self.read_python(table, name)
        );
        Script { command: words.join(" "), python }
    }

    /// Lines that read the table with pandas.
    fn read_python(&self, table: &Table, name: &str) -> String {
        let mut arguments = vec![text(name)];
        let reader = match table.format() {
            Format::Parquet => "read_parquet",
            Format::Arrow | Format::ArrowStream => "read_feather",
            Format::Xlsx | Format::Ods => "read_excel",
            Format::Csv | Format::Tsv => "read_csv",
        };
        if table.format() == Format::Tsv {
            arguments.push("sep=\"\\t\"".into());
        }
        for note in table.notes() {
            match note {
                Note::Separator { separator } if table.format() == Format::Csv => {
                    arguments.push(format!("sep={}", text(&separator.to_string())));
                }
                Note::DecimalComma { .. } => arguments.push("decimal=\",\"".into()),
                Note::Encoding { encoding, .. } => {
                    arguments.push(format!("encoding={}", text(&encoding.to_lowercase())));
                }
                Note::Sheets { sheet, .. } => arguments.push(format!("sheet_name={}", text(sheet))),
                _ => {}
            }
        }
        if !self.nulls.is_empty() {
            arguments.push(format!("na_values={}", list(&self.nulls)));
        }
        format!("import pandas as pd, windlass\n\ntable = pd.{reader}({})", arguments.join(", "))
    }

    /// Lines that read the table and separate features and target.
    fn features_python(&self, table: &Table, name: &str) -> String {
        let unused = self.with_role("excluded").chain(self.with_role("carried"));
        let dropped = self.target.iter().chain(unused).chain(self.with_role("weight"));
        let target = match &self.target[..] {
            [one] => text(one),
            several => list(several),
        };
        let mut lines = self.read_python(table, name);
        if self.drop_missing_target {
            let _ = write!(lines, "\ntable = table.dropna(subset={})", list(&self.target));
        }
        format!("{lines}\nX, y = table.drop(columns={}), table[{target}]", list(dropped))
    }

    fn python_roles(&self, roles: &[&str]) -> Vec<String> {
        let named = [
            ("exclude", "excluded"),
            ("carry", "carried"),
            ("categorical", "categorical"),
            ("continuous", "continuous"),
        ];
        let named = named.into_iter().filter(|(name, _)| roles.contains(name));
        let lists = named.map(|(name, role)| (name, self.with_role(role).collect::<Vec<_>>()));
        lists
            .filter(|(_, columns)| !columns.is_empty())
            .map(|(name, columns)| format!("{name}={}", list(columns)))
            .collect()
    }

    fn python_training(&self) -> Vec<String> {
        let split = (!self.split.is_empty() && self.split != "rows")
            .then(|| format!("split={}", text(&self.split)));
        let seed = (self.seed != 0).then(|| format!("random_state={}", self.seed));
        split.into_iter().chain(seed).collect()
    }
}
