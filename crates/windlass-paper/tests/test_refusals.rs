//! Every way in which input can be bad, and the exact words that it is refused with: `refusals.txt`.
//!
//! `WINDLASS_BLESS=1 cargo test --package windlass-paper --test test_refusals` writes that file anew.

#[path = "../../windlass-cli/tests/common/mod.rs"]
mod common;

use common::refusals::{case, compare};

#[test]
fn bad_input_is_refused_with_these_words() {
    let log = &mut String::new();
    experiments(log);
    data_sets(log);
    compare(log);
}

fn experiments(log: &mut String) {
    case(log, "an experiment that is none", "reproduce figure2", |_| {});
    case(log, "weights without images", "reproduce cosine-range --weights good.csv", |_| {});
    case(log, "a part that is none", "reproduce cosine-range --only equal", |_| {});
    case(log, "a seed twice", "reproduce cosine-range --seeds 1,2,1", |_| {});
    case(log, "a seed that is too large", "reproduce cosine-range --seeds 65536", |_| {});
    case(log, "a training set that is none", "reproduce cosine-range --seeds 20", |_| {});
    case(log, "results to a file", "reproduce figure1 --output good.csv", |_| {});
    case(log, "someone else's page", "reproduce cosine-range --quick", |desk| {
        desk.put("paper-quick/cosine-range/README.md", "mine");
    });
    case(log, "seeds in words", "reproduce cosine-range --seeds one", |_| {});
    case(log, "results of other seeds", "reproduce cosine-range --quick --quiet", |desk| {
        desk.run("reproduce cosine-range --quick --seeds 7").ok();
    });
}

fn data_sets(log: &mut String) {
    let mut case = |title: &str, words: &str| case(log, title, words, |_| {});
    case("data set without a name", "data info titanic");
    case("data set that comes later", "data get dti");
    case("path of one that comes later", "data path poverty_map");
    case("mirror over plain http", "data get airfoil --from http://example.org/data");
    case("mirror that is no address", "data get airfoil --from mirror");
    case("mirror of another kind", "data get airfoil --from ftp://127.0.0.1/data");
    case("mirror that is not there", "data get airfoil --from http://127.0.0.1:9 --folder data");
    case("noise below nothing", "data make cosine --output out.csv --noise=-1");
    case("cosine without rows", "data make cosine --output out.csv --rows 0");
    case("cosine in an unknown format", "data make cosine --output out.xyz");
    case("too large a model", "data make linear --output out.csv --rows 99999999999999");
    case("validation rows without a file", "data make linear --output out.csv --valid-rows 5");
    case("one file for two tables", "data make linear --output out.csv --valid out.csv");
    case("sheet in an unknown format", "data make rcf-mnist --output rcf --sheet sheet.gif");
}
