//! Named rows over one numeric axis: shared code of forest plots and strip plots.

use crate::axis::Axis;
use crate::color::Color;
use crate::frame::{Frame, Labels, Legend};
use crate::layout::Layout;
use crate::svg::{num, outlined, text, text_width, truncate, wide_line, xml};

/// Height of a row that holds a heading.
const HEADING_ROW: f64 = 21.0;
/// Height of a plot without rows.
const EMPTY_BODY: f64 = 40.0;
/// From the reference line to its captions.
const CAPTION_GAP: f64 = 8.0;
/// Minimum space for a caption that must be cut.
const MIN_CAPTION: f64 = 60.0;

/// A value that others are compared with, drawn as a vertical line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReferenceLine {
    /// The value; it must be finite.
    pub at: f64,
    /// Meaning of lesser values, for instance “better”, written above the plot on their side.
    pub below: String,
    /// Meaning of greater values.
    pub above: String,
}

/// A plot of named rows.
pub(crate) struct RowPlot<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) labels: &'a Labels,
    /// The name of each row, and the heading above it.
    pub(crate) names: Vec<(&'a str, Option<&'a str>)>,
    pub(crate) row_height: f64,
    pub(crate) reference: Option<&'a ReferenceLine>,
}

impl<'a> RowPlot<'a> {
    /// The frame, whose axis contains all values and the reference, and the middle of each row.
    pub(crate) fn frame(&self, values: impl Iterator<Item = f64> + Clone) -> (Frame<'a>, Vec<f64>) {
        let (layout, height) = (self.layout, self.row_height);
        let y_axis = Axis::rows(self.names.iter().flat_map(|(name, heading)| {
            let heading = heading.map(|_| (HEADING_ROW, None));
            heading.into_iter().chain([(height, Some(truncate(name, layout.row_name_ems)))])
        }));
        let values = values.chain(self.reference.map(|reference| reference.at));
        let frame = Frame::new(layout, self.labels, y_axis, |width| {
            Axis::linear_within(values.clone(), width, layout.max_x_ticks)
        });
        // The captions of the reference take the place of a legend.
        let rows = usize::from(self.reference.is_some());
        let frame = frame.with_legend(Legend { rows, svg: vec![] });
        let (mut y, mut middles, mut headings) = (frame.top, vec![], vec![]);
        let left = layout.ticks_left[1];
        for (_, heading) in &self.names {
            if let Some(heading) = heading {
                let heading = xml(&truncate(heading, (frame.right - left) / 12.0));
                let base = y + HEADING_ROW / 2.0 + 5.0;
                headings.push(outlined(&text(left, base, "start", Color::Ink, &heading)));
                y += HEADING_ROW;
            }
            middles.push(y + height / 2.0);
            y += height;
        }
        let body = if middles.is_empty() { EMPTY_BODY } else { y - frame.top };
        let mut frame = frame.with_body(body);
        let reference = self.reference.map(|reference| draw_reference(&frame, reference));
        frame.legend.svg = reference.into_iter().flatten().chain(headings).collect();
        (frame, middles)
    }
}

fn draw_reference(frame: &Frame, reference: &ReferenceLine) -> Vec<String> {
    let (layout, x) = (frame.layout, frame.x_of(reference.at));
    let path = format!("M{} {}V{}", num(x), num(frame.top - 4.0), num(frame.bottom));
    let mut svg = vec![wide_line(&path, Color::Gray, 1.5)];
    let edge = layout.ticks_left[1].min(layout.right_margin) / 2.0;
    let (left, right) = (x - CAPTION_GAP, x + CAPTION_GAP);
    for (caption, x, anchor, room) in [
        (&reference.below, left, "end", left - edge),
        (&reference.above, right, "start", layout.width - edge - x - CAPTION_GAP),
    ] {
        if text_width(caption) <= room || room >= MIN_CAPTION {
            let caption = xml(&truncate(caption, room / 12.0));
            svg.push(text(x, frame.legend_y(0) + 4.0, anchor, Color::Faint, &caption));
        }
    }
    svg
}
