//! The two sizes of plots, and all lengths that depend on them.

/// How large a plot is.
///
/// ```
/// use windlass_plot::{Lines, Size};
///
/// let card = Lines { size: Size::Card, ..Lines::default() };
/// assert!(card.to_svg().contains("viewBox='0 0 400 300'"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// 900 units wide and 600 high, for a picture that stands alone.
    #[default]
    Page,
    /// 400 units wide and about 300 high, for pages that may be read on a phone.
    Card,
}

impl Size {
    pub(crate) fn measures(self) -> &'static Measures {
        match self {
            Self::Page => &PAGE,
            Self::Card => &CARD,
        }
    }
}

/// Lengths in units of the picture. Where there are two, the first is with a text and the second
/// without it. All text that is not a heading or a label has 12 units.
pub(crate) struct Measures {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Least height of what holds the data; the picture grows where a legend leaves less.
    pub(crate) least_body: f64,
    pub(crate) right_margin: f64,
    pub(crate) title_size: f64,
    pub(crate) title_base: f64,
    /// The title begins with the data, but not further to the right than this.
    pub(crate) title_from: f64,
    /// Where the title ends.
    pub(crate) head: [f64; 2],
    /// From there to the middle of the first row of the legend.
    pub(crate) legend_from: f64,
    pub(crate) legend_row: f64,
    /// From the middle of the last row of the legend, or from the head, to the data.
    pub(crate) top_gap: [f64; 2],
    pub(crate) label_size: f64,
    pub(crate) y_label_base: f64,
    /// Where the labels of the y axis begin.
    pub(crate) ticks_from: [f64; 2],
    pub(crate) tick_gap: f64,
    pub(crate) tick_base: f64,
    /// From the data to the lower end of the picture.
    pub(crate) foot: [f64; 2],
    pub(crate) x_label_up: f64,
    pub(crate) most_x_ticks: f64,
    pub(crate) most_y_ticks: f64,
    pub(crate) most_log_ticks: usize,
    /// Width of a line in the legend, and the space after an entry.
    pub(crate) sample: f64,
    pub(crate) entry_gap: f64,
    /// Longest name of a row, in ems.
    pub(crate) name_ems: f64,
    /// Heights of a row with an interval and of one with a strip of dots.
    pub(crate) interval_row: f64,
    pub(crate) strip_row: f64,
    /// Least and greatest height of a row of cells.
    pub(crate) cell_row: [f64; 2],
    /// What radii and widths of lines are multiplied with.
    pub(crate) dot: f64,
}

const PAGE: Measures = Measures {
    width: 900.0,
    height: 600.0,
    least_body: 200.0,
    right_margin: 24.0,
    title_size: 18.0,
    title_base: 36.0,
    title_from: 160.0,
    head: [44.0, 14.0],
    legend_from: 16.0,
    legend_row: 19.0,
    top_gap: [24.0, 12.0],
    label_size: 13.0,
    y_label_base: 28.0,
    ticks_from: [46.0, 16.0],
    tick_gap: 10.0,
    tick_base: 20.0,
    foot: [66.0, 36.0],
    x_label_up: 22.0,
    most_x_ticks: 12.0,
    most_y_ticks: 10.0,
    most_log_ticks: 14,
    sample: 24.0,
    entry_gap: 24.0,
    name_ems: 22.0,
    interval_row: 24.0,
    strip_row: 36.0,
    cell_row: [26.0, 110.0],
    dot: 1.0,
};

const CARD: Measures = Measures {
    width: 400.0,
    height: 300.0,
    least_body: 190.0,
    right_margin: 10.0,
    title_size: 13.0,
    title_base: 16.0,
    title_from: 6.0,
    head: [22.0, 3.0],
    legend_from: 9.0,
    legend_row: 16.0,
    top_gap: [16.0, 7.0],
    label_size: 12.0,
    y_label_base: 13.0,
    ticks_from: [20.0, 4.0],
    tick_gap: 6.0,
    tick_base: 15.0,
    foot: [39.0, 20.0],
    x_label_up: 6.0,
    most_x_ticks: 8.0,
    most_y_ticks: 6.0,
    most_log_ticks: 7,
    sample: 14.0,
    entry_gap: 10.0,
    name_ems: 10.0,
    interval_row: 20.0,
    strip_row: 28.0,
    cell_row: [20.0, 84.0],
    dot: 0.8,
};
