//! `@event` as it stands in the file, before its declaration is known.

use crate::source::Location;

/// Checked `@event`, whose declaration is looked for at the end.
#[derive(Clone, Debug)]
pub(super) struct StatedEvent {
    /// Stated type; `None` if the repository id makes it.
    pub(super) number: Option<u32>,
    /// Source position of the annotation's name.
    pub(super) location: Location,
}
