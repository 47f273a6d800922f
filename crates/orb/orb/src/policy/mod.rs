//! Policies: settings of a client for its calls (CORBA 3.3 part 1, §8.9; Messaging, §17.3; Schmidt
//! et al. 2001's policy control component), and those that a server publishes for its objects.
//!
//! They are set for a whole ORB ([`PolicyManager`]), for a thread ([`PolicyCurrent`]), and for a
//! reference ([`crate::ObjectRef::set_policy_overrides`]); a copy of a reference with other
//! policies serves for a single call. The innermost level that sets a policy takes precedence. The
//! combined policies for a reference are computed once ([`effective`]) and kept until the policies
//! of an outer level change, which changes their epoch.
//!
//! Each ORB has a table of its policy types ([`types`]): those of [`builtin`], and those that an
//! application or another crate adds ([`PolicyType`]). A type states at which levels it may be set,
//! how two values merge, and how a value is encoded in references; no other code in this module
//! depends on added types. Calls read plain fields of [`Effective`], not the table.

mod adapter;
mod any_policy;
mod buffering;
mod builtin;
mod current;
mod defaults;
mod defined;
mod definition;
mod effective;
mod ends;
mod in_flight;
mod known_protocols;
mod managed;
mod manager;
pub(crate) mod numbers;
mod policy_type;
mod published_properties;
mod published_protocols;
mod queue_order;
mod queue_place;
mod set;
mod terms;
mod types;
mod unmet;
mod values;

pub(crate) use adapter::Components;
pub use adapter::{AdapterPolicies, InvalidPolicy};
pub use any_policy::Policy;
pub(crate) use any_policy::invalid;
pub use buffering::{BufferCapacity, Buffering, WhenFull};
pub use current::PolicyCurrent;
pub use current::set_in_segment;
pub(crate) use current::{forget_own, has_own, is_in_segment};
pub(crate) use defaults::Defaults;
pub use defined::DefinedPolicy;
pub(crate) use effective::Effective;
pub(crate) use ends::{CallEndTimes, EndTimes};
pub use in_flight::{AtBound, CallsInFlight};
pub(crate) use in_flight::{Full, Held, InFlightGuard};
pub(crate) use known_protocols::KnownProtocols;
pub(crate) use managed::Managed;
pub use manager::PolicyManager;
pub use policy_type::{PolicyCodec, PolicyLevels, PolicyType};
pub(crate) use queue_order::Order;
pub use queue_order::{PriorityRange, QueueOrder};
pub(crate) use queue_place::{QueuePlace, QueuePlaces, QueueRank};
pub(crate) use set::PolicySet;
pub use set::SetOverride;
pub(crate) use terms::{BufferTerms, Queued, StartTimes};
pub use types::PolicyTypeTaken;
pub(crate) use types::PolicyTypes;
pub use unmet::UnmetPolicies;
pub use values::{
    Bidirectional, CharCodeSet, ClientProtocols, Collocation, LinkProperty, Mux, Otherwise, Rebind,
    Security, SyncScope, Transfer, Wait,
};
