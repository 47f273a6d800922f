//! A member of the active group, as a process, whose requests come by a log on JetStream.

use crate::idl::chaos::Subject;
use crate::net::HOSTS;
use crate::replica::Replica;
use crate::subject::Held;
use punctual::poa::servant_of;
use punctual::{Interface, ObjectRef, Poa};
use punctual_durable::{DurableError, EventLog, EventStore, LogSettings, Quota};
use punctual_groups_active::{ActiveError, ActiveMember, ActiveOptions};
use punctual_groups_service::punctual_managers::Replication;
use punctual_jetstream::{JetStreamOptions, JetStreamStore};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Lease of a member.
const LEASE: Duration = Duration::from_millis(400);

/// Entries of the log after which the primary stores the state.
const STORE_AFTER: usize = 100;

/// Pause between two attempts to reach the log, and between two looks at the member.
const PAUSE: Duration = Duration::from_millis(100);

/// Runs a member until it is killed.
///
/// # Errors
/// It cannot begin, or has left its group.
pub(crate) fn run(
    (services, group): (&ObjectRef, &ObjectRef),
    location: &str,
    poa: &Poa,
    servers: &[String],
    dies: Arc<AtomicBool>,
) -> Result<(), Box<dyn Error>> {
    let manager = Replication::from_object(services.clone());
    let replica = Replica::new(dies);
    let member = loop {
        let begun = log(servers).map_err(ActiveError::from).and_then(|log| {
            ActiveMember::begin(
                &manager,
                group,
                location,
                log,
                poa,
                servant_of::<Subject, _>(Arc::new(Held(replica.clone()))),
                ActiveOptions {
                    lease: LEASE,
                    store_after: STORE_AFTER,
                    ..ActiveOptions::default()
                },
            )
        });
        match begun {
            Ok(member) => break member,
            // Its servers are starting, or have no leader.
            Err(ActiveError::Log(error @ (DurableError::Away(_) | DurableError::Unknown(_)))) => {
                eprintln!("the log is away: {error}");
                std::thread::sleep(PAUSE);
            }
            Err(error) => return Err(error.into()),
        }
    };
    loop {
        if let Some(why) = member.failure() {
            return Err(why.into());
        }
        std::thread::sleep(PAUSE);
    }
}

fn log(servers: &[String]) -> Result<Arc<dyn EventLog>, DurableError> {
    let store = JetStreamStore::open(JetStreamOptions {
        replicas: HOSTS,
        patience: Duration::from_secs(3),
        // A process that was killed holds its entries for so long.
        acknowledge_wait: Duration::from_secs(1),
        ..JetStreamOptions::new(servers)
    })?;
    let settings = LogSettings {
        quota: Quota {
            events: 100_000,
            bytes: 16 << 20,
            ..Quota::default()
        },
        ..LogSettings::default()
    };
    store.open_log(
        &"chaos"
            .parse()
            .map_err(|error: punctual_durable::InvalidName| {
                DurableError::Invalid(error.to_string())
            })?,
        settings,
    )
}
