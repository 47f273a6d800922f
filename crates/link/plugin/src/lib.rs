//! Links from shared libraries.
pub mod abi;
