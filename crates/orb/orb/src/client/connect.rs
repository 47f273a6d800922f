//! Set-up of connections without a call, and the reasons why a connection is impossible.

use super::preference::{NoEndpoint, chosen};
use super::remote::Callee;
use super::route::Route;
use crate::exception::{SystemException, SystemExceptionKind};
use crate::lane::ClientConnection;
use crate::policy::Policy;
use punctual_exec::Deadline;
use std::sync::Arc;

/// Returns the connection that calls to the object currently use; sets one up if needed.
pub(crate) fn connection(callee: Callee<'_>) -> Result<Arc<ClientConnection>, SystemException> {
    let effective = callee.effective();
    let deadline = Deadline::after_optional(callee.timeout_under(&effective));
    let bound = |two_way| {
        let mut route = Route::new(&callee, effective.clone(), two_way).bound_anew();
        let binding = route.bind(&callee, deadline)?;
        route.remember(&callee, &binding);
        Ok(binding.connection)
    };
    // Falls back to protocols that carry one-ways only.
    bound(true).or_else(|exception: SystemException| match exception.kind() {
        SystemExceptionKind::InvPolicy => bound(false),
        _ => Err(exception),
    })
}

/// Returns the policies that exclude any two-way call to a reference, judged by the contents of the
/// reference alone.
pub(crate) fn inconsistent(callee: Callee<'_>) -> Vec<Policy> {
    let effective = callee.effective();
    if let Some(contradicting) = effective.contradicting() {
        return contradicting.to_vec();
    }
    match chosen(&callee.object.base(), callee.lane, &effective, true) {
        Err(NoEndpoint::Unmet(unmet)) => effective.of_types(&unmet.types),
        _ => Vec::new(),
    }
}
