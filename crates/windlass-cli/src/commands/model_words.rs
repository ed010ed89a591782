//! Descriptions of models for the terminal.

use std::fmt::Write as _;

use windlass_model::{
    AutoSelection, DensityWeights, Distillation, DomainMetrics, Importance, Kind, ModelMetadata,
    PreAugmentConfig, Split,
};
use windlass_train::{Schedule, TrainConfig};

use crate::terminal;

/// The names of the features of a model.
pub(super) fn features_in_words(metadata: &ModelMetadata) -> String {
    const SHOWN: usize = 40;
    let names = metadata.features();
    match names.len().saturating_sub(SHOWN) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..SHOWN].join(", ")),
    }
}

/// The most important columns, if the importance was computed.
pub(super) fn importance_in_words(metadata: &ModelMetadata) -> String {
    const SHOWN: usize = 8;
    let word = |one: &Importance| format!("{} {}", one.column, terminal::short(one.rmse_increase));
    let shown: Vec<String> = metadata.importance.iter().take(SHOWN).map(word).collect();
    match (shown.is_empty(), metadata.importance.len().saturating_sub(SHOWN)) {
        (true, _) => String::new(),
        (_, 0) => format!("  importance {}\n", shown.join(", ")),
        (_, more) => format!("  importance {} and {more} more\n", shown.join(", ")),
    }
}

/// The kind of a model: `network 128-128`.
pub(super) fn kind_in_words(metadata: &ModelMetadata) -> String {
    in_words(&metadata.config.kind, metadata.members.len())
}

/// The teacher of a student in a few words, if it is one.
pub(super) fn teacher_in_words(metadata: &ModelMetadata) -> Option<String> {
    let distillation = metadata.distillation.as_ref()?;
    Some(in_words(&distillation.teacher, distillation.teacher_members))
}

/// What a student was trained on.
pub(super) fn labeled_rows_in_words(distillation: &Distillation, rows: u64) -> String {
    let Distillation { synthetic, unlabeled, out_of_fold_labels, .. } = distillation;
    let how = if *out_of_fold_labels { "out-of-fold" } else { "in-sample" };
    let mut text = format!("{rows} of the table ({how})");
    let made = distillation.rows.saturating_sub(rows.saturating_add(*unlabeled));
    if let Some(synthetic) = synthetic.as_ref().filter(|_| made > 0) {
        let _ = write!(text, ", {made} synthetic ({})", synthetic.method.name());
    }
    if *unlabeled > 0 {
        let _ = write!(text, ", {unlabeled} unlabeled");
    }
    text
}

/// Adds the augmentation and the weights of the training rows.
pub(super) fn tell_rows(text: &mut String, metadata: &ModelMetadata) {
    if let Kind::Network(network) = &metadata.config.kind
        && let Some(augment) = &network.augment
    {
        let place = match augment.layer {
            0 => "on the input".to_owned(),
            layer => format!("after hidden layer {layer}"),
        };
        let _ = writeln!(text, "  augment  {} {place}", augment.method.name());
    }
    if let Some(PreAugmentConfig { method, .. }) = &metadata.config.pre_augment {
        let _ = writeln!(text, "  augment  {} before training", method.name());
    }
    if let Some(DensityWeights { alpha, average }) = metadata.config.density_weights {
        let average = if average { ", averaged with a model without weights" } else { "" };
        let _ = writeln!(text, "  weights  1 − {alpha} × density of the target{average}");
    }
}

/// Adds how a network, or each of them, was trained.
pub(super) fn tell_training(text: &mut String, metadata: &ModelMetadata) {
    let Kind::Network(network) = &metadata.config.kind else { return };
    let TrainConfig { epochs, batch_size, learning_rate, schedule, weight_decay, .. } =
        &network.training;
    let schedule = match schedule {
        Schedule::Constant => "constant",
        Schedule::Cosine => "cosine",
    };
    let _ = writeln!(
        text,
        "  training {epochs} epochs, batches of {batch_size}, learning rate {learning_rate} ({schedule}), weight \
         decay {}",
        terminal::short(*weight_decay)
    );
}

