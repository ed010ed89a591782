//! RCF-MNIST: images of Fashion-MNIST, rotated by the target angle, with spuriously correlated colors.
//!
//! ```text
//! g ~ U(0, 1)                        the target; the image is turned by 360° · g, against the clock
//! (R, G, B) = (r, 0, 1 − r) · gray   where gray > 5; the background stays
//! training:    r = g in 80 % of images, 1 − g in the others
//! validation:  r ~ U(0, 1), whatever the angle
//! test:        r = 1 − g in 80 % of images, g in the others
//! ```
//!
//! Yao et al., [*C-Mixup: Improving Generalization in Regression*](https://arxiv.org/abs/2210.05775), 2022, and
//! their code. As there, validation colors are uninformative and rotation takes the nearest pixel. Unlike there,
//! colors are rounded to bytes, and everything follows from a seed.

use std::path::Path;

use ndarray::{Array4, ArrayView2, ArrayViewMut3, s};
use serde_json::json;
use windlass::{Seed, Stream};
use windlass_plot::{ImageGrid, ImageRow, Thumbnail};
use windlass_table::write_atomic;

use super::{Error, Images, Result, named, sha256_of};

/// Random streams: order, angles, and which images have the inverted color.
const ORDER: u64 = 1 << 32;
const ANGLES: u64 = ORDER + 1;
const COLORS: u64 = ORDER + 2;
/// Pixels up to this value are background, which is not colored.
const BACKGROUND: u8 = 5;
/// Written last: a directory without it is incomplete.
const RECIPE: &str = "recipe.json";

/// RCF-MNIST.
#[derive(Debug, Clone, PartialEq)]
pub struct RcfMnist {
    /// Four sixths of the images.
    pub train: RcfSplit,
    /// One sixth of the images.
    pub valid: RcfSplit,
    /// One sixth of the images.
    pub test: RcfSplit,
    seed: u64,
}

/// A split of RCF-MNIST.
#[derive(Debug, Clone, PartialEq)]
pub struct RcfSplit {
    /// Image × channel (red, green, blue) × row × column.
    pub pixels: Array4<u8>,
    /// The angle of each image, in turns.
    pub targets: Vec<f64>,
    /// Red fraction of each image; the rest is blue.
    pub red: Vec<f64>,
    /// Index of each image in Fashion-MNIST.
    pub sources: Vec<usize>,
}

/// The correlation of angle and color.
#[derive(Clone, Copy)]
enum Coloring {
    /// Red is g in this fraction of images, 1 − g in the others.
    Follows(f64),
    Random,
}

impl RcfMnist {
    /// Generates it from a random sample of Fashion-MNIST training images.
    pub fn generate(source: &Images, images: usize, seed: u64) -> Result<Self> {
        const LEAST: usize = 6;
        let most = source.labels.len();
        if !(LEAST..=most).contains(&images) {
            return Err(Error::Images { images, least: LEAST, most });
        }
        let mut order: Vec<usize> = (0..most).collect();
        Seed(seed).shared(Stream::Made, ORDER).shuffle(&mut order);
        let sixth = images / 6;
        let (train, rest) = order[..images].split_at(images - 2 * sixth);
        let (valid, test) = rest.split_at(sixth);
        let part =
            |number, order, coloring| RcfSplit::generate(source, order, coloring, seed, number);
        Ok(Self {
            train: part(0, train, Coloring::Follows(0.8)),
            valid: part(1, valid, Coloring::Random),
            test: part(2, test, Coloring::Follows(0.2)),
            seed,
        })
    }

