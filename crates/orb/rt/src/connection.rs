//! Policies of connections: PriorityBandedConnectionPolicy and PrivateConnectionPolicy (Real-time CORBA 1.2, §5.12 and
//! §5.13).

use punctual_cdr::{CdrError, Decoder, Encoder, unmarshal_each};
use punctual_ior::tags;
use punctual_orb::{PolicyCodec, PolicyLevels, PolicyType, Priority};
use std::ops::RangeInclusive;

/// Bands of priorities (RTCORBA::PriorityBands): calls go to an endpoint whose priority is in the
/// band of the thread's, as TAO's do. If the server has no such endpoint, they go to one without a
/// priority, by a connection for this band alone. The client first announces the band on that
/// connection, as the standard specifies (`_bind_priority_band`); a band that the server does not
/// serve is INV_POLICY. The connection is also used if the server does not know the operation, and,
/// without the announcement, if the protocol cannot carry it (GIOPlite, datagrams).
///
/// A thread without a CORBA priority counts as one with priority 0. Either the server publishes
/// bands or the client sets them, not both. As threads of different priorities share no connections
/// in this ORB, a band has one connection for each of its priorities in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriorityBandedConnectionPolicy(Vec<RangeInclusive<Priority>>);

impl PriorityBandedConnectionPolicy {
    /// Creates a policy with these bands, each with its lowest and its highest priority.
    #[must_use]
    pub fn new(bands: impl IntoIterator<Item = RangeInclusive<Priority>>) -> Self {
        Self(bands.into_iter().collect())
    }

    /// Returns the priority bands of the policy.
    #[must_use]
    pub fn bands(&self) -> &[RangeInclusive<Priority>] {
        &self.0
    }

    /// Returns the first priority band that contains the priority.
    #[must_use]
    pub fn band_of(&self, priority: Priority) -> Option<&RangeInclusive<Priority>> {
        self.0.iter().find(|band| band.contains(&priority))
    }
}

impl PolicyType for PriorityBandedConnectionPolicy {
    const NUMBER: u32 = tags::policy::PRIORITY_BANDED_CONNECTION;
    const NAME: &'static str = "PriorityBandedConnectionPolicy";
    const LEVELS: PolicyLevels = PolicyLevels::CLIENT.and(PolicyLevels::POA);
    const CODEC: Option<PolicyCodec<Self>> = Some(PolicyCodec { write, read });

    fn check(&self) -> Result<(), String> {
        if self.0.is_empty() {
            return Err("no priority band is given, so that no client could call".to_owned());
        }
        match self.0.iter().position(RangeInclusive::is_empty) {
            Some(index) => Err(format!("the priority band {index} is empty")),
            None => Ok(()),
        }
    }

    /// Refuses bands that both the client sets and the server publishes (Real-time CORBA 1.2,
    /// §5.12.2).
    fn reconcile(_: &Self, _: &Self) -> Result<Self, String> {
        Err("the client sets bands, and the server has published some".to_owned())
    }
}

fn write(policy: &PriorityBandedConnectionPolicy, out: &mut Encoder<'_>) -> Result<(), CdrError> {
    out.put_length(policy.0.len())?;
    for band in &policy.0 {
        out.put_i16(band.start().get());
        out.put_i16(band.end().get());
    }
    Ok(())
}

fn read(input: &mut Decoder<'_>) -> Result<PriorityBandedConnectionPolicy, CdrError> {
    let priority = |input: &mut Decoder<'_>| {
        let priority = Priority::new(input.get_i16()?);
        priority.map_err(|_| CdrError::Invalid("a negative priority"))
    };
    let bands = unmarshal_each(input, 4, |input| Ok(priority(input)?..=priority(input)?));
    bands.map(PriorityBandedConnectionPolicy)
}

/// Private connections: calls through a reference share no connection with calls through other
/// references (RTCORBA::PrivateConnectionPolicy).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrivateConnectionPolicy;

impl PolicyType for PrivateConnectionPolicy {
    const NUMBER: u32 = tags::policy::PRIVATE_CONNECTION;
    const NAME: &'static str = "PrivateConnectionPolicy";
    const LEVELS: PolicyLevels = PolicyLevels::CLIENT;
}
