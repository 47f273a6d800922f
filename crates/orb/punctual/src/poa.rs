//! The Portable Object Adapter beyond activation: policies, servant managers, errors, the request in progress.
//!
//! A server needs this module when it makes adapters of its own ([`PoaPolicy`]), when servants are
//! found for each request ([`ServantManager`]), or when a servant has to know which object a
//! request is for ([`Current`]) or which peer it comes from ([`request_peer`]), or counts results
//! that take much memory ([`charge_results`]).
//! [`Poa`](crate::Poa), [`RootPoa`](crate::RootPoa) and [`PoaManager`](crate::PoaManager) are in
//! the root of the crate.
//!
//! ```no_run
//! use punctual::poa::{IdAssignmentPolicy, LifespanPolicy, PoaPolicy};
//! use punctual::prelude::*;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let orb = Orb::builder().build()?;
//! let accounts = orb.root_poa()?.create_poa(
//!     "accounts",
//!     None,
//!     &[
//!         PoaPolicy::Lifespan(LifespanPolicy::Persistent),
//!         PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
//!     ],
//! )?;
//! # let _ = accounts;
//! # Ok(()) }
//! ```

pub use punctual_orb::{
    DispatchError, Dispatched, LocateRequest, Location, PendingLocation, RequestPeer, ServerCall,
    charge_results, request_peer,
};
pub use punctual_poa::{
    AdapterActivator, AdapterInactive, AnswerTimeoutPolicy, Cookie, CreatePoaError, Current,
    FindPoaError, IdAssignmentPolicy, IdUniquenessPolicy, ImplicitActivationPolicy, IorTable,
    IorTableError, IorTableLocator, LifespanPolicy, ManagerError, ManagerExists, ManagerState,
    NoContext, ObjectPolicy, PoaError, PoaManagerFactory, PoaPolicy, RequestProcessingPolicy,
    ServantActivator, ServantLocator, ServantManager, ServantRetentionPolicy, ThreadPolicy, Tie,
    UnknownObjects, names_in_key, persistent_key, servant_of,
};
#[cfg(feature = "comparison")]
pub use punctual_poa::{Demultiplexing, OperationDemultiplexing};
