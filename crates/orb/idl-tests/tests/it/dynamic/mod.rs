//! Calls and objects without the IDL compiler: the dynamic invocation interface, the dynamic skeleton
//! interface, and a gateway made of both.
#![allow(clippy::unwrap_used)]

mod deferred;
mod gateways;
mod later;
mod requests;
mod servants;

use crate::collocation::{generated, servant};
