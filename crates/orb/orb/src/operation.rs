//! What is called: an operation by its name on the wire.

use crate::context::Context;
use crate::operation_types::{ArgumentValues, OperationTypes};
use parking_lot::Mutex;
use punctual_any::{Any, TypeCode};
use punctual_cdr::{CdrError, Decoder};
use punctual_giop::ResponseFlags;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// An operation whose name the program has, as generated stubs do.
pub type Operation = NamedOperation<'static>;

/// An operation. Its name is the program's, or one that somebody keeps for as long as it is called.
#[derive(Clone, Copy, Debug)]
pub struct NamedOperation<'n> {
    name: &'n str,
    /// Who keeps the name, unless the program has it.
    keeper: Option<&'n Arc<str>>,
    pub(crate) two_way: bool,
    /// Which answer its requests want.
    pub(crate) response: ResponseFlags,
    /// What interceptors can be told of it, where that is known at run time.
    pub(crate) details: Option<&'n dyn OperationDetails>,
    /// What travels with requests to an operation of the interface, by its name.
    pub(crate) types: Option<fn(&str) -> Option<&'static OperationTypes>>,
}

/// What is known at run time of a call that is put together then: what its interceptors can ask for.
pub trait OperationDetails: fmt::Debug + Sync {
    /// The arguments, without values that are still to come.
    fn arguments(&self) -> ArgumentValues;

    /// Whether more than the arguments is known. Where it is not, nothing else is asked for.
    fn is_described(&self) -> bool {
        true
    }

    /// The types of the user exceptions that it may raise.
    fn exceptions(&self) -> Vec<TypeCode>;

    /// The names of its `context` clause.
    fn contexts(&self) -> Vec<String>;

    /// The values that go with it by that clause.
    fn operation_context(&self) -> Context;

    /// The result and the arguments as a reply brings them.
    ///
    /// # Errors
    /// What is wrong with the reply.
    fn results(&self, reply: &mut Decoder<'_>) -> Result<(Any, ArgumentValues), CdrError>;
}

impl NamedOperation<'static> {
    /// An operation with a reply.
    #[must_use]
    pub const fn two_way(name: &'static str) -> Self {
        Self {
            name,
            keeper: None,
            two_way: true,
            response: ResponseFlags::SYNC_WITH_TARGET,
            details: None,
            types: None,
        }
    }

    /// An operation without one.
    #[must_use]
    pub const fn one_way(name: &'static str) -> Self {
        Self {
            name,
            keeper: None,
            two_way: false,
            response: ResponseFlags::NONE,
            details: None,
            types: None,
        }
    }
}

impl<'n> NamedOperation<'n> {
    /// An operation whose name is known at run time only. Calls are quick where the name comes from
    /// [`Orb::operation_name`](crate::Orb::operation_name).
    #[must_use]
    pub fn named(name: &'n Arc<str>, two_way: bool) -> Self {
        Self {
            name,
            keeper: Some(name),
            two_way,
            response: match two_way {
                true => ResponseFlags::SYNC_WITH_TARGET,
                false => ResponseFlags::NONE,
            },
            details: None,
            types: None,
        }
    }

    /// The same operation, with what its interceptors can be told.
    #[must_use]
    pub fn with_details(self, details: &'n dyn OperationDetails) -> Self {
        Self {
            details: Some(details),
            ..self
        }
    }

    /// The same, for calls that are answered so.
    pub(crate) fn answered(self, response: ResponseFlags) -> Self {
        Self {
            two_way: true,
            response,
            ..self
        }
    }

    /// Whether it has a reply.
    #[must_use]
    pub const fn is_two_way(&self) -> bool {
        self.two_way
    }

    /// Its name on the wire.
    #[inline]
    #[must_use]
    pub const fn name(&self) -> &'n str {
        self.name
    }

    /// The name, for whoever outlives the call.
    pub(crate) fn kept_name(&self) -> KeptName {
        KeptName {
            address: self.name.as_ptr().addr(),
            length: self.name.len(),
            name: match self.keeper {
                Some(keeper) => keeper.clone(),
                None => self.name.into(),
            },
        }
    }
}

/// A name that is kept beyond a call.
#[derive(Clone, Debug)]
pub(crate) struct KeptName {
    /// Where the operation has it: the program's does not end, and a shared one is kept here.
    address: usize,
    length: usize,
    name: Arc<str>,
}

impl KeptName {
    pub(crate) fn as_str(&self) -> &str {
        &self.name
    }

    /// Whether it is the operation's, not only alike: no octet is looked at.
    #[inline]
    pub(crate) fn is_of(&self, operation: &NamedOperation<'_>) -> bool {
        self.address == operation.name.as_ptr().addr() && self.length == operation.name.len()
    }
}

/// Names that came at run time, each once, so that what is kept for a name is found by its address.
#[derive(Debug, Default)]
pub(crate) struct Names(Mutex<HashSet<Arc<str>>>);

impl Names {
    /// More are not remembered: who calls that many operations pays for it by himself.
    const MOST: usize = 4096;

    pub(crate) fn name(&self, name: &str) -> Arc<str> {
        let mut names = self.0.lock();
        if let Some(known) = names.get(name) {
            return known.clone();
        }
        let name: Arc<str> = name.into();
        if names.len() < Self::MOST {
            names.insert(name.clone());
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_same_each_time_up_to_a_number_of_names() {
        let names = Names::default();
        let first = names.name("cube");
        assert!(Arc::ptr_eq(&first, &names.name("cube")));
        for number in 0..2 * Names::MOST {
            names.name(&number.to_string());
        }
        assert_eq!(names.0.lock().len(), Names::MOST);
        assert!(Arc::ptr_eq(&first, &names.name("cube")));
    }

    #[test]
    fn a_kept_name_knows_its_operation() {
        let name: Arc<str> = "cube".into();
        let alike: Arc<str> = "cube".into();
        let kept = NamedOperation::named(&name, true).kept_name();
        assert!(kept.is_of(&NamedOperation::named(&name, false)));
        assert!(!kept.is_of(&NamedOperation::named(&alike, true)));
        assert!(!kept.is_of(&Operation::two_way("cube")));
    }
}
