//! Plots of named rows over one axis: what intervals and strips of dots share.

use crate::axis::Axis;
use crate::color::Color;
use crate::frame::{Frame, Words};
use crate::size::Size;
use crate::svg::{cut, ems, escape, line, num, outlined, text, xml};

/// Height of a row that holds a heading.
const HEADING_ROW: f64 = 21.0;
/// Height of a plot without rows.
const EMPTY_BODY: f64 = 40.0;
/// From the line of reference to the words beside it.
const CAPTION_GAP: f64 = 8.0;
/// The space in which words that must be cut are still worth it.
const LEAST_CAPTION: f64 = 60.0;

/// A value that others are compared with, drawn as a vertical line. It is left out unless it is
/// finite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reference {
    /// The value.
    pub at: f64,
    /// What lesser values mean, for instance “better”; it stands above the plot on their side.
    pub below: String,
    /// What greater values mean.
    pub above: String,
}

/// The name of a row, and the heading that stands before it.
#[derive(Clone, Copy)]
pub(crate) struct Name<'a> {
    pub(crate) name: &'a str,
    pub(crate) heading: Option<&'a str>,
}

/// A frame with a line for each row.
pub(crate) struct Rows<'a> {
    pub(crate) frame: Frame<'a>,
    /// The middle of each row, in the picture.
    pub(crate) middles: Vec<f64>,
    headings: Vec<(f64, &'a str)>,
    reference: Option<&'a Reference>,
}

impl<'a> Rows<'a> {
    /// The axis reaches all values, which are finite, and the reference.
    pub(crate) fn new(
        size: Size,
        (title, x_label): (&'a str, &'a str),
        (names, height): (Vec<Name<'a>>, f64),
        reference: Option<&'a Reference>,
        values: impl Iterator<Item = f64> + Clone,
    ) -> Self {
        let measures = size.measures();
        let reference = reference.filter(|reference| reference.at.is_finite());
        let y_axis = Axis::rows(names.iter().flat_map(|name| {
            let heading = name.heading.map(|_| (HEADING_ROW, None));
            heading.into_iter().chain([(height, Some(cut(name.name, measures.name_ems)))])
        }));
        let words = Words { title, x_label, y_label: "" };
        let values = values.chain(reference.map(|reference| reference.at));
        let frame = Frame::new(size, words, y_axis, |width| {
            Axis::linear_within(values.clone(), width, measures.most_x_ticks)
        });
        let captions = reference.is_some_and(|r| !(r.below.is_empty() && r.above.is_empty()));
        let frame = frame.with_legend(usize::from(captions));

        let mut y = frame.top;
        let (mut middles, mut headings) = (Vec::new(), Vec::new());
        for name in names {
            if let Some(heading) = name.heading {
                headings.push((y + HEADING_ROW / 2.0, heading));
                y += HEADING_ROW;
            }
            middles.push(y + height / 2.0);
            y += height;
        }
        let body = if middles.is_empty() { EMPTY_BODY } else { y - frame.top };
        Self { frame: frame.with_body(body), middles, headings, reference }
    }

    /// Begins a picture, with all but the data.
    pub(crate) fn open(&self) -> Vec<String> {
        let mut svg = self.frame.open();
        if let Some(reference) = self.reference {
            self.draw_reference(&mut svg, reference);
        }
        let left = self.frame.measures.ticks_from[1];
        for (y, heading) in &self.headings {
            let words = xml(heading, (self.frame.right - left) / 12.0);
            svg.push(outlined(&text(left, y + 5.0, "start", Color::Ink, &words)));
        }
        svg
    }

    fn draw_reference(&self, svg: &mut Vec<String>, reference: &Reference) {
        let (frame, x) = (&self.frame, self.frame.x_of(reference.at));
        let path = format!("M{} {}V{}", num(x), num(frame.top - 4.0), num(frame.bottom));
        svg.push(format!("<g stroke-width='1.5'>{}</g>", line(&path, Color::Gray)));
        let edge = frame.measures.ticks_from[1].min(frame.measures.right_margin) / 2.0;
        for (words, x, anchor, room) in [
            (&reference.below, x - CAPTION_GAP, "end", x - CAPTION_GAP - edge),
            (
                &reference.above,
                x + CAPTION_GAP,
                "start",
                frame.measures.width - edge - x - CAPTION_GAP,
            ),
        ] {
            if 12.0 * ems(words) <= room || room >= LEAST_CAPTION {
                let words = escape(&cut(words, room / 12.0));
                svg.push(text(x, frame.legend + 4.0, anchor, Color::Faint, &words));
            }
        }
    }
}
