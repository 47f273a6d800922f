//! Connecting without a call, and why that cannot be.

use super::preference::{NoneChosen, chosen};
use super::remote::Callee;
use super::route::Route;
use crate::exception::{SystemException, SystemExceptionKind};
use crate::lane::ClientConnection;
use crate::policy::Policy;
use punctual_exec::Deadline;
use std::sync::Arc;

/// A connection by which calls go now.
pub(crate) fn connection(callee: Callee<'_>) -> Result<Arc<ClientConnection>, SystemException> {
    let effective = callee.effective();
    let deadline = Deadline::after_maybe(callee.timeout_under(&effective));
    let bound = |two_way| {
        let mut route = Route::new(&callee, effective.clone(), two_way).bound_anew();
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

/// The policies because of which no call with a reply can go to a reference, as far as it itself tells.
pub(crate) fn inconsistent(callee: Callee<'_>) -> Vec<Policy> {
    let effective = callee.effective();
    if let Some(contradicting) = effective.contradicting() {
        return contradicting.to_vec();
    }
    match chosen(&callee.object.base(), callee.lane, &effective, true) {
        Err(NoneChosen::Unmet(unmet)) => effective.of_types(&unmet.types),
        _ => Vec::new(),
    }
}
