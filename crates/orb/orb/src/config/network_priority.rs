//! Priorities of packets in networks by CORBA priority.

use crate::priority::Priority;
use punctual_sys::dscp::Dscp;
use std::fmt;
use std::str::FromStr;

/// Direction of the messages of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NetworkDirection {
    /// From the client to the server.
    Requests,
    /// From the server to the client.
    Replies,
}

/// DSCP of packets by CORBA priority, in steps: each holds from its priority up to the next one's. Below the first step
/// packets have the DSCP of the connection's property `dscp`, or the kernel's, which is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DscpByPriority(Vec<(Priority, Dscp)>);

/// Error for a text that is no step of [`DscpByPriority`], or steps that are not in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "steps are PRIORITY=DSCP in ascending order of CORBA priorities, a DSCP is 0 to 63, EF, CS0 to CS7 or AF11 to AF43"
)]
pub struct NoDscpByPriority;

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for NoDscpByPriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl DscpByPriority {
    /// Makes it of steps in ascending order of priorities.
    ///
    /// # Errors
    /// [`NoDscpByPriority`] for steps that are not in ascending order.
    pub fn new(
        steps: impl IntoIterator<Item = (Priority, Dscp)>,
    ) -> Result<Self, NoDscpByPriority> {
        let steps: Vec<_> = steps.into_iter().collect();
        match steps.is_sorted_by(|one, next| one.0 < next.0) {
            true => Ok(Self(steps)),
            false => Err(NoDscpByPriority),
        }
    }

    /// Returns the DSCP for a priority; `None` below the first step.
    #[must_use]
    pub fn of(&self, priority: Priority) -> Option<Dscp> {
        let next = self.0.partition_point(|(from, _)| *from <= priority);
        self.0.get(next.checked_sub(1)?).map(|(_, dscp)| *dscp)
    }

    /// Returns whether there are no steps.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Parses steps with commas between: `0=CS0,10000=AF21,24000=EF`.
impl FromStr for DscpByPriority {
    type Err = NoDscpByPriority;

    fn from_str(text: &str) -> Result<Self, NoDscpByPriority> {
        let step = |text: &str| {
            let (priority, dscp) = text.split_once('=')?;
            let priority = Priority::new(priority.trim().parse().ok()?).ok()?;
            Some((priority, dscp.trim().parse().ok()?))
        };
        let steps: Option<Vec<_>> = text.split(',').map(step).collect();
        Self::new(steps.ok_or(NoDscpByPriority)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_holds_up_to_the_next_and_steps_are_in_order() {
        let steps: DscpByPriority = "10=CS1, 20=AF21,32767=46".parse().unwrap();
        let of = |priority| steps.of(Priority::new(priority).unwrap()).map(Dscp::get);
        assert_eq!(
            [0, 9, 10, 19, 20, 32_766, 32_767].map(of),
            [None, None, Some(8), Some(8), Some(18), Some(18), Some(46)]
        );
        assert_eq!(DscpByPriority::default().of(Priority::MAX), None);
        for wrong in [
            "",
            "10",
            "10=",
            "=EF",
            "-1=EF",
            "10=EG",
            "20=EF,10=CS1",
            "5=EF,5=CS1",
            "40000=EF",
        ] {
            assert_eq!(
                wrong.parse::<DscpByPriority>(),
                Err(NoDscpByPriority),
                "{wrong}"
            );
        }
    }
}
