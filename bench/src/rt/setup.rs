//! What both processes of a pair are told: who competes, by which link, with which priorities.

use crate::Result;
use crate::peer::run_at;
use clap::{Args, ValueEnum};
use punctual::rt::{Mapping, NativePolicy, Priority, RtConfig, RtOrb};
use punctual_exec::ThreadSpec;
use punctual_exec::thread::Scheduling;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The high client's priority.
pub(super) const HIGH: i16 = 80;
/// The lowest of the low clients' priorities; each has the next one.
pub(super) const LOWEST: i16 = 10;
/// Low clients at most, so that all of their priorities are below [`HIGH`].
pub(super) const MOST: u16 = 64;
/// That of the thread which takes the harness's commands, and of what accepts raw connections.
pub(super) const CONTROL: i16 = 95;
/// That of the thread which ends a process that takes too long.
const WATCHDOG: i16 = 99;

/// Who is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Contender {
    /// Punctual with an endpoint, and by that a lane of threads, for each priority.
    Lanes,
    /// Punctual with one endpoint, whose pool of threads takes each request's priority for its upcall.
    Pool,
    /// The same, but the pool buffers requests, and serves them in the order of their priorities.
    BufferedPool,
    /// Punctual with one endpoint, and a thread for each connection.
    PerConnection,
    /// Punctual with an ORB and a plain endpoint for each priority, in one process.
    OrbAThread,
    /// omniORB, which knows no priorities: its server's threads are ordinary ones.
    #[value(name = "omniorb")]
    #[serde(rename = "omniorb")]
    OmniOrb,
    /// The same, but its server's threads have the high client's priority, whomever they serve.
    #[value(name = "omniorb-fifo")]
    #[serde(rename = "omniorb-fifo")]
    OmniOrbFifo,
    /// Raw sockets, and for each connection a thread of its client's priority.
    Floor,
}

/// What carries the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Link {
    /// Unix sockets.
    Uiop,
    /// Shared memory. Its floor is Unix sockets.
    Shmiop,
    /// TCP.
    Iiop,
}

/// What a pair of processes is told.
#[derive(Clone, Debug, Args)]
pub(super) struct Setup {
    /// Who.
    #[arg(long)]
    pub(super) contender: Contender,
    /// By which link.
    #[arg(long)]
    pub(super) link: Link,
    /// Low clients.
    #[arg(long)]
    pub(super) low: u16,
    /// All low clients have the same priority.
    #[arg(long)]
    pub(super) alike: bool,
    /// Threads are scheduled by SCHED_OTHER.
    #[arg(long)]
    pub(super) best_effort: bool,
    /// Processor time of each upcall, in microseconds.
    #[arg(long)]
    pub(super) work: u64,
    /// The native priority of a pool's threads between upcalls.
    #[arg(long)]
    pub(super) pool_priority: i16,
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lanes => "lanes",
            Self::Pool => "pool",
            Self::BufferedPool => "buffered-pool",
            Self::PerConnection => "per-connection",
            Self::OrbAThread => "orb-a-thread",
            Self::OmniOrb => "omniorb",
            Self::OmniOrbFifo => "omniorb-fifo",
            Self::Floor => "floor",
        })
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uiop => "uiop",
            Self::Shmiop => "shmiop",
            Self::Iiop => "iiop",
        })
    }
}

impl Link {
    /// Where to listen, with options of the endpoint.
    pub(super) fn endpoint(self, options: &str) -> String {
        match self {
            Self::Uiop => format!("uiop://|{options}"),
            Self::Shmiop => format!("shmiop://|{options}"),
            Self::Iiop => format!("iiop://127.0.0.1:0/{options}"),
        }
    }
}

impl Setup {
    /// The same on a command line.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = vec![
            format!("--contender={}", self.contender),
            format!("--link={}", self.link),
            format!("--low={}", self.low),
            format!("--work={}", self.work),
            format!("--pool-priority={}", self.pool_priority),
        ];
        for (flag, is_on) in [("--alike", self.alike), ("--best-effort", self.best_effort)] {
            if is_on {
                words.push(flag.to_owned());
            }
        }
        words
    }

    /// What an upcall takes.
    pub(super) fn work(&self) -> Duration {
        Duration::from_micros(self.work)
    }

    /// The priority of a client: the high one is 0, the low ones follow.
    pub(super) fn priority_of(&self, client: u16) -> i16 {
        match client.checked_sub(1) {
            None => HIGH,
            Some(_) if self.alike => LOWEST,
            Some(low) => LOWEST.saturating_add_unsigned(low),
        }
    }

    /// The priorities that clients have, each once, the high one first.
    pub(super) fn priorities(&self) -> Vec<i16> {
        let mut all: Vec<i16> = (0..=self.low)
            .map(|client| self.priority_of(client))
            .collect();
        all.dedup();
        all
    }

    /// The native priority that a thread has in place of this one: 0 is none.
    pub(super) fn native(&self, priority: i16) -> i16 {
        if self.best_effort { 0 } else { priority }
    }

    /// How a thread of a native priority is scheduled.
    pub(super) fn scheduling(&self, priority: i16) -> Scheduling {
        match self.native(priority) {
            0 => Scheduling::Other,
            priority => Scheduling::Fifo {
                priority: i32::from(priority),
            },
        }
    }

    /// How a thread is started that has a native priority.
    pub(super) fn thread(&self, name: String, priority: i16) -> ThreadSpec {
        ThreadSpec::named(name).scheduling(self.scheduling(priority))
    }

    /// The thread that ends the process when it takes too long.
    pub(super) fn watchdog(&self) -> ThreadSpec {
        self.thread("rt-watchdog".to_owned(), WATCHDOG)
    }

    /// A thread that takes commands, or accepts connections: ahead of all clients and of what serves them.
    pub(super) fn control(&self, name: &str) -> ThreadSpec {
        self.thread(name.to_owned(), CONTROL)
    }

    /// What an ORB has of Real-time CORBA.
    ///
    /// # Errors
    /// When the machine does not grant the priorities, with advice.
    pub(super) fn rt_orb(&self) -> Result<Arc<RtOrb>> {
        rt_orb(self.best_effort)
    }
}

/// CORBA priorities that are SCHED_FIFO's, or ones that only travel.
///
/// # Errors
/// When the machine does not grant SCHED_FIFO, with advice.
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

/// A CORBA priority.
pub(super) fn corba(priority: i16) -> Result<Priority> {
    Ok(Priority::new(priority)?)
}

/// Has the process run on one processor, before it starts any thread.
pub(super) fn pin(processor: usize) -> Result<()> {
    run_at(Some(processor))
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
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        setup: Setup,
    }

    #[test]
    fn a_pair_is_told_on_a_command_line_what_it_is() {
        let mut setup = sample(Contender::OrbAThread);
        setup.alike = true;
        let words = setup.words();
        let command = Command::try_parse_from([vec!["peer".to_owned()], words].concat());
        assert_eq!(
            format!("{:?}", command.unwrap().setup),
            format!("{setup:?}")
        );
    }

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
