//! Terms of calls along a remembered path that leads to an object group.

use super::target::Target;
use crate::broker::Broker;
use crate::fixed_context::{CallPolicies, RequestContext};
use crate::groups::{GroupTerms, GroupVersion};
use crate::lane::Endpoint;
use crate::policy::Effective;
use std::sync::Arc;

/// Terms of the calls along a remembered path to an object group.
#[derive(Debug)]
pub(super) struct GroupPath {
    pub(super) terms: GroupTerms,
    pub(super) version: u32,
}

impl GroupPath {
    /// Returns the terms of calls along a path through these targets; `None` if none of them is a group's.
    pub(super) fn along(
        broker: &Broker,
        effective: &Effective,
        levels: &[(Arc<Target>, Option<Arc<Endpoint>>)],
    ) -> Option<Self> {
        let groups = broker.groups()?;
        let mut targets = levels.iter().rev();
        let version =
            targets.find_map(|(target, _)| Some(target.stated().group.as_ref()?.version))?;
        let terms = groups.terms(CallPolicies(effective), broker.config());
        Some(Self { terms, version })
    }

    /// Returns the service contexts of the calls, after those that all calls carry.
    pub(super) fn contexts(
        &self,
        wanted: &[Arc<dyn RequestContext>],
    ) -> Arc<[Arc<dyn RequestContext>]> {
        let version: Arc<dyn RequestContext> = Arc::new(GroupVersion(self.version));
        let own = [version, self.terms.request.clone()];
        wanted.iter().cloned().chain(own).collect()
    }
}
