//! The legend of a line chart, and the pens that it explains.

use crate::colour::{FAINT, INK};
use crate::frame::{LEGEND, LEGEND_ROW};
use crate::svg::{ems, escape, line, num, text};

/// Width of a sample in the legend.
const SAMPLE: f64 = 24.0;

/// How a line looks. Half of the palette is dashed, since on thin lines some of its colours are
/// near to each other.
#[derive(Clone, Copy)]
pub(crate) struct Pen {
    pub(crate) colour: &'static str,
    pub(crate) dashed: bool,
}

impl Pen {
    pub(crate) fn line(self, path: &str) -> String {
        let line = line(path, self.colour);
        if self.dashed { format!("<g stroke-dasharray='7 3'>{line}</g>") } else { line }
    }
}

/// What says which line is which, above the frame.
pub(crate) enum Legend {
    /// There are too many lines to say.
    Note(String),
    Entries(Vec<Entry>),
}

pub(crate) struct Entry {
    x: f64,
    row: usize,
    pen: Pen,
    name: String,
}

impl Legend {
    /// One row if that has room for all, or else columns.
    pub(crate) fn of(names: Vec<(Pen, String)>, room: f64) -> Self {
        let own = |name: &str| SAMPLE + 32.0 + 12.0 * ems(name);
        let widths = || names.iter().map(|(_, name)| own(name));
        let one_row = widths().sum::<f64>() <= room;
        let column = widths().fold(0.0, f64::max);
        let (mut x, mut row) = (0.0, 0);
        let mut entries = Vec::new();
        for (pen, name) in names {
            let width = if one_row { own(&name) } else { column };
            if x > 0.0 && x + width > room {
                (x, row) = (0.0, row + 1);
            }
            entries.push(Entry { x, row, pen, name });
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

    pub(crate) fn draw(&self, svg: &mut Vec<String>, left: f64) {
        match self {
            Self::Note(words) => svg.push(text(left, LEGEND + 4.0, "start", FAINT, words)),
            Self::Entries(entries) => entries.iter().for_each(|entry| entry.draw(svg, left)),
        }
    }
}

impl Entry {
    fn draw(&self, svg: &mut Vec<String>, left: f64) {
        let (x, y) = (left + self.x, LEGEND + LEGEND_ROW * self.row as f64);
        let sample = self.pen.line(&format!("M{} {}h{SAMPLE}", num(x), num(y)));
        svg.push(format!("<g stroke-width='3'>{sample}</g>"));
        svg.push(text(x + SAMPLE + 8.0, y + 4.0, "start", INK, &escape(&self.name)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(names: &[&str], room: f64) -> Vec<(f64, usize)> {
        let pen = Pen { colour: INK, dashed: false };
        match Legend::of(names.iter().map(|name| (pen, (*name).to_owned())).collect(), room) {
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
        // Where nothing fits, each has a row of its own.
        assert_eq!(places(&names, 10.0), [(0.0, 0), (0.0, 1), (0.0, 2), (0.0, 3)]);
    }
}
