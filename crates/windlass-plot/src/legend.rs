//! Legends, and the colors and line styles that they explain.

use std::collections::{BTreeMap, BTreeSet};

use crate::color::{Color, PALETTE};
use crate::format::thousands;
use crate::frame::{Frame, Legend};
use crate::layout::Layout;
use crate::svg::{circle, line, num, text, text_width, xml};

/// From a sample to its name.
const NAME_GAP: f64 = 8.0;
/// Radius of the dot of a series.
const DOT_RADIUS: f64 = 4.5;
/// Minimum space between two items.
const ITEM_GAP: f64 = 20.0;

/// Half of the palette is dashed, since some of its colors are hard to distinguish on thin lines.
#[derive(Clone, Copy)]
pub(crate) struct LineStyle {
    pub(crate) color: Color,
    pub(crate) dashed: bool,
}

impl LineStyle {
    /// The style of one of several series; more series than colors are all gray.
    pub(crate) fn of_series(i: usize, series: usize) -> Self {
        if series > PALETTE.len() {
            Self { color: Color::Gray, dashed: false }
        } else {
            Self { color: Color::Palette(i), dashed: i >= PALETTE.len() / 2 }
        }
    }

    pub(crate) fn line(self, path: &str) -> String {
        let line = line(path, self.color);
        if self.dashed { format!("<g stroke-dasharray='7 3'>{line}</g>") } else { line }
    }
}

/// The sample before the name of a series.
#[derive(Clone, Copy)]
pub(crate) enum Sample {
    Line(LineStyle),
    Dot(Color),
}

impl Sample {
    fn width(self, layout: &Layout) -> f64 {
        match self {
            Self::Line(_) => layout.legend_line,
            Self::Dot(_) => 2.0 * DOT_RADIUS,
        }
    }

    fn draw(self, layout: &Layout, x: f64, y: f64) -> String {
        match self {
            Self::Line(style) => {
                let path = format!("M{} {}h{}", num(x), num(y), self.width(layout));
                format!("<g stroke-width='3'>{}</g>", style.line(&path))
            }
            Self::Dot(color) => circle((x + DOT_RADIUS, y), DOT_RADIUS, &color.fill()),
        }
    }
}

/// A legend with an entry for each series, or a note if there are more series than colors. `things` is the noun for
/// series in the note.
///
/// Entries share one row if they fit, and are in columns otherwise. If only one column fits, each row takes as many
/// entries as possible.
pub(crate) fn series_legend(
    frame: &Frame,
    (series, things): (usize, &str),
    entries: impl Iterator<Item = (Sample, String)>,
) -> Legend {
    if series > PALETTE.len() {
        let note = format!("{} {things}, too many for a legend", thousands(&series));
        let note = text(frame.left, frame.legend_y(0) + 4.0, "start", Color::Faint, &note);
        return Legend { rows: 1, svg: vec![note] };
    }
    let layout = frame.layout;
    let room = frame.width() + layout.legend_gap;
    let width = |sample: Sample, name: &str| {
        sample.width(layout) + NAME_GAP + text_width(name) + layout.legend_gap
    };
    let entries: Vec<_> = entries.map(|(s, name)| (width(s, &name), s, name)).collect();
    let column = entries.iter().map(|entry| entry.0).fold(0.0, f64::max);
    let close = entries.iter().map(|entry| entry.0).sum::<f64>() <= room || 2.0 * column > room;
    let (mut x, mut legend) = (0.0, Legend::default());
    for (width, sample, name) in entries {
        let width = if close { width } else { column };
        if legend.rows == 0 || (x > 0.0 && x + width > room) {
            (x, legend.rows) = (0.0, legend.rows + 1);
        }
        let (left, y) = (frame.left + x, frame.legend_y(legend.rows - 1));
        legend.svg.push(sample.draw(layout, left, y));
        let name_x = left + sample.width(layout) + NAME_GAP;
        legend.svg.push(text(name_x, y + 4.0, "start", Color::Ink, &xml(&name)));
        x += width;
    }
    legend
}

/// An item of a legend, drawn from its left end.
pub(crate) struct Item {
    pub(crate) width: f64,
    /// Whether it is at the right end, unless it begins a row.
    pub(crate) at_end: bool,
    pub(crate) svg: String,
}

impl Item {
    pub(crate) fn new(width: f64, svg: String) -> Self {
        Self { width, at_end: false, svg }
    }

