//! Export of models to ONNX, with the preprocessing inside.
//!
//! Inputs of the graph are `continuous` (double, a column for each continuous column of the table and each
//! calendar feature of a date, NaN for a missing value) and, if the model has categorical columns, `categories` (float, one-hot). The names of the
//! columns of both are in the file's metadata, under `continuous` and `categories`. Outputs are `prediction`
//! and, for an ensemble, `prediction_sd`; with a level, also `prediction_low` and `prediction_high`, the
//! [prediction interval](crate::Intervals). All have a column for every target, in its units.
//!
//! This module writes only those messages of the format that such graphs need: a protocol buffer is a list of
//! numbered fields, and a library for all of them would be larger than the rest of this crate.

use windlass_train::{Activation, LayerParameters};

use crate::Result;
use crate::gp::GaussianProcess;
use crate::interval::Intervals;
use crate::model::{EnsembleMember, Estimator, Model};
use crate::preprocessing::{FittedScaling, Input, Preprocessing, limited};
use crate::trees::TreeEnsemble;

const IR_VERSION: u64 = 9;
const OPSET: u64 = 18;
/// Tree ensembles are in a separate operator set.
const TREES: &str = "TreeEnsembleRegressor";
const TREES_DOMAIN: &str = "ai.onnx.ml";
const TREES_OPSET: u64 = 3;

/// Element types of tensors.
const FLOAT: u64 = 1;
const INT64: u64 = 7;
const DOUBLE: u64 = 11;

