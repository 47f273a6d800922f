//! Valuetypes: the factories of received values (CORBA 3.3 part 1, §9.4), and copies of values.

use super::handle::Orb;
use crate::exception::{CompletionStatus, SystemException, cdr_exception};
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder, ValueFactory, ValueType};
use std::sync::Arc;

impl Orb {
    /// Registers a value factory, which creates the received values of its type from now on.
    /// Returns the factory that was previously registered for the type, if any.
    ///
    /// A factory that holds the ORB keeps it alive.
    pub fn register_value_factory(
        &self,
        factory: impl ValueFactory,
    ) -> Option<Arc<dyn ValueFactory>> {
        self.broker().values.register(factory)
    }

    /// Removes the factory for this repository id. Returns it, if one was registered.
    pub fn unregister_value_factory(&self, id: &str) -> Option<Arc<dyn ValueFactory>> {
        self.broker().values.unregister(id)
    }

    /// Returns the factory that is registered for this repository id.
    #[must_use]
    pub fn lookup_value_factory(&self, id: &str) -> Option<Arc<dyn ValueFactory>> {
        self.broker().values.lookup(id)
    }
}

impl Orb {
    /// Returns a copy of a value, as a receiver would get it: the value and all values reachable
    /// from it are copied, sharing among them is preserved, and object references refer to the
    /// original objects. For calls within the process.
    ///
    /// # Errors
    /// MARSHAL and similar exceptions, for a value that cannot be written or read.
    pub fn copied<T>(
        &self,
        write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
        read: impl FnOnce(&mut Decoder<'_>) -> Result<T, CdrError>,
    ) -> Result<T, SystemException> {
        let coding = Coding {
            limits: self.broker().limits(),
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

    /// Returns a copy of a value and of all values reachable from it: CORBA's `_copy_value`.
    ///
    /// # Errors
    /// MARSHAL if there is no factory for a type, or if a value cannot be written.
    pub fn copy_value<T: ValueType>(&self, value: &T) -> Result<T, SystemException> {
        self.copied(
            |out| out.put_value(Some(value.as_value())),
            |input| punctual_cdr::unmarshal_value::<T>(input)?.ok_or(CdrError::NilReference),
        )
    }
}
