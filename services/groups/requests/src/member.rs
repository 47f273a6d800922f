//! Member of a passive group that logs its requests: its beginning and its end.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use punctual::config::Concurrency;
use punctual::fault_tolerance::FaultTolerance;
use punctual::policy::Wait;
use punctual::{Interface, ObjectRef, Poa, Servant, SystemException, SystemExceptionKind as Kind};
use punctual_groups_client::{Guard, MemberOptions, Membership};

use crate::behind::Behind;
use crate::front::Front;
use crate::log::{CheckpointAfter, Log};
use crate::queue::Load;
use crate::replies::Bound;

/// Options of a member.
#[derive(Clone, Debug)]
pub struct LoggedOptions {
    /// Lease of the membership. Default: 1 s.
    pub lease: Duration,
    /// Operations that leave the state as it is, by their names: their requests are not logged, and may run at the same time as
    /// others. The reading of attributes needs no mention. Default: none.
    pub reads: Vec<String>,
    /// Number of requests after which the next ones are stored with a checkpoint, which ends the log: the next primary runs those since
    /// the checkpoint. Default: 500. The service asks for one at its own limits, too (`most-updates`, `most-update-bytes`).
    pub checkpoint_after: usize,
    /// Sum of the bytes of these requests after which that is so. Default: 512 KiB.
    pub checkpoint_after_bytes: usize,
    /// Maximum number of replies that are kept for repeats until their requests expire; beyond, requests are refused by
    /// NO_RESOURCES. Default: 10,000.
    pub most_replies: usize,
    /// Maximum sum of the bytes of these replies' bodies, which are stored with checkpoints: below the service's `most-state-bytes`. The replies to
    /// requests that are stored together, 64 at most, may have more if they are longer than those before. Default: 512 KiB.
    pub most_reply_bytes: usize,
    /// Maximum number of replies that are kept for one client, as the ORB on which it calls says that it is one; beyond, its requests
    /// are refused by NO_RESOURCES. Default: 2,000.
    pub most_replies_of_client: usize,
    /// Maximum sum of the bytes of these replies' bodies. Default: 128 KiB.
    pub most_reply_bytes_of_client: usize,
    /// Time for which a logged request is tried that the ORB does not pass to the servant, as it has too much to do; then the member
    /// leaves its group. Default: 30 s.
    pub reached_within: Duration,
}

impl Default for LoggedOptions {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(1),
            reads: Vec::new(),
            checkpoint_after: 500,
            checkpoint_after_bytes: 512 << 10,
            most_replies: 10_000,
            most_reply_bytes: 512 << 10,
            most_replies_of_client: 2_000,
            most_reply_bytes_of_client: 128 << 10,
            reached_within: Duration::from_secs(30),
        }
    }
}

/// Member of a passive group that stores each request before it is run, and its state only now and then. It leaves the group when
/// it is dropped.
pub struct LoggedMember {
    log: Arc<Log>,
    load: Arc<Load>,
    guard: Guard,
    /// Lives as long as the member.
    _behind: Behind,
}

impl fmt::Debug for LoggedMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoggedMember")
            .field("guard", &self.guard)
            .field("failure", &self.failure())
            .finish_non_exhaustive()
    }
}

impl LoggedMember {
    /// Makes a servant a member of a passive group at a location, which is a name as text. `manager` is the service's
    /// ReplicationManager. The servant implements FT::Checkpointable, is deterministic, and runs one request at a time but for those
    /// of `reads`. If the service cannot be reached, now or later, that is tried again.
    ///
    /// # Errors
    /// BAD_PARAM if the location is no name; BAD_INV_ORDER if the ORB keeps no replies for repeats (`FaultTolerance::extend`), or has a
    /// concurrency or a way to wait by which it would wait for itself;
    /// INITIALIZE if the servant cannot be activated; NO_RESOURCES if no thread can be started.
    pub fn begin(
        manager: &impl Interface,
        group: &ObjectRef,
        location: &str,
        poa: &Poa,
        servant: Arc<dyn Servant>,
        options: LoggedOptions,
    ) -> Result<Self, SystemException> {
        if FaultTolerance::of(poa.orb()).is_none() {
            let why = "the ORB has no fault tolerance: extend it by FaultTolerance::extend";
            return Err(Kind::BadInvOrder.because(why));
        }
        let config = poa.orb().config();
        if config.concurrency == Concurrency::Reactive || config.wait != Wait::default() {
            // It would wait for itself: requests are run by calls of this ORB on itself, and states transferred meanwhile.
            let why = "members that log requests need an ORB with `concurrency` other than `reactive`, and `wait` as by default";
            return Err(Kind::BadInvOrder.because(why));
        }
        let behind = Behind::activate(poa, "logged", servant.clone())?;
        let runner = behind.runner(
            Bound {
                replies: options.most_replies,
                bytes: options.most_reply_bytes,
            },
            Bound {
                replies: options.most_replies_of_client,
                bytes: options.most_reply_bytes_of_client,
            },
            options.reached_within,
        );
        let after = CheckpointAfter {
            requests: options.checkpoint_after,
            bytes: options.checkpoint_after_bytes,
        };
        let log = Arc::new(Log::new(runner, behind.servant(), after));
        let guard = Guard::new();
        let front = Front::start(&log, servant, options.reads);
        let front =
            front.map_err(|error| Kind::NoResources.because(format!("no thread: {error}")))?;
        let load = front.load().clone();
        let front = behind.activate_front(guard.around(Arc::new(front)))?;
        let membership = Membership::begin(
            manager,
            group,
            location,
            &front,
            MemberOptions::with_lease(options.lease)
                .guard(&guard)
                .passive(),
        )?;
        log.join(membership);
        Ok(Self {
            log,
            load,
            guard,
            _behind: behind,
        })
    }

    /// Returns whether the member has joined, and its lease has not been lost since.
    #[must_use]
    pub fn has_joined(&self) -> bool {
        let membership = self.log.membership();
        membership.is_some_and(|membership| membership.has_joined())
    }

    /// Returns the guard before the servant, which knows whether the member is primary, and in which term.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Returns the reason why the member has left its group, if it has: the servant has not run a request that is in the log. A new
    /// member at this location takes the group's state.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.log.failure()
    }

    /// Returns the number of requests that have come and have not been run: those that are being stored or run, and those that wait for that.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.load.requests()
    }

    /// Returns how many replies were others when their requests were run again here: the servant is not deterministic, or its replies
    /// say which member it is.
    #[must_use]
    pub fn differences(&self) -> u64 {
        self.log.differences()
    }
}

impl Drop for LoggedMember {
    fn drop(&mut self) {
        self.log.end();
    }
}
