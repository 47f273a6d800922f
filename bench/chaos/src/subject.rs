//! A counter and a register with one state, as the members of all groups have them.

use crate::idl::chaos::{Answer, SubjectServant};
use punctual::SystemException;
use punctual_groups_client::ft::{
    CheckpointableGetStateError, CheckpointableServant, CheckpointableSetStateError, InvalidState,
    PullMonitorableServant, State,
};
use std::sync::Arc;

/// Values of the counter and the register, and the number of their changes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Values {
    pub(crate) sum: i64,
    pub(crate) register: i64,
    pub(crate) version: u64,
}

impl Values {
    /// Makes a change, which has the next number; returns the value of its answer.
    pub(crate) fn change(&mut self, edit: impl FnOnce(&mut Self) -> i64) -> i64 {
        self.version += 1;
        edit(self)
    }

    pub(crate) fn to_bytes(self) -> [u8; 24] {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&self.sum.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.register.to_be_bytes());
        bytes[16..].copy_from_slice(&self.version.to_be_bytes());
        bytes
    }

    /// Reads the values; also returns the bytes behind them.
    pub(crate) fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (sum, rest) = bytes.split_first_chunk()?;
        let (register, rest) = rest.split_first_chunk()?;
        let (version, rest) = rest.split_first_chunk()?;
        let values = Self {
            sum: i64::from_be_bytes(*sum),
            register: i64::from_be_bytes(*register),
            version: u64::from_be_bytes(*version),
        };
        Some((values, rest))
    }
}

/// What has the values: of all operations of a member, what is its own.
pub(crate) trait Holder: Send + Sync + 'static {
    /// Changes the values by a request, whose answer has the value that `edit` returns.
    ///
    /// # Errors
    /// The change cannot be stored.
    fn change(&self, edit: impl FnOnce(&mut Values) -> i64) -> Result<Answer, SystemException>;

    /// Answers with a value.
    fn look(&self, value: impl FnOnce(&Values) -> i64) -> Answer;

    /// Returns the state as bytes.
    fn state(&self) -> Vec<u8>;

    /// Replaces the state; `None` if the bytes are none.
    fn replace(&self, bytes: &[u8]) -> Option<()>;
}

/// Servant of a member.
pub(crate) struct Held<H>(pub(crate) Arc<H>);

impl<H: Holder> SubjectServant for Held<H> {
    fn add(&self) -> Result<Answer, SystemException> {
        self.0.change(|values| {
            values.sum += 1;
            values.sum
        })
    }

    fn sum(&self) -> Result<Answer, SystemException> {
        Ok(self.0.look(|values| values.sum))
    }

    fn write(&self, value: i64) -> Result<Answer, SystemException> {
        self.0.change(|values| {
            values.register = value;
            value
        })
    }

    fn read(&self) -> Result<Answer, SystemException> {
        Ok(self.0.look(|values| values.register))
    }

    fn echo(&self, value: i64) -> Result<Answer, SystemException> {
        Ok(self.0.look(|_| value))
    }
}

impl<H: Holder> CheckpointableServant for Held<H> {
    fn get_state(&self) -> Result<State, CheckpointableGetStateError> {
        Ok(self.0.state())
    }

    fn set_state(&self, s: &[u8]) -> Result<(), CheckpointableSetStateError> {
        self.0.replace(s).ok_or_else(|| InvalidState.into())
    }
}

impl<H: Holder> PullMonitorableServant for Held<H> {
    fn is_alive(&self) -> Result<bool, SystemException> {
        Ok(true)
    }
}
