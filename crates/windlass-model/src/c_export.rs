//! Export of models as a C header: C99 that needs nothing but `math.h`, with the preprocessing inside.
//!
//! `windlass_predict` takes an array with a number for each column that the model uses and writes a number for
//! each target:
//!
//! | Column | Number |
//! | :-- | :-- |
//! | continuous, or a category of numbers | the value |
//! | category | a constant of the header |
//! | date | seconds since 1970, or since midnight |
//!
//! `NAN` is a missing value in any of them. Arithmetic is that of [`Model::predict`], operation by operation:
//! single precision in networks, double elsewhere. Fused multiply-add, which networks use, is a multiplication in
//! double precision on processors without it, which rounds alike but for about one in 2²⁹ additions.
//!
//! Names of columns and levels are arbitrary text. They reach the file only as identifiers and as
//! comments that cannot end early.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ndarray::ArrayView2;
use windlass::Real as _;
use windlass_train::{Activation, LayerParameters, Network};

use crate::gp::GaussianProcess;
use crate::model::{EnsembleMember, Estimator, Model};
use crate::preprocessing::{Input, Preprocessing, limited};
use crate::trees::TreeEnsemble;

/// Adds a line of C, which cannot fail.
macro_rules! line {
    ($text:expr, $($rest:tt)*) => { writeln!($text, $($rest)*).expect("text") };
}

/// The text of a C header.
#[must_use]
pub fn export(model: &Model) -> String {
    let mut names = Names::default();
    let columns = Columns::new(model, &mut names);
    let targets = model.targets();
    let output_names: Vec<String> =
        targets.iter().map(|target| names.unique("WINDLASS_OUT_", &[target])).collect();
    let mut body = String::new();
    let mut stack = 0;
    columns.write(&mut body);
    line!(body, "#define WINDLASS_N_OUTPUTS {}", targets.len());
    for (index, (name, target)) in output_names.iter().zip(&targets).enumerate() {
        line!(body, "#define {name} {index} /* `{}` */", comment(target));
    }
    let code = Code::new(model, &columns, &mut stack);
    body.push_str(&code.text);
    let head = head(model, &columns, &output_names[0], &code, stack);
    // A program that includes two models does not compile, instead of using the first of them twice.
    let hash = body.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!(
        "{head}#ifndef WINDLASS_MODEL_{hash:016X}\n#define WINDLASS_MODEL_{hash:016X}\n\n\
         #include <math.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n{body}\n\
         #ifdef __cplusplus\n}}\n#endif\n\n#endif\n"
    )
}

/// The comment at the beginning: usage, and where the model comes from.
fn head(model: &Model, columns: &Columns, output: &str, code: &Code, stack: usize) -> String {
    let metadata = model.metadata();
    let error = match &metadata.valid {
        Some(valid) => format!("RMSE {} on {} held-out rows", valid.rmse, valid.rows),
        None => "unknown, no rows were held out".to_owned(),
    };
    let mut text = format!(
        "/* windlass {} wrote this file: a model as C99 that needs nothing but math.h.\n *\n",
        env!("CARGO_PKG_VERSION")
    );
    line!(text, " *     double inputs[WINDLASS_N_INPUTS], outputs[WINDLASS_N_OUTPUTS];");
    for column in columns.0.iter().take(3) {
        let value = match &column.kind {
            ColumnKind::Category(levels) => &levels[0].1,
            ColumnKind::Number | ColumnKind::Date => "0.0",
        };
        line!(text, " *     inputs[{}] = {value};", column.macro_name);
    }
    if columns.0.len() > 3 {
        line!(text, " *     ...");
    }
    line!(text, " *     windlass_predict(inputs, outputs);");
    line!(text, " *     use(outputs[{output}]);\n *");
    line!(
        text,
        " * Every input must be set; NAN is a missing value. Outputs are NAN if an input is infinite or"
    );
    line!(
        text,
        " * too large. Include the file in one source file, and compile without -ffast-math, which"
    );
    line!(text, " * ignores missing values.\n *");
    line!(text, " * Model: {}", describe(model));
    line!(
        text,
        " * Training table: {} rows, fingerprint {}",
        metadata.rows,
        comment(&metadata.fingerprint)
    );
    line!(text, " * Trained by: windlass {}", comment(&metadata.version));
    line!(text, " * Expected error: {error}");
    line!(text, " * Memory: {} bytes of constants, about {stack} bytes of stack", code.constants);
    line!(text, " */");
    text
}

