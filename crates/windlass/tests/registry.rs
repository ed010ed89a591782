//! The registry of methods and parameters: defaults that agree with the types, text that can be read again, and
//! methods that are named nowhere else.

use std::path::{Path, PathBuf};

use windlass::{
    Ada, CMixup, Cems, Foma, LocalMixup, METHODS, Method, MethodInfo, MethodParams, Mixup, Noise,
    PARAMS, Param, Smogn, Smoter,
};

fn built(name: &str, params: &MethodParams) -> String {
    format!("{:?}", (MethodInfo::named(name).unwrap().build)(params))
}

#[test]
fn defaults_are_those_of_the_types() {
    let defaults: [(&str, Box<dyn Method>); 9] = [
        ("ada", Box::new(Ada::default())),
        ("mixup", Box::new(Mixup::default())),
        ("c-mixup", Box::new(CMixup::default())),
        ("local-mixup", Box::new(LocalMixup::default())),
        ("noise", Box::new(Noise::default())),
        ("smoter", Box::new(Smoter::default())),
        ("smogn", Box::new(Smogn::default())),
        ("foma", Box::new(Foma::default())),
        ("cems", Box::new(Cems::default())),
    ];
    for (name, default) in defaults {
        let method = MethodInfo::named(name).unwrap();
        let explicit = MethodParams::default().with_defaults(method);
        assert_eq!(built(name, &MethodParams::default()), format!("{default:?}"), "{name}");
        assert_eq!(built(name, &explicit), format!("{default:?}"), "{name}");
    }
}

#[test]
fn values_can_be_read_again() {
    let values = [
        ("anchors", "bins:speed"),
        ("clusters", "12"),
        ("cluster_on", "x"),
        ("cluster_scale", "raw"),
        ("within", "site"),
        ("alpha", "3.5"),
        ("gamma", "list:0.5,2"),
        ("per", "row"),
        ("beta", "0.1"),
        ("bandwidth", "0.3sd"),
        ("epsilon", "1.5sd"),
        ("target_noise", "0.2"),
        ("feature_noise", "0.3"),
        ("noise_units", "absolute"),
        ("neighbors", "7"),
        ("perturbation", "0.05"),
        ("rho", "dimension"),
        ("variant", "published-trailing"),
        ("sigma", "0.2"),
        ("dimension", "3"),
        ("neighborhood", "near"),
        ("neighborhood_size", "16"),
        ("svd_scale", "raw"),
    ];
    assert_eq!(values.len(), PARAMS.len());
    for (name, text) in values {
        let (param, mut params) = (Param::named(name).unwrap(), MethodParams::default());
        (param.set)(&mut params, text).unwrap();
        assert_eq!((param.get)(&params).as_deref(), Some(text));
        assert_eq!(params.given().map(|param| param.name).collect::<Vec<_>>(), [name]);
        let default = param.default.map(|text| (param.set)(&mut MethodParams::default(), text));
        assert!(default.is_none_or(|read| read.is_ok()), "{name}");
    }
    for (name, text) in [
        ("alpha", "wide"),
        ("per", "table"),
        ("gamma", "often"),
        ("clusters", "0"),
        ("epsilon", "far"),
        ("neighbors", "2.5"),
        ("rho", "most"),
        ("dimension", "1.5"),
        ("neighborhood_size", "-1"),
        ("variant", "code"),
    ] {
        assert!((Param::named(name).unwrap().set)(&mut MethodParams::default(), text).is_err());
    }
}

#[test]
fn every_parameter_applies_to_a_method_and_every_method_has_a_name() {
    for param in PARAMS {
        assert!(METHODS.iter().any(|method| method.has(param)), "{}", param.name);
    }
    let mut names: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), METHODS.len());
}

/// Source files below a folder, without tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs" || ending == "py") {
            found.push(path);
        }
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "says what was skipped")]
fn a_method_is_named_in_four_files_at_most() {
    let root = Path::new("../..");
    let python = root.join("python/windlass");
    if !python.is_dir() {
        println!("skipped: the whole repository is needed to count files");
        return;
    }
    let mut files = vec![];
    sources(&python, &mut files);
    sources(&root.join("python/src"), &mut files);
    for entry in std::fs::read_dir(root.join("crates")).unwrap() {
        let path = entry.unwrap().path();
        // Its experiments are named after the papers of methods.
        if !path.ends_with("windlass-paper") {
            sources(&path.join("src"), &mut files);
        }
    }
    for names in [&["local-mixup", "local_mixup", "localmixup"][..], &["foma"], &["cems"]] {
        let named = |path: &&PathBuf| {
            let text = std::fs::read_to_string(path).unwrap().to_lowercase();
            names.iter().any(|name| text.contains(name))
        };
        let files: Vec<&PathBuf> = files.iter().filter(named).collect();
        assert!(files.len() <= 4, "a method is named in {files:?}");
    }
}
