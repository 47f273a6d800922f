//! Member of an active group: its beginning and its end.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use punctual::fault_tolerance::{FaultTolerance, RequestId};
use punctual::{Interface, ObjectRef, Poa, Servant, SystemException};
use punctual_durable::{DurableError, EventLog, InvalidName, Name};
use punctual_exec::thread::{JoinHandle, ThreadSpec};
use punctual_groups_client::Guard;
use punctual_groups_client::punctual_groups::Administration;
use punctual_groups_requests::{Behind, Bound, start_answering};

use crate::appender;
use crate::digest::Taken;
use crate::executor::{Executor, PAUSE};
use crate::front::{Front, Phase, Shared};
use crate::runs::Runs;

/// Options of a member.
#[derive(Clone, Debug)]
pub struct ActiveOptions {
    /// Lease of the membership. Default: 1 s.
    pub lease: Duration,
    /// Number of the log's entries after which the primary stores the state at the service, so that the log forgets them. Default: 500.
    /// Less than what a reader may have open (`JetStreamOptions::window`).
    pub store_after: usize,
    /// Maximum number of replies that are kept for repeats until their requests expire; beyond, requests are refused by
    /// NO_RESOURCES. Default: 10,000. The same at all members.
    pub most_replies: usize,
    /// Maximum sum of the bytes of these replies' bodies, which are stored with the state: below the service's `most-state-bytes`.
    /// Default: 512 KiB. The same at all members.
    pub most_reply_bytes: usize,
    /// Maximum number of replies that are kept for one client, as the ORB on which it calls says that it is one; beyond, its requests
    /// are refused by NO_RESOURCES. Default: 2,000. The same at all members.
    pub most_replies_of_client: usize,
    /// Maximum sum of the bytes of these replies' bodies. Default: 128 KiB. The same at all members.
    pub most_reply_bytes_of_client: usize,
    /// Maximum sum of the bytes of requests that wait for the log, at this member; beyond, and of more than 4,096 requests, further
    /// ones are refused by TRANSIENT. Default: 64 MiB.
    pub most_waiting_bytes: usize,
    /// Time for which a request is tried that the ORB does not pass to the servant, as it has too much to do; then the member leaves
    /// its group. Default: 30 s.
    pub reached_within: Duration,
    /// Time within which a request is answered; then its client gets TIMEOUT, although it may be run yet. Default: 30 s.
    pub patience: Duration,
}

impl Default for ActiveOptions {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(1),
            store_after: 500,
            most_replies: 10_000,
            most_reply_bytes: 512 << 10,
            most_replies_of_client: 2_000,
            most_reply_bytes_of_client: 128 << 10,
            most_waiting_bytes: 64 << 20,
            reached_within: Duration::from_secs(30),
            patience: Duration::from_secs(30),
        }
    }
}

/// Reason why a member has not begun.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ActiveError {
    /// The location is no name of a reader of a log.
    #[error("the location: {0}")]
    Location(#[from] InvalidName),
    /// The reference is not that of an object group.
    #[error("the reference is none of an object group")]
    NotAGroup,
    /// The ORB keeps no replies for repeats (`FaultTolerance::extend`).
    #[error("the ORB has no fault tolerance: extend it by FaultTolerance::extend")]
    NoFaultTolerance,
    /// The log cannot be read or written.
    #[error(transparent)]
    Log(#[from] DurableError),
    /// The servant cannot be activated.
    #[error("the servant is not activated: {0}")]
    Servant(String),
    /// A thread cannot be started.
    #[error("no thread: {0}")]
    Thread(#[source] io::Error),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for ActiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Member of an active group, until it is dropped. It leaves the group then; its reader of the log stays, so that it can go on
/// from there.
#[derive(Debug)]
pub struct ActiveMember {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Lives longer than the threads.
    _behind: Behind,
}

impl ActiveMember {
    /// Makes a servant a member of an active group, at a location that is also the name of its reader of the log. `manager` is the
    /// service's ReplicationManager. A location has one process: one that begins while another is a member there, and answers, leaves
    /// again, and says so (`failure`). The servant implements FT::Checkpointable, and is called by the log's requests alone, one at a
    /// time. Returns before the member has a state.
    ///
    /// # Errors
    /// [`ActiveError`].
    pub fn begin(
        manager: &impl Interface,
        group: &ObjectRef,
        location: &str,
        log: Arc<dyn EventLog>,
        poa: &Poa,
        servant: Arc<dyn Servant>,
        options: ActiveOptions,
    ) -> Result<Self, ActiveError> {
        let name: Name = location.parse()?;
        let id = group.ior().group().ok_or(ActiveError::NotAGroup)?.id;
        FaultTolerance::of(group.orb()).ok_or(ActiveError::NoFaultTolerance)?;
        let reader = log.open_reader(&name)?;
        // A member that left out an entry would not have the group's state.
        reader.keep_order();
        let answers = start_answering().map_err(ActiveError::Thread)?;
        let shared = Arc::new(Shared::new(random()?, answers));
        let (queue, appending) =
            appender::start(shared.clone(), log.clone(), options.most_waiting_bytes)
                .map_err(ActiveError::Thread)?;
        let front = Front {
            shared: shared.clone(),
            queue,
            servant,
            patience: options.patience,
        };
        let failed = |exception: SystemException| ActiveError::Servant(exception.to_string());
        let behind = Behind::activate(poa, "active", front.servant.clone()).map_err(failed)?;
        let front = behind.activate_front(Arc::new(front)).map_err(failed)?;
        let executor = Executor {
            shared: shared.clone(),
            location: location.to_owned(),
            log,
            reader,
            manager: Administration::from_object(manager.as_object().clone()),
            group: group.clone(),
            group_id: id,
            front,
            behind: behind.servant().clone(),
            guard: Guard::new(),
            membership: None,
            runner: behind.runner(
                Bound {
                    replies: options.most_replies,
                    bytes: options.most_reply_bytes,
                },
                Bound {
                    replies: options.most_replies_of_client,
                    bytes: options.most_reply_bytes_of_client,
                },
                options.reached_within,
            ),
            runs: Runs::default(),
            taken: Taken::default(),
            done: 0,
            stored: 0,
            unacknowledged: VecDeque::new(),
            wanted: None,
            asked: None,
            asked_stored: None,
            term: None,
            again: None,
            pause: PAUSE,
            begun: RequestId::now(),
            options,
        };
        let running = ThreadSpec::named("group-run").start(move || executor.run());
        Ok(Self {
            shared,
            threads: vec![
                appending,
                running.map_err(|error| ActiveError::Thread(error.into()))?,
            ],
            _behind: behind,
        })
    }

    /// Returns whether the member has a state, and serves.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.shared.phase() == Phase::Active
    }

    /// Returns the reason why the member has left its group, if it has: a request could not be run here, for example, so that its
    /// state would not be the group's any more. A new member at this location takes the group's state.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        match self.shared.phase() {
            Phase::Ended(why) => Some(why),
            Phase::Starting | Phase::Active => None,
        }
    }
}

impl Drop for ActiveMember {
    fn drop(&mut self) {
        self.shared.end_soon();
        for thread in self.threads.drain(..) {
            // A panic of the thread has been reported already.
            let _ = thread.join();
        }
    }
}

fn random() -> Result<u64, ActiveError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| ActiveError::Thread(io::Error::other(error)))?;
    Ok(u64::from_be_bytes(bytes))
}
