//! State of the page.

use super::meter::Meter;
use crate::shell::Shell;
use std::sync::Arc;

/// State that the page's handlers share.
pub(super) struct Shown {
    pub(super) shell: Arc<Shell>,
    pub(super) meter: Meter,
}
