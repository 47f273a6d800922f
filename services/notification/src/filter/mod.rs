//! Filters: what lets an event through, and what maps it to a value (formal/04-10-13, 3.2).
//!
//! ```text
//! compiled       one constraint with a value, compiled
//! constraints    constraints of a filter, by id
//! exceptions     reasons for which constraints are not taken
//! forwarding     Filter
//! mapping        MappingFilter
//! mappings       mapping filters of a proxy or administrator
//! foreign        filters of other servers
//! callbacks      clients that hear of a filter's types
//! record         record of a filter in the store
//! room           memory of all constraints
//! removal        removal of a filter by itself
//! usage          use by clients, without which a filter is removed
//! registry       filters of the service, by reference; FilterFactory
//! restoring      filters that a store has kept
//! external       filters that another service applies
//! attached       filters of a proxy or administrator; FilterAdmin
//! ```

mod attached;
mod callbacks;
mod compiled;
mod constraints;
mod exceptions;
mod external;
mod foreign;
mod forwarding;
mod mapping;
pub(crate) mod mappings;
mod record;
mod registry;
mod removal;
mod restoring;
mod room;
mod usage;

pub(crate) use attached::{Attached, FilterList};
pub use external::EventFilter;
pub(crate) use foreign::{Answer, Asked, Opinion, Question, Questions, Waiter};
pub(crate) use mappings::{AttachedMapping, Mappings, number, reference};
pub(crate) use registry::{Factory, Registry};
pub(crate) use restoring::Restored;
pub(crate) use room::Room;
