//! The client of `oneway`, in the process that measures.

use super::idl::one_way::Worker;
use crate::Result;
use punctual::policy::{Buffering, SyncScope};
use punctual::{Interface, Orb, Policy, SetOverride};
use std::fmt;
use std::time::{Duration, Instant};

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A one-way that leaves by itself (SYNC_WITH_TRANSPORT).
    Unbuffered,
    /// The same with the ORB's defaults: in a flood the transport puts several into one packet.
    Gathered,
    /// A one-way that waits until there are so many (SYNC_NONE).
    Buffered(usize),
    /// A one-way for whose servant the client waits to be found (SYNC_WITH_SERVER).
    WithServer,
    /// A one-way for whose servant the client waits to be done (SYNC_WITH_TARGET).
    WithTarget,
    /// A two-way request.
    TwoWay,
}

impl Kind {
    /// Those of figure 17, what they are compared with ahead.
    pub(super) const RELIABLE: [Self; 4] = [
        Self::TwoWay,
        Self::WithTarget,
        Self::WithServer,
        Self::Unbuffered,
    ];

    /// Those of figure 16, what they are compared with ahead.
    pub(super) fn buffered(counts: &[usize]) -> Vec<Self> {
        let buffered = counts.iter().copied().map(Self::Buffered);
        let unbuffered = [Self::Unbuffered, Self::Gathered];
        unbuffered.into_iter().chain(buffered).collect()
    }

    fn policies(self) -> Vec<Policy> {
        let scope = match self {
            Self::Unbuffered | Self::Gathered | Self::TwoWay => SyncScope::WithTransport,
            Self::WithServer => SyncScope::WithServer,
            Self::WithTarget => SyncScope::WithTarget,
            Self::Buffered(messages) => {
                let when = Buffering::EXPLICIT.messages(messages);
                return vec![
                    Policy::SyncScope(SyncScope::None),
                    Policy::Buffering(Some(when)),
                ];
            }
        };
        vec![Policy::SyncScope(scope)]
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unbuffered => f.write_str("one-way, unbuffered"),
            Self::Gathered => f.write_str("one-way, gathered"),
            Self::Buffered(count) => write!(f, "buffered by {count}"),
            Self::WithServer => f.write_str("SYNC_WITH_SERVER"),
            Self::WithTarget => f.write_str("SYNC_WITH_TARGET"),
            Self::TwoWay => f.write_str("two-way"),
        }
    }
}

/// Two ORBs, of which one keeps no one-way back, and a reference in each.
pub(super) struct Client {
    orbs: [Orb; 2],
    /// By an ORB that sends each one-way by itself.
    plain: Worker,
    /// By one with defaults.
    usual: Worker,
    octets: Vec<u8>,
}

impl Client {
    pub(super) fn new(reference: &str, octets: usize) -> Result<Self> {
        let plain = Orb::builder()
            .configure(|config| config.one_way_gather = Duration::ZERO)
            .build()?;
        let usual = Orb::builder().build()?;
        let worker =
            |orb: &Orb| -> Result<Worker> { Ok(Worker::narrow(orb.string_to_object(reference)?)?) };
        Ok(Self {
            plain: worker(&plain)?,
            usual: worker(&usual)?,
            orbs: [plain, usual],
            octets: vec![0x5a; octets],
        })
    }

    /// Makes so many requests; how many a second were served.
    pub(super) fn rate(&mut self, kind: Kind, requests: u32) -> Result<f64> {
        let worker = match kind {
            Kind::Gathered => &self.usual,
            _ => &self.plain,
        };
        let object = worker
            .as_object()
            .set_policy_overrides(&kind.policies(), SetOverride::Add)?;
        let worker = Worker::from_object(object);
        let before = worker.served()?;
        let began = Instant::now();
        for _ in 0..requests {
            match kind {
                Kind::TwoWay => worker.work_and_reply(&self.octets)?,
                _ => worker.work(&self.octets)?,
            }
        }
        // Behind what is buffered, on the same connection: the last is served before it.
        let served = worker.served()? - before;
        let took = began.elapsed();
        if served != u64::from(requests) {
            return Err(format!("{kind}: {served} of {requests} requests were served").into());
        }
        Ok(f64::from(requests) / took.as_secs_f64().max(1e-9))
    }

    pub(super) fn stop(self) -> Result<()> {
        self.orbs.iter().try_for_each(|orb| Ok(orb.shutdown(true)?))
    }
}
