//! Common code of the virtual machine's program and its host's: the IDL, and the object.

use punctual::prelude::*;

/// Rust code that the IDL compiler generates from the example's IDL.
mod idl {
    include!(concat!(env!("OUT_DIR"), "/guest.rs"));
}

pub use idl::*;

/// Object of the virtual machine.
#[derive(Debug)]
pub struct Machine;

impl GuestServant for Machine {
    fn hostname(&self) -> Result<String, SystemException> {
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        Ok(name.trim().to_owned())
    }

    fn copy(&self, data: &[u8]) -> Result<Octets, SystemException> {
        Ok(data.into())
    }
}