/// What the model is, in words.
fn describe(model: &Model) -> String {
    let count = |is: fn(&Estimator) -> bool| {
        model.members.iter().filter(|member| is(&member.estimator)).count()
    };
    let kinds = [
        ("dense network", "dense networks", count(|kind| matches!(kind, Estimator::Network(_)))),
        ("linear model", "linear models", count(|kind| matches!(kind, Estimator::Linear(_)))),
        ("tree ensemble", "tree ensembles", count(|kind| matches!(kind, Estimator::Trees(_)))),
        (
            "Gaussian process",
            "Gaussian processes",
            count(|kind| matches!(kind, Estimator::GaussianProcess(_))),
        ),
    ];
    let words = kinds.iter().filter(|(_, _, count)| *count > 0);
    let words =
        words.map(|(one, many, count)| format!("{count} {}", if *count == 1 { one } else { many }));
    words.collect::<Vec<_>>().join(", ")
}

/// Text for a comment: without what would end it, continue a line or draw a compiler's warning.
fn comment(text: &str) -> String {
    const MAX_CHARACTERS: usize = 200;
    let mut out = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == MAX_CHARACTERS {
            out.push_str("...");
            break;
        }
        let last = out.chars().next_back();
        match (last, character) {
            // The ends of comments, nested comments and trigraphs.
            (Some('*'), '/') | (Some('/'), '*') | (Some('?'), '?') => {
                out.push(' ');
                out.push(character);
            }
            (_, character) if character.is_alphanumeric() => out.push(character),
            (_, ' '..='~') => out.push(character),
            _ => out.extend(character.escape_unicode()),
        }
    }
    out
}

