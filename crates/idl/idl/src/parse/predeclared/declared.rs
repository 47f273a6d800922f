//! Names that have been declared on demand.

use super::library::Library;
use crate::model::DeclId;

/// Predeclared entities that were declared because the IDL file uses them.
#[derive(Debug, Default)]
pub(in crate::parse) struct Predeclared {
    pub(super) library: Option<Library>,
    /// Implicit part of module CORBA that contains the entities declared on demand.
    pub(super) part: Option<DeclId>,
    /// Forward declarations, in order, with a flag for those that need no definition unless the
    /// Interface Repository is requested.
    pub(super) ahead: Vec<(DeclId, bool)>,
    pub(super) repository_is_wanted: bool,
}

impl Predeclared {
    /// Returns the part of module CORBA, if anything was declared.
    pub(in crate::parse) fn part(&self) -> Option<DeclId> {
        self.part
    }
}
