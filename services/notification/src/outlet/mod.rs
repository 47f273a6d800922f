//! Proxies of consumers: each has a queue, from which events are pushed, or pulled by the consumer.
//!
//! ```text
//! core        the proxy
//! asking      questions to foreign filters; arrival, how events come
//! call        calls of consumers that wait for events
//! delivery    the queue, and what is under way
//! pushing     calls to consumers that are pushed to; what follows their failures
//! pulling     calls of consumers that pull
//! waiting     what waits for its time
//! source      the reader of the channel's log; refilling, events from there
//! held        events that wait for their StartTime
//! alarm       timers
//! under_way   events of a push that has not returned
//! backlog     how much waits, and for how long
//! interface   operations that all have; interfaces, those of each kind
//! ```
//! An outlet occupies no thread. A push is begun by a worker, and its reply is handled where it arrives; a call of a
//! consumer that finds no event waits as a [`call::Call`].

mod alarm;
mod arrival;
mod asking;
mod backlog;
mod call;
mod core;
mod delivery;
mod held;
mod interface;
mod interfaces;
mod pulling;
mod pushing;
mod refilling;
mod source;
mod under_way;
mod waiting;

pub(crate) use self::core::Outlet;
