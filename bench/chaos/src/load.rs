//! Clients: threads that call the groups, and note what they were answered.

use crate::fleet::{ACTIVE, services};
use crate::history::{Answer, End, Kind, Operation, Time};
use crate::idl::chaos::{self, Subject};
use crate::net::HOSTS;
use crate::random::Random;
use parking_lot::Mutex;
use punctual::fault_tolerance::FaultTolerance;
use punctual::{CompletionStatus, Interface, ObjectRef, Orb, SystemException};
use punctual_groups_service::punctual_managers::Replication;
use punctual_naming_client::from_text;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

/// Longest time of a call.
const PATIENCE: Duration = Duration::from_secs(2);

/// Pause between two calls of a client.
const PAUSE: Duration = Duration::from_millis(15);

/// Time after which a client asks for the current reference of its group.
const REFRESH: Duration = Duration::from_secs(5);

/// Time after which a client asks for another member of an active group.
const REFRESH_MEMBER: Duration = Duration::from_secs(1);

/// Clients of each group: those of even numbers repeat calls at other members, the others do not; those call one member of an
/// active group after the other.
pub(crate) const CLIENTS: usize = 4;

/// What all clients have in common.
#[derive(Debug)]
pub(crate) struct Load {
    begun: Instant,
    pub(crate) is_over: AtomicBool,
    /// Last value that was written to a register.
    written: AtomicI64,
    /// Histories of the groups.
    pub(crate) histories: Vec<Mutex<Vec<Operation>>>,
    /// Exceptions by their names.
    pub(crate) errors: Mutex<BTreeMap<String, u64>>,
    /// Members that answered last, by their groups.
    pub(crate) last: Vec<Mutex<String>>,
}

impl Load {
    pub(crate) fn new(groups: usize) -> Arc<Self> {
        Arc::new(Self {
            begun: Instant::now(),
            is_over: AtomicBool::new(false),
            written: AtomicI64::new(0),
            histories: (0..groups).map(|_| Mutex::default()).collect(),
            errors: Mutex::default(),
            last: (0..groups).map(|_| Mutex::default()).collect(),
        })
    }

    pub(crate) fn now(&self) -> Time {
        Time::try_from(self.begun.elapsed().as_nanos()).unwrap_or(Time::MAX)
    }

    /// Returns the number of operations, and of those that were answered.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let mut counts = (0, 0);
        for history in &self.histories {
            let history = history.lock();
            counts.0 += history.len();
            counts.1 += history
                .iter()
                .filter(|one| one.answered().is_some())
                .count();
        }
        counts
    }
}

/// Makes the ORB of a client.
///
/// # Errors
/// It does not start.
pub(crate) fn orb(repeats: bool) -> Result<Orb, Box<dyn Error>> {
    let builder = Orb::builder().configure(|config| {
        config.timeouts.connect = Some(Duration::from_millis(300));
        if repeats {
            config.fault_tolerance.request_duration = PATIENCE;
        }
    });
    let builder = match repeats {
        true => FaultTolerance::extend(builder)?,
        false => builder,
    };
    Ok(builder.build()?)
}

/// Client of one group.
pub(crate) struct Client {
    pub(crate) load: Arc<Load>,
    pub(crate) group: usize,
    pub(crate) id: u64,
    pub(crate) number: usize,
    pub(crate) reference: String,
    pub(crate) orb: Orb,
    pub(crate) seed: u64,
}

impl Client {
    /// Calls until the load is over.
    ///
    /// # Errors
    /// A reference cannot be read.
    pub(crate) fn run(&self) -> Result<(), SystemException> {
        let mut random = Random::new(self.seed, &format!("client {}", self.number));
        let manager = self.orb.string_to_object(&services())?;
        let manager = Replication::from_object(manager.with_timeout(PATIENCE));
        let mut subject = self.subject(self.orb.string_to_object(&self.reference)?);
        let is_of_member = self.group == ACTIVE && !self.number.is_multiple_of(2);
        let refresh = match is_of_member {
            true => REFRESH_MEMBER,
            false => REFRESH,
        };
        let mut refreshed = Instant::now();
        while !self.load.is_over.load(Ordering::Relaxed) {
            if refreshed.elapsed() >= refresh {
                refreshed = Instant::now();
                let current = match is_of_member {
                    true => self.member(&manager, random.below(HOSTS)),
                    false => {
                        let current = manager.get_object_group_ref_from_id(self.id);
                        current.ok().flatten()
                    }
                };
                if let Some(current) = current {
                    subject = self.subject(current.as_object().clone());
                }
            }
            let kind = match (self.group, random.below(4)) {
                (0, _) => Kind::Echo(random.below(1_000) as i64),
                (_, 0) => Kind::Add,
                (_, 1) => Kind::Sum,
                // Relaxed: only that it is another value matters.
                (_, 2) => Kind::Write(self.load.written.fetch_add(1, Ordering::Relaxed) + 1),
                _ => Kind::Read,
            };
            self.call(&subject, kind);
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Returns the member of a host, if it has joined the group.
    fn member(&self, manager: &Replication, host: usize) -> Option<ObjectRef> {
        let group = self.orb.string_to_object(&self.reference).ok()?;
        let location = from_text(&format!("h{}", host + 1)).ok()?;
        manager.get_member_ref(Some(&group), &location).ok()?
    }

    /// Asks the member of a host; returns whether it has answered all.
    pub(crate) fn asks_member(&self, host: usize) -> bool {
        let Ok(manager) = self.orb.string_to_object(&services()) else {
            return false;
        };
        let manager = Replication::from_object(manager.with_timeout(PATIENCE));
        let Some(member) = self.member(&manager, host) else {
            return false;
        };
        let member = self.subject(member);
        [Kind::Sum, Kind::Read]
            .iter()
            .all(|kind| self.call(&member, *kind))
    }

    /// Makes one call; returns whether it was answered.
    pub(crate) fn call(&self, subject: &Subject, kind: Kind) -> bool {
        let begun = self.load.now();
        let answer = match kind {
            Kind::Add => subject.add(),
            Kind::Sum => subject.sum(),
            Kind::Write(value) => subject.write(value),
            Kind::Read => subject.read(),
            Kind::Echo(value) => subject.echo(value),
        };
        let at = self.load.now();
        let end = match answer {
            Ok(chaos::Answer {
                value,
                member,
                term,
                version,
            }) => {
                if !member.is_empty() {
                    self.load.last[self.group].lock().clone_from(&member);
                }
                End::Answered(
                    at,
                    Answer {
                        value,
                        member,
                        term,
                        version,
                    },
                )
            }
            Err(exception) => {
                let (kind, completed) = (exception.kind(), exception.completed());
                let name = format!("{kind:?}, {completed:?}");
                *self.load.errors.lock().entry(name).or_default() += 1;
                match completed {
                    CompletionStatus::No => End::NotDone(at),
                    CompletionStatus::Maybe | CompletionStatus::Yes => End::Unknown(at),
                }
            }
        };
        let is_answered = matches!(end, End::Answered(..));
        self.load.histories[self.group].lock().push(Operation {
            client: self.number,
            kind,
            begun,
            end,
        });
        is_answered
    }

    pub(crate) fn subject(&self, object: ObjectRef) -> Subject {
        Subject::from_object(object.with_timeout(PATIENCE))
    }
}
