//! Service contexts of the ORB's requests, with their data.

use crate::fixed_context::RequestContext;
use std::sync::Arc;

/// Service contexts as pairs of id and data.
pub(super) type FilledContexts = Vec<(u32, Vec<u8>)>;

/// Returns the service contexts of the ORB's requests, with their data for a call by the calling
/// thread.
pub(super) fn filled(contexts: &[Arc<dyn RequestContext>]) -> FilledContexts {
    let filled = contexts.iter().map(|context| {
        let mut data = vec![0; context.length()];
        context.fill(&mut data);
        (context.id(), data)
    });
    filled.collect()
}
