//! Mapping filters that are attached to a proxy or an administrator.

use std::sync::Arc;

use punctual::Any;

use super::foreign::{Foreign, Target};
use super::mapping::Mapping;
use super::registry::Registry;
use crate::common::Common;
use crate::cos_notify_filter::MappingFilter;
use crate::event::Event;
use crate::refusal::Refusal;

/// Mapping filter that is attached, with the reference by which it was.
pub(crate) type AttachedMapping = Option<(MappingFilter, Mapper)>;

/// Place in which a mapping filter maps events.
#[derive(Clone, Debug)]
pub(crate) enum Mapper {
    /// This service.
    Here(Arc<Mapping>),
    /// Another server.
    Foreign(Arc<Foreign>),
}

/// Mapping filters of a proxy or an administrator.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mappings {
    pub(crate) priority: AttachedMapping,
    pub(crate) lifetime: AttachedMapping,
}

/// Returns a mapping filter, to be attached; none for a nil one.
///
/// # Errors
/// It is a foreign one, and the service takes none or no more of these.
pub(crate) fn find(
    registry: &Registry,
    common: &Arc<Common>,
    filter: Option<&MappingFilter>,
) -> Result<AttachedMapping, Refusal> {
    let Some(filter) = filter else {
        return Ok(None);
    };
    let mapper = match registry.mapping(common, filter)? {
        Some(here) => Mapper::Here(here),
        None => Mapper::Foreign(Foreign::attach(common, Target::Mapping(filter.clone()))?),
    };
    Ok(Some((filter.clone(), mapper)))
}

/// Returns the mapping filter of a proxy, or else of its administrator.
pub(crate) fn in_force<'m>(
    own: &'m AttachedMapping,
    of_admin: &'m AttachedMapping,
) -> &'m AttachedMapping {
    match own {
        Some(_) => own,
        None => of_admin,
    }
}

/// Returns the value that a mapping filter of this service gives to an event.
pub(crate) fn value_for(attached: &AttachedMapping, event: &Event) -> Option<Any> {
    match attached {
        Some((_, Mapper::Here(mapping))) => Some(mapping.value_for(event)),
        Some((_, Mapper::Foreign(_))) | None => None,
    }
}

/// Returns the foreign mapping filter, if it is one.
pub(crate) fn foreign(attached: &AttachedMapping) -> Option<&Arc<Foreign>> {
    match attached {
        Some((_, Mapper::Foreign(foreign))) => Some(foreign),
        Some((_, Mapper::Here(_))) | None => None,
    }
}

/// Returns the reference to a mapping filter that is attached.
pub(crate) fn reference(attached: &AttachedMapping) -> Option<MappingFilter> {
    attached.as_ref().map(|(reference, _)| reference.clone())
}

/// Returns the number of a mapping filter of this service that is attached, or 0.
pub(crate) fn number(attached: &AttachedMapping) -> u64 {
    match attached {
        Some((_, Mapper::Here(mapping))) => mapping.number(),
        Some((_, Mapper::Foreign(_))) | None => 0,
    }
}

/// Returns the text of the reference to a foreign mapping filter that is attached, or nothing.
pub(crate) fn text(attached: &AttachedMapping) -> String {
    foreign(attached).map_or_else(String::new, |foreign| foreign.text().to_owned())
}
