//! Answering of requests by the object adapter, or by an exception if the thread refuses the
//! request.

use super::{Dispatcher, no_object};
use crate::priorities::BIND_PRIORITY_BAND;
use crate::server::adapter::ObjectAdapter;
use crate::server::call::{Answer, ServerCall};
use crate::server::panics::panicked;
use crate::server::recorded_request::RecordedRequest;
use crate::server::refusal::Refusal;
use punctual_giop::service_context::RT_CORBA_PRIORITY_RANGE;
use std::panic::{AssertUnwindSafe, catch_unwind};

impl Dispatcher<'_> {
    /// Returns the answer to a request for the object of this key.
    #[inline(always)]
    pub(super) fn answer(
        &self,
        key: &[u8],
        call: &mut ServerCall<'_>,
        seen: Option<RecordedRequest>,
    ) -> Answer {
        let Some(adapter) = self.connection.adapter.get() else {
            return Answer::Failed(no_object().into());
        };
        if let Some(refusal) = self.refuses {
            return self.refused(refusal);
        }
        if call.operation.len() == BIND_PRIORITY_BAND.len()
            && let Some(answer) = self.bind_band(call)
        {
            return answer;
        }
        self.upcall(&**adapter, key, call, seen)
    }

    /// Calls the object adapter. A panic of the servant becomes an exception.
    #[inline(always)]
    fn upcall(
        &self,
        adapter: &dyn ObjectAdapter,
        key: &[u8],
        call: &mut ServerCall<'_>,
        seen: Option<RecordedRequest>,
    ) -> Answer {
        let upcall = self.serving.upcall(call.arrival());
        let around = seen.map(|seen| (seen, seen.record_upcall(self.connection)));
        let dispatched = catch_unwind(AssertUnwindSafe(|| adapter.dispatch(key, call)));
        if let Some((seen, before)) = around {
            seen.record_upcall_end(before);
        }
        drop(upcall);
        match dispatched {
            Ok(Ok(_)) => Answer::Given,
            Ok(Err(error)) => Answer::Failed(error),
            Err(payload) => {
                let exception = panicked(self.conversation().peer(), call.operation(), &*payload);
                Answer::Failed(exception.into())
            }
        }
    }

    #[cold]
    fn refused(&self, refusal: Refusal) -> Answer {
        self.connection.lane().counters.count_refused();
        Answer::Failed(refusal.exception().into())
    }

    /// Returns the answer to `_bind_priority_band`, in an ORB with Real-time CORBA; `None` for another operation. In
    /// other ORBs it is passed to the servant, which does not know it.
    #[cold]
    fn bind_band(&self, call: &mut ServerCall<'_>) -> Option<Answer> {
        if call.operation != BIND_PRIORITY_BAND {
            return None;
        }
        let priorities = self.conversation().broker().priorities.as_ref()?;
        let range = call.contexts().find(RT_CORBA_PRIORITY_RANGE);
        Some(match priorities.band(range) {
            Ok(band) => match call.reply(|_| Ok(())) {
                Ok(_) => {
                    self.connection.set_band(*band.start());
                    Answer::Given
                }
                Err(error) => Answer::Failed(error),
            },
            Err(exception) => Answer::Failed(exception.into()),
        })
    }
}
