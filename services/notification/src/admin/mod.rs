//! Administrators: the operations of `ConsumerAdmin` and `SupplierAdmin`, and the proxies that each has.

mod consumers;
mod suppliers;

pub(crate) use consumers::ConsumerAdmin;
pub(crate) use suppliers::SupplierAdmin;
