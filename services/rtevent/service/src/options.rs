//! Options of the service.

use crate::federation::Link;
use crate::levels::SchedulerLevels;
use crate::wire::Form;
use punctual::policy::SyncScope;
use punctual_rtevent::{ChannelOptions, Level, QueueOptions};
use std::sync::Arc;
use std::time::Duration;

/// Options of an [`EventService`](crate::EventService).
#[derive(Clone, Debug)]
pub struct ServiceOptions {
    /// Options of the channel.
    pub channel: ChannelOptions,
    /// Fields of events on the wire. Default: all.
    pub form: Form,
    /// Form of filters. Default: `Either`.
    pub convention: Convention,
    /// Level of consumers whose filter has no `rt_info` that the schedule knows.
    pub level: Level,
    /// Level of consumers that are gateways to channels of other servers, and of links over UDP. Default: as `level`.
    pub gateway_level: Level,
    /// Scheduler on the network to which the service connects before it serves; it is the channel's schedule unless that
    /// has one. Default: none.
    pub scheduler: Option<Arc<SchedulerLevels>>,
    /// Queue of each consumer.
    pub queue: QueueOptions,
    /// Another `connect_…` on a connected proxy changes its filter or publications, instead of raising
    /// AlreadyConnected. Default: true.
    pub can_reconnect: bool,
    /// Clients may destroy the channel. Default: false.
    pub can_destroy: bool,
    /// Point at which a push to a consumer returns. Default: `WithTransport`.
    pub push: SyncScope,
    /// Time after which a push to a consumer fails, and a question whether a peer is there. Default: 1 s.
    pub push_timeout: Duration,
    /// Time after which a supplier without an object ends that has pushed nothing, once its connection has closed. Looked
    /// at by the channel's `liveness`. Default: 60 s.
    pub lease: Duration,
    /// Time after which a proxy that has not been connected is given up. Default: 60 s.
    pub unconnected: Duration,
    /// Maximum number of observers. Default: 256.
    pub most_observers: usize,
    /// Links over which events are sent. Default: none.
    pub sends: Vec<Link>,
    /// Links over which events are received. Default: none.
    pub receives: Vec<Link>,
}

impl Default for ServiceOptions {
    fn default() -> Self {
        Self {
            channel: ChannelOptions::default(),
            form: Form::default(),
            convention: Convention::default(),
            level: Level::default(),
            gateway_level: Level::default(),
            scheduler: None,
            queue: QueueOptions::default(),
            can_reconnect: true,
            can_destroy: false,
            push: SyncScope::WithTransport,
            push_timeout: Duration::from_secs(1),
            lease: Duration::from_secs(60),
            unconnected: Duration::from_secs(60),
            most_observers: 256,
            sends: Vec::new(),
            receives: Vec::new(),
        }
    }
}

/// Form of filters in `ConsumerQOS::dependencies`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Convention {
    /// As `Prefix` where the numbers of children are right, otherwise as `Basic`.
    #[default]
    Either,
    /// The number of a group's children is in `source` of its entry; groups nest. TAO's
    /// `-ECFiltering prefix`.
    Prefix,
    /// A group ends where the next one begins. TAO's default, `-ECFiltering basic`.
    Basic,
}
