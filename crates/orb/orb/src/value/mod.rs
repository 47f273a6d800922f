//! Valuetypes at the ORB: the factories that are registered (CORBA 3.3 part 1, §9.4), and what generated
//! handles call.
//!
//! A value that arrives is made by the factory that is registered for its repository id. Where none is, and
//! the id is the one that its place in the IDL has, the generated type makes it: with its state, without
//! operations.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::RwLock;
use punctual_cdr::{
    Block, ByteOrder, CdrError, Coding, Decoder, Encoder, ValueFactory, ValueRef, ValueType,
};

use crate::exception::{
    CompletionStatus, SystemException, SystemExceptionKind, cdr_exception, minor,
};

use crate::orb::Orb;

/// The factories of an ORB, by repository id.
#[derive(Default)]
pub(crate) struct ValueFactories(RwLock<HashMap<String, Arc<dyn ValueFactory>>>);

impl fmt::Debug for ValueFactories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.read().keys()).finish()
    }
}

impl Orb {
    /// Makes a factory known: it makes the values of its type that arrive from now on. The factory that was
    /// registered for the type before, if any was.
    ///
    /// A factory that holds the ORB keeps it alive.
    pub fn register_value_factory(
        &self,
        factory: impl ValueFactory,
    ) -> Option<Arc<dyn ValueFactory>> {
        let id = factory.repository_id().to_owned();
        self.value_factories()
            .0
            .write()
            .insert(id, Arc::new(factory))
    }

    /// Forgets the factory for that repository id. The factory, if one was registered.
    pub fn unregister_value_factory(&self, id: &str) -> Option<Arc<dyn ValueFactory>> {
        self.value_factories().0.write().remove(id)
    }

    /// The factory that is registered for that repository id.
    #[must_use]
    pub fn lookup_value_factory(&self, id: &str) -> Option<Arc<dyn ValueFactory>> {
        self.value_factories().0.read().get(id).map(Arc::clone)
    }
}

/// A value's operations, or whatever else its factory can show it as.
///
/// # Errors
/// NO_IMPLEMENT if no factory with operations made it.
pub fn operations_of<V: 'static>(value: &ValueRef) -> Result<V, SystemException> {
    value.view().ok_or_else(|| {
        let id = value.repository_id();
        not_implemented(format!("no factory with operations made this {id}"))
    })
}

/// NO_IMPLEMENT for an initializer of a factory that has none.
#[must_use]
pub fn no_initializer(id: &str) -> SystemException {
    not_implemented(format!("this factory of {id} has no initializers"))
}

fn not_implemented(detail: String) -> SystemException {
    SystemException::new(
        SystemExceptionKind::NoImplement,
        minor::NO_VALUE_IMPLEMENTATION,
        CompletionStatus::No,
    )
    .with_detail(detail)
}

impl Orb {
    /// A copy of what is written, as it would arrive elsewhere: values and all that they lead to are others,
    /// what was shared is shared, references are the same. For calls within the process.
    ///
    /// # Errors
    /// MARSHAL and its like, for what cannot be written or read.
    pub fn copied<T>(
        &self,
        write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
        read: impl FnOnce(&mut Decoder<'_>) -> Result<T, CdrError>,
    ) -> Result<T, SystemException> {
        let coding = Coding {
            limits: self.limits(),
            environment: Some(self),
            ..Coding::default()
        };
        let copy = || {
            let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, coding);
            write(&mut out)?;
            let octets = out.into_block();
            read(&mut Decoder::new(&octets, ByteOrder::NATIVE, coding))
        };
        copy().map_err(|error| cdr_exception(error, CompletionStatus::No))
    }

    /// A copy of a value and of all that it leads to: CORBA's `_copy_value`.
    ///
    /// # Errors
    /// MARSHAL if there is no factory for a type, or it cannot be written.
    pub fn copy_value<T: ValueType>(&self, value: &T) -> Result<T, SystemException> {
        self.copied(
            |out| out.put_value(Some(value.as_value())),
            |input| punctual_cdr::unmarshal_value::<T>(input)?.ok_or(CdrError::NilReference),
        )
    }
}
