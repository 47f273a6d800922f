//! Calls and servants without generated code: the Dynamic Invocation Interface (DII) and the Dynamic Skeleton Interface (DSI).
//!
//! A program needs this module when it learns of an interface at run time. Values in Anys are changed by [`dyn_any`](crate::dyn_any)
//! and written as text by [`json`](crate::json).
//!
//! ```no_run
//! use punctual::dynamic::Request;
//! use punctual::prelude::*;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let orb = Orb::builder().build()?;
//! # let hello = orb.string_to_object("file://hello.ior")?;
//! let mut request = Request::new(&hello, "greet");
//! request.add_in("name", Any::new("world")?);
//! # Ok(()) }
//! ```

pub use punctual_dynamic::{
    Argument, DeferredRequests, DeferredResponse, DynamicImplementation, Gateway, InvokeError,
    MultipleRequests, Request, ServerRequest, dynamic_servant,
};
