//! Servant of the Cubit interface.

use crate::idl::bench::{BinStruct, Cube, CubitServant, TooLarge};
use crate::idl::bench::{CubitCubeLongError, CubitCubeStructError};
use punctual::{Orb, SystemException};
use std::sync::atomic::{AtomicU64, Ordering};

/// Cubit servant, which returns the cubes of its arguments.
#[derive(Debug)]
pub struct CubitImpl {
    orb: Orb,
    pings: AtomicU64,
}

impl CubitImpl {
    /// Makes a servant that shuts `orb` down when a client asks for it.
    #[must_use]
    pub fn new(orb: Orb) -> Self {
        Self {
            orb,
            pings: AtomicU64::new(0),
        }
    }

    fn count(&self) {
        self.pings.fetch_add(1, Ordering::Relaxed);
    }
}

fn cube(value: i32) -> Result<i32, TooLarge> {
    value.checked_pow(3).ok_or(TooLarge { value })
}

impl CubitServant for CubitImpl {
    fn cube_void(&self) -> Result<(), SystemException> {
        Ok(())
    }

    fn cube_octet(&self, o: u8) -> Result<u8, SystemException> {
        Ok(o.wrapping_pow(3))
    }

    fn cube_short(&self, s: i16) -> Result<i16, SystemException> {
        Ok(s.wrapping_pow(3))
    }

    fn cube_long(&self, l: i32) -> Result<i32, CubitCubeLongError> {
        Ok(cube(l)?)
    }

    fn cube_struct(&self, values: &Cube) -> Result<Cube, CubitCubeStructError> {
        Ok(Cube {
            o: values.o.wrapping_pow(3),
            l: cube(values.l)?,
            s: values.s.wrapping_pow(3),
        })
    }

    fn echo_octets(&self, values: &[u8]) -> Result<Vec<u8>, SystemException> {
        Ok(values.to_vec())
    }

    fn echo_shorts(&self, values: &[i16]) -> Result<Vec<i16>, SystemException> {
        Ok(values.to_vec())
    }

    fn echo_longs(&self, values: &[i32]) -> Result<Vec<i32>, SystemException> {
        Ok(values.to_vec())
    }

    fn echo_cubes(&self, values: &[Cube]) -> Result<Vec<Cube>, SystemException> {
        Ok(values.to_vec())
    }

    fn echo_bin_structs(&self, values: &[BinStruct]) -> Result<Vec<BinStruct>, SystemException> {
        Ok(values.to_vec())
    }

    fn echo_64(&self, value: u64) -> Result<u64, SystemException> {
        Ok(value)
    }

    fn take_octets(&self, _values: &[u8]) -> Result<(), SystemException> {
        Ok(())
    }

    fn take_longs(&self, _values: &[i32]) -> Result<(), SystemException> {
        Ok(())
    }

    fn take_bin_structs(&self, _values: &[BinStruct]) -> Result<(), SystemException> {
        Ok(())
    }

    fn ping(&self) -> Result<(), SystemException> {
        self.count();
        Ok(())
    }

    fn throw_octets(&self, _values: &[u8]) -> Result<(), SystemException> {
        self.count();
        Ok(())
    }

    fn throw_bin_structs(&self, _values: &[BinStruct]) -> Result<(), SystemException> {
        self.count();
        Ok(())
    }

    fn pings(&self) -> Result<u64, SystemException> {
        Ok(self.pings.load(Ordering::Relaxed))
    }

    fn shutdown(&self) -> Result<(), SystemException> {
        self.orb.shutdown(false)
    }
}
