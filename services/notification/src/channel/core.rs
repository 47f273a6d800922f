//! A channel: its parts, its default administrators, its object, and its end.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::{Mutex, RwLock};
use punctual::Implements;

use super::members::Members;
use crate::admin::{ConsumerAdmin, SupplierAdmin};
use crate::census::Census;
use crate::common::Common;
use crate::cos_notification::{Property, UnsupportedAdmin, UnsupportedQoS};
use crate::cos_notify_channel_admin::{
    ChannelId, EventChannel, InterFilterGroupOperator as Operator,
};
use crate::filter::Registry;
use crate::gate::Embedding;
use crate::group::{DEFAULT, Place};
use crate::hub::{Home, Subscriber};
use crate::index::Index;
use crate::journal::ChannelLog;
use crate::punctual_notify;
use crate::qos::{AdminSettings, Level, Settings};
use crate::quality::Quality;
use crate::record::RecordState;
use crate::refusal::Refusal;
use crate::selection::Selection;
use crate::tally::Counts;

/// Event channel.
pub(crate) struct Channel {
    pub(crate) common: Arc<Common>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) id: ChannelId,
    pub(super) number: u64,
    pub(crate) quality: Quality,
    /// Log of the persistent events, in a channel that was made with them.
    pub(super) log: Option<ChannelLog>,
    /// Gate and object of another service, in one of its channels.
    pub(super) embedding: OnceLock<Embedding>,
    pub(super) administration: RwLock<AdminSettings>,
    pub(super) record: RecordState,
    pub(super) index: RwLock<Index<Arc<dyn Subscriber>>>,
    pub(super) selection: Selection,
    pub(super) offered: Mutex<Census>,
    pub(super) subscribed: Mutex<Census>,
    pub(super) members: Members,
    pub(super) counts: Arc<Counts>,
    /// Number of events in the channel, which its queues share.
    pub(super) events: Arc<AtomicUsize>,
    pub(super) home: Weak<dyn Home>,
    pub(super) own: Weak<Self>,
}

/// Properties of a channel that is made.
#[derive(Clone, Debug)]
pub struct Properties {
    pub(super) settings: Settings,
    pub(super) administration: AdminSettings,
}

/// Reason for which a channel cannot have properties.
#[derive(Clone, Debug, PartialEq)]
pub enum Unsupported {
    /// Properties of quality of service.
    Quality(UnsupportedQoS),
    /// Administrative properties.
    Administration(UnsupportedAdmin),
}

impl Properties {
    /// Reads the properties that a client asks for.
    ///
    /// # Errors
    /// Those that are wrong.
    pub(crate) fn of(
        common: &Common,
        quality: &[Property],
        administration: &[Property],
    ) -> Result<Self, Unsupported> {
        let abilities = common.abilities();
        let settings = Settings::of_channel().changed(quality, Level::Channel, abilities);
        let settings =
            settings.map_err(|qos_err| Unsupported::Quality(UnsupportedQoS { qos_err }))?;
        let administration = AdminSettings::default().changed(administration);
        let administration = administration
            .map_err(|admin_err| Unsupported::Administration(UnsupportedAdmin { admin_err }))?;
        Ok(Self {
            settings,
            administration,
        })
    }
}

impl Properties {
    /// Opens the log of the channel with a number, which is new or kept, if its events are persistent or have been. Blocks.
    ///
    /// # Errors
    /// The store of events fails.
    pub(crate) fn log(
        &self,
        common: &Common,
        number: u64,
        is_kept: bool,
    ) -> Result<Option<ChannelLog>, Refusal> {
        let Some(journal) = &common.journal else {
            return Ok(None);
        };
        let is_persistent = self.settings.has_persistent_events();
        match is_persistent || (is_kept && journal.has(number)?) {
            true => journal.open(number).map(Some),
            false => Ok(None),
        }
    }
}

impl Channel {
    pub(crate) fn new(
        common: Arc<Common>,
        registry: Arc<Registry>,
        home: Weak<dyn Home>,
        (id, number, properties, log): (ChannelId, u64, Properties, Option<ChannelLog>),
    ) -> Arc<Self> {
        let limits = common.limits;
        let abilities = limits.abilities(log.is_some(), common.is_stored);
        Arc::new_cyclic(|own| Self {
            number,
            record: RecordState::default(),
            registry,
            common,
            id,
            quality: Quality::new(Level::Channel, abilities, properties.settings),
            log,
            embedding: OnceLock::new(),
            administration: RwLock::new(properties.administration),
            index: RwLock::default(),
            selection: Selection::default(),
            offered: Mutex::default(),
            subscribed: Mutex::default(),
            members: Members::default(),
            counts: Arc::default(),
            events: Arc::default(),
            home,
            own: own.clone(),
        })
    }

    /// Adds the default administrators that are not there, with their objects: both of a new channel.
    ///
    /// # Errors
    /// A reference cannot be made.
    pub(crate) fn complete(self: &Arc<Self>) -> Result<(), Refusal> {
        let place = |has_consumers| Place {
            id: DEFAULT,
            number: self.common.objects.number(),
            operator: Operator::AndOp,
            has_consumers,
        };
        if self.members.consumer_admin(DEFAULT).is_none() {
            let consumers = ConsumerAdmin::new(self.clone(), place(true));
            consumers.serve()?;
            self.members.add_consumers(consumers);
        }
        if self.members.supplier_admin(DEFAULT).is_none() {
            let suppliers = SupplierAdmin::new(self.clone(), place(false));
            suppliers.serve()?;
            self.members.add_suppliers(suppliers);
        }
        Ok(())
    }

    /// Adds the object of the channel. Its reference names the standard's interface, as peers may not ask whether an
    /// object has another one.
    ///
    /// # Errors
    /// The reference cannot be made.
    pub(crate) fn serve(self: &Arc<Self>) -> Result<EventChannel, Refusal> {
        let servant = <punctual_notify::Channel as Implements<_>>::servant(self.clone());
        Ok(self.common.objects.add(&self.object_id(), servant)?)
    }

    pub(super) fn object_id(&self) -> Vec<u8> {
        self.common.objects.id_of(self.number)
    }

    /// Ends all connections, and removes the objects of the channel.
    pub(crate) fn end(&self) {
        for consumers in self.members.destroy_consumers() {
            consumers.end();
        }
        for suppliers in self.members.destroy_suppliers() {
            suppliers.end();
        }
        self.common.objects.remove(&self.object_id());
        self.common.forget_name(self.number);
        if let Some(log) = &self.log {
            log.close();
        }
    }

    /// Removes the log of a channel that has ended. Blocks.
    pub(crate) fn remove_log(&self) {
        if let (Some(journal), Some(_)) = (&self.common.journal, &self.log) {
            journal.remove(self.number);
        }
    }
}