    /// A sample of a kind of rows, with the number of them that is drawn.
    pub(crate) fn of_rows(sample: &str, name: &str, drawn: usize, all: usize) -> Self {
        let (drawn, all) = (thousands(&drawn), thousands(&all));
        let of = if drawn == all { String::new() } else { format!(" of {all} shown") };
        let label = format!("{name} ({drawn}{of})");
        let svg = format!("{sample}{}", text(15.0, 4.0, "start", Color::Ink, &label));
        Self::new(15.0 + text_width(&label), svg)
    }

    /// The color of each group, or the number of groups; nothing if that is too wide.
    pub(crate) fn of_groups(groups: &GroupColors, room: f64) -> Option<Self> {
        let own = |group: &u32| 26.0 + text_width(&group.to_string());
        let width = 33.0 + groups.keys().map(own).sum::<f64>();
        if (1..=PALETTE.len()).contains(&groups.len()) && width <= room {
            let mut svg = text(37.0, 4.0, "end", Color::Ink, "Group");
            let mut x = 45.0;
            for (group, color) in groups {
                svg += &circle((x + 5.0, 0.0), DOT_RADIUS, &color.fill());
                svg += &text(x + 14.0, 4.0, "start", Color::Ink, &group.to_string());
                x += own(group);
            }
            return Some(Self { width, at_end: true, svg });
        }
        let note = format!("One color per group ({} groups)", thousands(&groups.len()));
        let width = text_width(&note);
        let svg = text(width, 4.0, "end", Color::Faint, &note);
        (!groups.is_empty() && width <= room).then_some(Self { width, at_end: true, svg })
    }
}

/// A legend of items in rows.
pub(crate) fn item_legend(frame: &Frame, items: impl IntoIterator<Item = Item>) -> Legend {
    let (mut free, mut legend) = (frame.left, Legend::default());
    for Item { width, at_end, svg } in items {
        if legend.rows == 0 || (free > frame.left && free + width > frame.right) {
            (free, legend.rows) = (frame.left, legend.rows + 1);
        }
        let x = if at_end && free > frame.left { frame.right - width } else { free };
        let y = frame.legend_y(legend.rows - 1);
        legend.svg.push(format!("<g transform='translate({} {})'>{svg}</g>", num(x), num(y)));
        free += width + ITEM_GAP;
    }
    legend
}

/// The color of each group of rows.
pub(crate) type GroupColors = BTreeMap<u32, Color>;

pub(crate) fn group_colors(groups: impl Iterator<Item = u32>) -> GroupColors {
    let groups: BTreeSet<u32> = groups.collect();
    let of = groups.len();
    let few = of <= PALETTE.len();
    let color = |i| if few { Color::Palette(i) } else { Color::Hue { number: i, of } };
    groups.into_iter().enumerate().map(|(i, group)| (group, color(i))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Axis;
    use crate::frame::Labels;
    use crate::svg::numbers;

    /// Columns and rows of the entries in a frame of this width.
    fn places(names: &[&str], width: f64) -> Vec<(f64, usize)> {
        let (labels, layout) = (Labels::default(), &Layout::PAGE);
        let axis = || Axis::linear([0.0, 1.0].into_iter(), 10.0);
        let mut frame = Frame::new(layout, &labels, axis(), |_| axis());
        (frame.left, frame.right) = (0.0, width);
        let sample = Sample::Line(LineStyle { color: Color::Ink, dashed: false });
        let entries = names.iter().map(|name| (sample, (*name).to_owned()));
        let legend = series_legend(&frame, (names.len(), "series"), entries);
        let svg = legend.svg.concat();
        let row = |y: f64| (0..9).find(|row| num(frame.legend_y(*row) + 4.0) == y).unwrap();
        let xs = numbers(&svg, "text", "x").into_iter().map(|x| x - layout.legend_line - NAME_GAP);
        let places: Vec<_> = xs.zip(numbers(&svg, "text", "y").into_iter().map(row)).collect();
        assert_eq!(legend.rows, places.last().unwrap().1 + 1);
        places
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
        // A long name does not separate the others.
        let long = places(&["a", "b", "c", &"d".repeat(20)], 230.0);
        assert_eq!(long.iter().map(|at| at.1).collect::<Vec<_>>(), [0, 0, 0, 1]);
        // If nothing fits, each has a row of its own.
        assert_eq!(places(&names, 10.0), [(0.0, 0), (0.0, 1), (0.0, 2), (0.0, 3)]);
    }
}
