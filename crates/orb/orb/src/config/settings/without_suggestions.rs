//! Suggestions of builds without the feature `suggestions`: none.

/// Returns no name.
pub(super) fn nearest<N>(_given: &str, _names: impl Iterator<Item = N>) -> Option<N> {
    None
}

/// Returns nothing, as no options of other ORBs are known.
pub(super) fn on_command_line(_name: &str) -> Option<(&'static str, &'static str)> {
    None
}

/// Returns nothing, as no options of other ORBs are known.
#[cfg(feature = "config-files")]
pub(super) fn in_file(_name: &str) -> Option<(&'static str, &'static str)> {
    None
}