/// Adds how rows were held out, unless at random.
pub(super) fn tell_split(text: &mut String, metadata: &ModelMetadata) {
    let _ = match metadata.config.split() {
        Split::Rows => Ok(()),
        Split::Group(column) => {
            writeln!(text, "  split    rows with the same `{column}` are held out together")
        }
        Split::Domain(column) => {
            writeln!(text, "  split    each value of `{column}` is held out as a whole")
        }
        Split::Time(column) => writeln!(
            text,
            "  split    held-out rows are later in `{column}` than the rows they are predicted from;\n           \
             the final model is trained on all rows"
        ),
    };
}

/// Adds the weights and errors of the models of an automatic selection.
pub(super) fn tell_choice(text: &mut String, choice: &AutoSelection) {
    const SHOWN: usize = 8;
    let AutoSelection { portfolio: candidates, fits, folds, .. } = choice;
    let _ = writeln!(
        text,
        "  ensemble weights minimize the error of {folds}-fold cross-validation ({fits} fits)"
    );
    let chosen = candidates.iter().filter(|candidate| candidate.weight > 0.0);
    let rejected = candidates.iter().filter(|candidate| candidate.weight == 0.0);
    let count = chosen.clone().count();
    let _ = writeln!(text, "           {:>7} {:>12}", "weight", "RMSE");
    for candidate in chosen.chain(rejected.take(SHOWN.saturating_sub(count))) {
        let (share, rmse) = (100.0 * candidate.weight, terminal::short(candidate.rmse));
        let _ = writeln!(text, "           {share:>5.0} % {rmse:>12}  {}", candidate.name);
    }
    if candidates.len() > SHOWN.max(count) {
        let more = candidates.len() - SHOWN.max(count);
        let _ = writeln!(text, "           and {more} more with weight 0");
    }
    if !choice.not_fitted.is_empty() {
        let count = choice.not_fitted.len();
        let _ = writeln!(
            text,
            "  stopped  by --time before {count} more models; the result depends on the machine"
        );
    }
    if let Some(DomainMetrics { domain, metrics }) = &choice.worst {
        let (rmse, rows) = (terminal::short(metrics.rmse), metrics.rows);
        let _ = writeln!(text, "  worst    {domain}: RMSE {rmse} on its {rows} held-out rows");
    }
    if let Some(far) = &choice.far_groups {
        let [plain, anchored] = [far.plain.rmse, far.anchored.rmse].map(terminal::short);
        let won = if far.chooses_anchors() { "with" } else { "without" };
        let _ = writeln!(
            text,
            "  shifts   on the {} farthest domains, predicted from the others, the best model without anchors\n           \
             has RMSE {plain} ({}), the best with anchors {anchored} ({}): chosen {won} anchors.\n           \
             This helps only if shifts are larger than those in the table.",
            far.groups.len(),
            far.plain.name,
            far.anchored.name
        );
    }
}

fn in_words(kind: &Kind, members: usize) -> String {
    match (kind, members) {
        (Kind::Network(network), members) => {
            let widths: Vec<String> = network.hidden.iter().map(ToString::to_string).collect();
            let widths =
                if widths.is_empty() { "no hidden layer".into() } else { widths.join("-") };
            match members {
                1 => format!("network {widths}"),
                members => format!("average of {members} networks {widths}"),
            }
        }
        (Kind::Ridge { penalty }, _) => format!("ridge, penalty {penalty}"),
        (Kind::Anchor { gamma, .. }, _) => format!("anchor regression, γ = {gamma}"),
        (Kind::Forest(forest), _) => format!("forest of {} trees", forest.trees),
        (Kind::GaussianProcess(_), _) => "Gaussian process".into(),
        (Kind::ExtraTrees(forest), _) => format!("{} extra trees", forest.trees),
        (Kind::Boosting(boosting), _) => format!("{} boosted trees", boosting.trees),
        (Kind::Auto(_), 1) => "ensemble of 1 model".into(),
        (Kind::Auto(_), members) => format!("ensemble of {members} models"),
    }
}
