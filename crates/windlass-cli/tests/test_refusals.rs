//! Every way in which input can be bad, and the exact words that it is refused with: `refusals.txt`.
//!
//! `WINDLASS_BLESS=1 cargo test --package windlass-cli --test test_refusals` writes that file anew.

mod common;

use common::TestDir;
use common::refusals::{case, compare, table};

const AUGMENT: &str = "--target y --output out.csv";

#[test]
fn bad_input_is_refused_with_these_words() {
    let log = &mut String::new();
    let plain = |input: &str| format!("augment {input} {AUGMENT}");
    let with = |options: &str| format!("augment good.csv {AUGMENT} {options}");
    files(log, &plain);
    text(log, &plain);
    columns(log, &plain, &with);
    settings(log, &with);
    rare_targets(log, &with);
    damaged(log, &plain);
    outputs(log);
    models(log);
    uses_of_models(log);
    distillations(log);
    comparisons(log);
    moved(log);
    compare(log);
}

fn files(log: &mut String, plain: &dyn Fn(&str) -> String) {
    case(log, "missing file", &plain("none.csv"), |_| {});
    case(log, "folder without tables", &plain("folder"), |desk| {
        desk.put("folder/notes.md", "nothing");
    });
    case(log, "empty file", &plain("empty.csv"), |desk| {
        desk.put("empty.csv", "");
    });
    case(log, "empty Parquet file", &plain("empty.parquet"), |desk| {
        desk.put("empty.parquet", "");
    });
    case(log, "header only", &plain("header.csv"), |desk| {
        desk.put("header.csv", "a,b,y\n");
    });
    case(log, "unknown ending", &plain("table.dat"), |desk| {
        desk.put("table.dat", "a,y\n1,2\n");
    });
    case(log, "text under the name of a workbook", &plain("table.xlsx"), |desk| {
        desk.put("table.xlsx", "a,y\n1,2\n");
    });
    case(log, "an old workbook", &plain("table.xlsx"), |desk| {
        desk.put("table.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1");
    });
    case(log, "compressed Parquet", &plain("table.parquet.gz"), |desk| {
        desk.put("table.parquet.gz", "a,y\n1,2\n");
    });
    case(log, "other names in another file", &plain("good.csv other.csv"), |desk| {
        desk.put("other.csv", "a,c,kind,y\n1,2,k,3\n");
    });
    case(log, "fewer columns in another file", &plain("good.csv other.csv"), |desk| {
        desk.put("other.csv", "a,y\n1,2\n");
    });
    case(log, "another type in another file", &plain("parts"), |desk| {
        desk.put("ints.csv", "a,y\n1,2\n2,3\n");
        desk.put("floats.csv", "a,y\n1.5,2\n2.5,3\n");
        desk.put("parts/note.txt.md", "");
        let only = "--target y --continuous a --no-originals --quiet";
        desk.run(&format!("augment ints.csv {only} -o parts/1.parquet")).ok();
        desk.run("augment floats.csv --target y --no-originals --quiet -o parts/2.parquet").ok();
    });
    case(log, "mixed formats", &plain("good.csv good.tsv"), |desk| {
        desk.put("good.tsv", "a\ty\n1\t2\n");
    });
}

fn text(log: &mut String, plain: &dyn Fn(&str) -> String) {
    case(log, "ragged row", &plain("bad.csv"), |desk| {
        desk.put("bad.csv", "a,b,y\n1,2,3\n4,5,6,7\n8,9,10\n");
    });
    case(log, "wrong delimiter", &plain("bad.csv"), |desk| {
        desk.put("bad.csv", "a,b,y\n1;2;3\n");
    });
    case(log, "not UTF-8", &plain("bad.csv"), |desk| {
        desk.put("bad.csv", b"a,\xc3\xa9,y\n1,2,3\n4,\xff,6\n");
    });
    case(log, "open quote", &plain("bad.csv"), |desk| {
        desk.put("bad.csv", "a,b,y\n1,2,3\n4,\"5,6\n7,8,9\n");
    });
    case(log, "carriage returns alone", &plain("bad.csv"), |desk| {
        desk.put("bad.csv", "a,b,y\r1,2,3\r4,5,6\n7,8,9\n");
    });
    case(log, "text after a closing quote", &plain("bad.csv"), |desk| {
        desk.put("bad.csv", "a,b,y\n1,2,3\n4,\"a 5\" pipe\",6\n");
    });
    case(log, "a line of 1 GiB", &plain("long.csv"), |desk| {
        desk.put("long.csv", "a,b,y\n1,2,3\n");
        let file = std::fs::File::options().write(true).open(desk.path("long.csv")).unwrap();
        file.set_len(1 << 30).unwrap();
    });
    case(log, "two columns of one name", &plain("bad.csv"), |desk| {
        desk.put("bad.csv", "a,b,a,y\n1,2,3,4\n");
    });
}

