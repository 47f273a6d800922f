//! Pictures of plans: a simulated timeline as an SVG picture, or as a page with zoom; and of measured response
//! times beside the computed ones ([`responses`]).
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
//! frame    size, style and background
//! lane     one row: bars, lines, arrows
//! ran      what ran below a row: the jobs of a recorded time line
//! picture  title, axis, groups, legend
//! responses  measured response times of operations
//! ```

mod frame;
mod lane;
mod legend;
mod markup;
mod page;
mod picture;
mod ran;
mod responses;
mod rows;
mod scale;
mod window;

use crate::measured::RecordedTimeline;
use crate::time::Time;
pub use page::{html, svg};
pub use responses::{Measured, responses};

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
    /// What ran: drawn below the rows, from the first request of a drawn operation on.
    pub ran: Option<RecordedTimeline>,
}
