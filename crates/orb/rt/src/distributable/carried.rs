//! Data of SchedulingSegment, the service context that identifies the segment of a request. The
//! standard leaves such a context to the scheduler; this one is specific to Punctual.
//!
//! ```text
//! encapsulation {
//!     octet discipline;                                // 0 fixed priority, 1 earliest deadline first
//!     short priority;                                  // of a fixed priority, else 0
//!     octet id[16];                                    // the distributable thread's
//!     unsigned long long runtime, deadline, period;    // of a reservation, in nanoseconds, else 0
//! }
//! ```

use super::parameter::SchedulingParameter;
use super::registry::DistributableThreadId;
use punctual_exec::thread::Reservation;
use punctual_orb::Priority;
use std::time::Duration;

/// Length of the data in bytes, as aligned by CDR.
pub(super) const LENGTH: usize = 48;
const DISCIPLINE: usize = 1;
const PRIORITY: usize = 2;
const ID: usize = 4;
/// Offset of the three times (runtime, deadline, period), of 8 bytes each.
const TIMES: usize = 24;

const FIXED_PRIORITY: u8 = 0;
const EARLIEST_DEADLINE_FIRST: u8 = 1;

/// Scheduling segment that a request carries in its service context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Carried {
    pub(super) id: DistributableThreadId,
    pub(super) parameter: SchedulingParameter,
}

impl Carried {
    /// Encodes the scheduling segment in the byte order of this machine.
    pub(super) fn encoded(self) -> [u8; LENGTH] {
        let (discipline, priority, times) = match self.parameter {
            SchedulingParameter::FixedPriority(priority) => {
                (FIXED_PRIORITY, priority.get(), [Duration::ZERO; 3])
            }
            SchedulingParameter::EarliestDeadlineFirst(reserved) => (
                EARLIEST_DEADLINE_FIRST,
                0,
                [reserved.runtime, reserved.deadline, reserved.period],
            ),
        };
        let mut data = [0; LENGTH];
        let mut put = |at: usize, octets: &[u8]| {
            let places = data.iter_mut().skip(at);
            places.zip(octets).for_each(|(to, from)| *to = *from);
        };
        put(0, &[u8::from(cfg!(target_endian = "little")), discipline]);
        put(PRIORITY, &priority.to_ne_bytes());
        put(ID, &self.id.octets());
        for (time, index) in times.into_iter().zip(0..) {
            // A longer time was refused as a parameter.
            let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            put(TIMES + 8 * index, &nanoseconds.to_ne_bytes());
        }
        data
    }

    /// Decodes the data of a request.
    ///
    /// # Errors
    /// The reason why the data are not a segment.
    pub(super) fn decoded(data: &[u8]) -> Result<Self, String> {
        let data: &[u8; LENGTH] = data
            .first_chunk()
            .ok_or_else(|| format!("it has {} octets, and should have {LENGTH}", data.len()))?;
        let is_little = data[0] == 1;
        let time = |index: usize| {
            let mut octets = [0; 8];
            let from = data.iter().skip(TIMES + 8 * index);
            octets
                .iter_mut()
                .zip(from)
                .for_each(|(to, from)| *to = *from);
            Duration::from_nanos(match is_little {
                true => u64::from_le_bytes(octets),
                false => u64::from_be_bytes(octets),
            })
        };
        let parameter = match data[DISCIPLINE] {
            FIXED_PRIORITY => {
                let octets = [data[PRIORITY], data[PRIORITY + 1]];
                let number = match is_little {
                    true => i16::from_le_bytes(octets),
                    false => i16::from_be_bytes(octets),
                };
                let priority = Priority::new(number).map_err(|error| error.to_string())?;
                SchedulingParameter::FixedPriority(priority)
            }
            EARLIEST_DEADLINE_FIRST => {
                let reserved = Reservation {
                    runtime: time(0),
                    deadline: time(1),
                    period: time(2),
                };
                let reserved = reserved.check().map_err(|error| error.to_string())?;
                SchedulingParameter::EarliestDeadlineFirst(reserved)
            }
            other => return Err(format!("unknown scheduling discipline {other}")),
        };
        let mut id = [0; 16];
        let from = data.iter().skip(ID);
        id.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        Ok(Self {
            id: DistributableThreadId::from_octets(id),
            parameter,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> DistributableThreadId {
        DistributableThreadId::from_octets(*b"0123456789abcdef")
    }

    #[test]
    fn a_segment_is_read_as_it_was_written() {
        let reserved = Reservation {
            runtime: Duration::from_micros(100),
            deadline: Duration::from_millis(3),
            period: Duration::from_secs(1),
        };
        for parameter in [
            SchedulingParameter::FixedPriority(Priority::MAX),
            SchedulingParameter::EarliestDeadlineFirst(reserved),
        ] {
            let carried = Carried {
                id: id(),
                parameter,
            };
            let mut data = carried.encoded().to_vec();
            assert_eq!(Carried::decoded(&data), Ok(carried));
            // Longer than necessary.
            data.push(7);
            assert_eq!(Carried::decoded(&data), Ok(carried));
        }
    }

    #[test]
    fn a_segment_is_read_in_the_other_order() {
        let mut data = [0; LENGTH];
        data[PRIORITY..ID].copy_from_slice(&[0x12, 0x34]);
        data[ID..ID + 16].copy_from_slice(&id().octets());
        let carried = Carried {
            id: id(),
            parameter: SchedulingParameter::FixedPriority(Priority::new(0x1234).unwrap()),
        };
        assert_eq!(Carried::decoded(&data), Ok(carried));
    }

    #[test]
    fn what_is_no_segment_is_refused() {
        let fixed = Carried {
            id: id(),
            parameter: SchedulingParameter::FixedPriority(Priority::MIN),
        };
        let data = fixed.encoded();
        for length in 0..LENGTH {
            let error = Carried::decoded(&data[..length]).unwrap_err();
            assert!(error.contains("octets"), "{error}");
        }
        let mut unknown = data;
        unknown[DISCIPLINE] = 2;
        let mut negative = data;
        negative[PRIORITY..ID].copy_from_slice(&(-1_i16).to_ne_bytes());
        // A reservation of zero.
        let mut nothing = data;
        nothing[DISCIPLINE] = EARLIEST_DEADLINE_FIRST;
        for (wrong, why) in [
            (unknown, "discipline 2"),
            (negative, "-1"),
            (nothing, "shortest"),
        ] {
            let error = Carried::decoded(&wrong).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