fn columns(log: &mut String, plain: &dyn Fn(&str) -> String, with: &dyn Fn(&str) -> String) {
    case(log, "target not found", "augment cars.csv -t mgp -o out.csv", |desk| {
        desk.put("cars.csv", "mpg,weight\n18,3504\n");
    });
    case(log, "no target", "augment good.csv -o out.csv", |_| {});
    case(log, "no target to train for", "train good.csv -o model", |_| {});
    case(log, "no name like the target's", "augment good.csv -t price -o out.csv", |_| {});
    case(log, "target not numeric", "augment good.csv -t kind -o out.csv", |_| {});
    case(log, "target with a word among numbers", &plain("bad.csv"), |desk| {
        desk.put("bad.csv", "a,y\n1,2\n2,3\n3,unknown\n");
    });
    case(log, "target with missing values", &plain("bad.csv"), |desk| {
        desk.put("bad.csv", "a,y\n1,2\n2,\n3,NaN\n4,5\n");
    });
    case(log, "target with infinite values", &plain("bad.csv"), |desk| {
        desk.put("bad.csv", "a,y\n1,2\n2,inf\n3,-inf\n4,5.5\n");
    });
    case(log, "every target missing", &(plain("bad.csv") + " --drop-missing-target"), |desk| {
        desk.put("bad.csv", "a,y\n1,inf\n2,inf\n");
    });
    case(log, "feature with an infinite value", &plain("bad.csv"), |desk| {
        desk.put("bad.csv", "a,y\n1.5,2\n2,3\n-inf,4\n");
    });
    case(log, "no continuous feature", &plain("bad.csv"), |desk| {
        desk.put("bad.csv", "kind,flag,y\nu,1,2.5\nv,0,3.5\n");
    });
    case(log, "one column", &plain("bad.csv"), |desk| {
        desk.put("bad.csv", "y\n1.5\n2.5\n");
    });
    case(log, "feature not numeric", &with("--continuous kind"), |_| {});
    case(log, "one column, two roles", &with("--carry b --exclude b"), |_| {});
    case(log, "the target carried", &with("--carry y"), |_| {});
    case(log, "negative weight", &plain("bad.csv --weight w"), |desk| {
        desk.put("bad.csv", "a,w,y\n1.5,1,2\n2.5,-1,3\n3.5,,4\n");
    });
    case(log, "anchors not categories", &with("--anchors column:a"), |_| {});
    case(log, "bins of words", &with("--anchors bins:kind"), |_| {});
    case(log, "within a column that is not there", &with("--within knd"), |_| {});
    case(log, "a name that provenance needs", &plain("bad.csv --provenance"), |desk| {
        desk.put("bad.csv", "windlass_copy,a,y\nu,1.5,2\nv,2.5,3\n");
    });
    case(log, "anchor matrix of other rows", &with("--anchors matrix:m.csv"), |desk| {
        desk.put("m.csv", "m\n1\n2\n");
    });
    case(log, "lists in text", "augment lists.arrow --target y -o out.csv", |desk| {
        desk.put("lists.arrow", std::fs::read("tests/lists.arrow").unwrap());
    });
}

