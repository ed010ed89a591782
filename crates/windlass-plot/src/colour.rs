//! The colours of the plots.

pub(crate) const INK: &str = "#24292f";
pub(crate) const FAINT: &str = "#57606a";
pub(crate) const GREY: &str = "#8c959f";
pub(crate) const GRID: &str = "#e7eaee";

/// From Okabe and Ito and from Tol. With simulated colour blindness (Machado 2009), no two are
/// nearer to each other than the nearest two of Okabe and Ito's own.
#[rustfmt::skip]
pub(crate) const PALETTE: [&str; 12] = [
    "#0072b2", "#e69f00", "#009e73", "#882255", "#88ccee", "#8c510a",
    "#997700", "#5d3a9b", "#aa4466", "#56b4e9", "#cc79a7", "#ffaabb",
];

/// The nearest sRGB colour to one of OKLCH; the hue in turns.
pub(crate) fn oklch(lightness: f64, chroma: f64, hue: f64) -> String {
    let (sin, cos) = (hue * std::f64::consts::TAU).sin_cos();
    let lms = [[0.3963, 0.2158], [-0.1056, -0.0639], [-0.0895, -1.2915]]
        .map(|[a, b]| (lightness + chroma * (a * cos + b * sin)).powi(3));
    let to_rgb =
        [[4.0767, -3.3077, 0.2310], [-1.2684, 2.6098, -0.3413], [-0.0042, -0.7034, 1.7076]];
    let [r, g, b] = to_rgb.map(|row| {
        let c = row.iter().zip(lms).map(|(a, b)| a * b).sum::<f64>().clamp(0.0, 1.0);
        let c = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
        let byte = (c * 255.0).round() as u8;
        byte
    });
    format!("#{r:02x}{g:02x}{b:02x}")
}
