//! Tests of tables without a library: a Rust link that is exported as a table and loaded from it,
//! and tables that violate the ABI.

mod exported;
mod lies;
mod others;
mod panics;
mod receives_too_much;

use super::*;
use crate::abi::{
    self, Failure, OK, Part, RawAcceptor, RawConnection, RawGuarantees, RawLink, Table, Text,
};
use crate::{Fault, export};
use punctual_cdr::{Block, Segment};
use punctual_link::iiop::Iiop;
use punctual_link::{BlockPool, Cause, Framing, Pending, SendError, Waitable};
use std::ffi::c_int;
use std::io::{self, IoSlice};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Returns the link that a static table of functions provides.
fn take_in(table: &'static Table) -> Result<Arc<dyn Link>, PluginError> {
    // SAFETY: a whole table, there permanently.
    opened(unsafe { Library::with_table(Path::new("in-process"), table, None) }?)
}
