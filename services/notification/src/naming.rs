//! Changes of the names of channels and administrators.

use crate::common::Common;
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
        // One object is named at a time, so that no two get one name.
        let mut names = self.names.lock();
        let mut of_others = others.iter().filter(|other| **other != number);
        if !name.is_empty() && of_others.any(|other| names.get(other).is_some_and(|it| it == name))
        {
            return Err(NotNamed::Taken);
        }
        let kept = Some(name.to_owned()).filter(|name| !name.is_empty());
        let change = Change::Name(number, kept.clone());
        self.keep(vec![change]).map_err(NotNamed::Refused)?;
        match kept {
            Some(name) => drop(names.insert(number, name)),
            None => drop(names.remove(&number)),
        }
        Ok(())
    }
}
