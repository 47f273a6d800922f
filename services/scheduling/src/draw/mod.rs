//! Pictures of plans: a simulated timeline as an SVG picture, or as a page with zoom.
//!
//! One row a stream, grouped by host and processor, with levels that are served first above. Bars are
//! execution, lines are waiting, arrows are releases (up) and deadlines (down). The computed response
//! times, the worst of all runs, stand at the right, beside the longest of this run.
//!
//! ```text
//! rows     choice and order of the rows
//! window   interval that is drawn
//! scale    place of a time on the axis
//! markup   SVG elements as text
//! lane     one row: bars, lines, arrows
//! picture  title, axis, groups, legend
//! ```

mod lane;
mod legend;
mod markup;
mod picture;
mod rows;
mod scale;
mod window;

use crate::model::Model;
use crate::plan::Plan;
use crate::time::Time;
use markup::escaped;

/// Number of rows above which only the first are drawn, if no operations are chosen.
pub const MOST_ROWS: usize = 40;

/// Options of a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Names of the operations whose streams are drawn; if empty, the first [`MOST_ROWS`] streams are.
    pub operations: Vec<String>,
    /// Length of the window from time zero. By default the hyperperiod or three of the longest period
    /// of the drawn streams, whichever is shorter, and at least the end of each first job.
    pub window: Option<Time>,
}

/// Draws the timeline of a plan as an SVG picture, in the colours of light or dark surroundings.
///
/// `plan` has to be a plan of this model.
#[must_use]
pub fn svg(model: &Model, plan: &Plan, options: &Options) -> String {
    picture::draw(model, plan, options)
}

/// Draws the timeline of a plan as an HTML page, with zoom and pan by mouse and keyboard.
///
/// The page loads nothing. `plan` has to be a plan of this model.
#[must_use]
pub fn html(model: &Model, plan: &Plan, options: &Options) -> String {
    let title = escaped(&picture::title(plan));
    let picture = svg(model, plan, options);
    let (style, script) = (include_str!("page.css"), include_str!("page.js"));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n\
         <nav><button id=\"in\" title=\"Zoom in (+)\">+</button>\
         <button id=\"out\" title=\"Zoom out (-)\">&#8722;</button>\
         <button id=\"all\" title=\"Show all (0)\">All</button>\
         <span>Wheel or + and &#8722;: zoom. Drag or arrows: move. Point at a job: its times.</span></nav>\n\
         <main tabindex=\"0\">\n{picture}</main>\n<script>\n{script}</script>\n</body>\n</html>\n"
    )
}