fn settings(log: &mut String, with: &dyn Fn(&str) -> String) {
    for (title, options) in [
        ("more clusters than rows", "--clusters 61"),
        ("no clusters", "--clusters 0"),
        ("no copies", "--copies 0"),
        ("alpha 1", "--alpha 1"),
        ("alpha not a number", "--alpha nan"),
        ("gamma without a law", "--gamma normal"),
        ("gamma 0", "--gamma list:0.5,0"),
        ("bandwidth without c-mixup", "--bandwidth 1"),
        ("alpha for mixup", "--method mixup --alpha 2"),
        ("epsilon 0", "--method local-mixup --epsilon 0"),
        ("epsilon is a word", "--method local-mixup --epsilon far"),
        ("rho 0", "--method foma --rho 0"),
        ("a neighborhood of one row", "--method cems --neighborhood-size 1"),
        ("neighborhoods of rows", "--method foma --neighborhood row"),
        ("bounds the wrong way round", "--bounds a=5..1"),
        ("bounds without ends", "--bounds a=.."),
        ("bounds of nothing", "--bounds 0..1"),
        ("bounds of no column", "--bounds hours=0..24"),
        ("bounds of words", "--bounds kind=0..24"),
        ("a value outside its bounds", "--bounds a=..90"),
        ("clip to an unknown range", "--clip tight"),
        ("a column for no plot", "--plot-x a"),
        ("a plot of words", "--plot p.svg --plot-x kind"),
        ("clusters of a column", "--anchors column:kind --clusters 3"),
        ("anchors unknown", "--anchors trees"),
        ("no neighbors", "--method smoter --neighbors 0"),
        ("half a neighbor", "--method smoter --neighbors 2.5"),
        ("negative perturbation", "--method smogn --perturbation -1"),
        ("rare targets of an unknown kind", "--rare hihg"),
        ("rare targets of a search", "--method auto --rare high"),
        ("no unit of memory", "--memory 5apples"),
        ("little memory", "--memory 1MiB"),
        ("more than the memory", "--method mixup --memory 32MiB --continuous b"),
    ] {
        if title == "more than the memory" {
            let words =
                "augment many.csv --target y --output out.csv --method mixup --memory 32MiB";
            case(log, title, words, |desk| {
                desk.put("many.csv", table(500_000));
            });
        } else {
            case(log, title, &with(options), |_| {});
        }
    }
}

fn rare_targets(log: &mut String, with: &dyn Fn(&str) -> String) {
    for (title, points) in [
        ("control points in disorder", "y,phi\n1,0\n5,0.5\n3,1\n"),
        ("a relevance above 1", "y,phi\n1,0\n5,1.5\n"),
        ("a control point without a relevance", "y,phi\n1,0\n5,\n9,1\n"),
        ("a relevance in words", "y,phi\n1,0\n5,much\n"),
        ("control points without targets", "target,phi\n1,0\n5,1\n"),
        ("one control point", "y,phi\n1,1\n"),
        ("control points far from all targets", "y,phi\n100,0\n200,1\n"),
    ] {
        case(log, title, &with("--rare points.csv"), |desk| {
            desk.put("points.csv", points);
        });
    }
    let words = "augment many.csv --target y --output out.csv --rare high --memory 32MiB";
    case(log, "more targets than the memory", words, |desk| {
        desk.put("many.csv", table(600_000));
    });
    case(log, "a constant target without rare values", &with("--method smogn"), |desk| {
        desk.put("good.csv", "a,b,y\n1,2,5\n2,4,5\n3,1,5\n4,4,5\n");
    });
    case(log, "a tail without values", &with("--rare high"), |desk| {
        desk.put("good.csv", "a,b,y\n1,2,5\n2,4,5\n3,1,5\n4,4,1\n");
    });
}

