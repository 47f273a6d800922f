//! Typed channels: events are calls of the operations of an interface that suppliers and consumers agree on.
//!
//! Each operation has a struct type of its own: the operation's repository id and name, and its parameters as members. As
//! a struct is encoded as its members in a row, the arguments of a call are read as one value of that type and written as
//! the arguments of another call. Thus a typed event is an Any like every event of a channel, whose queues, limits and
//! untyped proxies are the same; byte orders, GIOP versions and code sets of the two sides may differ.
//!
//! ```text
//! interface     operations of an interface I, checked
//! pulled        interface `Pull<I>`, by which events of I are pulled
//! sources       where interfaces are described: IDL, an Interface Repository
//! operations    operations of a channel: routes of events by their types
//! asked         object that a peer is asked for
//! entrance      TypedProxyPushConsumer, and the object of I that suppliers call
//! target, exit  the object of a consumer that the channel calls, and the proxy that asks for it
//! pull_exit     TypedProxyPullSupplier, and the object of `Pull<I>` that consumers call
//! pull_target, pull_entrance    the object of a supplier that the channel pulls from, and the proxy that asks for it
//! obtain        typed proxies are made
//! admin         the channel and its administrators
//! ```

mod admin;
mod asked;
mod entrance;
mod exit;
mod interface;
mod obtain;
mod operations;
mod pull_entrance;
mod pull_exit;
mod pull_target;
mod pulled;
mod sources;
mod target;

pub use sources::EventInterfaces;

pub(crate) use admin::add;
use asked::AskedObject;
pub(crate) use entrance::{TypedEntrance, TypedPushConsumerProxy};
pub(crate) use exit::TypedPushSupplierProxy;
pub(crate) use interface::{Interface, id_of_object};
pub(crate) use obtain::restored;
pub(crate) use operations::Operations;
pub(crate) use pull_entrance::TypedPullConsumerProxy;
pub(crate) use pull_exit::{PullExit, TypedPullSupplierProxy};
pub(crate) use pull_target::PullTarget;
pub(crate) use pulled::{PullInterface, PullOperation, pulled_of};
pub(crate) use sources::{Catalogue, Found};
pub(crate) use target::Target;