/// The letters, digits and underscores of a name, in capitals.
fn identifier(text: &str) -> String {
    const MAX_CHARACTERS: usize = 40;
    let mut out = String::new();
    for character in text.chars() {
        if character.is_ascii_alphanumeric() {
            out.push(character.to_ascii_uppercase());
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        if out.len() == MAX_CHARACTERS {
            break;
        }
    }
    out.trim_end_matches('_').to_owned()
}

/// The names of macros, each given once.
struct Names(BTreeSet<String>);

impl Default for Names {
    fn default() -> Self {
        let reserved = ["N_INPUTS", "N_OUTPUTS", "UNKNOWN", "FMA", "LIMIT"];
        Self(reserved.iter().map(|name| format!("WINDLASS_{name}")).collect())
    }
}

impl Names {
    fn unique(&mut self, prefix: &str, parts: &[&str]) -> String {
        let name = |part: &&str| match identifier(part) {
            name if name.is_empty() => "X".to_owned(),
            name => name,
        };
        let name = prefix.to_owned() + &parts.iter().map(name).collect::<Vec<_>>().join("_");
        let further = (2..).map(|number| format!("{name}_{number}"));
        let free = std::iter::once(name.clone()).chain(further).find(|name| !self.0.contains(name));
        let free = free.expect("numbers do not end");
        self.0.insert(free.clone());
        free
    }
}

enum ColumnKind {
    Number,
    /// Levels with the names of their constants; the constant of a level is its index.
    Category(Vec<(String, String)>),
    Date,
}

/// A column that any member uses.
struct Column {
    name: String,
    macro_name: String,
    kind: ColumnKind,
    what: String,
}

struct Columns(Vec<Column>);

impl Columns {
    fn new(model: &Model, names: &mut Names) -> Self {
        let inputs = || model.members.iter().flat_map(|member| &member.preprocessing.inputs);
        let columns = model.metadata().features().into_iter().map(|name| {
            let own: Vec<&Input> = inputs().filter(|input| input.name() == name).collect();
            let (kind, what) = column_kind(name, &own, names);
            let macro_name = names.unique("WINDLASS_IN_", &[name]);
            Column { name: name.to_owned(), macro_name, kind, what }
        });
        Self(columns.collect())
    }

    fn get(&self, name: &str) -> &Column {
        self.0.iter().find(|column| column.name == name).expect("a column of a member")
    }

    /// Writes the constants that programs use.
    fn write(&self, text: &mut String) {
        line!(text, "#define WINDLASS_N_INPUTS {}", self.0.len());
        for (index, Column { name, macro_name, what, .. }) in self.0.iter().enumerate() {
            line!(text, "#define {macro_name} {index} /* `{}`: {what} */", comment(name));
        }
        let categories = || {
            self.0.iter().filter_map(|column| match &column.kind {
                ColumnKind::Category(levels) => Some((column, levels)),
                ColumnKind::Number | ColumnKind::Date => None,
            })
        };
        if categories().next().is_some() {
            line!(
                text,
                "\n#define WINDLASS_UNKNOWN (-1) /* a level that training rows did not have */"
            );
        }
        for (column, levels) in categories() {
            line!(text, "/* Levels of `{}`. */", comment(&column.name));
            for (index, (level, macro_name)) in levels.iter().enumerate() {
                line!(text, "#define {macro_name} {index} /* `{}` */", comment(level));
            }
        }
        text.push('\n');
    }
}

/// The kind of a column with a description, from the inputs that are made of it.
fn column_kind(name: &str, inputs: &[&Input], names: &mut Names) -> (ColumnKind, String) {
    let mut levels = BTreeSet::new();
    let (mut bounds, mut numeric) = ((f64::INFINITY, f64::NEG_INFINITY), false);
    for input in inputs {
        match input {
            Input::Continuous { calendar: Some(_), .. } => {
                let what = "date, in seconds since 1970-01-01 (a time of day: since midnight)";
                return (ColumnKind::Date, what.to_owned());
            }
            Input::Continuous { range, .. } => {
                numeric = true;
                if let Some((low, high)) = range {
                    bounds = (bounds.0.min(*low), bounds.1.max(*high));
                }
            }
            Input::Categorical { levels: own, .. } => levels.extend(own.iter().flatten()),
        }
    }
    if numeric {
        let what = match bounds {
            (low, high) if low <= high => format!("number, {low} to {high} in training rows"),
            _ => "number".to_owned(),
        };
        return (ColumnKind::Number, what);
    }
    let holds_numbers = inputs.iter().all(|input| {
        matches!(input, Input::Categorical { holds, .. } if holds == "integers" || holds == "floats")
    });
    let numbers: Option<Vec<f64>> = levels.iter().map(|level| level.parse().ok()).collect();
    let mut numbers = numbers.filter(|_| holds_numbers).unwrap_or_default();
    numbers.sort_by(f64::total_cmp);
    // Long integers may be the same as doubles.
    let are_distinct = numbers.windows(2).all(|pair| pair[0] < pair[1]);
    if !numbers.is_empty() && are_distinct {
        let shown = numbers.iter().take(20).map(|&number| double(number)).collect::<Vec<_>>();
        let more = if numbers.len() > 20 { ", ..." } else { "" };
        let what = format!("number, a category with the values {}{more}", shown.join(", "));
        return (ColumnKind::Number, what);
    }
    let constant =
        |level: &String| (level.clone(), names.unique("WINDLASS_", &[name, level.as_str()]));
    let levels: Vec<(String, String)> = levels.into_iter().map(constant).collect();
    let what = format!("category, one of the {} constants below", levels.len());
    (ColumnKind::Category(levels), what)
}

/// A number that reads back to the same bits.
fn double(value: f64) -> String {
    if value.is_nan() {
        "NAN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "INFINITY".to_owned() } else { "-INFINITY".to_owned() }
    } else {
        format!("{value:?}")
    }
}

/// The smallest type of whole numbers up to a maximum.
fn unsigned(max: u64) -> (&'static str, usize) {
    match max {
        0..=255 => ("unsigned char", 1),
        256..=65_535 => ("unsigned short", 2),
        _ => ("unsigned long", 4),
    }
}

/// Functions of the file.
struct Code {
    text: String,
    /// Bytes of constant arrays.
    constants: usize,
}

impl Code {
    fn new(model: &Model, columns: &Columns, stack: &mut usize) -> Self {
        let mut code = Self { text: String::new(), constants: 0 };
        code.helpers(model);
        // Members often share their preprocessing.
        let mut distinct: Vec<&Preprocessing> = vec![];
        let mut features_of = vec![];
        for member in &model.members {
            let own = &member.preprocessing;
            let known = distinct.iter().position(|other| other.inputs == own.inputs);
            features_of.push(known.unwrap_or(distinct.len()));
            if known.is_none() {
                code.features(distinct.len(), own, columns);
                distinct.push(own);
            }
        }
        let mut deepest = 0;
        for (number, member) in model.members.iter().enumerate() {
            deepest = deepest.max(code.member(number, member));
        }
        let width = distinct.iter().map(|own| own.width()).max().unwrap_or(1);
        *stack = deepest + 8 * (width + model.targets().len()) + 128;
        code.predict(model, &features_of, width);
        code
    }

    fn array(&mut self, kind: (&str, usize), name: &str, values: impl Iterator<Item = String>) {
        let values: Vec<String> = values.collect();
        self.constants += kind.1 * values.len();
        line!(self.text, "    static const {} {name}[{}] = {{", kind.0, values.len());
        for row in values.chunks(8) {
            line!(self.text, "        {},", row.join(", "));
        }
        line!(self.text, "    }};");
    }

    fn doubles(&mut self, name: &str, values: impl Iterator<Item = f64>) {
        self.array(("double", 8), name, values.map(double));
    }

    fn floats(&mut self, name: &str, values: impl Iterator<Item = f32>) {
        self.array(("float", 4), name, values.map(|value| format!("{value:?}f")));
    }

    /// Functions that members share.
    fn helpers(&mut self, model: &Model) {
        let inputs = || model.members.iter().flat_map(|member| &member.preprocessing.inputs);
        let estimators = || model.members.iter().map(|member| &member.estimator);
        if inputs().any(|input| matches!(input, Input::Continuous { .. })) {
            line!(self.text, "#define WINDLASS_LIMIT {}", double(f32::LIMIT));
            self.text.push_str(SCALE);
        }
        if inputs().any(|input| matches!(input, Input::Continuous { calendar: Some(_), .. })) {
            self.text.push_str(CALENDAR);
        }
        if inputs().any(|input| matches!(input, Input::Categorical { .. })) {
            self.text.push_str(ONE_HOT);
        }
        if estimators().any(|estimator| matches!(estimator, Estimator::Network(_))) {
            self.text.push_str(DENSE);
        }
        let activates = |activation: Activation| {
            estimators().any(|estimator| {
                matches!(estimator, Estimator::Network(network) if network.shape().activation == activation)
            })
        };
        if activates(Activation::Sigmoid) {
            self.text.push_str(EXP);
        }
        if activates(Activation::Tanh) {
            self.text.push_str(TANH);
        }
        if estimators().any(|estimator| matches!(estimator, Estimator::GaussianProcess(_))) {
            self.text.push_str(MATERN);
        }
    }

    /// A function that computes the design matrix's row.
    fn features(&mut self, number: usize, preprocessing: &Preprocessing, columns: &Columns) {
        line!(self.text, "/* Features; 0 if a value is too large. */");
        line!(
            self.text,
            "static inline int windlass_features_{number}(const double *inputs, double *x)"
        );
        line!(self.text, "{{\n    int ok = 1;");
        let mut code = String::new();
        let mut at = 0;
        for (index, input) in preprocessing.inputs.iter().enumerate() {
            let column = columns.get(input.name());
            let raw = format!("inputs[{}]", column.macro_name);
            match input {
                Input::Continuous { calendar, scale, fill, indicator, limits, .. } => {
                    let value = match calendar {
                        None => raw.clone(),
                        Some(calendar) => {
                            format!("windlass_calendar({raw}, {})", calendar.part as usize)
                        }
                    };
                    let limits =
                        [f64::NEG_INFINITY, f64::INFINITY].map(|end| limited(end, *limits));
                    let [low, high] = limits.map(double);
                    let [fill, offset, scale] = [*fill, scale.offset, scale.scale].map(double);
                    line!(
                        code,
                        "    ok &= windlass_scale({value}, {low}, {high}, {fill}, {offset}, {scale}, x + {at});"
                    );
                    if *indicator {
                        line!(code, "    x[{}] = {raw} != {raw};", at + 1);
                    }
                }
                Input::Categorical { levels, .. } => {
                    let known: Vec<&String> = levels.iter().flatten().collect();
                    let mut first = at;
                    if known.len() < levels.len() {
                        // The missing value is the first level.
                        line!(code, "    x[{at}] = {raw} != {raw};");
                        first += 1;
                    }
                    let values = known.iter().map(|&level| match &column.kind {
                        ColumnKind::Category(all) => {
                            all.iter().position(|(other, _)| other == level).expect("a level")
                                as f64
                        }
                        ColumnKind::Number | ColumnKind::Date => level.parse().unwrap_or(f64::NAN),
                    });
                    let values: Vec<f64> = values.collect();
                    if !values.is_empty() {
                        let (name, count) = (format!("levels_{index}"), values.len());
                        self.doubles(&name, values.into_iter());
                        line!(code, "    windlass_one_hot({raw}, {name}, {count}, x + {first});");
                    }
                }
            }
            at += input.width();
        }
        line!(self.text, "{code}    return ok;\n}}\n");
    }

    /// A function for the predictions of a member in scaled units; returns the bytes of its stack.
    fn member(&mut self, number: usize, member: &EnsembleMember) -> usize {
        let name =
            format!("static inline void windlass_member_{number}(const double *x, double *y)");
        line!(self.text, "{name}\n{{");
        let stack = match &member.estimator {
            Estimator::Network(network) => self.network(network),
            Estimator::Linear(linear) => {
                let (b, c) = (linear.coefficients(), linear.intercept());
                self.linear(b, c.iter().copied())
            }
            Estimator::Trees(trees) => self.trees(trees),
            Estimator::GaussianProcess(process) => self.process(process),
        };
        line!(self.text, "}}\n");
        stack
    }

    fn network(&mut self, network: &Network) -> usize {
        let shape = network.shape();
        let parameters = network.to_parameters();
        let widest = shape.hidden.iter().chain([&shape.inputs, &shape.outputs]).max();
        let widest = widest.copied().unwrap_or(1);
        let last = parameters.len() - 1;
        for (layer, LayerParameters { weights, bias }) in parameters.iter().enumerate() {
            self.floats(&format!("weights_{layer}"), weights.iter().copied());
            self.floats(&format!("bias_{layer}"), bias.iter().copied());
        }
        line!(self.text, "    float a[{widest}], b[{widest}];\n    unsigned long i;");
        line!(self.text, "    for (i = 0; i < {}; ++i) a[i] = (float)x[i];", shape.inputs);
        let (mut from, mut to) = ("a", "b");
        for (layer, LayerParameters { weights, .. }) in parameters.iter().enumerate() {
            let (units, inputs) = weights.dim();
            let function = if layer == last { "windlass_output" } else { "windlass_dense" };
            line!(
                self.text,
                "    {function}({from}, {inputs}, weights_{layer}, bias_{layer}, {units}, {to});"
            );
            (from, to) = (to, from);
            if layer == last {
                continue;
            }
            let activation = match shape.activation {
                Activation::Relu => Some(format!("{from}[i] * ({from}[i] > 0.0f ? 1.0f : 0.0f)")),
                Activation::LeakyRelu(slope) => {
                    Some(format!("{from}[i] * ({from}[i] > 0.0f ? 1.0f : {slope:?}f)"))
                }
                Activation::Sigmoid => Some(format!("1.0f / (1.0f + windlass_exp(-{from}[i]))")),
                Activation::Tanh => Some(format!("windlass_tanh({from}[i])")),
                Activation::Identity => None,
            };
            if let Some(activation) = activation {
                line!(self.text, "    for (i = 0; i < {units}; ++i) {from}[i] = {activation};");
            }
        }
        line!(self.text, "    for (i = 0; i < {}; ++i) y[i] = (double){from}[i];", shape.outputs);
        8 * widest + 64
    }

    fn linear(
        &mut self,
        coefficients: ArrayView2<'_, f64>,
        intercept: impl Iterator<Item = f64>,
    ) -> usize {
        let (width, outputs) = coefficients.dim();
        self.doubles("coefficients", coefficients.t().iter().copied());
        self.doubles("intercept", intercept);
        line!(self.text, "    unsigned long i, j;\n    for (j = 0; j < {outputs}; ++j) {{");
        line!(self.text, "        double sum = 0.0;");
        line!(
            self.text,
            "        for (i = 0; i < {width}; ++i) sum += x[i] * coefficients[j * {width} + i];"
        );
        line!(self.text, "        y[j] = sum + intercept[j];\n    }}");
        0
    }

    /// Features are never missing: preprocessing has replaced missing values.
    fn trees(&mut self, ensemble: &TreeEnsemble) -> usize {
        let arrays = ensemble.to_arrays();
        let (targets, outputs, trees) = (ensemble.targets(), ensemble.outputs(), ensemble.trees());
        let each = trees * outputs / targets;
        let width = arrays.width;
        let is_leaf = |node: usize| arrays.feature[node] == u32::MAX;
        let number = |node: usize| {
            // With one output, a leaf has its value where a split has its threshold.
            if is_leaf(node) && outputs == 1 { arrays.value[node] } else { arrays.threshold[node] }
        };
        let nodes = arrays.feature.len();
        let feature = arrays.feature.iter().map(|&feature| match feature {
            u32::MAX => width.to_string(),
            feature => feature.to_string(),
        });
        let most = |list: &[u32]| unsigned(list.iter().max().copied().unwrap_or(0).into());
        let text = |list: &[u32]| list.iter().map(u32::to_string).collect::<Vec<_>>().into_iter();
        self.array(unsigned(nodes as u64), "first", arrays.starts.iter().map(u64::to_string));
        self.array(unsigned(width as u64), "feature", feature);
        self.doubles("number", (0..nodes).map(number));
        self.array(most(&arrays.left), "left", text(&arrays.left));
        self.array(most(&arrays.right), "right", text(&arrays.right));
        let value = if outputs == 1 {
            "number[node]"
        } else {
            self.doubles("value", arrays.value.iter().copied());
            &format!("value[node * {outputs} + j]")
        };
        let target = if outputs == targets { "j".to_owned() } else { format!("tree / {each} + j") };
        line!(self.text, "    unsigned long tree, node, j;");
        line!(self.text, "    for (j = 0; j < {targets}; ++j) y[j] = 0.0;");
        line!(self.text, "    for (tree = 0; tree < {trees}; ++tree) {{");
        line!(self.text, "        node = first[tree];");
        line!(self.text, "        while (feature[node] != {width})");
        line!(self.text, "            node = first[tree]");
        line!(
            self.text,
            "                + (x[feature[node]] <= number[node] ? left[node] : right[node]);"
        );
        line!(self.text, "        for (j = 0; j < {outputs}; ++j) y[{target}] += {value};\n    }}");
        line!(self.text, "    for (j = 0; j < {targets}; ++j) y[j] /= {each}.0;");
        0
    }

    fn process(&mut self, process: &GaussianProcess) -> usize {
        let width = process.column_offset.len();
        self.doubles("offset", process.column_offset.iter().copied());
        self.doubles("scale", process.column_scale.iter().copied());
        for (number, target) in process.targets.iter().enumerate() {
            let columns = process.rows_in_lengths(target);
            let count = columns.len() / width;
            let rows = (0..count).flat_map(|row| (0..width).map(move |j| (j, row)));
            self.doubles(&format!("rows_{number}"), rows.map(|(j, row)| columns[j * count + row]));
            let coefficients = target.coefficients.iter().copied();
            self.doubles(&format!("coefficients_{number}"), coefficients);
            let lengths = (0..width).map(|column| target.kernel.length(column));
            self.doubles(&format!("lengths_{number}"), lengths);
            self.doubles(&format!("linear_{number}"), process.linear_part(target).0.into_iter());
        }
        line!(self.text, "    double z[{width}], near[{width}], sum;\n    unsigned long i;");
        line!(self.text, "    for (i = 0; i < {width}; ++i) z[i] = (x[i] - offset[i]) / scale[i];");
        for (number, target) in process.targets.iter().enumerate() {
            let count = target.coefficients.len();
            let intercept = double(process.linear_part(target).1);
            let [signal, offset, scale] =
                [target.kernel.signal, target.offset, target.scale].map(double);
            line!(self.text, "    sum = 0.0;\n    for (i = 0; i < {width}; ++i) {{");
            line!(self.text, "        near[i] = z[i] / lengths_{number}[i];");
            line!(self.text, "        sum += z[i] * linear_{number}[i];\n    }}");
            line!(
                self.text,
                "    sum += {signal} * windlass_matern(rows_{number}, coefficients_{number}, {count}, near, \
                 {width}) + {intercept};"
            );
            line!(self.text, "    y[{number}] = {offset} + {scale} * sum;");
        }
        16 * width
    }

    /// The function that programs call.
    fn predict(&mut self, model: &Model, features_of: &[usize], width: usize) {
        let outputs = model.targets().len();
        let text = &mut self.text;
        line!(
            text,
            "static inline int windlass_average(const double *inputs, double *outputs)\n{{"
        );
        line!(text, "    double x[{width}], y[{outputs}];\n    unsigned long i;");
        line!(text, "    for (i = 0; i < WINDLASS_N_INPUTS; ++i)");
        line!(text, "        if (inputs[i] == INFINITY || inputs[i] == -INFINITY) return 0;");
        line!(text, "    for (i = 0; i < WINDLASS_N_OUTPUTS; ++i) outputs[i] = 0.0;");
        let mut current = None;
        for (number, (member, &features)) in model.members.iter().zip(features_of).enumerate() {
            if current != Some(features) {
                line!(text, "    if (!windlass_features_{features}(inputs, x)) return 0;");
                current = Some(features);
            }
            line!(text, "    windlass_member_{number}(x, y);");
            for (output, target) in member.preprocessing.targets.iter().enumerate() {
                let [weight, scale, offset] =
                    [member.weight, target.scale.scale, target.scale.offset].map(double);
                line!(
                    text,
                    "    outputs[{output}] += {weight} * (y[{output}] * {scale} + {offset});"
                );
            }
        }
        line!(text, "    return 1;\n}}\n");
        text.push_str(PREDICT);
    }
}

const SCALE: &str = "
static inline int windlass_scale(double value, double low, double high, double fill, double offset,
                                 double scale, double *x)
{
    double size = value < 0.0 ? -value : value;
    double inside = value < low ? low : value > high ? high : value;
    *x = ((value != value ? fill : inside) - offset) / scale;
    return value != value || (size < WINDLASS_LIMIT && *x < WINDLASS_LIMIT && *x > -WINDLASS_LIMIT);
}

";

/// Parts are numbered as in [`CalendarPart`](crate::CalendarPart).
const CALENDAR: &str = "
/* Of seconds since 1970: days, year, then sine and cosine of the position in the year, week and day. */
static inline double windlass_calendar(double seconds, int part)
{
    double days = seconds / 86400.0, angle = days;
    if (seconds != seconds || part == 0) return days;
    if (part <= 3) {
        double whole = floor(days);
        long day, era, year, day_of_year, shifted, day_of_month, month;
        whole = whole < -1e9 ? -1e9 : whole > 1e9 ? 1e9 : whole;
        day = (long)whole + 719468L;
        era = (day >= 0 ? day : day - 146096L) / 146097L;
        day -= era * 146097L;
        year = (day - day / 1460 + day / 36524L - day / 146096L) / 365;
        day_of_year = day - (365 * year + year / 4 - year / 100);
        shifted = (5 * day_of_year + 2) / 153;
        day_of_month = day_of_year - (153 * shifted + 2) / 5;
        month = shifted < 10 ? shifted + 2 : shifted - 10;
        if (part == 1) return (double)(year + era * 400 + (month < 2));
        angle = ((double)month + (double)day_of_month / 31.0) / 12.0;
    } else if (part <= 5) {
        angle = (floor(days) + 3.0) / 7.0;
    }
    angle = 6.283185307179586 * (angle - floor(angle));
    return part % 2 == 0 ? sin(angle) : cos(angle);
}

";

const ONE_HOT: &str = "
static inline void windlass_one_hot(double value, const double *levels, unsigned long count, double *x)
{
    unsigned long i;
    for (i = 0; i < count; ++i) x[i] = value == levels[i];
}

";

const DENSE: &str = "
#if defined(FP_FAST_FMAF) || defined(__FP_FAST_FMAF)
#define WINDLASS_FMA(a, b, c) fmaf((a), (b), (c))
#else
#define WINDLASS_FMA(a, b, c) ((float)((double)(a) * (double)(b) + (double)(c)))
#endif

static inline void windlass_dense(const float *x, unsigned long inputs, const float *weights,
                                  const float *bias, unsigned long units, float *out)
{
    unsigned long i, unit;
    for (unit = 0; unit < units; ++unit) {
        float sum = bias[unit];
        for (i = 0; i < inputs; ++i) sum = WINDLASS_FMA(x[i], weights[unit * inputs + i], sum);
        out[unit] = sum;
    }
}

/* The last layer, with the order of additions of the library that trained it. */
static inline void windlass_output(const float *x, unsigned long inputs, const float *weights,
                                   const float *bias, unsigned long units, float *out)
{
    unsigned long i, unit, half;
    for (unit = 0; unit < units; ++unit) {
        float sums[16];
        for (i = 0; i < 16; ++i) sums[i] = 0.0f;
        for (i = 0; i < inputs; ++i)
            sums[i % 16] = WINDLASS_FMA(x[i], weights[unit * inputs + i], sums[i % 16]);
        for (half = 8; half > 0; half /= 2)
            for (i = 0; i < half; ++i) sums[i] += sums[i + half];
        out[unit] = sums[0] + bias[unit];
    }
}

";

/// `libm::expf`, whose bits a C library's may not have.
const EXP: &str = "
static inline float windlass_exp(float x)
{
    float size = x < 0.0f ? -x : x, hi = x, lo = 0.0f, square, c;
    int k = 0;
    if (x != x) return x;
    if (x >= 88.72284f) return INFINITY;
    if (x <= -103.972084f) return 0.0f;
    if (size <= 0.00012207031f) return 1.0f + x;
    if (size > 0.3465736f) {
        k = x < 0.0f ? -1 : 1;
        if (size > 1.0397208f) k = (int)(1.442695f * x + (x < 0.0f ? -0.5f : 0.5f));
        hi = x - (float)k * 0.69314575f;
        lo = (float)k * 1.4286068e-6f;
        x = hi - lo;
    }
    square = x * x;
    c = x - square * (1.6666625440e-1f + square * -2.7667332906e-3f);
    return ldexpf(1.0f + (x * c / (2.0f - c) - lo + hi), k);
}

";

/// `libm::tanhf`, likewise. Arguments of `windlass_expm1` are from -0.52 to 20.
const TANH: &str = "
static inline float windlass_expm1(float x)
{
    float size = x < 0.0f ? -x : x, c = 0.0f, half, square, r, t, e, power, inverse;
    int k = 0;
    if (size < 2.9802322e-8f) return x;
    if (size > 0.3465736f) {
        float hi, lo;
        k = x < 0.0f ? -1 : 1;
        if (size >= 1.0397208f) k = (int)(1.442695f * x + (x < 0.0f ? -0.5f : 0.5f));
        hi = x - (float)k * 0.6931381f;
        lo = (float)k * 9.058001e-6f;
        x = hi - lo;
        c = (hi - x) - lo;
    }
    half = 0.5f * x;
    square = x * half;
    r = 1.0f + square * (-3.3333212137e-2f + square * 1.5807170421e-3f);
    t = 3.0f - r * half;
    e = square * ((r - t) / (6.0f - x * t));
    if (k == 0) return x - (x * e - square);
    e = x * (e - c) - c;
    e -= square;
    if (k == -1) return 0.5f * (x - e) - 0.5f;
    if (k == 1) return x < -0.25f ? -2.0f * (e - (x + 0.5f)) : 1.0f + 2.0f * (x - e);
    power = ldexpf(1.0f, k);
    inverse = ldexpf(1.0f, -k);
    return k < 23 ? (x - e + (1.0f - inverse)) * power : (x - (e + inverse) + 1.0f) * power;
}

static inline float windlass_tanh(float x)
{
    float size = x < 0.0f ? -x : x, y = size, t;
    if (!(size <= 10.0f)) {
        y = 1.0f + 0.0f / size;
    } else if (size > 0.54930615f) {
        t = windlass_expm1(2.0f * size);
        y = 1.0f - 2.0f / (t + 2.0f);
    } else if (size > 0.25541282f) {
        t = windlass_expm1(2.0f * size);
        y = t / (t + 2.0f);
    } else if (size >= 1.1754944e-38f) {
        t = windlass_expm1(-2.0f * size);
        y = -t / (t + 2.0f);
    }
    return x < 0.0f ? -y : y;
}

";

const MATERN: &str = "
static inline double windlass_matern(const double *rows, const double *coefficients, unsigned long count,
                                     const double *near, unsigned long width)
{
    unsigned long row, i;
    double sum = 0.0;
    for (row = 0; row < count; ++row) {
        double square = 0.0, u;
        for (i = 0; i < width; ++i) {
            double difference = rows[row * width + i] - near[i];
            square += difference * difference;
        }
        u = sqrt(5.0 * (square < 1e6 ? square : 1e6));
        sum += (1.0 + u + u * u / 3.0) * exp(-u) * coefficients[row];
    }
    return sum;
}

";

const PREDICT: &str =
    "/* Predicts WINDLASS_N_OUTPUTS targets, in their units, from WINDLASS_N_INPUTS inputs. */
static inline void windlass_predict(const double *inputs, double *outputs)
{
    unsigned long i;
    if (!windlass_average(inputs, outputs))
        for (i = 0; i < WINDLASS_N_OUTPUTS; ++i) outputs[i] = NAN;
}
";

#[cfg(test)]
mod tests {
    use super::{Names, comment, identifier};

    #[test]
    fn comments_cannot_be_left() {
        assert_eq!(comment("a*/b/*c"), "a* /b/ *c");
        assert_eq!(comment("*/*/"), "* / * /");
        assert_eq!(comment("a\nb\u{202e}"), "a\\u{a}b\\u{202e}");
        assert_eq!(comment("größe 100% ??/"), "größe 100% ? ?/");
        assert!(comment(&"x".repeat(1000)).len() < 210);
    }

    #[test]
    fn names_are_identifiers_and_differ() {
        assert_eq!(identifier("model year (19xx)"), "MODEL_YEAR_19XX");
        assert_eq!(identifier("日本"), "");
        let mut names = Names::default();
        assert_eq!(names.unique("WINDLASS_IN_", &["a b"]), "WINDLASS_IN_A_B");
        assert_eq!(names.unique("WINDLASS_IN_", &["a-b"]), "WINDLASS_IN_A_B_2");
        assert_eq!(names.unique("WINDLASS_IN_", &["*/"]), "WINDLASS_IN_X");
        assert_eq!(names.unique("WINDLASS_", &["n", "inputs"]), "WINDLASS_N_INPUTS_2");
    }
}
