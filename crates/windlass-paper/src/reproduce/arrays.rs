//! The rows of an experiment that are arrays: time series, images, sequences.

use ndarray::Array2;

use super::dataset::DatasetSpec;
use crate::data::{self, Interactions, MnistSplit, RcfMnist, RcfSplit, Series};
use crate::deep::Arrays;
use crate::networks::{NetworkSpec, sequences};
use crate::{Error, Result};

impl DatasetSpec {
    /// Its rows as inputs of a network, at most `most` per split.
    pub(crate) fn arrays(&self, network: &NetworkSpec, most: Option<usize>) -> Result<Arrays> {
        let most = most.unwrap_or(usize::MAX);
        match self {
            Self::Windows { set, window, horizon } => {
                let series = Series::from_table(&data::named(set)?.load()?);
                windows(series, *window, *horizon, most)
            }
            &Self::WindowsOfElectricity { series: expected, window, horizon } => {
                let path = data::electricity(&data::search_dirs())?;
                let series = Series::read(&path)?;
                if series.names.len() != expected {
                    let why = format!("it has {} series, expected {expected}", series.names.len());
                    let name = path.display().to_string();
                    return Err(Error::BadExperiment { name, why });
                }
                windows(series, window, horizon, most)
            }
            &Self::RcfMnist { images, seed } => {
                let source = data::fashion_mnist(MnistSplit::Train)?;
                let RcfMnist { train, valid, test, .. } =
                    RcfMnist::generate(&source, images, seed)?;
                Ok(rotated_images([&train, &valid, &test], most))
            }
            &Self::Dti { most_per_year, seed } => {
                let all = Interactions::load_from(&data::search_dirs())?;
                self.pairs(&all, all.split_rows(most_per_year, seed), network, most)
            }
            &Self::GeneratedDti { rows, seed } => {
                let all = Interactions::generate(rows, seed);
                self.pairs(&all, all.split_rows(None, seed), network, most)
            }
            _ => Err(self.bad("it has a table, no arrays")),
        }
    }

    fn bad(&self, why: &str) -> Error {
        Error::BadExperiment { name: self.path().display().to_string(), why: why.to_owned() }
    }

    /// Integer-encoded sequences, cut to the length that the network takes.
    fn pairs(
        &self,
        all: &Interactions,
        parts: [Vec<usize>; 3],
        network: &NetworkSpec,
        most: usize,
    ) -> Result<Arrays> {
        let NetworkSpec::Deepdta(towers) = network else {
            return Err(self.bad("drugs and proteins need the network `deepdta`"));
        };
        let [drug, protein] = [towers.drug.length, towers.protein.length];
        if drug > sequences::DRUG_LENGTH || protein > sequences::PROTEIN_LENGTH {
            return Err(self.bad("its sequences have fewer letters than the network takes"));
        }
        // A sample of a split is spread over its years.
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
        Ok(Arrays { x, y, targets: self.roles()?.targets, domains: Some(domains) })
    }
}

/// Windows of series, each divided by its largest absolute value.
fn windows(series: Series, window: usize, horizon: usize, most: usize) -> Result<Arrays> {
    let series = series.scaled();
    let parts = series.split_rows(window, horizon)?.map(|targets| {
        let few = targets.start..targets.end.min(targets.start.saturating_add(most));
        series.windows(few, window, horizon)
    });
    let [(x1, y1), (x2, y2), (x3, y3)] = parts;
    Ok(Arrays { x: [x1, x2, x3], y: [y1, y2, y3], targets: series.names, domains: None })
}

/// Images with pixels from −1 to 1 and their angles; domains are the kinds of coloring.
fn rotated_images(parts: [&RcfSplit; 3], most: usize) -> Arrays {
    let few = |part: &RcfSplit| part.targets.len().min(most);
    let x = parts.map(|part| {
        let (_, channels, height, width) = part.pixels.dim();
        let pixels = part.pixels.iter().take(few(part) * channels * height * width);
        let values = pixels.map(|&pixel| (f32::from(pixel) / 255.0 - 0.5) / 0.5).collect();
        Array2::from_shape_vec((few(part), channels * height * width), values)
            .expect("as many as pixels")
    });
    let y = parts.map(|part| Array2::from_shape_fn((few(part), 1), |(row, _)| part.targets[row]));
    let coloring = |part: &RcfSplit, row: usize| match (part.red[row], part.targets[row]) {
        (red, angle) if red == angle => "red is the angle",
        (red, angle) if red == 1.0 - angle => "red is its opposite",
        _ => "red is by chance",
    };
    let domains = parts.iter().flat_map(|part| (0..few(part)).map(|row| coloring(part, row)));
    let domains = domains.map(str::to_owned).collect();
    Arrays { x, y, targets: vec!["angle".to_owned()], domains: Some(domains) }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array4, array};

    use super::*;

    #[test]
    fn images_are_rows_of_pixels_with_an_angle_and_a_domain() {
        let part = |targets: [f64; 3], red: [f64; 3]| RcfSplit {
            pixels: Array4::from_shape_fn((3, 3, 1, 2), |(i, c, _, x)| {
                if x == 0 { 255 } else { u8::try_from(i * 10 + c).unwrap() }
            }),
            targets: targets.to_vec(),
            red: red.to_vec(),
            sources: vec![0, 1, 2],
        };
        let train = part([0.25, 0.25, 0.5], [0.25, 0.75, 0.125]);
        let other = part([0.75; 3], [0.75; 3]);
        let arrays = rotated_images([&train, &other, &other], 2);
        assert_eq!(arrays.counts(), [2, 2, 2]);
        let dark = |value: f32| (value / 255.0 - 0.5) / 0.5;
        // Red, green, blue, each with its bright and its dark pixel.
        let second = array![1.0, dark(10.0), 1.0, dark(11.0), 1.0, dark(12.0)];
        assert_eq!(arrays.x[0].row(1), second);
        assert_eq!(arrays.y[0], array![[0.25], [0.25]]);
        let domains = arrays.domains.unwrap();
        assert_eq!(domains[..2], ["red is the angle", "red is its opposite"]);
        assert_eq!(domains.len(), 6);
        let all = rotated_images([&train, &other, &other], usize::MAX);
        assert_eq!(all.domains.unwrap()[2], "red is by chance");
    }

    #[test]
    fn windows_are_of_scaled_series() {
        let values = Array2::from_shape_fn((20, 1), |(row, _)| row as f64 * 2.0);
        let series = Series { names: vec!["a".into()], values };
        let arrays = windows(series, 3, 2, 4).unwrap();
        assert_eq!(arrays.counts(), [4, 4, 4]);
        // Rows 0, 1, 2 and what comes two later; the largest value is 38.
        assert_eq!(arrays.x[0].row(0), array![0.0, 2.0 / 38.0, 4.0 / 38.0]);
        assert_eq!(arrays.y[0][(0, 0)], 8.0 / 38.0);
        // The first test row is row 16.
        assert_eq!(arrays.y[2][(0, 0)], 32.0 / 38.0);
    }
}