    /// Writes every split as four NumPy arrays, and the recipe: `train_images.npy` (bytes, image × channel × row ×
    /// column), `train_targets.npy` and `train_red.npy` (doubles), `train_sources.npy` (integers), and so on.
    ///
    /// The recipe is written last: a directory that has one is complete.
    pub fn write(&self, folder: &Path) -> Result<(), crate::Error> {
        Self::check_folder(folder)?;
        let failed = |source| Error::Io { doing: "write", path: folder.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(failed)?;
        for (name, part) in self.splits() {
            for (what, bytes) in part.arrays() {
                write_atomic(&folder.join(format!("{name}_{what}.npy")), &bytes)?;
            }
        }
        let text = serde_json::to_string_pretty(&self.recipe()?).expect("numbers and words");
        write_atomic(&folder.join(RECIPE), (text + "\n").as_bytes())?;
        Ok(())
    }

    /// Returns an error if the directory has one already.
    pub fn check_folder(folder: &Path) -> Result<()> {
        let path = folder.join(RECIPE);
        if path.exists() { Err(Error::Exists { path }) } else { Ok(()) }
    }

    fn splits(&self) -> [(&'static str, &RcfSplit); 3] {
        [("train", &self.train), ("valid", &self.valid), ("test", &self.test)]
    }

    fn recipe(&self) -> Result<serde_json::Value> {
        let source = &named("fashion_mnist")?.files[0];
        let parts = self.splits().map(|(name, part)| {
            let pixels = part.pixels.as_slice().expect("made in this order");
            let checksum = sha256_of(pixels);
            (name.to_owned(), json!({ "images": part.targets.len(), "pixels_sha256": checksum }))
        });
        Ok(json!({
            "name": "rcf-mnist",
            "seed": self.seed,
            "source": { "file": source.path, "sha256": source.sha256 },
            "target": "g, uniform on [0, 1): the image is turned by 360 g degrees against the clock, nearest pixels",
            "color": "(red, 0, 1 - red) times the gray value where that is above 5; red is in *_red.npy",
            "train": "red = g in 80 % of images, 1 - g in the others",
            "valid": "red is uniform on [0, 1), whatever the angle",
            "test": "red = 1 - g in 80 % of images, g in the others",
            "parts": serde_json::Map::from_iter(parts),
        }))
    }

    /// A grid of its first images: three rows of training and three of test images, each row sorted by angle.
    #[must_use]
    pub fn image_grid(&self) -> ImageGrid {
        const COLUMNS: usize = 10;
        const ROWS: usize = 3;
        let mut rows = vec![];
        for (heading, part) in [
            ("Training: red = g in 80 % of images", &self.train),
            ("Test: red = 1 − g in 80 % of images", &self.test),
        ] {
            let mut heading = Some(heading.to_owned());
            let mut first: Vec<usize> = (0..part.targets.len().min(ROWS * COLUMNS)).collect();
            for row in first.chunks_mut(COLUMNS) {
                row.sort_by(|&a, &b| part.targets[a].total_cmp(&part.targets[b]));
                let images = row.iter().map(|&at| part.thumbnail(at)).collect();
                rows.push(ImageRow { heading: heading.take(), images });
            }
        }
        ImageGrid { title: format!("RCF-MNIST, seed {}", self.seed), rows }
    }
}

impl RcfSplit {
    fn generate(
        source: &Images,
        sources: &[usize],
        coloring: Coloring,
        seed: u64,
        number: u64,
    ) -> Self {
        let n = sources.len();
        let (_, height, width) = source.pixels.dim();
        let mut part = Self {
            pixels: Array4::zeros((n, 3, height, width)),
            targets: Vec::with_capacity(n),
            red: Vec::with_capacity(n),
            sources: sources.to_vec(),
        };
        let follows = followers(n, coloring, seed, number);
        for (at, &image) in sources.iter().enumerate() {
            let mut draws = Seed(seed).at(Stream::Made, ANGLES, image as u64);
            let (g, any) = (draws.uniform(), draws.uniform());
            let red = match (coloring, follows[at]) {
                (Coloring::Random, _) => any,
                (Coloring::Follows(_), true) => g,
                (Coloring::Follows(_), false) => 1.0 - g,
            };
            let gray = source.pixels.slice(s![image, .., ..]);
            rotate_and_color(gray, g, red, part.pixels.slice_mut(s![at, .., .., ..]));
            part.targets.push(g);
            part.red.push(red);
        }
        part
    }

    /// The contents of its files, by name.
    fn arrays(&self) -> [(&'static str, Vec<u8>); 4] {
        let n = self.targets.len();
        let (_, channels, height, width) = self.pixels.dim();
        let shape = [n, channels, height, width];
        let pixels = self.pixels.iter().copied();
        let doubles = |values: &[f64]| {
            npy("<f8", &[n], values.iter().flat_map(|value| value.to_le_bytes()), 8 * n)
        };
        let sources = self.sources.iter().flat_map(|&source| (source as u64).to_le_bytes());
        [
            ("images", npy("|u1", &shape, pixels, self.pixels.len())),
            ("targets", doubles(&self.targets)),
            ("red", doubles(&self.red)),
            ("sources", npy("<u8", &[n], sources, 8 * n)),
        ]
    }

    fn thumbnail(&self, at: usize) -> Thumbnail {
        let image = self.pixels.slice(s![at, .., .., ..]);
        let (_, height, width) = image.dim();
        let pixel = |place: usize| [0, 1, 2].map(|c| image[[c, place / width, place % width]]);
        let caption = format!("{:.0}°", 360.0 * self.targets[at]);
        Thumbnail { width, pixels: (0..height * width).map(pixel).collect(), caption }
    }
}

/// The images in which red is g: exactly the requested fraction.
fn followers(n: usize, coloring: Coloring, seed: u64, number: u64) -> Vec<bool> {
    let share = match coloring {
        Coloring::Follows(share) => share,
        Coloring::Random => 0.0,
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most n")]
    let count = (share * n as f64).round() as usize;
    let mut follows: Vec<bool> = (0..n).map(|at| at < count).collect();
    Seed(seed).shared(Stream::Made, COLORS + number).shuffle(&mut follows);
    follows
}

/// Rotates an image about its center counterclockwise by `g` turns, and colors it. Pixels from outside are black.
fn rotate_and_color(gray: ArrayView2<u8>, g: f64, red: f64, mut to: ArrayViewMut3<u8>) {
    let (height, width) = gray.dim();
    let angle = std::f64::consts::TAU * g;
    let (sin, cos) = (libm::sin(angle), libm::cos(angle));
    let (middle_x, middle_y) = (width as f64 / 2.0, height as f64 / 2.0);
    for y in 0..height {
        for x in 0..width {
            // The source of the pixel center; y points down.
            let (dx, dy) = (x as f64 + 0.5 - middle_x, y as f64 + 0.5 - middle_y);
            let from_x = (cos * dx - sin * dy + middle_x).floor();
            let from_y = (sin * dx + cos * dy + middle_y).floor();
            let inside =
                (0.0..width as f64).contains(&from_x) && (0.0..height as f64).contains(&from_y);
            if !inside {
                continue;
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "inside")]
            let value = gray[[from_y as usize, from_x as usize]];
            let colored = if value > BACKGROUND {
                [scaled(value, red), 0, scaled(value, 1.0 - red)]
            } else {
                [value; 3]
            };
            for (channel, value) in colored.into_iter().enumerate() {
                to[[channel, y, x]] = value;
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shares are at most 1")]
fn scaled(value: u8, share: f64) -> u8 {
    (f64::from(value) * share).round() as u8
}

/// An array in NumPy's .npy format, version 1.0.
fn npy(kind: &str, shape: &[usize], values: impl Iterator<Item = u8>, bytes: usize) -> Vec<u8> {
    let shape: Vec<String> = shape.iter().map(|size| format!("{size},")).collect();
    let shape = shape.concat();
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Values are aligned to 64 bytes.
    let start = (10 + header.len() + 1).next_multiple_of(64);
    let padded = start - 10;
    let mut file = Vec::with_capacity(start + bytes);
    file.extend_from_slice(b"\x93NUMPY\x01\x00");
    file.extend(u16::try_from(padded).expect("a short header").to_le_bytes());
    file.extend(format!("{header:<width$}\n", width = padded - 1).bytes());
    file.extend(values);
    file
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, Array3, array};

    use super::{npy, rotate_and_color};

    fn turned(gray: &Array2<u8>, g: f64, red: f64) -> Array3<u8> {
        let (height, width) = gray.dim();
        let mut to = Array3::zeros((3, height, width));
        rotate_and_color(gray.view(), g, red, to.view_mut());
        to
    }

    #[test]
    fn images_turn_against_the_clock() {
        let gray = array![[10, 20], [30, 40]];
        let red = |g| turned(&gray, g, 1.0).index_axis_move(ndarray::Axis(0), 0);
        assert_eq!(red(0.0), gray);
        assert_eq!(red(0.25), array![[20, 40], [10, 30]]);
        assert_eq!(red(0.5), array![[40, 30], [20, 10]]);
        assert_eq!(red(0.75), array![[30, 10], [40, 20]]);
    }

    #[test]
    fn red_and_blue_share_the_gray_and_the_background_stays() {
        let gray = array![[200, 5], [6, 0]];
        let image = turned(&gray, 0.0, 0.25);
        assert_eq!(image.index_axis_move(ndarray::Axis(0), 0), array![[50, 5], [2, 0]]);
        let image = turned(&gray, 0.0, 0.25);
        assert_eq!(image.index_axis_move(ndarray::Axis(0), 1), array![[0, 5], [0, 0]]);
        let image = turned(&gray, 0.0, 0.25);
        assert_eq!(image.index_axis_move(ndarray::Axis(0), 2), array![[150, 5], [5, 0]]);
    }

    #[test]
    fn arrays_have_numpy_headers() {
        let file = npy("|u1", &[2, 3], 1..7, 6);
        assert_eq!(&file[..10], b"\x93NUMPY\x01\x00\x76\x00");
        assert_eq!(file.len(), 128 + 6);
        assert_eq!(file[127..], [b'\n', 1, 2, 3, 4, 5, 6]);
    }
}
