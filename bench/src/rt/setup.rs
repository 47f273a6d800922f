//! Setup of both processes of a pair: contender, link and priorities.

use crate::Result;
use clap::ValueEnum;
use punctual::rt::{Mapping, NativePolicy, Priority, RtConfig, RtOrb};
use punctual_exec::ThreadSpec;
use punctual_exec::thread::Scheduling;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Priority of the high client.
pub(super) const HIGH: i16 = 80;
/// Lowest priority of a low client; unless all are alike, each further client has the next higher
/// one.
pub(super) const LOWEST: i16 = 10;
/// Upper bound of the number of low clients, so that all their priorities are below [`HIGH`].
pub(super) const MOST: u16 = 64;
/// Priority of the threads that carry out the harness's commands, and of those that accept raw
/// connections.
pub(super) const CONTROL: i16 = 95;
/// Priority of the thread that ends a process that takes too long.
const WATCHDOG: i16 = 99;

/// Contenders of the experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Contender {
    /// Punctual with an endpoint, and thereby a lane of threads, for each priority.
    Lanes,
    /// Punctual with one endpoint, whose pool of threads takes each request's priority for its upcall.
    Pool,
    /// Punctual with one endpoint, whose thread pool buffers requests and serves them in the order
    /// of their priorities.
    BufferedPool,
    /// Punctual with one endpoint, and a thread for each connection.
    PerConnection,
    /// Punctual with an ORB and a plain endpoint for each priority, in one process.
    OrbAThread,
    /// omniORB, which knows no priorities: its server's threads are ordinary ones.
    #[value(name = "omniorb")]
    #[serde(rename = "omniorb")]
    OmniOrb,
    /// omniORB, with the high client's priority for its server's threads, whatever client they
    /// serve.
    #[value(name = "omniorb-fifo")]
    #[serde(rename = "omniorb-fifo")]
    OmniOrbFifo,
    /// Raw sockets, and for each connection a thread of its client's priority.
    Floor,
}

/// Link over which the calls are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Link {
    /// Unix sockets.
    Uiop,
    /// Shared memory. Its figures are compared with those of raw Unix sockets.
    Shmiop,
    /// TCP.
    Iiop,
}

/// Setup of a pair of processes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    /// Contender that the pair runs.
    pub(super) contender: Contender,
    /// Link over which the calls are made.
    pub(super) link: Link,
    /// Number of low clients.
    pub(super) low: u16,
    /// Set to give all low clients the same priority.
    pub(super) alike: bool,
    /// Set to schedule threads by SCHED_OTHER.
    pub(super) best_effort: bool,
    /// Processor time of each upcall, in microseconds.
    pub(super) work: u64,
    /// Native priority of a pool's threads between upcalls.
    pub(super) pool_priority: i16,
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.to_possible_value();
        f.write_str(name.as_ref().map_or("", |name| name.get_name()))
    }
}

impl Link {
    /// Returns the address to listen on, followed by the given options of the endpoint.
    pub(super) fn endpoint(self, options: &str) -> String {
        match self {
            Self::Uiop => format!("uiop://|{options}"),
            Self::Shmiop => format!("shmiop://|{options}"),
            Self::Iiop => format!("iiop://127.0.0.1:0/{options}"),
        }
    }
}

impl Setup {
    /// Returns the processor time of an upcall.
    pub(super) fn work(&self) -> Duration {
        Duration::from_micros(self.work)
    }

    /// Returns the priority of a client, given its number: number 0 is the high client, the low
    /// clients follow.
    pub(super) fn priority_of(&self, client: u16) -> i16 {
        match client.checked_sub(1) {
            None => HIGH,
            Some(_) if self.alike => LOWEST,
            Some(low) => LOWEST.saturating_add_unsigned(low),
        }
    }

    /// Returns the distinct priorities of the clients, the high client's first.
    pub(super) fn priorities(&self) -> Vec<i16> {
        let mut all: Vec<i16> = (0..=self.low)
            .map(|client| self.priority_of(client))
            .collect();
        all.dedup();
        all
    }

    /// Returns the native priority that a thread gets for the given one: 0, which is none, if
    /// threads are scheduled by SCHED_OTHER.
    pub(super) fn native(&self, priority: i16) -> i16 {
        if self.best_effort { 0 } else { priority }
    }

    /// Returns the scheduling policy and priority of a thread, given its native priority.
    pub(super) fn scheduling(&self, priority: i16) -> Scheduling {
        match self.native(priority) {
            0 => Scheduling::Other,
            priority => Scheduling::Fifo {
                priority: i32::from(priority),
            },
        }
    }

    /// Returns the specification of a thread, given its name and native priority.
    pub(super) fn thread(&self, name: String, priority: i16) -> ThreadSpec {
        ThreadSpec::named(name).scheduling(self.scheduling(priority))
    }

    /// Returns the specification of the watchdog thread, which ends the process when it takes too
    /// long.
    pub(super) fn watchdog(&self) -> ThreadSpec {
        self.thread("rt-watchdog".to_owned(), WATCHDOG)
    }

    /// Returns the specification of a thread that takes commands, or accepts connections; its
    /// priority is above those of all clients and of the threads that serve them.
    pub(super) fn control(&self, name: &str) -> ThreadSpec {
        self.thread(name.to_owned(), CONTROL)
    }

    /// Returns the ORB's settings for Real-time CORBA.
    ///
    /// # Errors
    /// The machine does not grant the priorities; the message has advice.
    pub(super) fn rt_orb(&self) -> Result<Arc<RtOrb>> {
        rt_orb(self.best_effort)
    }
}

/// Returns settings that map CORBA priorities directly to SCHED_FIFO priorities; with
/// `best_effort`, priorities are only propagated.
///
/// # Errors
/// The machine does not grant SCHED_FIFO; the message has advice.
pub(super) fn rt_orb(best_effort: bool) -> Result<Arc<RtOrb>> {
    let config = match best_effort {
        true => RtConfig {
            policy: NativePolicy::Other,
            ..RtConfig::default()
        },
        false => RtConfig {
            mapping: Mapping::Direct,
            ..RtConfig::default()
        },
    };
    Ok(RtOrb::new(config)?)
}

/// Converts a number to a CORBA priority.
pub(super) fn corba(priority: i16) -> Result<Priority> {
    Ok(Priority::new(priority)?)
}

#[cfg(test)]
pub(super) fn sample(contender: Contender) -> Setup {
    Setup {
        contender,
        link: Link::Uiop,
        low: 3,
        alike: false,
        best_effort: true,
        work: 0,
        pool_priority: LOWEST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_low_client_is_below_the_high_one() {
        let mut setup = sample(Contender::Lanes);
        assert_eq!(setup.priorities(), [HIGH, 10, 11, 12]);
        setup.low = MOST;
        assert!(setup.priorities()[1..].iter().all(|low| *low < HIGH));
        setup.alike = true;
        assert_eq!(setup.priorities(), [HIGH, LOWEST]);
    }
}
