#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]
//! Portable Object Adapter (CORBA 3.3 part 1, chapter 15).
//!
//! [`Poa`] is the handle for applications. A request comes in through `adapter`, which finds the
//! POA and, in its `object_map`, the object that the object key names: with a few instructions,
//! independent of the number of objects and of the depth of the POA tree. `policy` selects the
//! steps in between (servant managers, default servants), `manager` decides whether requests are
//! served at all, `current` tells which object a thread is serving.

#[macro_use]
mod raised;

mod adapter;
mod amh;
mod current;
mod interface_of;
mod ior_table;
mod key;
mod manager;
pub mod messaging;
mod object_adapter;
mod object_id;
mod object_map;
mod own_policies;
mod poa;
mod policy;
mod repository;
mod servant;
mod served;
mod server_object;
mod smart_proxy;
mod upcall;

pub use adapter::{AdapterActivator, Cookie, ServantActivator, ServantLocator, ServantManager};
pub use amh::{Amh, Async, Response, Spawn};
pub use current::{Current, NoContext};
pub use ior_table::{
    IorTable, IorTableError, IorTableLocator, UnknownObjects, names_in_key, persistent_key,
};
pub use manager::{
    AdapterInactive, ManagerError, ManagerExists, ManagerState, PoaManager, PoaManagerFactory,
};
pub use object_id::ObjectId;
pub use own_policies::ObjectPolicy;
pub use poa::{CreatePoaError, FindPoaError, Poa, PoaError, RootPoa};
pub use policy::{
    AnswerTimeoutPolicy, IdAssignmentPolicy, IdUniquenessPolicy, ImplicitActivationPolicy,
    LifespanPolicy, PoaPolicy, RequestProcessingPolicy, ServantRetentionPolicy, ThreadPolicy,
};
#[cfg(feature = "comparison")]
pub use policy::{Demultiplexing, OperationDemultiplexing};
pub use servant::{Delegate, Identity, Implements, Servant, Tie, servant_of};
pub use smart_proxy::SmartProxies;

/// Types that generated skeletons use.
#[doc(hidden)]
pub use {
    amh::{AnswerWith, Blocking},
    punctual_orb::{self as orb, joined},
    servant::{Answer, Answered, Answers, Operations, declaring_own},
};
