//! Records of served requests in the timeline.

use super::connection::ServerConnection;
use crate::priority::Priority;
use crate::timeline::{self, RequestId, Stage};

/// A request of which a timeline is being recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordedRequest {
    request: RequestId,
    read_at: u64,
}

impl RecordedRequest {
    /// Records that the calling thread has read a request.
    #[cold]
    #[inline(never)]
    pub(super) fn read(connection: &ServerConnection, request: u32) -> Self {
        let request = connection.recorded_request(request);
        let read_at = timeline::record_stage(Stage::Read, request, Priority::of_thread());
        Self { request, read_at }
    }

    /// Records that the request waits for a thread, at this priority.
    #[cold]
    pub(super) fn record_queued(&self, priority: Option<Priority>) {
        timeline::record_stage(Stage::Queued, self.request, priority);
    }

    /// Records that the upcall begins. Returns the outer request, in whose upcall the thread was
    /// before.
    #[cold]
    #[inline(never)]
    pub(super) fn record_upcall(&self, connection: &ServerConnection) -> Option<RequestId> {
        let began = timeline::record_stage(Stage::Upcall, self.request, Priority::of_thread());
        let counters = &connection.lane().counters;
        counters.record_wait(began.saturating_sub(self.read_at));
        timeline::is_in_upcall(Some(self.request))
    }

    /// Records that the upcall ends; `before` is the result of [`RecordedRequest::record_upcall`].
    #[cold]
    #[inline(never)]
    pub(super) fn record_upcall_end(&self, before: Option<RequestId>) {
        timeline::record_stage(Stage::UpcallEnd, self.request, Priority::of_thread());
        // Afterwards: the operation that was served for the request is forgotten.
        timeline::is_in_upcall(before);
    }

    /// Records that the reply has been sent, or is queued until the peer accepts it.
    #[cold]
    #[inline(never)]
    pub(super) fn record_answered(&self) {
        timeline::record_stage(Stage::Replied, self.request, Priority::of_thread());
    }
}
