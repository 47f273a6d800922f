//! The servant that clients call, behind the guard: a request that may change the state is logged and run, and one that reads it
//! goes to the servant at once, as what the servant has done is in the log.

use std::any::Any;
use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use punctual::about_to_block;
use punctual::fault_tolerance::FT_REQUEST;
use punctual::poa::{DispatchError, Dispatched, ServerCall, servant_of};
use punctual::{Servant, SystemExceptionKind as Kind};
use punctual_groups_client::ft::Updateable;

use crate::log::{Log, Transfers};
use crate::queue::{Load, Queue};
use crate::requests::Request;

/// Operations by which states are transferred.
const OF_STATES: [&str; 4] = ["get_state", "set_state", "get_update", "set_update"];

/// Servant that clients call.
pub(crate) struct Front {
    log: Arc<Log>,
    queue: Queue,
    servant: Arc<dyn Servant>,
    transfers: Arc<dyn Servant>,
    reads: Vec<String>,
}

impl Front {
    /// Makes the servant, and starts the thread that has requests stored and run.
    ///
    /// # Errors
    /// The reason why no thread can be started.
    pub(crate) fn start(
        log: &Arc<Log>,
        servant: Arc<dyn Servant>,
        reads: Vec<String>,
    ) -> io::Result<Self> {
        Ok(Self {
            log: log.clone(),
            queue: Queue::start(log)?,
            servant,
            transfers: servant_of::<Updateable, _>(Arc::new(Transfers(log.clone()))),
            reads,
        })
    }

    /// Returns what waits for the log.
    pub(crate) fn load(&self) -> &Arc<Load> {
        self.queue.load()
    }

    /// Returns whether an operation leaves the state as it is: one that the options say, the reading of an attribute, and those of
    /// every object.
    fn reads(&self, operation: &str) -> bool {
        let is_of_attribute_or_object = operation.starts_with('_');
        (is_of_attribute_or_object && !operation.starts_with("_set_"))
            || self.reads.iter().any(|one| one == operation)
    }
}

impl Servant for Front {
    fn repository_ids(&self) -> &'static [&'static str] {
        self.servant.repository_ids()
    }

    fn primary_interface(&self) -> Cow<'_, str> {
        self.servant.primary_interface()
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.servant.is_a(repository_id)
    }

    fn is_dynamic(&self) -> bool {
        self.servant.is_dynamic()
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        let operation = call.operation();
        if OF_STATES.contains(&operation) {
            let _ = about_to_block();
            return self.transfers.dispatch(call);
        }
        if operation == "is_alive" {
            return self.servant.dispatch(call);
        }
        if self.reads(operation) {
            self.log.check_whole()?;
            return self.servant.dispatch(call);
        }
        let request = Request::of(call)?;
        if request.identity.is_empty() && call.contexts().find(FT_REQUEST).is_some() {
            let why = "this member has not joined its group yet, or has left it";
            return Err(Kind::Transient.because(why).into());
        }
        self.log.check_whole()?;
        if !call.expects_reply() {
            self.queue.add(request, None)?;
            return call.reply(|_| Ok(()));
        }
        let (client, dispatched) = call.answer_later()?;
        self.queue.add(request, Some(client))?;
        Ok(dispatched)
    }

    /// The typed servant is not offered to callers of this process: their calls are logged, too.
    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        self
    }
}