fn damaged(log: &mut String, plain: &dyn Fn(&str) -> String) {
    case(log, "truncated gzip", &plain("bad.csv.gz"), |desk| {
        let mut encoder = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, table(5_000).as_bytes()).unwrap();
        let whole = encoder.finish().unwrap();
        desk.put("bad.csv.gz", &whole[..whole.len() / 2]);
    });
    case(log, "no gzip at all", &plain("bad.csv.gz"), |desk| {
        desk.put("bad.csv.gz", table(60));
    });
    let parquet = |change: fn(Vec<u8>) -> Vec<u8>| {
        move |desk: &TestDir| {
            desk.put("many.csv", table(20_000));
            desk.run("augment many.csv --target y --quiet -o whole.parquet").ok();
            desk.put("bad.parquet", change(desk.get("whole.parquet")));
        }
    };
    case(
        log,
        "truncated Parquet",
        &plain("bad.parquet"),
        parquet(|mut bytes| {
            bytes.truncate(bytes.len() / 2);
            bytes
        }),
    );
    case(
        log,
        "corrupted Parquet page",
        &plain("bad.parquet"),
        parquet(|mut bytes| {
            // In the middle of the first column's pages, behind their header.
            bytes[60..4_000].fill(0xee);
            bytes
        }),
    );
    case(
        log,
        "corrupted Parquet footer",
        &plain("bad.parquet"),
        parquet(|mut bytes| {
            let end = bytes.len() - 8;
            bytes[end - 300..end - 200].fill(0xee);
            bytes
        }),
    );
    case(log, "text under a Parquet name", &plain("bad.parquet"), |desk| {
        desk.put("bad.parquet", table(60));
    });
    case(log, "text under an Arrow name", &plain("bad.arrow"), |desk| {
        desk.put("bad.arrow", table(60));
    });
    case(log, "verify without a manifest", "verify good.csv --against good.csv", |_| {});
    case(log, "verify against another table", "verify out.parquet --against other.csv", |desk| {
        desk.put("other.csv", table(59));
        desk.run("augment good.csv --target y --provenance --quiet -o out.parquet").ok();
    });
}

fn outputs(log: &mut String) {
    case(log, "output is the input", "augment good.csv -t y -o ./good.csv", |_| {});
    case(log, "output is in the input folder", "augment in -t y -o in/a.csv", |desk| {
        desk.put("in/a.csv", table(60));
    });
    case(
        log,
        "manifest is the input",
        "augment good.csv -t y -o a.csv --manifest good.csv",
        |_| {},
    );
    case(log, "manifest is the output", "augment good.csv -t y -o a.csv --manifest a.csv", |_| {});
    case(
        log,
        "output is the matrix",
        "augment good.csv -t y --anchors matrix:m.csv -o m.csv",
        |desk| {
            desk.put("m.csv", "m\n1\n2\n");
        },
    );
    case(
        log,
        "manifest folder missing",
        "augment good.csv -t y -o a.csv --manifest no/m.json",
        |_| {},
    );
    case(log, "output would join the input", "augment in -t y -o in/b.csv", |desk| {
        desk.put("in/a.csv", table(60));
    });
    case(log, "output folder missing", "augment good.csv -t y -o none/out.csv", |_| {});
    let precious = |name: &'static str| {
        move |desk: &TestDir| {
            desk.put(name, "id,notes\n1,precious\n");
        }
    };
    case(log, "output exists", "augment good.csv -t y -o mine.csv", precious("mine.csv"));
    case(log, "a table under the model's name", "train good.csv -t y -o a.csv", precious("a.csv"));
    case(
        log,
        "a plot exists",
        "augment good.csv -t y -o out.csv --plot my.svg",
        precious("my.svg"),
    );
    case(
        log,
        "a model under the table's name",
        "augment good.csv -t y --format csv -o model",
        |desk| {
            desk.run("train good.csv -t y --epochs 2 --quiet -o model").ok();
        },
    );
    case(log, "a table under the name of ONNX", "export model out.onnx", |desk| {
        desk.run("train good.csv -t y --epochs 2 --quiet -o model").ok();
        desk.put("out.onnx", "a,y\n1,2\n");
    });
    case(log, "a program under the name of C", "export model out.h", |desk| {
        desk.run("train good.csv -t y --epochs 2 --quiet -o model").ok();
        desk.put("out.h", "int main(void);\n");
    });
    case(log, "a workbook as output", "augment good.csv -t y -o out.xlsx", |_| {});
    case(log, "output ending unknown", "augment good.csv -t y -o out.xls", |_| {});
    case(log, "picture ending unknown", "augment good.csv -t y -o out.csv --plot a.jpg", |_| {});
    case(log, "output not given", "augment good.csv -t y", |_| {});
}

