#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]
//! Links in shared libraries: the Component Configurator of Schmidt et al. 2001 (§4.4, §4.5) for
//! protocols.
//!
//! A link that implements [`punctual_link::Link`] is put into a library of its own with
//! [`export_link!`], and [`load`] makes a link of that library, in a program that was built without
//! it. Between the two stands a versioned C ABI ([`abi`], and `include/punctual_link.h` for
//! protocols written in C), not Rust's, which differs from compiler to compiler. A library of
//! another version, or of another layout, is refused with the reason.
//!
//! Bytes and texts cross the boundary: each received byte is copied once more than in a link that
//! is linked statically, and a link's shared memory ([`punctual_link::Connection::lender`] and
//! `loan`) is not available. Deadlines cross as the nanoseconds that are left.
//!
//! `unsafe` is this crate's purpose: the modules `host` and `export` hold it.

pub mod abi;
mod error;
#[allow(unsafe_code)]
#[doc(hidden)]
pub mod export;
#[allow(unsafe_code)]
mod host;

pub use error::{Fault, PluginError};
pub use host::load;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use host::take_in;

/// Exports a link from a library whose `crate-type` is `cdylib`.
///
/// The expression makes the link, and is evaluated each time that the library is loaded. If it or
/// any function of the link panics, the host gets an error.
///
/// A program can hold one exported link only, so keep this out of libraries that are linked
/// statically: give it a package of its own.
///
/// ```
/// punctual_plugin::export_link!(punctual_link::iiop::Iiop::default());
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_link {
    ($link:expr) => {
        const _: () = {
            /// Opens the link.
            ///
            /// # Safety
            /// As the table's `open`.
            #[allow(unsafe_code)]
            unsafe extern "C" fn open(
                failure: *mut $crate::abi::Failure,
                link: *mut *mut $crate::abi::RawLink,
            ) -> ::std::ffi::c_int {
                // SAFETY: this function's own conditions.
                unsafe { $crate::export::open(failure, link, || $link) }
            }

            static TABLE: $crate::abi::Table = $crate::export::table(open);

            /// Entry function, the only symbol that the library exports (`punctual_link.h`).
            // SAFETY: no other item has this name: a library exports one link.
            #[allow(unsafe_code)]
            #[unsafe(no_mangle)]
            pub extern "C" fn punctual_link_plugin() -> *const $crate::abi::Table {
                &raw const TABLE
            }
        };
    };
}
