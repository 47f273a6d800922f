//! Changes of the names of channels and administrators.

use punctual::SystemException;

use crate::common::Common;
use crate::punctual_notify::{NameTaken, NameTooLong};
use crate::refusal::Refusal;
use crate::storage::Change;

/// Longest name, in bytes.
const LONGEST: usize = 255;

/// Reason for which an object does not get a name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NotNamed {
    /// Another one has it.
    Taken,
    TooLong,
    Refused(Refusal),
}

impl NotNamed {
    /// Returns the exception of an operation.
    pub(crate) fn raised<E>(self) -> E
    where
        E: From<NameTaken> + From<NameTooLong> + From<SystemException>,
    {
        match self {
            Self::Taken => NameTaken.into(),
            Self::TooLong => NameTooLong.into(),
            Self::Refused(refusal) => SystemException::from(refusal).into(),
        }
    }
}

impl Common {
    /// Names an object, once that is durable; an empty name takes its name away. `others` are the objects that may not
    /// have the same one. Blocks.
    ///
    /// # Errors
    /// [`NotNamed`].
    pub(crate) fn name(&self, number: u64, name: &str, others: &[u64]) -> Result<(), NotNamed> {
        if name.len() > LONGEST {
            return Err(NotNamed::TooLong);
        }
        // So that no two get one name.
        let _order = self.names.order();
        let others = others.iter().copied().filter(|other| *other != number);
        if !name.is_empty() && self.names.is_taken(name, others) {
            return Err(NotNamed::Taken);
        }
        let kept = Some(name.to_owned()).filter(|name| !name.is_empty());
        let change = Change::Name(number, kept.clone());
        self.keep(vec![change]).map_err(NotNamed::Refused)?;
        match kept {
            Some(name) => self.names.set(number, name),
            None => drop(self.names.remove(number)),
        }
        Ok(())
    }
}