/// What `train` refuses.
fn models(log: &mut String) {
    let train = |rest: &str| format!("train good.csv --target y --output model {rest}");
    for (title, rest) in [
        ("model: an option of networks", "--model ridge --epochs 5"),
        ("model: an option of linear models", "--penalty 2"),
        ("model: an option of augmentation", "--alpha 3"),
        ("model: a layer without augmentation", "--manifold 1"),
        ("model: units of a preset", "--model fcn3 --hidden 5"),
        ("model: anchors without strength", "--model anchor --anchors column:kind"),
        ("model: strength of anchors in a network", "--anchor-gamma 2"),
        ("model: anchors of no column", "--model anchor --anchors column:knd --anchor-gamma 2"),
        ("model: no such layer", "--augment ada --manifold 3"),
        ("model: noise inside", "--augment noise --manifold 1"),
        ("model: an anchor matrix", "--augment ada --anchors matrix:good.csv"),
        ("model: groups of batches", "--augment ada --anchors column:kind --per-batch"),
        ("model: no epochs", "--epochs 0"),
        ("model: no rate", "--lr 0"),
        ("model: no units", "--hidden 8,0"),
        ("model: no full batch", "--batch 100 --drop-last"),
        ("model: nothing to validate", "--valid 0.001"),
        ("model: nothing to train on", "--valid 0.999"),
        ("model: a share of too much", "--valid 1.5"),
        ("model: a committee of too many", "--committee 31"),
        ("model: a committee of one", "--committee 1"),
        ("model: a checkpoint of a committee", "--committee 3 --checkpoint state"),
        ("model: a penalty below 0", "--model ridge --penalty=-1"),
        ("model: nothing to predict from", "--exclude a,b,kind"),
        ("model: a huge committee", "--committee 1000000000000000000"),
        ("model: a huge network", "--hidden 16000,16000"),
        ("model: too many clusters", "--augment ada --clusters 500"),
        (
            "model: clusters of a column",
            "--model anchor --anchors column:kind --anchor-gamma 2 --clusters 3",
        ),
        ("model: patience without validation", "--patience 3 --valid none"),
        ("model: floats of integers", "--integers float"),
        ("model: levels of batches", "--augment ada --within kind --per-batch"),
        ("model: a slope of other units", "--slope 0.2"),
    ] {
        case(log, title, &train(rest), |_| {});
    }
    let of = |input: &str| format!("train {input} --target y --output model");
    case(log, "model: target not found", "train good.csv --target yy --output model", |_| {});
    case(log, "model: one row", &of("bad.csv"), |desk| {
        desk.put("bad.csv", "a,y\n1.5,2.5\n");
    });
    case(log, "model: constant target", &of("bad.csv"), |desk| {
        desk.put("bad.csv", "a,y\n1.5,2\n2.5,2\n3.5,2\n4.5,2\n5.5,2\n");
    });
    case(log, "model: constant and empty features", &of("bad.csv"), |desk| {
        desk.put("bad.csv", "a,b,y\n1.5,,2\n1.5,,3\n1.5,,4\n1.5,,5\n1.5,,6\n");
    });
    case(log, "model: a state of another run", &train("--checkpoint state"), |desk| {
        desk.put("state", "what is this?");
    });
}

