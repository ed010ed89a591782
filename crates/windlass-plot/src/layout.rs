//! The two layouts of plots: every length that depends on the size.

/// The size of a plot and the space for each of its parts, in units of the picture.
///
/// Of two lengths in an array, the first is used if the text is there and the second if it is
/// empty. All text but the title and the axis labels has 12 units.
#[derive(Debug)]
pub struct Layout {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Minimum height of the frame; the picture grows if a legend leaves less.
    pub(crate) min_body: f64,
    pub(crate) top_margin: f64,
    pub(crate) right_margin: f64,
    pub(crate) bottom_margin: [f64; 2],
    pub(crate) has_title: bool,
    /// From the title to the middle of the first row of the legend.
    pub(crate) legend_offset: f64,
    pub(crate) legend_row: f64,
    /// Length of a line in the legend, and the space after an entry.
    pub(crate) legend_line: f64,
    pub(crate) legend_gap: f64,
    /// From the middle of the last row of the legend, or from the title, to the frame.
    pub(crate) top_gap: [f64; 2],
    pub(crate) label_size: f64,
    /// Distances of the axis labels from the left and from the bottom.
    pub(crate) y_label: f64,
    pub(crate) x_label: f64,
    /// Left end of the tick labels of the y axis.
    pub(crate) ticks_left: [f64; 2],
    /// From the tick labels of the y axis to the frame.
    pub(crate) tick_gap: f64,
    /// From the frame to the baseline of the tick labels of the x axis.
    pub(crate) tick_base: f64,
    pub(crate) max_x_ticks: f64,
    pub(crate) max_y_ticks: f64,
    pub(crate) max_log_ticks: usize,
    /// Maximum width of the name of a row, in ems.
    pub(crate) row_name_ems: f64,
    /// Row heights of a forest plot and of a strip plot.
    pub(crate) forest_row: f64,
    pub(crate) strip_row: f64,
    /// Minimum and maximum row height of a heat map.
    pub(crate) cell_row: [f64; 2],
    /// Factor of marker radii and line widths.
    pub(crate) marker_scale: f64,
}

impl Layout {
    /// 900 units wide and 600 high, for a separate file.
    pub const PAGE: Self = Self {
        width: 900.0,
        height: 600.0,
        min_body: 200.0,
        top_margin: 14.0,
        right_margin: 24.0,
        bottom_margin: [66.0, 36.0],
        has_title: true,
        legend_offset: 16.0,
        legend_row: 19.0,
        legend_line: 24.0,
        legend_gap: 24.0,
        top_gap: [24.0, 12.0],
        label_size: 13.0,
        y_label: 28.0,
        x_label: 22.0,
        ticks_left: [46.0, 16.0],
        tick_gap: 10.0,
        tick_base: 20.0,
        max_x_ticks: 12.0,
        max_y_ticks: 10.0,
        max_log_ticks: 14,
        row_name_ems: 22.0,
        forest_row: 24.0,
        strip_row: 36.0,
        cell_row: [26.0, 110.0],
        marker_scale: 1.0,
    };

    /// 400 units wide and about 300 high, for a web page that may be read on a phone. The title is
    /// omitted: the page has a heading.
    pub const CARD: Self = Self {
        width: 400.0,
        height: 300.0,
        min_body: 190.0,
        top_margin: 3.0,
        right_margin: 10.0,
        bottom_margin: [39.0, 20.0],
        has_title: false,
        legend_offset: 9.0,
        legend_row: 16.0,
        legend_line: 14.0,
        legend_gap: 10.0,
        top_gap: [16.0, 7.0],
        label_size: 12.0,
        y_label: 13.0,
        x_label: 6.0,
        ticks_left: [20.0, 4.0],
        tick_gap: 6.0,
        tick_base: 15.0,
        max_x_ticks: 8.0,
        max_y_ticks: 6.0,
        max_log_ticks: 7,
        row_name_ems: 10.0,
        forest_row: 20.0,
        strip_row: 28.0,
        cell_row: [20.0, 84.0],
        marker_scale: 0.8,
    };
}
