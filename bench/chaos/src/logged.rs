//! A member of the passive group that logs its requests, as a process.

use crate::idl::chaos::Subject;
use crate::replica::Replica;
use crate::subject::Held;
use punctual::poa::servant_of;
use punctual::{ObjectRef, Poa};
use punctual_groups_requests::{LoggedMember, LoggedOptions};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Lease of a member.
const LEASE: Duration = Duration::from_millis(400);

/// Requests after which the next one is stored with a checkpoint.
const CHECKPOINT_AFTER: usize = 100;

/// Pause between two looks at the member.
const PAUSE: Duration = Duration::from_millis(100);

/// Runs a member until it is killed.
///
/// # Errors
/// It cannot begin, has left its group, or has run a request again with another reply.
pub(crate) fn run(
    (services, group): (&ObjectRef, &ObjectRef),
    location: &str,
    poa: &Poa,
    dies: Arc<AtomicBool>,
) -> Result<(), Box<dyn Error>> {
    let replica = Replica::new(dies);
    let servant = servant_of::<Subject, _>(Arc::new(Held(replica.clone())));
    let options = LoggedOptions {
        lease: LEASE,
        reads: ["sum", "read", "echo"].map(str::to_owned).into(),
        checkpoint_after: CHECKPOINT_AFTER,
        ..LoggedOptions::default()
    };
    let member = LoggedMember::begin(services, group, location, poa, servant, options)?;
    let name = format!("{location}-{}", std::process::id());
    replica.name_reader(name, member.guard());
    loop {
        if let Some(why) = member.failure() {
            return Err(why.into());
        }
        if member.differences() > 0 {
            return Err("a request was answered otherwise when it was run again".into());
        }
        std::thread::sleep(PAUSE);
    }
}
