//! Reading of runs of primitive values: padding once, then one copy.

use super::Decoder;
use crate::bulk::{self, Number, Primitive, Turning};
use crate::error::CdrError;

impl<'d> Decoder<'d> {
    /// Returns the bytes of `count` numbers after their padding. They may lie in memory that a
    /// peer still writes: any bytes are numbers.
    #[inline]
    pub(crate) fn view_run_octets<T: Number>(
        &mut self,
        count: usize,
    ) -> Result<&'d [u8], CdrError> {
        if count == 0 {
            return Ok(&[]);
        }
        self.align(T::SIZE)?;
        let size = count.saturating_mul(T::SIZE);
        match self.unbroken().get(..size) {
            Some(octets) => {
                self.at += size;
                Ok(octets)
            }
            None => self.view_across_seams(size),
        }
    }

    /// Returns the bytes of `count` primitive values after their padding.
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
        let octets = self.get_run_octets::<T>(count)?;
        Ok(bulk::vec_from_octets(octets, T::turning(self.order)))
    }

    /// Reads a run while lent ones are ahead: one of those is copied once, straight to its
    /// destination.
    #[cold]
    fn get_lent_run<T: Primitive>(&mut self, count: usize) -> Result<Vec<T>, CdrError> {
        self.align(T::SIZE)?;
        let size = count.saturating_mul(T::SIZE);
        if !self.is_lent(size) {
            let octets = self.get_bytes(size)?;
            return Ok(bulk::vec_from_octets(octets, T::turning(self.order)));
        }
        let mut values = vec![T::ZERO; count];
        let lent = self.step_over(size)?;
        lent.segment.copy_to(bulk::octets_of_mut(&mut values));
        self.correct_order(&mut values);
        Ok(values)
    }

    /// Reads an array of primitive values, whose length is fixed.
    #[inline]
    pub(crate) fn get_array<T: Primitive, const N: usize>(&mut self) -> Result<[T; N], CdrError> {
        let mut values = [T::ZERO; N];
        if N == 0 {
            return Ok(values);
        }
        self.align(T::SIZE)?;
        let Some(octets) = self.unbroken().get(..size_of_val(&values)) else {
            return self.get_array_across_seams();
        };
        self.at += octets.len();
        bulk::octets_of_mut(&mut values).copy_from_slice(octets);
        self.correct_order(&mut values);
        Ok(values)
    }

    /// Reads as [`Decoder::get_array`] does, where `bytes` ends before the array does; a lent array
    /// is copied once.
    #[cold]
    fn get_array_across_seams<T: Primitive, const N: usize>(&mut self) -> Result<[T; N], CdrError> {
        let mut values = [T::ZERO; N];
        let to = bulk::octets_of_mut(&mut values);
        if self.is_lent(to.len()) {
            self.step_over(to.len())?.segment.copy_to(to);
        } else {
            to.copy_from_slice(self.get_bytes_across_seams(to.len())?);
        }
        self.correct_order(&mut values);
        Ok(values)
    }

    #[inline]
    fn correct_order<T: Primitive>(&self, values: &mut [T]) {
        if T::turning(self.order) == Turning::Reversed {
            bulk::reverse(values);
        }
    }
}
