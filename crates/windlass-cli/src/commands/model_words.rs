//! Descriptions of models for the terminal.

use std::fmt::Write as _;

use windlass_model::{Distillation, Importance, Kind, ModelMetadata};

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
