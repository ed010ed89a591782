//! The rows of an experiment that are arrays and no table.

use ndarray::Array2;
use windlass_deep::{Description, sequences};

use super::source::Source;
use crate::data::{self, Interactions, Part as ImagePart, RcfMnist, RcfPart, Series};
use crate::deep::Arrays;
use crate::{Error, Result};

impl Source {
    /// Its rows as a network takes them, at most so many of every part.
    pub(crate) fn arrays(&self, network: &Description, most: Option<usize>) -> Result<Arrays> {
        let most = most.unwrap_or(usize::MAX);
        match self {
            Self::Windows { set, window, horizon } => {
                let series = Series::of(&data::named(set)?.load()?);
                windows(series, (*window, *horizon), most)
            }
            &Self::WindowsOfElectricity { series: expected, window, horizon } => {
                let path = data::electricity(&data::folders())?;
                let series = Series::read(&path)?;
                if series.names.len() != expected {
                    let why = format!("it has {} series, expected {expected}", series.names.len());
                    let name = path.display().to_string();
                    return Err(Error::BadExperiment { name, why });
                }
                windows(series, (window, horizon), most)
            }
            &Self::RcfMnist { images, seed } => {
                let source = data::fashion_mnist(ImagePart::Train)?;
                Ok(turned(&RcfMnist::make(&source, images, seed)?, most))
            }
            &Self::Dti { most_per_year, seed } => {
                let all = Interactions::load_from(&data::folders())?;
                self.pairs(&all, all.parts(most_per_year, seed), network, most)
            }
            &Self::GeneratedDti { rows, seed } => {
                let all = Interactions::make(rows, seed);
                self.pairs(&all, all.parts(None, seed), network, most)
            }
            _ => Err(self.bad("it has a table, no arrays")),
        }
    }

    fn bad(&self, why: &str) -> Error {
        Error::BadExperiment { name: self.path().display().to_string(), why: why.to_owned() }
    }

    /// Letters as numbers, as many as the network takes of each.
    fn pairs(
        &self,
        all: &Interactions,
        parts: [Vec<usize>; 3],
        network: &Description,
        most: usize,
    ) -> Result<Arrays> {
        let Description::Deepdta(towers) = network else {
            return Err(self.bad("drugs and proteins need the network `deepdta`"));
        };
        let [drug, protein] = [towers.drug.length, towers.protein.length];
        if drug > sequences::DRUG_LENGTH || protein > sequences::PROTEIN_LENGTH {
            return Err(self.bad("its sequences have fewer letters than the network takes"));
        }
        // What is left of a part is spread over its years.
        let parts = parts.map(|rows| {
            let step = rows.len().div_ceil(most.max(1)).max(1);
            rows.into_iter().step_by(step).collect::<Vec<usize>>()
        });
        let x = parts.each_ref().map(|rows| {
            let mut x = Array2::zeros((rows.len(), drug + protein));
            for (mut to, &row) in x.rows_mut().into_iter().zip(rows) {
                let codes = sequences::drug(&all.drugs[row]).into_iter().take(drug);
                let codes = codes.chain(sequences::protein(&all.proteins[row]));
                to.iter_mut().zip(codes).for_each(|(to, code)| *to = code);
            }
            x
        });
        let y = parts.each_ref().map(|rows| {
            Array2::from_shape_fn((rows.len(), 1), |(place, _)| all.scores[rows[place]])
        });
        let domains = parts.iter().flatten().map(|&row| all.years[row].to_string()).collect();
        Ok(Arrays { x, y, targets: self.roles()?.0, domains: Some(domains) })
    }
}

/// Windows of series, every one divided by its largest absolute value.
fn windows(series: Series, (window, horizon): (usize, usize), most: usize) -> Result<Arrays> {
    let series = series.scaled();
    let parts = series.parts(window, horizon)?.map(|targets| {
        let few = targets.start..targets.end.min(targets.start.saturating_add(most));
        series.windows(few, window, horizon)
    });
    let [(x1, y1), (x2, y2), (x3, y3)] = parts;
    Ok(Arrays { x: [x1, x2, x3], y: [y1, y2, y3], targets: series.names, domains: None })
}

/// Images with pixels from −1 to 1, and by which angle each is turned; domains are the ways of colouring.
fn turned(made: &RcfMnist, most: usize) -> Arrays {
    let parts = [&made.train, &made.valid, &made.test];
    let few = |part: &RcfPart| part.targets.len().min(most);
    let x = parts.map(|part| {
        let (_, channels, height, width) = part.pixels.dim();
        let pixels = part.pixels.iter().take(few(part) * channels * height * width);
        let values = pixels.map(|&pixel| (f32::from(pixel) / 255.0 - 0.5) / 0.5).collect();
        Array2::from_shape_vec((few(part), channels * height * width), values)
            .expect("as many as pixels")
    });
    let y = parts.map(|part| Array2::from_shape_fn((few(part), 1), |(row, _)| part.targets[row]));
    let colouring = |part: &RcfPart, row: usize| match (part.red[row], part.targets[row]) {
        (red, angle) if red == angle => "red is the angle",
        (red, angle) if red == 1.0 - angle => "red is its opposite",
        _ => "red is by chance",
    };
    let domains = parts.iter().flat_map(|part| (0..few(part)).map(|row| colouring(part, row)));
    let domains = domains.map(str::to_owned).collect();
    Arrays { x, y, targets: vec!["angle".to_owned()], domains: Some(domains) }
}