/// A protocol buffer message in its wire format.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push((number & 0x7f) as u8);
    }

    fn number(&mut self, field: u64, number: u64) {
        self.varint(field << 3);
        self.varint(number);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn text(&mut self, field: u64, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    fn float(&mut self, field: u64, number: f32) {
        self.varint(field << 3 | 5);
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn message(&mut self, field: u64, message: &Message) {
        self.bytes(field, &message.0);
    }
}

#[derive(Default)]
struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    names: usize,
    has_trees: bool,
}

enum Attribute<'a> {
    Int(&'static str, u64),
    Float(&'static str, f32),
    Text(&'static str, &'a str),
    Ints(&'static str, &'a [u64]),
    Texts(&'static str, &'a [&'a str]),
    Doubles(&'static str, &'a [f64]),
}

impl Attribute<'_> {
    fn message(&self) -> Message {
        let mut message = Message::default();
        let (Self::Int(name, _)
        | Self::Float(name, _)
        | Self::Text(name, _)
        | Self::Ints(name, _)
        | Self::Texts(name, _)
        | Self::Doubles(name, _)) = self;
        message.text(1, name);
        let kind = match self {
            Self::Float(_, value) => {
                message.float(2, *value);
                1
            }
            Self::Int(_, value) => {
                message.number(3, *value);
                2
            }
            Self::Text(_, value) => {
                message.text(4, value);
                3
            }
            Self::Doubles(name, values) => {
                message.message(5, &tensor(name, &[values.len()], DOUBLE, &double_bytes(values)));
                4
            }
            Self::Ints(_, values) => {
                let mut list = Message::default();
                values.iter().for_each(|&value| list.varint(value));
                message.message(8, &list);
                7
            }
            Self::Texts(_, values) => {
                values.iter().for_each(|value| message.text(9, value));
                8
            }
        };
        message.number(20, kind);
        message
    }
}

fn tensor(name: &str, dims: &[usize], data_type: u64, raw: &[u8]) -> Message {
    let mut tensor = Message::default();
    for &dim in dims {
        tensor.number(1, dim as u64);
    }
    tensor.number(2, data_type);
    tensor.text(8, name);
    tensor.bytes(9, raw);
    tensor
}

fn double_bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

impl Graph {
    fn name(&mut self, what: &str) -> String {
        self.names += 1;
        format!("{what}_{}", self.names)
    }

    /// Adds an operation and returns the name of its output.
    fn node(&mut self, operation: &str, inputs: &[&str], attributes: &[Attribute<'_>]) -> String {
        let output = self.name(&operation.to_lowercase());
        self.node_to(operation, inputs, attributes, &[&output]);
        output
    }

    fn node_to(
        &mut self,
        operation: &str,
        inputs: &[&str],
        attributes: &[Attribute<'_>],
        to: &[&str],
    ) {
        let mut node = Message::default();
        for input in inputs {
            node.text(1, input);
        }
        for output in to {
            node.text(2, output);
        }
        node.text(4, operation);
        for attribute in attributes {
            node.message(5, &attribute.message());
        }
        if operation == TREES {
            node.text(7, TREES_DOMAIN);
            self.has_trees = true;
        }
        self.nodes.push(node);
    }

    fn constant(&mut self, dims: &[usize], data_type: u64, raw: &[u8]) -> String {
        let name = self.name("constant");
        self.constants.push(tensor(&name, dims, data_type, raw));
        name
    }

    fn doubles(&mut self, dims: &[usize], values: &[f64]) -> String {
        self.constant(dims, DOUBLE, &double_bytes(values))
    }

    fn floats(&mut self, dims: &[usize], values: &[f32]) -> String {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(dims, FLOAT, &raw)
    }

    /// Selects columns.
    fn columns(&mut self, of: &str, places: &[usize]) -> String {
        let raw: Vec<u8> = places.iter().flat_map(|&place| (place as u64).to_le_bytes()).collect();
        let places = self.constant(&[places.len()], INT64, &raw);
        self.node("Gather", &[of, &places], &[Attribute::Int("axis", 1)])
    }

    /// The weighted sum of at least one term; runtimes have no sum of many doubles.
    fn weighted_sum(&mut self, terms: &[String], weights: &[f64]) -> String {
        let mut sum: Option<String> = None;
        for (term, &weight) in terms.iter().zip(weights) {
            let weight = self.doubles(&[], &[weight]);
            let term = self.node("Mul", &[term, &weight], &[]);
            sum = Some(match sum {
                Some(sum) => self.node("Add", &[&sum, &term], &[]),
                None => term,
            });
        }
        sum.expect("a term")
    }

    fn cast(&mut self, of: &str, to: u64) -> String {
        self.node("Cast", &[of], &[Attribute::Int("to", to)])
    }
}

/// The columns that any member uses.
#[derive(Default)]
struct GraphInputs {
    continuous: Vec<String>,
    categories: Vec<(String, Option<String>)>,
}

impl GraphInputs {
    fn new(members: &[&EnsembleMember]) -> Self {
        let mut columns = Self::default();
        for input in members.iter().flat_map(|member| &member.preprocessing.inputs) {
            match input {
                Input::Continuous { .. } => {
                    let name = input.feature_name();
                    if !columns.continuous.contains(&name) {
                        columns.continuous.push(name);
                    }
                }
                Input::Categorical { name, levels, .. } => {
                    for level in levels {
                        let key = (name.clone(), level.clone());
                        if !columns.categories.contains(&key) {
                            columns.categories.push(key);
                        }
                    }
                }
            }
        }
        columns
    }

    fn continuous(&self, name: &str) -> usize {
        self.continuous.iter().position(|other| other == name).expect("a column of a member")
    }

    fn category(&self, name: &str, level: Option<&str>) -> usize {
        let same = |(other, of): &(String, Option<String>)| other == name && of.as_deref() == level;
        self.categories.iter().position(same).expect("a level of a member")
    }
}

/// The bytes of an ONNX file, with prediction intervals of this coverage if there is one.
///
/// Intervals need the members of the folds too, so that the graph is several times as large.
pub fn export(model: &Model, level: Option<f64>) -> Result<Vec<u8>> {
    let intervals = level.map(|level| model.intervals(level)).transpose()?;
    let members: Vec<&EnsembleMember> = match &intervals {
        Some(_) => model.all_members().collect(),
        None => model.members.iter().collect(),
    };
    let columns = GraphInputs::new(&members);
    let mut graph = Graph::default();
    let all: Vec<String> =
        members.iter().map(|member| predict(&mut graph, member, &columns)).collect();
    let predicted = &all[..model.members.len()];
    let weights: Vec<f64> = model.members.iter().map(|member| member.weight).collect();
    let mean = graph.weighted_sum(predicted, &weights);
    graph.node_to("Identity", &[&mean], &[], &["prediction"]);
    let mut outputs = vec!["prediction"];
    if predicted.len() > 1 {
        let squares: Vec<String> = predicted
            .iter()
            .map(|name| {
                let off = graph.node("Sub", &[name, "prediction"], &[]);
                graph.node("Mul", &[&off, &off], &[])
            })
            .collect();
        let sum = graph.weighted_sum(&squares, &weights);
        let free = 1.0 - weights.iter().map(|weight| weight * weight).sum::<f64>();
        let free = graph.doubles(&[], &[free]);
        let mean = graph.node("Div", &[&sum, &free], &[]);
        graph.node_to("Sqrt", &[&mean], &[], &["prediction_sd"]);
        outputs.push("prediction_sd");
    }
    if let Some(intervals) = &intervals {
        let centers = if model.has_fold_members() {
            let of_fold = |fold| {
                let parts = members.iter().zip(&all).filter_map(|(member, predicted)| {
                    let part = member.fold.filter(|part| part.fold == fold)?;
                    Some((predicted.clone(), part.weight))
                });
                let (predicted, weights): (Vec<_>, Vec<_>) = parts.unzip();
                graph.weighted_sum(&predicted, &weights)
            };
            (0..intervals.residuals[0].len()).map(of_fold).collect()
        } else {
            vec!["prediction".to_owned()]
        };
        bounds(&mut graph, intervals, &centers);
        outputs.extend(["prediction_low", "prediction_high"]);
    }
    let mut inputs = vec![];
    if !columns.continuous.is_empty() {
        inputs.push(value_info("continuous", DOUBLE, columns.continuous.len()));
    }
    if !columns.categories.is_empty() {
        inputs.push(value_info("categories", FLOAT, columns.categories.len()));
    }
    let width = model.targets().len();
    let outputs: Vec<Message> =
        outputs.into_iter().map(|output| value_info(output, DOUBLE, width)).collect();
    let levels: Vec<(&str, Option<&str>)> =
        columns.categories.iter().map(|(name, level)| (name.as_str(), level.as_deref())).collect();
    let mut file = file(&graph, &inputs, &outputs);
    for (key, value) in [
        ("continuous", serde_json::to_string(&columns.continuous)),
        ("categories", serde_json::to_string(&levels)),
        ("targets", serde_json::to_string(&model.targets())),
    ] {
        let mut entry = Message::default();
        entry.text(1, key);
        entry.text(2, &value.expect("names"));
        file.message(14, &entry);
    }
    Ok(file.0)
}

/// Adds the outputs `prediction_low` and `prediction_high`. `centers` are the predictions of each fold's members.
fn bounds(graph: &mut Graph, intervals: &Intervals<'_>, centers: &[String]) {
    let (mut low, mut high) = (vec![], vec![]);
    for (target, residuals) in intervals.residuals.iter().enumerate() {
        let mean = graph.columns("prediction", &[target]);
        let count: usize = residuals.iter().map(Vec::len).sum();
        // The bound is the smallest of this many largest values.
        let largest = count - intervals.rank;
        let mut bound = |operation: &str| {
            let of_fold = |(center, residuals): (&String, &Vec<f64>)| {
                let center = graph.columns(center, &[target]);
                let residuals = graph.doubles(&[1, residuals.len()], residuals);
                graph.node(operation, &[&residuals, &center], &[])
            };
            let values: Vec<String> = centers.iter().zip(residuals).map(of_fold).collect();
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            let values = graph.node("Concat", &values, &[Attribute::Int("axis", 1)]);
            let largest_count = graph.constant(&[1], INT64, &(largest as u64).to_le_bytes());
            let (sorted, places) = (graph.name("largest"), graph.name("places"));
            let axis = [Attribute::Int("axis", 1)];
            graph.node_to("TopK", &[&values, &largest_count], &axis, &[&sorted, &places]);
            graph.columns(&sorted, &[largest - 1])
        };
        // The lower bound is that of the negated values, negated.
        let (above, below) = (bound("Add"), bound("Sub"));
        let below = graph.node("Neg", &[&below], &[]);
        low.push(graph.node("Min", &[&mean, &below], &[]));
        high.push(graph.node("Max", &[&mean, &above], &[]));
    }
    for (columns, name) in [(low, "prediction_low"), (high, "prediction_high")] {
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        graph.node_to("Concat", &columns, &[Attribute::Int("axis", 1)], &[name]);
    }
}

/// A file with a graph, still without metadata.
fn file(graph: &Graph, inputs: &[Message], outputs: &[Message]) -> Message {
    let mut message = Message::default();
    for node in &graph.nodes {
        message.message(1, node);
    }
    message.text(2, "windlass");
    for constant in &graph.constants {
        message.message(5, constant);
    }
    for input in inputs {
        message.message(11, input);
    }
    for output in outputs {
        message.message(12, output);
    }
    let mut file = Message::default();
    file.number(1, IR_VERSION);
    file.text(2, "windlass");
    file.text(3, env!("CARGO_PKG_VERSION"));
    file.message(7, &message);
    let trees = graph.has_trees.then_some((TREES_DOMAIN, TREES_OPSET));
    for (domain, version) in [("", OPSET)].into_iter().chain(trees) {
        let mut opset = Message::default();
        opset.text(1, domain);
        opset.number(2, version);
        file.message(8, &opset);
    }
    file
}

fn value_info(name: &str, data_type: u64, width: usize) -> Message {
    let mut rows = Message::default();
    rows.text(2, "rows");
    let mut columns = Message::default();
    columns.number(1, width as u64);
    let mut shape = Message::default();
    shape.message(1, &rows);
    shape.message(1, &columns);
    let mut tensor = Message::default();
    tensor.number(1, data_type);
    tensor.message(2, &shape);
    let mut kind = Message::default();
    kind.message(1, &tensor);
    let mut info = Message::default();
    info.text(1, name);
    info.message(2, &kind);
    info
}

/// The predictions of a member, in the units of the targets.
fn predict(graph: &mut Graph, member: &EnsembleMember, columns: &GraphInputs) -> String {
    let (features, order) = features(graph, &member.preprocessing, columns);
    let scaled = match &member.estimator {
        Estimator::Network(network) => {
            let mut x = graph.cast(&features, FLOAT);
            let parameters = network.to_parameters();
            let last = parameters.len() - 1;
            for (layer, parameters) in parameters.into_iter().enumerate() {
                let LayerParameters { weights, bias } = parameters;
                let dims = weights.shape().to_vec();
                let weights: Vec<f32> = match layer {
                    0 => weights.select(ndarray::Axis(1), &order).into_iter().collect(),
                    _ => weights.into_iter().collect(),
                };
                let weights = graph.floats(&dims, &weights);
                let bias = graph.floats(&[bias.len()], &bias);
                x = graph.node("Gemm", &[&x, &weights, &bias], &[Attribute::Int("transB", 1)]);
                if layer < last {
                    x = activate(graph, &x, network.shape().activation);
                }
            }
            graph.cast(&x, DOUBLE)
        }
        Estimator::Linear(linear) => {
            let b = linear.coefficients().select(ndarray::Axis(0), &order);
            let dims = b.shape().to_vec();
            let b = graph.doubles(&dims, &b.into_iter().collect::<Vec<f64>>());
            let c = graph.doubles(&[dims[1]], &linear.intercept().to_vec());
            graph.node("Gemm", &[&features, &b, &c], &[])
        }
        Estimator::Trees(trees) => predict_trees(graph, trees, &features, &order),
        Estimator::GaussianProcess(process) => predict_process(graph, process, &features, &order),
    };
    let targets = &member.preprocessing.targets;
    let list = |of: fn(&FittedScaling) -> f64| -> Vec<f64> {
        targets.iter().map(|target| of(&target.scale)).collect()
    };
    let scale = graph.doubles(&[targets.len()], &list(|scale| scale.scale));
    let offset = graph.doubles(&[targets.len()], &list(|scale| scale.offset));
    let stretched = graph.node("Mul", &[&scaled, &scale], &[]);
    graph.node("Add", &[&stretched, &offset], &[])
}

/// The predictions of trees as doubles, a column for every target, in scaled units. `order` has, for each column of
/// `features`, its index in the design matrix that the trees were fitted on.
///
/// Features, thresholds and values are doubles, so every row reaches the same leaves as in this crate. The
/// operator returns floats, however: the sum over a target's trees, rounded to 24 bits.
fn predict_trees(
    graph: &mut Graph,
    ensemble: &TreeEnsemble,
    features: &str,
    order: &[usize],
) -> String {
    let arrays = ensemble.to_arrays();
    let mut column_of = vec![0; order.len()];
    for (column, &index) in order.iter().enumerate() {
        column_of[index] = column as u64;
    }
    let (targets, outputs) = (ensemble.targets(), ensemble.outputs());
    let each = ensemble.trees() * outputs / targets;
    let (mut trees, mut places, mut columns, mut modes) = (vec![], vec![], vec![], vec![]);
    let (mut leaf_trees, mut leaf_places, mut leaf_targets, mut leaf_values) =
        (vec![], vec![], vec![], vec![]);
    let mut tree = 0;
    for (node, &feature) in arrays.feature.iter().enumerate() {
        if arrays.starts.get(tree + 1) == Some(&(node as u64)) {
            tree += 1;
        }
        let place = node as u64 - arrays.starts[tree];
        trees.push(tree as u64);
        places.push(place);
        if feature == u32::MAX {
            columns.push(0);
            modes.push("LEAF");
            let first = if outputs == targets { 0 } else { tree / each };
            for (output, &value) in arrays.value[node * outputs..][..outputs].iter().enumerate() {
                leaf_trees.push(tree as u64);
                leaf_places.push(place);
                leaf_targets.push((first + output) as u64);
                leaf_values.push(value);
            }
        } else {
            columns.push(column_of[feature as usize]);
            modes.push("BRANCH_LEQ");
        }
    }
    let wide = |list: &[u32]| -> Vec<u64> { list.iter().map(|&child| child.into()).collect() };
    let missing_left: Vec<u64> = arrays.missing_left.iter().map(|&left| left.into()).collect();
    let attributes = [
        Attribute::Int("n_targets", targets as u64),
        Attribute::Text("aggregate_function", "SUM"),
        Attribute::Ints("nodes_treeids", &trees),
        Attribute::Ints("nodes_nodeids", &places),
        Attribute::Ints("nodes_featureids", &columns),
        Attribute::Texts("nodes_modes", &modes),
        Attribute::Doubles("nodes_values_as_tensor", &arrays.threshold),
        Attribute::Ints("nodes_truenodeids", &wide(&arrays.left)),
        Attribute::Ints("nodes_falsenodeids", &wide(&arrays.right)),
        Attribute::Ints("nodes_missing_value_tracks_true", &missing_left),
        Attribute::Ints("target_treeids", &leaf_trees),
        Attribute::Ints("target_nodeids", &leaf_places),
        Attribute::Ints("target_ids", &leaf_targets),
        Attribute::Doubles("target_weights_as_tensor", &leaf_values),
    ];
    let sum = graph.node(TREES, &[features], &attributes);
    let sum = graph.cast(&sum, DOUBLE);
    let each = graph.doubles(&[], &[each as f64]);
    graph.node("Div", &[&sum, &each], &[])
}

/// The predictions of Gaussian processes as doubles, a column for every target, in scaled units. `order` is that
/// of [`predict_forest`].
///
/// Squared distances are `‖a‖² + ‖b‖² − 2a·b`, whose rounding is too small to matter in doubles.
fn predict_process(
    graph: &mut Graph,
    process: &GaussianProcess,
    features: &str,
    order: &[usize],
) -> String {
    let width = order.len();
    let pick = |list: &[f64]| -> Vec<f64> { order.iter().map(|&index| list[index]).collect() };
    let offset = graph.doubles(&[width], &pick(&process.column_offset));
    let scale = graph.doubles(&[width], &pick(&process.column_scale));
    let moved = graph.node("Sub", &[features, &offset], &[]);
    let z = graph.node("Div", &[&moved, &scale], &[]);
    let one_axis = graph.constant(&[1], INT64, &1_u64.to_le_bytes());
    let (zero, three) = (graph.doubles(&[], &[0.0]), graph.doubles(&[], &[3.0]));
    let one = graph.doubles(&[], &[1.0]);
    let mut predicted = vec![];
    for target in &process.targets {
        let kernel = &target.kernel;
        let columns = process.rows_in_lengths(target);
        let rows = columns.len() / width;
        let column = |index: usize| &columns[index * rows..][..rows];
        // Distances in units of which five are the square of a length.
        let lengths: Vec<f64> = order.iter().map(|&index| kernel.length(index)).collect();
        let norms: Vec<f64> =
            (0..rows).map(|row| (0..width).map(|j| column(j)[row].powi(2)).sum()).collect();
        let basis: Vec<f64> =
            order.iter().flat_map(|&index| column(index)).map(|b| -2.0 * b).collect();
        let (lengths, norms) = (graph.doubles(&[width], &lengths), graph.doubles(&[rows], &norms));
        let basis = graph.doubles(&[width, rows], &basis);
        let a = graph.node("Div", &[&z, &lengths], &[]);
        let squares = graph.node("Mul", &[&a, &a], &[]);
        let own = graph.node("ReduceSum", &[&squares, &one_axis], &[]);
        let products = graph.node("MatMul", &[&a, &basis], &[]);
        let sum = graph.node("Add", &[&products, &norms], &[]);
        let square = graph.node("Add", &[&sum, &own], &[]);
        let five = graph.doubles(&[], &[5.0]);
        let far = graph.doubles(&[], &[1e6]);
        let square = graph.node("Max", &[&square, &zero], &[]);
        let square = graph.node("Min", &[&square, &far], &[]);
        let square = graph.node("Mul", &[&square, &five], &[]);
        let u = graph.node("Sqrt", &[&square], &[]);
        let third = graph.node("Div", &[&square, &three], &[]);
        let polynomial = graph.node("Add", &[&u, &third], &[]);
        let polynomial = graph.node("Add", &[&polynomial, &one], &[]);
        let negative = graph.node("Neg", &[&u], &[]);
        let decay = graph.node("Exp", &[&negative], &[]);
        let matern = graph.node("Mul", &[&polynomial, &decay], &[]);
        let coefficients: Vec<f64> =
            target.coefficients.iter().map(|c| kernel.signal * c).collect();
        let coefficients = graph.doubles(&[rows, 1], &coefficients);
        let curved = graph.node("MatMul", &[&matern, &coefficients], &[]);
        let (linear, intercept) = process.linear_part(target);
        let linear = graph.doubles(&[width, 1], &pick(&linear));
        let intercept = graph.doubles(&[1], &[intercept]);
        let straight = graph.node("Gemm", &[&z, &linear, &intercept], &[]);
        let sum = graph.node("Add", &[&curved, &straight], &[]);
        let (scale, offset) =
            (graph.doubles(&[], &[target.scale]), graph.doubles(&[], &[target.offset]));
        let stretched = graph.node("Mul", &[&sum, &scale], &[]);
        predicted.push(graph.node("Add", &[&stretched, &offset], &[]));
    }
    let predicted: Vec<&str> = predicted.iter().map(String::as_str).collect();
    graph.node("Concat", &predicted, &[Attribute::Int("axis", 1)])
}

fn activate(graph: &mut Graph, x: &str, activation: Activation) -> String {
    match activation {
        Activation::Relu => graph.node("Relu", &[x], &[]),
        Activation::LeakyRelu(slope) => {
            graph.node("LeakyRelu", &[x], &[Attribute::Float("alpha", slope)])
        }
        Activation::Sigmoid => graph.node("Sigmoid", &[x], &[]),
        Activation::Tanh => graph.node("Tanh", &[x], &[]),
        Activation::Identity => x.to_owned(),
    }
}

/// The features of a member as doubles: scaled columns, then missing-value indicators, then one-hot categories.
/// Also the index of each in the member's design matrix.
fn features(
    graph: &mut Graph,
    preprocessing: &Preprocessing,
    columns: &GraphInputs,
) -> (String, Vec<usize>) {
    let (mut places, mut offsets, mut scales, mut fills) = (vec![], vec![], vec![], vec![]);
    let (mut lows, mut highs) = (vec![], vec![]);
    let (mut indicators, mut levels_at) = (vec![], vec![]);
    let (mut values_order, mut missing_order, mut levels_order) = (vec![], vec![], vec![]);
    let mut at = 0;
    for input in &preprocessing.inputs {
        match input {
            Input::Continuous { scale, fill, indicator, limits, .. } => {
                if *indicator {
                    indicators.push(places.len());
                    missing_order.push(at + 1);
                }
                places.push(columns.continuous(&input.feature_name()));
                lows.push(limited(f64::NEG_INFINITY, *limits));
                highs.push(limited(f64::INFINITY, *limits));
                offsets.push(scale.offset);
                scales.push(scale.scale);
                fills.push(*fill);
                values_order.push(at);
            }
            Input::Categorical { name, levels, .. } => {
                for (place, level) in levels.iter().enumerate() {
                    levels_at.push(columns.category(name, level.as_deref()));
                    levels_order.push(at + place);
                }
            }
        }
        at += input.width();
    }
    let mut pieces = vec![];
    if !places.is_empty() {
        let width = [places.len()];
        let raw = graph.columns("continuous", &places);
        let missing = graph.node("IsNaN", &[&raw], &[]);
        let fill = graph.doubles(&width, &fills);
        let mut filled = graph.node("Where", &[&missing, &fill, &raw], &[]);
        if lows.iter().any(|low| low.is_finite()) {
            let (low, high) = (graph.doubles(&width, &lows), graph.doubles(&width, &highs));
            let above = graph.node("Max", &[&filled, &low], &[]);
            filled = graph.node("Min", &[&above, &high], &[]);
        }
        let offset = graph.doubles(&width, &offsets);
        let moved = graph.node("Sub", &[&filled, &offset], &[]);
        let scale = graph.doubles(&width, &scales);
        pieces.push(graph.node("Div", &[&moved, &scale], &[]));
        if !indicators.is_empty() {
            let some = graph.columns(&missing, &indicators);
            pieces.push(graph.cast(&some, DOUBLE));
        }
    }
    if !levels_at.is_empty() {
        let own = graph.columns("categories", &levels_at);
        pieces.push(graph.cast(&own, DOUBLE));
    }
    let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
    let all = graph.node("Concat", &pieces, &[Attribute::Int("axis", 1)]);
    (all, [values_order, missing_order, levels_order].concat())
}

#[cfg(test)]
mod tests {
    use super::{Attribute, DOUBLE, Graph, TREES_DOMAIN, file, predict_trees, value_info};
    use crate::{TreeArrays, TreeEnsemble};

    fn count(bytes: &[u8], part: &[u8]) -> usize {
        bytes.windows(part.len()).filter(|window| *window == part).count()
    }

    /// A split at the second of the trees' columns, which is the third of the graph's; and a leaf.
    #[test]
    fn trees_have_their_own_columns_and_domain() {
        let trees = TreeEnsemble::from_arrays(TreeArrays {
            width: 3,
            targets: 2,
            starts: vec![0, 3],
            feature: vec![1, u32::MAX, u32::MAX, u32::MAX],
            threshold: vec![0.1, 0.0, 0.0, 0.0],
            left: vec![1, 0, 0, 0],
            right: vec![2, 0, 0, 0],
            missing_left: vec![1, 0, 0, 0],
            value: vec![0.0, 4.0, 6.0, 10.0],
        });
        let mut graph = Graph::default();
        let output = predict_trees(&mut graph, &trees.unwrap(), "x", &[2, 0, 1]);
        let outputs = [value_info(&output, DOUBLE, 2)];
        let bytes = file(&graph, &[value_info("x", DOUBLE, 3)], &outputs).0;
        for attribute in [
            Attribute::Ints("nodes_featureids", &[2, 0, 0, 0]),
            Attribute::Ints("nodes_treeids", &[0, 0, 0, 1]),
            Attribute::Ints("nodes_nodeids", &[0, 1, 2, 0]),
            Attribute::Texts("nodes_modes", &["BRANCH_LEQ", "LEAF", "LEAF", "LEAF"]),
            Attribute::Doubles("nodes_values_as_tensor", &[0.1, 0.0, 0.0, 0.0]),
            Attribute::Ints("nodes_missing_value_tracks_true", &[1, 0, 0, 0]),
            Attribute::Ints("target_treeids", &[0, 0, 1]),
            Attribute::Ints("target_nodeids", &[1, 2, 0]),
            Attribute::Ints("target_ids", &[0, 0, 1]),
            Attribute::Doubles("target_weights_as_tensor", &[4.0, 6.0, 10.0]),
        ] {
            assert_eq!(count(&bytes, &attribute.message().0), 1);
        }
        // Once for the operation, once for the file; not where there are no trees.
        assert_eq!(count(&bytes, TREES_DOMAIN.as_bytes()), 2);
        let bytes = file(&Graph::default(), &[], &[]).0;
        assert_eq!(count(&bytes, TREES_DOMAIN.as_bytes()), 0);
    }
}
