//! Colors of groups of rows, and a legend of rows and groups.

use std::collections::{BTreeMap, BTreeSet};

use crate::color::{Color, PALETTE};
use crate::frame::Frame;
use crate::svg::{circle, ems, num, text, thousands};

/// Least space between two items.
const GAP: f64 = 20.0;

/// The color of each group.
pub(crate) type Groups = BTreeMap<u32, Color>;

pub(crate) fn colors(groups: &BTreeSet<u32>) -> Groups {
    let few = groups.len() <= PALETTE.len();
    let color =
        |i: usize| if few { Color::Of(i) } else { Color::Hue { number: i, of: groups.len() } };
    groups.iter().enumerate().map(|(i, group)| (*group, color(i))).collect()
}

/// A piece of a legend, drawn around its left end.
pub(crate) struct Item {
    width: f64,
    /// Whether it stands at the right end of its row.
    at_end: bool,
    svg: String,
}

impl Item {
    /// Anything of that width, drawn from its left end.
    pub(crate) fn new(width: f64, svg: String) -> Self {
        Self { width, at_end: false, svg }
    }

    /// A sample of rows, and how many of them are drawn.
    pub(crate) fn of_rows(sample: &str, name: &str, drawn: usize, given: usize) -> Self {
        let (drawn, given) = (thousands(&drawn), thousands(&given));
        let of = if drawn == given { String::new() } else { format!(" of {given} shown") };
        let words = format!("{name} ({drawn}{of})");
        let svg = format!("{sample}{}", text(15.0, 4.0, "start", Color::Ink, &words));
        Self::new(15.0 + 12.0 * ems(&words), svg)
    }

    /// Which group has which color, or how many there are; nothing where there is no room.
    pub(crate) fn of_groups(groups: &Groups, room: f64) -> Option<Self> {
        let own = |group: &u32| 26.0 + 12.0 * ems(&group.to_string());
        let width = 33.0 + groups.keys().map(own).sum::<f64>();
        let note = format!("One color per group ({} groups)", thousands(&groups.len()));
        if (1..=PALETTE.len()).contains(&groups.len()) && width <= room {
            let mut svg = text(37.0, 4.0, "end", Color::Ink, "Group");
            let mut x = 45.0;
            for (group, color) in groups {
                svg += &circle((x + 5.0, 0.0), 4.5, &color.fill());
                svg += &text(x + 14.0, 4.0, "start", Color::Ink, &group.to_string());
                x += own(group);
            }
            return Some(Self { width, at_end: true, svg });
        }
        let width = 12.0 * ems(&note);
        let svg = text(width, 4.0, "end", Color::Faint, &note);
        (!groups.is_empty() && width <= room).then_some(Self { width, at_end: true, svg })
    }
}

/// Items in rows above the frame.
pub(crate) struct Key(Vec<(f64, usize, Item)>);

impl Key {
    pub(crate) fn new(items: impl IntoIterator<Item = Item>, frame: &Frame) -> Self {
        let (mut free, mut row) = (frame.left, 0);
        let place = |item: Item| {
            if free > frame.left && free + item.width > frame.right {
                (free, row) = (frame.left, row + 1);
            }
            // What begins a row of its own stands with the other beginnings.
            let at_end = item.at_end && free > frame.left;
            let x = if at_end { frame.right - item.width } else { free };
            free += item.width + GAP;
            (x, row, item)
        };
        Self(items.into_iter().map(place).collect())
    }

    pub(crate) fn rows(&self) -> usize {
        self.0.last().map_or(0, |(_, row, _)| row + 1)
    }

    pub(crate) fn draw(&self, svg: &mut Vec<String>, frame: &Frame) {
        for (x, row, item) in &self.0 {
            let y = frame.legend + frame.measures.legend_row * *row as f64;
            svg.push(format!("<g transform='translate({} {})'>{}</g>", num(*x), num(y), item.svg));
        }
    }
}
