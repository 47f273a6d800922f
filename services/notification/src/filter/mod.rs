//! Filters: what lets an event through, and what maps it to a value (formal/04-10-13, 3.2).
//!
//! ```text
//! constraints    constraints with ids, compiled, with a value each
//! forwarding     Filter
//! mapping        MappingFilter
//! mappings       mapping filters of a proxy or administrator
//! callbacks      clients that hear of a filter's types
//! registry       filters of the service, by reference; FilterFactory
//! attached       filters of a proxy or administrator; FilterAdmin
//! ```

mod attached;
mod callbacks;
mod constraints;
mod forwarding;
mod mapping;
mod mappings;
mod registry;

pub(crate) use attached::Attached;
pub(crate) use mapping::Mapping;
pub(crate) use mappings::{AttachedMapping, Mappings, reference};
pub(crate) use registry::{Factory, Registry};
