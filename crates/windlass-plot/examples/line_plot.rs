//! A line plot as SVG: `cargo run -p windlass-plot --example line_plot > plot.svg`.
#![expect(clippy::print_stdout, reason = "an example")]

use windlass_plot::{Annotation, Labels, Layout, LinePlot, LineSeries, PlotError, render_png};

fn main() -> Result<(), PlotError> {
    let epochs = || (1..=30).map(f64::from);
    let plot = LinePlot {
        labels: Labels::new("Training", "epoch", "mean squared error"),
        series: vec![
            LineSeries::new("training", epochs().map(|epoch| (epoch, 2.0 / epoch))),
            LineSeries::new(
                "validation",
                epochs().map(|epoch| (epoch, 2.0 / epoch + epoch / 50.0)),
            ),
        ],
        annotation: Some(Annotation { at: (10.0, 0.4), text: "best epoch".to_owned() }),
        ..LinePlot::default()
    };
    let svg = plot.to_svg(&Layout::PAGE);
    assert!(render_png(&svg)?.starts_with(b"\x89PNG"));
    println!("{svg}");
    Ok(())
}
