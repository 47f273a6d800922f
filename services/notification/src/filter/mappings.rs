//! Mapping filters that are attached to a proxy or an administrator.

use std::sync::Arc;

use super::mapping::Mapping;
use crate::cos_notify_filter::MappingFilter;

/// Mapping filter that is attached, with the reference by which it was.
pub(crate) type AttachedMapping = Option<(MappingFilter, Arc<Mapping>)>;

/// Mapping filters of a proxy or an administrator.
#[derive(Debug, Default)]
pub(crate) struct Mappings {
    pub(crate) priority: AttachedMapping,
    pub(crate) lifetime: AttachedMapping,
}

/// Returns the reference to a mapping filter that is attached.
pub(crate) fn reference(attached: &AttachedMapping) -> Option<MappingFilter> {
    attached.as_ref().map(|(reference, _)| reference.clone())
}
