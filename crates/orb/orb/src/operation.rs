//! Operations, identified by their names on the wire.

use crate::context::Context;
use crate::operation_types::{ArgumentValues, OperationTypes};
use parking_lot::Mutex;
use punctual_any::{Any, TypeCode};
use punctual_cdr::{CallerMemory, CdrError, Decoder, InMemory};
use punctual_giop::ResponseFlags;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// Operation with a static name, as in generated stubs.
pub type Operation = NamedOperation<'static>;

/// Operation, identified by its name, which is static or owned by an object that outlives the call.
#[derive(Clone, Copy, Debug)]
pub struct NamedOperation<'n> {
    name: &'n str,
    /// Owner of the name; `None` if the name is static.
    keeper: Option<&'n Arc<str>>,
    pub(crate) two_way: bool,
    /// Kind of response that requests for the operation ask for.
    pub(crate) response: ResponseFlags,
    /// Description for interceptors, if the operation is known only at run time.
    pub(crate) details: Option<&'n dyn OperationDetails>,
    /// Function that returns the types of an operation of the interface, by its name.
    pub(crate) types: Option<fn(&str) -> Option<&'static OperationTypes>>,
    /// Memory of the caller from which a long argument is sent, without a copy; empty if all is copied.
    pub(crate) memory: &'n [u8],
}

/// Description, for interceptors, of an operation that is known only at run time.
pub trait OperationDetails: fmt::Debug + Sync {
    /// Returns the arguments. Those that the call has not returned yet have no values.
    fn arguments(&self) -> ArgumentValues;

    /// Returns whether anything but the arguments is known. If not, the other functions are not
    /// called.
    fn is_described(&self) -> bool {
        true
    }

    /// Returns the types of the user exceptions that the operation may raise.
    fn exceptions(&self) -> Vec<TypeCode>;

    /// Returns the names in the operation's `context` clause.
    fn contexts(&self) -> Vec<String>;

    /// Returns the values that are sent for the `context` clause.
    fn operation_context(&self) -> Context;

    /// Reads the result and the arguments of a reply.
    ///
    /// # Errors
    /// If the reply cannot be decoded.
    fn results(&self, reply: &mut Decoder<'_>) -> Result<(Any, ArgumentValues), CdrError>;
}

impl NamedOperation<'static> {
    /// Creates a two-way operation, which has a reply.
    #[must_use]
    pub const fn two_way(name: &'static str) -> Self {
        Self {
            name,
            keeper: None,
            two_way: true,
            response: ResponseFlags::SYNC_WITH_TARGET,
            details: None,
            types: None,
            memory: &[],
        }
    }

    /// Creates a one-way operation, which has no reply.
    #[must_use]
    pub const fn one_way(name: &'static str) -> Self {
        Self {
            name,
            keeper: None,
            two_way: false,
            response: ResponseFlags::NONE,
            details: None,
            types: None,
            memory: &[],
        }
    }
}

impl<'n> NamedOperation<'n> {
    /// Creates an operation whose name is known only at run time. Calls are fast if the name comes
    /// from [`Orb::operation_name`](crate::Orb::operation_name).
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
            memory: &[],
        }
    }

    /// Returns the operation with a description for its interceptors.
    #[must_use]
    pub fn with_details(self, details: &'n dyn OperationDetails) -> Self {
        Self {
            details: Some(details),
            ..self
        }
    }

    /// Returns the operation for a call with this argument: a long one is sent from where it lies, without a copy. For
    /// generated stubs.
    #[inline]
    #[must_use]
    pub fn lending<M: InMemory + ?Sized>(self, argument: &'n M) -> Self {
        let octets = argument.octets();
        match octets.len() < CallerMemory::LEAST {
            true => self,
            false => self.lending_octets(octets),
        }
    }

    fn lending_octets(self, memory: &'n [u8]) -> Self {
        match memory.len() > self.memory.len() {
            true => Self { memory, ..self },
            false => self,
        }
    }

    /// Returns the operation for calls whose requests ask for this kind of response.
    pub(crate) fn answered(self, response: ResponseFlags) -> Self {
        Self {
            two_way: true,
            response,
            ..self
        }
    }

    /// Returns whether the operation has a reply.
    #[must_use]
    pub const fn is_two_way(&self) -> bool {
        self.two_way
    }

    /// Returns the operation's name as used in GIOP requests.
    #[inline]
    #[must_use]
    pub const fn name(&self) -> &'n str {
        self.name
    }

    /// Returns the name in a form that outlives the call.
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

/// Name of an operation that stays valid after the call.
#[derive(Clone, Debug)]
pub(crate) struct KeptName {
    /// Address of the name, by which it is compared. It remains valid: a name is static, or kept
    /// alive by this object.
    address: usize,
    length: usize,
    name: Arc<str>,
}

impl KeptName {
    pub(crate) fn as_str(&self) -> &str {
        &self.name
    }

    /// Returns whether this is the operation's name, by comparing addresses instead of bytes.
    #[inline]
    pub(crate) fn is_of(&self, operation: &NamedOperation<'_>) -> bool {
        self.address == operation.name.as_ptr().addr() && self.length == operation.name.len()
    }
}

/// Operation names that became known at run time, stored once each, so that state prepared for a
/// name is found by the name's address.
#[derive(Debug, Default)]
pub(crate) struct Names(Mutex<HashSet<Arc<str>>>);

impl Names {
    /// Maximum number of stored names: calls of further operations are slower.
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
