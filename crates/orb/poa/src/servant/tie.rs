//! Ties: a servant that is a part of an object, so that one object can implement several
//! interfaces.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Servant that holds an object and delegates the operations of an interface to one of its parts,
/// or to the object itself (CORBA's tie, without a generated class for each interface).
///
/// `Tie<T, S>` implements every servant trait that `S` implements: the IDL compiler generates that
/// with each servant trait. So one object can serve several interfaces with shared state, even if
/// two of them have operations with the same name, or if `T` is a foreign type that cannot
/// implement the trait itself.
///
/// ```ignore
/// struct Device { reader: ReaderPart, writer: WriterPart }
/// let device = Arc::new(Device::new());
/// let reader: Reader = poa.activate(Tie::new(device.clone(), |device: &Device| &device.reader))?;
/// let writer: Writer = poa.activate(Tie::new(device, |device: &Device| &device.writer))?;
/// ```
pub struct Tie<T: ?Sized, S: ?Sized> {
    object: Arc<T>,
    part: fn(&T) -> &S,
}

impl<T: ?Sized, S: ?Sized> Tie<T, S> {
    /// Makes a servant of a part of an object. `part` is called for each operation, and so has to
    /// be cheap.
    pub fn new(object: Arc<T>, part: fn(&T) -> &S) -> Self {
        Self { object, part }
    }

    /// Returns the whole object, of which a part is the servant.
    #[must_use]
    pub fn object(&self) -> &Arc<T> {
        &self.object
    }
}

impl<T: ?Sized, S: ?Sized> Deref for Tie<T, S> {
    type Target = S;

    #[inline]
    fn deref(&self) -> &S {
        (self.part)(&self.object)
    }
}

impl<T: ?Sized, S: ?Sized> Clone for Tie<T, S> {
    fn clone(&self) -> Self {
        Self {
            object: self.object.clone(),
            part: self.part,
        }
    }
}

impl<T: ?Sized, S: ?Sized> fmt::Debug for Tie<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tie").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Device {
        readings: [u32; 2],
    }

    #[test]
    fn a_tie_is_the_part_and_keeps_the_whole() {
        let device = Arc::new(Device { readings: [3, 4] });
        let tie: Tie<Device, u32> = Tie::new(device.clone(), |device| &device.readings[1]);
        assert_eq!(*tie.clone(), 4);
        assert!(Arc::ptr_eq(tie.object(), &device));
    }
}
