//! Adapters: their tree, and the path of a request through one to a servant.
//!
//! [`types`] has the data. [`root`] finds the adapter that a key names ([`table`], [`tree`]);
//! [`serve`] takes the [`request`] from there: through the manager, to an object of the map or to a
//! servant that [`servant_managers`] provide, on a thread that [`threads`] allows. [`destroy`] ends
//! adapters.

mod around;
#[cfg(feature = "comparison")]
mod compared;
mod destroy;
mod destruction;
mod etherealizer;
mod held;
mod keyed_lock;
mod keys;
mod local;
mod make;
mod managed;
mod measured;
mod naming;
#[cfg(feature = "comparison")]
mod operation_tables;
mod outstanding;
mod own_factory;
mod registration;
mod request;
mod request_path;
mod root;
mod servant_managers;
mod servant_sources;
mod serve;
mod table;
mod threads;
mod tree;
mod types;

pub(crate) use held::HeldRequest;
#[cfg(feature = "comparison")]
pub(crate) use request::ByStrategy;
pub(crate) use request::{CalledServant, Request, RequestedObject};
pub(crate) use root::{Root, initialize, root_named};
pub(crate) use tree::CreateError;
pub(crate) use types::Adapter;
pub use types::{AdapterActivator, Cookie, Poa, ServantActivator, ServantLocator, ServantManager};
