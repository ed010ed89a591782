//! Drug–target interactions: drugs, proteins, binding scores and patent years. The files `train_val.csv` and
//! `test.csv` of `dti_dg_group` in the Therapeutics Data Commons, or synthetic rows in the same format.
//!
//! ```text
//! Drug,Target,Y,Year
//! CC(=O)Nc1ccc(O)cc1,MTEYKLVVVGAGGVGKSALTIQLIQ…,6.3,2014
//! ```
//!
//! Other columns are ignored, and the order is free. In synthetic rows the score depends on functional groups of the
//! drug, on motifs of the protein and on their interaction; the distribution of proteins shifts over the years.
//!
//! Huang et al., [*Therapeutics Data Commons*](https://arxiv.org/abs/2102.09548), 2021.

use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use windlass::{Draws, Seed, Stream};
use windlass_table::{ReadOptions, to_strings, write_atomic};

use super::local_files::{find_file, parse_numbers, read_table};
use super::{Error, Result};

/// Training and validation years.
const TRAIN_YEARS: RangeInclusive<i64> = 2013..=2018;
/// Test years. 2021 has too few rows, as published.
const TEST_YEARS: RangeInclusive<i64> = 2019..=2020;
/// One in this many rows of a training year is for validation.
const VALID_EVERY: usize = 5;
/// Where the files are published.
const SOURCE: &str = "https://tdcommons.ai/benchmark/dti_dg_group/bindingdb_patent/";
/// Their paths in a data directory, the preferred ones first.
const TRAIN: [&str; 2] = ["dti_dg_group/bindingdb_patent/train_val.csv", "dti/train_val.csv"];
const TEST: [&str; 2] = ["dti_dg_group/bindingdb_patent/test.csv", "dti/test.csv"];

/// Random streams: synthetic rows, and the order of the rows of a year.
const MADE: u64 = 1 << 33;
const ORDER: u64 = MADE + 1;

/// Pairs of a drug and a protein.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Interactions {
    /// Molecules (SMILES).
    pub drugs: Vec<String>,
    /// Proteins, a letter for every amino acid.
    pub proteins: Vec<String>,
    /// Binding scores.
    pub scores: Vec<f64>,
    /// The year.
    pub years: Vec<i64>,
}

/// Maximum numbers of training, validation and test rows of a year.
pub(crate) type MostPerYear = [usize; 3];

impl Interactions {
    /// Reads both files from the first of these directories that has them, each restricted to its years.
    pub fn load_from(folders: &[PathBuf]) -> Result<Self, crate::Error> {
        let [train, test] = Self::paths(folders)?;
        let mut all = Self::default();
        for (path, years, what) in [
            (train, TRAIN_YEARS, "of the years 2013 to 2018"),
            (test, TEST_YEARS, "of the years 2019 and 2020"),
        ] {
            let read = Self::read(&path)?;
            let before = all.years.len();
            for row in (0..read.years.len()).filter(|&row| years.contains(&read.years[row])) {
                all.drugs.push(read.drugs[row].clone());
                all.proteins.push(read.proteins[row].clone());
                all.scores.push(read.scores[row]);
                all.years.push(read.years[row]);
            }
            if all.years.len() == before {
                return Err(Error::NoRowsOf { path, what }.into());
            }
        }
        Ok(all)
    }

    /// Finds the two files.
    pub(crate) fn paths(folders: &[PathBuf]) -> Result<[PathBuf; 2]> {
        for folder in folders {
            for pair in TRAIN.iter().zip(TEST) {
                let paths = [folder.join(pair.0), folder.join(pair.1)];
                if paths.iter().all(|path| path.is_file()) {
                    return Ok(paths);
                }
            }
        }
        // Reports which of them is missing.
        Ok([find_file(&TRAIN, SOURCE, folders)?, find_file(&TEST, SOURCE, folders)?])
    }

