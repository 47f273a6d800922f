//! Connecting without a call.

use super::remote::Callee;
use super::route::Route;
use crate::exception::{SystemException, SystemExceptionKind};
use crate::lane::ClientConnection;
use punctual_exec::Deadline;
use std::sync::Arc;

/// A connection by which calls go now.
pub(crate) fn connection(callee: Callee<'_>) -> Result<Arc<ClientConnection>, SystemException> {
    let effective = callee.effective();
    let deadline = Deadline::after_maybe(callee.timeout_under(&effective));
    let bound = |two_way| {
        let mut route = Route::new(&callee, effective.clone(), two_way);
        let binding = route.bind(&callee, deadline)?;
        route.remember(&callee, &binding);
        Ok(binding.connection)
    };
    // Where there are protocols for one-ways only, those.
    bound(true).or_else(|exception: SystemException| match exception.kind() {
        SystemExceptionKind::InvPolicy => bound(false),
        _ => Err(exception),
    })
}
