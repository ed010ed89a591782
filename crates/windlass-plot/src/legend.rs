//! The legend of a plot of several series, and the pens that it explains.

use crate::color::{Color, PALETTE};
use crate::frame::Frame;
use crate::svg::{circle, ems, escape, line, num, text, thousands};

/// From a sample to its name.
const NAME_GAP: f64 = 8.0;
/// Radius of a dot.
const DOT: f64 = 4.5;

/// How a line looks. Half of the palette is dashed, since on thin lines some of its colors are
/// near to each other.
#[derive(Clone, Copy)]
pub(crate) struct Pen {
    pub(crate) color: Color,
    pub(crate) dashed: bool,
}

impl Pen {
    /// The pen of one of several series; all are gray where the eye could not tell them apart.
    pub(crate) fn of(i: usize, series: usize) -> Self {
        if series > PALETTE.len() {
            Self { color: Color::Gray, dashed: false }
        } else {
            Self { color: Color::Of(i), dashed: i >= PALETTE.len() / 2 }
        }
    }

    pub(crate) fn line(self, path: &str) -> String {
        let line = line(path, self.color);
        if self.dashed { format!("<g stroke-dasharray='7 3'>{line}</g>") } else { line }
    }
}

/// What stands before a name.
#[derive(Clone, Copy)]
pub(crate) enum Sample {
    Line(Pen),
    Dot(Color),
}

/// What says which series is which, above the frame.
pub(crate) enum Legend {
    /// There are too many to say.
    Note(String),
    Entries(Vec<Entry>),
}

pub(crate) struct Entry {
    x: f64,
    row: usize,
    sample: Sample,
    name: String,
}

impl Legend {
    /// Where there are more of them than colors.
    pub(crate) fn too_many(number: usize, things: &str) -> Self {
        Self::Note(format!("{} {things}, too many for a legend", thousands(&number)))
    }

    /// One row if the frame has room for all, or else columns. Where there is room for one column
    /// alone, as many as fit share a row.
    pub(crate) fn of(names: Vec<(Sample, String)>, frame: &Frame) -> Self {
        let measures = frame.measures;
        let room = frame.width() + measures.entry_gap;
        let own = |sample: Sample, name: &str| {
            sample.width(frame) + NAME_GAP + 12.0 * ems(name) + measures.entry_gap
        };
        let widths = || names.iter().map(|(sample, name)| own(*sample, name));
        let column = widths().fold(0.0, f64::max);
        let close = widths().sum::<f64>() <= room || 2.0 * column > room;
        let (mut x, mut row) = (0.0, 0);
        let mut entries = Vec::new();
        for (sample, name) in names {
            let width = if close { own(sample, &name) } else { column };
            if x > 0.0 && x + width > room {
                (x, row) = (0.0, row + 1);
            }
            entries.push(Entry { x, row, sample, name });
            x += width;
        }
        Self::Entries(entries)
    }

    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Note(_) => 1,
            Self::Entries(entries) => entries.last().map_or(0, |entry| entry.row + 1),
        }
    }

    pub(crate) fn draw(&self, svg: &mut Vec<String>, frame: &Frame) {
        match self {
            Self::Note(words) => {
                svg.push(text(frame.left, frame.legend + 4.0, "start", Color::Faint, words));
            }
            Self::Entries(entries) => entries.iter().for_each(|entry| entry.draw(svg, frame)),
        }
    }
}

impl Sample {
    fn width(self, frame: &Frame) -> f64 {
        match self {
            Self::Line(_) => frame.measures.sample,
            Self::Dot(_) => 2.0 * DOT,
        }
    }

    fn draw(self, frame: &Frame, x: f64, y: f64) -> String {
        match self {
            Self::Line(pen) => {
                let path = format!("M{} {}h{}", num(x), num(y), self.width(frame));
                format!("<g stroke-width='3'>{}</g>", pen.line(&path))
            }
            Self::Dot(color) => circle((x + DOT, y), DOT, &color.fill()),
        }
    }
}

impl Entry {
    fn draw(&self, svg: &mut Vec<String>, frame: &Frame) {
        let row = frame.measures.legend_row * self.row as f64;
        let (x, y) = (frame.left + self.x, frame.legend + row);
        svg.push(self.sample.draw(frame, x, y));
        let x = x + self.sample.width(frame) + NAME_GAP;
        svg.push(text(x, y + 4.0, "start", Color::Ink, &escape(&self.name)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Axis;
    use crate::frame::Words;
    use crate::size::Size;

    /// A frame of that width.
    fn frame(width: f64) -> Frame<'static> {
        let words = Words { title: "", x_label: "", y_label: "" };
        let axis = || Axis::linear([0.0, 1.0].into_iter(), 10.0);
        let mut frame = Frame::new(Size::Page, words, axis(), |_| axis());
        (frame.left, frame.right) = (0.0, width);
        frame
    }

    fn places(names: &[&str], room: f64) -> Vec<(f64, usize)> {
        let pen = Sample::Line(Pen { color: Color::Ink, dashed: false });
        let names = names.iter().map(|name| (pen, (*name).to_owned())).collect();
        match Legend::of(names, &frame(room)) {
            Legend::Entries(entries) => entries.iter().map(|entry| (entry.x, entry.row)).collect(),
            Legend::Note(_) => Vec::new(),
        }
    }

    #[test]
    fn entries_share_a_row_or_stand_in_columns() {
        let names = ["a", "bcdefghi", "c", "d"];
        let row = places(&names, 600.0);
        assert!(row.iter().all(|(_, row)| *row == 0) && row.is_sorted());
        // The second entry is the widest.
        assert!(row[2].0 - row[1].0 > 40.0 + row[1].0 - row[0].0);
        let columns = places(&names, 230.0);
        assert_eq!(columns[..2].iter().map(|at| at.0).collect::<Vec<_>>(), [0.0, columns[3].0]);
        assert_eq!(columns.iter().map(|at| at.1).collect::<Vec<_>>(), [0, 0, 1, 1]);
        // One long name does not part the others.
        let long = places(&["a", "b", "c", &"d".repeat(20)], 230.0);
        assert_eq!(long.iter().map(|at| at.1).collect::<Vec<_>>(), [0, 0, 0, 1]);
        // Where nothing fits, each has a row of its own.
        assert_eq!(places(&names, 10.0), [(0.0, 0), (0.0, 1), (0.0, 2), (0.0, 3)]);
    }
}
