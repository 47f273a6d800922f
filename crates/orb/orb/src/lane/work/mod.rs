//! Work that a pool lane's threads do beside reading requests: they serve buffered requests, and
//! serve lanes of higher priority that borrow them (Real-time CORBA 1.2, §5.10).

mod buffer;
mod lending;

pub use buffer::BufferLimits;
pub(crate) use buffer::{Buffered, RequestBuffer};
pub use lending::Borrowers;
pub(crate) use lending::{Lender, VisitRequests};

use punctual_exec::reactor::Work;
use std::sync::Arc;

/// Work of the threads of one lane of a pool.
#[derive(Debug)]
pub(super) struct PoolWork {
    /// Lanes that have borrowed threads; served first, as their requests are more urgent.
    pub(super) visits: Arc<VisitRequests>,
    pub(super) buffer: Option<Arc<RequestBuffer>>,
}

impl Work for PoolWork {
    fn is_waiting(&self) -> bool {
        !self.visits.is_empty() || self.buffer.as_ref().is_some_and(|one| !one.is_empty())
    }

    fn do_next(&self) -> bool {
        self.visits.make_next_visit() || self.buffer.as_ref().is_some_and(|one| one.serve_next())
    }
}
