//! Client process of `oneway`.

use super::Setup;
use super::idl::one_way::Worker;
use crate::Result;
use crate::peer::nanoseconds_since;
use crate::protocol::obey;
use punctual::policy::{Buffering, SyncScope};
use punctual::{Interface, Orb, Policy, SetOverride};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::{Duration, Instant};

/// Kind of request that the client of the one-way experiment sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    /// One-way that is sent immediately (SYNC_WITH_TRANSPORT).
    Unbuffered,
    /// One-way with the ORB's default settings (SYNC_WITH_TRANSPORT): in a fast sequence the
    /// transport combines several into one packet.
    Gathered,
    /// One-way that is buffered until this many are to be sent (SYNC_NONE).
    Buffered(usize),
    /// One-way whose client waits for the confirmation that the server has found the servant
    /// (SYNC_WITH_SERVER).
    WithServer,
    /// One-way whose client waits for the confirmation that the servant has finished
    /// (SYNC_WITH_TARGET).
    WithTarget,
    /// Two-way request.
    TwoWay,
}

impl Kind {
    /// Kinds of requests in figure 17; the first is the base of the comparison.
    pub(super) const RELIABLE: [Self; 4] = [
        Self::TwoWay,
        Self::WithTarget,
        Self::WithServer,
        Self::Unbuffered,
    ];

    /// Returns the kinds of requests in figure 16; the first is the base of the comparison.
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

/// Client with two ORBs, one of which never delays a one-way, and a reference in each.
struct Client {
    orbs: [Orb; 2],
    /// Reference of the ORB that sends each one-way immediately.
    plain: Worker,
    /// Reference obtained from the ORB with default settings.
    usual: Worker,
    octets: Vec<u8>,
}

/// Makes the requests that each line of input asks for, until the input ends.
pub(crate) fn call(setup: &Setup, at: &str) -> Result<()> {
    let client = Client::new(at, setup.octets)?;
    obey("", |(kind, requests)| {
        Ok(vec![client.time(kind, requests)?])
    })?;
    client
        .orbs
        .iter()
        .try_for_each(|orb| Ok(orb.shutdown(true)?))
}

impl Client {
    fn new(reference: &str, octets: usize) -> Result<Self> {
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

    /// Makes `requests` requests; returns the nanoseconds until the server has served all of them.
    fn time(&self, kind: Kind, requests: u32) -> Result<u64> {
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
        // This request follows the buffered ones on the same connection, so the last of them is
        // served before it.
        let served = worker.served()? - before;
        let took = nanoseconds_since(began);
        match served == u64::from(requests) {
            true => Ok(took),
            false => Err(format!("{served} of {requests} requests were served").into()),
        }
    }
}
