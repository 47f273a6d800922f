//! Queries: which records of a log are meant, and how they are read.
//!
//! ```text
//! selection    a constraint, or a time to begin at
//! scan         records of a log that are selected, one after the other
//! page         parts of a result; what an iterator knows
//! ```

mod page;
mod scan;
mod selection;

pub(crate) use page::{Page, first_page};
pub(crate) use scan::Scan;
pub(crate) use selection::Selection;