/// What `predict`, `regress` and `export` refuse, and `train` of values.
fn distillations(log: &mut String) {
    let distill = |rest: &str| format!("distill model good.csv --output small {rest}");
    let trained = |desk: &TestDir| {
        desk.run("train good.csv --target y --model ridge --split rows --quiet --output model")
            .ok();
    };
    for (title, rest) in [
        ("distill: units of trees", "--student boosting --hidden 8"),
        ("distill: a parameter of no rows", "--copies 0 --method ada --alpha 3"),
        ("distill: a parameter of another method", "--method mixup --alpha 3"),
        ("distill: no steps", "--steps 0"),
        ("distill: no units", "--hidden 8,0"),
        ("distill: too many copies", "--copies 10000000"),
        ("distill: more copies than memory", "--copies 1000000"),
        ("distill: an anchor matrix", "--method ada --anchors matrix:good.csv"),
        ("distill: too many clusters", "--method ada --clusters 500"),
        ("distill: unlabeled rows that are not there", "--unlabeled none.csv"),
    ] {
        case(log, title, &distill(rest), |desk| trained(desk));
    }
    for (title, rows) in [
        ("distill: unlabeled rows without a column", "a,kind\n1,k0\n"),
        ("distill: unlabeled rows of another type", "a,b,kind\n1,two,k0\n"),
        ("distill: an infinite unlabeled value", "a,b,kind,y\n1.5,2,k0,1\ninf,2,k0,2\n"),
    ] {
        case(log, title, &distill("--unlabeled more.csv"), |desk| {
            trained(desk);
            desk.put("more.csv", rows);
        });
    }
    for (title, rows) in [
        ("distill: a table without the target", "a,b,kind\n1,2,k0\n2,1,k1\n"),
        ("distill: a table without a feature", "a,kind,y\n1,k0,1\n2,k1,2\n3,k1,4\n4,k0,1\n"),
        ("distill: one row", "a,b,kind,y\n1,2,k0,1\n"),
    ] {
        case(log, title, "distill model other.csv --output small", |desk| {
            trained(desk);
            desk.put("other.csv", rows);
        });
    }
    case(log, "distill: not a model", "distill good.csv good.csv --output small", |_| {});
    case(log, "distill: output is the teacher", "distill model good.csv --output model", |desk| {
        trained(desk);
    });
    case(log, "distill: a student as teacher", "distill small good.csv --output smaller", |desk| {
        trained(desk);
        desk.run("distill model good.csv --steps 10 --quiet --output small").ok();
    });
}

fn uses_of_models(log: &mut String) {
    let of = |input: &str| format!("train {input} --target y --output model");
    let trained = |desk: &TestDir| {
        desk.run("train good.csv --target y --epochs 2 --quiet --output model").ok();
    };
    let predict = |rest: &str| format!("predict {rest}");
    case(log, "predict: not a model", &predict("good.csv good.csv -o out.csv"), |_| {});
    case(log, "predict: no model", &predict("none good.csv -o out.csv"), |_| {});
    case(log, "predict: a column is missing", &predict("model new.csv -o out.csv"), |desk| {
        trained(desk);
        desk.put("new.csv", "a,kind\n1,k0\n");
    });
    case(log, "predict: a column has another type", &predict("model new.csv -o out.csv"), |desk| {
        trained(desk);
        desk.put("new.csv", "a,b,kind\n1,two,k0\n");
    });
    case(log, "predict: an infinite value", &predict("model new.csv -o out.csv"), |desk| {
        trained(desk);
        desk.put("new.csv", "a,b,kind\n1.5,2,k0\ninf,2,k0\n");
    });
    case(log, "predict: a column is taken", &predict("model new.csv -o out.csv"), |desk| {
        trained(desk);
        desk.put("new.csv", "a,b,kind,prediction\n1,2,k0,3\n");
    });
    case(log, "predict: no target to compare", &predict("model new.csv --metrics"), |desk| {
        trained(desk);
        desk.put("new.csv", "a,b,kind\n1,2,k0\n");
    });
    case(
        log,
        "predict: output is the model",
        &predict("model.csv good.csv -o model.csv"),
        |desk| {
            desk.run("train good.csv --target y --epochs 2 --quiet --output model.csv").ok();
        },
    );
    case(log, "predict: a value beyond all others", &predict("model new.csv -o out.csv"), |desk| {
        trained(desk);
        desk.put("new.csv", "a,b,kind\n1.5,2,k0\n1e35,2,k0\n");
    });
    case(log, "predict: names of another kind", &predict("model new.csv -o out.csv"), |desk| {
        trained(desk);
        desk.put("new.csv", "a,b,kind\n1.5,2,true\n2.5,2,false\n");
    });
    case(log, "predict: a target of dates", &predict("model new.csv --metrics"), |desk| {
        trained(desk);
        desk.put("new.csv", "a,b,kind,y\n1,2,k0,2024-01-01\n");
    });
    case(
        log,
        "predict: metrics beside rows",
        &predict("model good.csv -o - --metrics --json"),
        trained,
    );
    case(log, "model: a summary beside the model", "train good.csv --target y --json -o -", |_| {});
    case(log, "model: a value that networks cannot take", &of("bad.csv"), |desk| {
        desk.put("bad.csv", table(60) + "1e45,1,k0,3.25\n");
    });
    case(log, "regress: one group", "regress good.csv --target y --anchors column:one", |desk| {
        desk.put("good.csv", "one,a,y\nk,1.5,2\nk,2.5,4\nk,4.5,3\n");
    });
    case(
        log,
        "regress: a strength below 0",
        "regress good.csv --target y --anchor-gamma=-1",
        |_| {},
    );
    case(log, "export: another ending", "export model model.pb", trained);
    case(log, "export: intervals in C", "export model model.h --interval 90%", trained);
}