    /// Reads a comma- or tab-separated file with a header.
    pub fn read(path: &Path) -> Result<Self, crate::Error> {
        let io = |source| Error::Io { doing: "read", path: path.to_owned(), source };
        let mut first = String::new();
        let file = std::fs::File::open(path).map_err(io)?;
        std::io::BufRead::read_line(&mut std::io::BufReader::new(file), &mut first).map_err(io)?;
        let options = ReadOptions {
            delimiter: first.contains('\t').then_some(b'\t'),
            as_text: true,
            memory: u64::MAX,
            ..ReadOptions::default()
        };
        let table = read_table(path, &options)?;
        let column = |name: &'static str| {
            table.column_by_name(name).ok_or_else(|| {
                let columns = table.schema().fields().iter().map(|f| f.name().clone()).collect();
                Error::NoColumn { path: path.to_owned(), column: name, columns }
            })
        };
        let text = |name: &'static str| -> Result<Vec<String>> {
            let word = |(row, word): (usize, Option<&str>)| {
                let word = word.map(str::trim).filter(|word| !word.is_empty());
                word.map(str::to_owned).ok_or_else(|| Error::BadValue {
                    path: path.to_owned(),
                    line: row + 2,
                    column: name.to_owned(),
                    value: String::new(),
                    expected: "a sequence",
                })
            };
            to_strings(column(name)?).iter().enumerate().map(word).collect()
        };
        let (drugs, proteins) = (text("Drug")?, text("Target")?);
        let scores = parse_numbers(column("Y")?, path, "Y", 2)?;
        let years = parse_numbers(column("Year")?, path, "Year", 2)?;
        #[expect(clippy::cast_possible_truncation, reason = "years are whole and small")]
        let years = years.into_iter().map(|year| year as i64).collect();
        Ok(Self { drugs, proteins, scores, years })
    }

    /// Generates synthetic rows, equally many of every year from 2013 to 2020.
    ///
    /// ```
    /// use windlass_paper::data::Interactions;
    ///
    /// let rows = Interactions::generate(80, 0);
    /// assert_eq!(rows.years.iter().filter(|&&year| year == 2017).count(), 10);
    /// ```
    #[must_use]
    pub fn generate(rows: usize, seed: u64) -> Self {
        let years: Vec<i64> = TRAIN_YEARS.chain(TEST_YEARS).collect();
        let mut all = Self::default();
        for row in 0..rows {
            let mut draws = Seed(seed).at(Stream::Made, MADE, row as u64);
            let place = row * years.len() / rows;
            let (drug, protein, score) = pair(&mut draws, place as f64 / (years.len() - 1) as f64);
            all.drugs.push(drug);
            all.proteins.push(protein);
            all.scores.push(score);
            all.years.push(years[place]);
        }
        all
    }

    /// Writes the two files in the published format; an error if they exist.
    pub fn write(&self, folder: &Path) -> Result<(), crate::Error> {
        let files = [("train_val.csv", TRAIN_YEARS), ("test.csv", TEST_YEARS)];
        for path in files.iter().map(|(name, _)| folder.join(name)) {
            if path.exists() {
                return Err(Error::Exists { path }.into());
            }
        }
        let failed = |source| Error::Io { doing: "create", path: folder.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(failed)?;
        for (name, years) in files {
            let mut text = "Drug,Target,Y,Year\n".to_owned();
            for row in (0..self.years.len()).filter(|&row| years.contains(&self.years[row])) {
                let (drug, protein) = (&self.drugs[row], &self.proteins[row]);
                let (score, year) = (self.scores[row], self.years[row]);
                let _ = writeln!(text, "{drug},{protein},{score},{year}");
            }
            write_atomic(&folder.join(name), text.as_bytes())?;
        }
        Ok(())
    }

    /// Training, validation and test rows, year by year; a random fifth of every training year is for validation.
    pub(crate) fn split_rows(&self, most: Option<MostPerYear>, seed: u64) -> [Vec<usize>; 3] {
        let [train_most, valid_most, test_most] = most.unwrap_or([usize::MAX; 3]);
        let [mut train, mut valid, mut test] = [const { Vec::new() }; 3];
        for year in TRAIN_YEARS.chain(TEST_YEARS) {
            let mut rows: Vec<usize> =
                (0..self.years.len()).filter(|&row| self.years[row] == year).collect();
            Seed(seed).shared(Stream::Made, ORDER + year.unsigned_abs()).shuffle(&mut rows);
            if TEST_YEARS.contains(&year) {
                test.extend(rows.into_iter().take(test_most));
                continue;
            }
            let rest = rows.split_off(rows.len() / VALID_EVERY);
            valid.extend(rows.into_iter().take(valid_most));
            train.extend(rest.into_iter().take(train_most));
        }
        [train, valid, test]
    }
}

/// Groups of atoms without influence on the score.
const ATOMS: [&str; 9] = ["C", "CC", "N", "O", "C1CC1", "c1ccccc1", "OC", "CF", "C=C"];
/// Functional groups and their contributions to the score.
const GROUPS: [(&str, f64); 3] = [("C(=O)N", 0.8), ("S(=O)(=O)", 0.0), ("C#N", -0.6)];
/// Motifs of proteins and their contributions to the score; each binds the functional group of the same index.
const MOTIFS: [(&str, f64); 3] = [("HEAGHW", 0.6), ("GKSTLY", 0.0), ("DFGRWC", -0.4)];
const AMINO_ACIDS: &[u8; 20] = b"ACDEFGHIKLMNPQRSTVWY";

/// A drug, a protein and their score; `late` is the position in time, from 0 to 1.
fn pair(draws: &mut Draws, late: f64) -> (String, String, f64) {
    const FIT: f64 = 1.5;
    const NOISE: f64 = 0.3;
    const REPEATS: usize = 3;
    let group = draws.below(GROUPS.len());
    let mut drug: Vec<&str> =
        (0..4 + draws.below(8)).map(|_| ATOMS[draws.below(ATOMS.len())]).collect();
    drug.insert(draws.below(drug.len() + 1), GROUPS[group].0);
    // Over time the last motif replaces the first.
    let motif = match draws.uniform() {
        share if share < 0.6 * (1.0 - late) => 0,
        share if share < 0.6 => 2,
        _ => 1,
    };
    let length = 60 + draws.below(140);
    let mut protein: String =
        (0..length).map(|_| char::from(AMINO_ACIDS[draws.below(AMINO_ACIDS.len())])).collect();
    // Repeated: a single occurrence would need more rows to be learned.
    for _ in 0..REPEATS {
        protein.insert_str(draws.below(protein.len()), MOTIFS[motif].0);
    }
    let fits = if group == motif { FIT } else { 0.0 };
    let score = 6.0 + GROUPS[group].1 + MOTIFS[motif].1 + fits + NOISE * draws.normal();
    (drug.concat(), protein, score)
}
