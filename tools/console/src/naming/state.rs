//! State of the page.

use std::sync::Arc;

use punctual::Orb;
use punctual_naming::Directory;

use crate::answers::Answers;
use crate::live::Live;
use crate::shell::Shell;

/// State that the HTTP handlers of the naming page share.
#[derive(Debug)]
pub(super) struct NamingPage {
    pub(super) shell: Arc<Shell>,
    pub(super) directory: Directory,
    pub(super) orb: Orb,
    pub(super) answers: Arc<Answers>,
    pub(super) live: Arc<Live>,
}