fn comparisons(log: &mut String) {
    const QUICK: &str = "--hidden 4 --epochs 2 --methods erm,ada --models mlp";
    let with =
        |options: &str| format!("compare good.csv --target y --output out {QUICK} {options}");
    let few = |desk: &TestDir| {
        desk.put("few.csv", "a,y\n1,2\n2,3\n3,5\n");
    };
    let words = format!("compare few.csv --target y --output out {QUICK}");
    case(log, "fewer rows than folds", &words, few);
    case(
        log,
        "one group",
        &format!("compare one.csv --target y --output out {QUICK} --split group:site"),
        |desk| {
            desk.put("one.csv", "a,site,y\n1,s,2\n2,s,3\n3,s,5\n");
        },
    );
    case(log, "no such group", &with("--split domain:site"), |_| {});
    case(log, "no order in time", &with("--split time:kind"), |_| {});
    case(
        log,
        "no time in a row",
        &format!("compare gap.csv --target y --output out {QUICK} --split time:day"),
        |desk| {
            desk.put("gap.csv", "a,day,y\n1,2024-01-01,2\n2,,3\n3,2024-01-03,5\n");
        },
    );
    case(log, "a rule that is none", &with("--split site"), |_| {});
    case(
        log,
        "a fold without variation",
        &format!("compare flat.csv --target y --output out {QUICK} --split time:a --folds 2"),
        |desk| {
            desk.put("flat.csv", "a,b,y\n1,4,2\n2,7,2\n3,1,2\n4,3,7\n5,5,8\n6,5,1\n");
        },
    );
    case(log, "all runs diverged", &with("--lr 1e30 --folds 2"), |_| {});
    case(log, "more training rows than there are", &with("--sizes 10,500"), |_| {});
    case(
        log,
        "nothing to compare with",
        &format!("{} --methods ada", with("").replace("--methods erm,ada", "")),
        |_| {},
    );
    case(log, "test rows without the target", &with("--test test.csv"), |desk| {
        desk.put("test.csv", "a,b,kind\n1.5,2,k1\n");
    });
    let done = |desk: &TestDir| {
        desk.run(&with("--folds 2 --repeats 1"));
    };
    let resume =
        |options: &str| format!("{} {options}", with("").replace("--output out", "--resume out"));
    case(log, "a folder with results", &with("--folds 2 --repeats 1"), done);
    case(log, "a folder of other settings", &resume("--folds 2 --repeats 1 --seed 3"), done);
    case(log, "a folder of other data", &resume("--folds 2 --repeats 1"), |desk| {
        done(desk);
        desk.put("good.csv", table(61));
    });
    case(log, "a folder without results", &resume("--folds 2 --repeats 1"), |_| {});
    case(log, "results that are damaged", &resume("--folds 2 --repeats 1"), |desk| {
        done(desk);
        desk.put("out/results.json", "{");
    });
    case(log, "a validation file for compare", &with("--valid good.csv"), |_| {});
    case(log, "rows without a label", &with("--rows good.csv"), |_| {});
    case(log, "rows with the label of a method", &with("--rows ada=good.csv"), |_| {});
    case(log, "two rows with one label", &with("--rows a=good.csv --rows a=good.csv"), |_| {});
    case(log, "no such rows", &with("--rows a=none.csv"), |_| {});
    case(log, "rows without a column", &with("--rows a=few.csv"), |desk| {
        desk.put("few.csv", "y,b\n1,2\n2,3\n");
    });
    case(log, "rows with another type", &with("--rows a=text.csv"), |desk| {
        let rows = std::fs::read_to_string(desk.path("good.csv")).unwrap();
        let (head, rest) = rows.split_once('\n').unwrap();
        let line = rest.lines().next().unwrap();
        let (_, others) = line.split_once(',').unwrap();
        desk.put("text.csv", format!("{head}\n{line}\nmany,{others}\n"));
    });
    case(log, "rows that are all originals", &with("--rows a=marked.csv"), |desk| {
        let rows = std::fs::read_to_string(desk.path("good.csv")).unwrap();
        let mark = |(row, line): (usize, &str)| match row {
            0 => format!("{line},windlass_synthetic\n"),
            _ => format!("{line},false\n"),
        };
        desk.put("marked.csv", rows.lines().enumerate().map(mark).collect::<String>());
    });
    searches(log);
}

