//! A member of the active group, as a process: a counter and a register, whose requests come by a log on JetStream.

use crate::idl::chaos::{Answer, Subject, SubjectServant};
use crate::net::HOSTS;
use parking_lot::Mutex;
use punctual::Interface;
use punctual::poa::servant_of;
use punctual::{ObjectRef, Poa, SystemException};
use punctual_durable::{DurableError, EventLog, EventStore, LogSettings, Quota};
use punctual_groups_active::{ActiveError, ActiveMember, ActiveOptions};
use punctual_groups_client::ft::{
    CheckpointableGetStateError, CheckpointableServant, CheckpointableSetStateError, InvalidState,
    PullMonitorableServant, State,
};
use punctual_groups_service::punctual_managers::Replication;
use punctual_jetstream::{JetStreamOptions, JetStreamStore};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Lease of a member.
const LEASE: Duration = Duration::from_millis(400);

/// Entries of the log after which the primary stores the state.
const STORE_AFTER: usize = 100;

/// Pause between two attempts to reach the log, and between two looks at the member.
const PAUSE: Duration = Duration::from_millis(100);

/// Servant of the log's requests. Its answers name no member: they are the same at all of them.
struct Replica {
    /// Set by a signal: the process ends when it has made its next change, before the client is answered.
    dies: Arc<AtomicBool>,
    state: Mutex<Contents>,
}

#[derive(Clone, Copy, Default)]
struct Contents {
    sum: i64,
    register: i64,
    version: u64,
}

impl Contents {
    fn answer(self, value: i64) -> Answer {
        Answer {
            value,
            member: String::new(),
            term: 0,
            version: self.version,
        }
    }

    fn to_bytes(self) -> Vec<u8> {
        [
            self.sum.to_be_bytes(),
            self.register.to_be_bytes(),
            self.version.to_be_bytes(),
        ]
        .concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (sum, rest) = bytes.split_first_chunk()?;
        let (register, rest) = rest.split_first_chunk()?;
        Some(Self {
            sum: i64::from_be_bytes(*sum),
            register: i64::from_be_bytes(*register),
            version: u64::from_be_bytes(rest.try_into().ok()?),
        })
    }
}

impl Replica {
    fn change(&self, edit: impl FnOnce(&mut Contents) -> i64) -> Result<Answer, SystemException> {
        let mut state = self.state.lock();
        let value = edit(&mut state);
        state.version += 1;
        if self.dies.load(Ordering::Relaxed) {
            std::process::abort();
        }
        Ok(state.answer(value))
    }
}

impl SubjectServant for Replica {
    fn add(&self) -> Result<Answer, SystemException> {
        self.change(|state| {
            state.sum += 1;
            state.sum
        })
    }

    fn sum(&self) -> Result<Answer, SystemException> {
        let state = self.state.lock();
        Ok(state.answer(state.sum))
    }

    fn write(&self, value: i64) -> Result<Answer, SystemException> {
        self.change(|state| {
            state.register = value;
            value
        })
    }

    fn read(&self) -> Result<Answer, SystemException> {
        let state = self.state.lock();
        Ok(state.answer(state.register))
    }

    fn echo(&self, value: i64) -> Result<Answer, SystemException> {
        Ok(self.state.lock().answer(value))
    }
}

impl CheckpointableServant for Replica {
    fn get_state(&self) -> Result<State, CheckpointableGetStateError> {
        Ok(self.state.lock().to_bytes())
    }

    fn set_state(&self, s: &[u8]) -> Result<(), CheckpointableSetStateError> {
        *self.state.lock() = Contents::from_bytes(s).ok_or(InvalidState)?;
        Ok(())
    }
}

impl PullMonitorableServant for Replica {
    fn is_alive(&self) -> Result<bool, SystemException> {
        Ok(true)
    }
}

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
    let replica = Arc::new(Replica {
        dies,
        state: Mutex::default(),
    });
    let member = loop {
        let begun = log(servers).map_err(ActiveError::from).and_then(|log| {
            ActiveMember::begin(
                &manager,
                group,
                location,
                log,
                poa,
                servant_of::<Subject, _>(replica.clone()),
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
