//! Servants that answer later: by responses (AMH), and by futures.
#![allow(clippy::unwrap_used)]

use crate::support;

use crate::asynchronous::generated;

mod answers;
mod buffered;
mod collocated;
mod desk;
mod families;
mod faults;
mod front;
mod futures;
mod holding;
mod interceptors;
mod pair;
mod poas;
mod rows;
mod time_outs;

use punctual_idl_tests::families as related;

use pair::{Pair, by_orb, over_wire, tcp, until};