fn searches(log: &mut String) {
    case(log, "a checkpoint for tune", "tune good.csv --target y --checkpoint c", |_| {});
    case(log, "a time that is none", "tune good.csv --target y --time soon", |_| {});
    case(
        log,
        "auto and a method",
        "train good.csv --target y --auto --augment ada --output m",
        |_| {},
    );
    case(
        log,
        "auto and validation rows",
        "train good.csv --target y --auto --valid 0.3 --output m",
        |_| {},
    );
    case(
        log,
        "larger shifts without domains",
        "train good.csv --target y --auto --expect-larger-shifts --output m",
        |_| {},
    );
    case(
        log,
        "larger shifts of two domains",
        "train two.csv --target y --auto --expect-larger-shifts --split domain:site --output m",
        |desk| {
            desk.put(
                "two.csv",
                "a,site,y\n1,s,2\n2,s,3\n3,t,5\n4,t,7\n5,s,1\n6,t,2\n7,s,4\n8,t,5\n",
            );
        },
    );
    case(log, "an option of 0.1.0", "train good.csv --target y --domain kind --output m", |_| {});
    case(log, "the same, joined", "tune good.csv --target y --domain=kind", |_| {});
    case(
        log,
        "a split and a validation file",
        "train good.csv --target y --split time:a --valid good.csv --output m",
        |_| {},
    );
    case(
        log,
        "a split without validation rows",
        "train good.csv --target y --split time:a --valid none --output m",
        |_| {},
    );
    case(
        log,
        "a split of a method that is known",
        "augment good.csv --target y --split time:a --output out.csv",
        |_| {},
    );
    case(
        log,
        "a split and a test file",
        "compare good.csv --target y --split time:a --test good.csv --output out",
        |_| {},
    );
    case(
        log,
        "auto and settings of a method",
        "augment good.csv --target y --method auto --alpha 3 --output out.csv",
        |_| {},
    );
    case(
        log,
        "auto inside the loop",
        "train good.csv --target y --augment auto --output m",
        |_| {},
    );
    case(log, "trees of a network", "train good.csv --target y --trees 10 --output m", |_| {});
    case(log, "no trees", "train good.csv --target y --model forest --trees 0 --output m", |_| {});
    case(
        log,
        "leaves of boosting",
        "train good.csv -t y --model boosting --leaf 2 --output m",
        |_| {},
    );
    case(log, "no depth", "train good.csv -t y --model boosting --depth 0 --output m", |_| {});
    case(log, "depth of a network", "train good.csv -t y --depth 3 --output m", |_| {});
}

/// Commands of 0.1.0 that `windlass-paper` has now.
fn moved(log: &mut String) {
    for words in ["data list", "reproduce airfoil"] {
        let title = format!("moved to windlass-paper: {words}");
        case(log, &title, words, |_| {});
    }
}
