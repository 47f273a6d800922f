//! Wrapper of an ORB's object adapter, for crates built on this one.

use super::adapter::ObjectAdapter;
use crate::config::OrbConfig;
use std::fmt::Debug;
use std::sync::Arc;

/// Wrapper of an ORB's object adapter ([`crate::OrbBuilder::adapter_wrapper`]), by which another crate sees each request before
/// it is dispatched and after it has been answered. It stands around interceptors, too.
pub trait AdapterWrapper: Send + Sync + Debug {
    /// Returns the adapter to which requests are passed instead. Called once, when the ORB gets its adapter. It has to
    /// pass on all that it does not answer itself.
    fn around(&self, adapter: Arc<dyn ObjectAdapter>, config: &OrbConfig)
    -> Arc<dyn ObjectAdapter>;
}
