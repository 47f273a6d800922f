//! Calls to, and implementations of, objects whose interfaces are known only at run time.
//!
//! - [`Request`]: the Dynamic Invocation Interface (CORBA 3.3 part 1, chapter 11): a call built
//!   from
//!   parts, or from a description of its operation.
//! - [`DynamicImplementation`]: the Dynamic Skeleton Interface (chapter 12): one servant for any
//!   interface.
//! - [`Gateway`]: made of both, it passes on calls of any interface.
//! - [`DynAny`]: values decomposed and composed (chapter 16).
//! - [`Repository`], [`interface_of`], [`repository_id_of`]: descriptions of interfaces, from an
//!   Interface Repository or from an object.
//! - [`json`]: values as JSON.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod dyn_any;
mod gateway;
pub mod json;
mod repository;
mod request;
mod servant;

pub use dyn_any::{DynAny, DynAnyError};
pub use gateway::Gateway;
pub use repository::{Repository, interface_of, repository_id_of};
pub use request::{
    Argument, DeferredRequests, DeferredResponse, InvokeError, MultipleRequests, Request,
};
pub use servant::{DynamicImplementation, ServerRequest, dynamic_servant};
