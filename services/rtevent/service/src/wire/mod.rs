//! Events as peers send and receive them: each build of TAO chooses the fields that are on the wire.

mod event;
mod form;
mod qos;
mod shared;

pub(crate) use event::{plain, read_events, read_header, write_events};
pub(crate) use form::FIELDS;
pub use form::{Form, FormError};
pub(crate) use qos::{
    Published, Subscribed, disjunction, plain_consumer, published, read_consumer, read_supplier,
    write_consumer, write_supplier,
};
pub(crate) use shared::write_shared;
