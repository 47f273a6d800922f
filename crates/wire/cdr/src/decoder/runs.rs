//! Runs of primitive values: padding once, then one copy.

use super::Decoder;
use crate::bulk::{self, Primitive};
use crate::error::CdrError;

impl<'d> Decoder<'d> {
    /// The octets of `count` primitive values, padding passed over.
    #[inline]
    fn get_run_octets<T: Primitive>(&mut self, count: usize) -> Result<&'d [u8], CdrError> {
        if count == 0 {
            return Ok(&[]);
        }
        self.align(T::SIZE)?;
        self.get_bytes(count.saturating_mul(T::SIZE))
    }

    /// Reads `count` primitive values into a vector of exactly that size.
    #[inline]
    pub(crate) fn get_run<T: Primitive>(&mut self, count: usize) -> Result<Vec<T>, CdrError> {
        if count > 0 && !self.lent.is_empty() {
            return self.get_lent_run(count);
        }
        let mut values = bulk::vec_from_octets(self.get_run_octets::<T>(count)?);
        self.correct_order(&mut values);
        Ok(values)
    }

    /// A run while lent ones are ahead: one of those is copied once, straight to where it goes.
    #[cold]
    fn get_lent_run<T: Primitive>(&mut self, count: usize) -> Result<Vec<T>, CdrError> {
        self.align(T::SIZE)?;
        let size = count.saturating_mul(T::SIZE);
        let mut values = if self.is_lent(size) {
            let mut values = vec![T::ZERO; count];
            let lent = self.step_over(size)?;
            lent.segment.copy_to(bulk::octets_of_mut(&mut values));
            values
        } else {
            bulk::vec_from_octets(self.get_bytes(size)?)
        };
        self.correct_order(&mut values);
        Ok(values)
    }

    /// Reads primitive values into an array.
    #[inline]
    pub(crate) fn get_array<T: Primitive, const N: usize>(&mut self) -> Result<[T; N], CdrError> {
        let octets = self.get_run_octets::<T>(N)?;
        let mut values = [T::ZERO; N];
        bulk::octets_of_mut(&mut values).copy_from_slice(octets);
        self.correct_order(&mut values);
        Ok(values)
    }

    #[inline]
    fn correct_order<T: Primitive>(&self, values: &mut [T]) {
        if T::SIZE != 1 && !self.order.is_native() {
            for value in values {
                *value = value.swapped();
            }
        }
    }
}
