//! What the proxies of one administrator have in common: filters, types and quality.
//!
//! An event passes a proxy and its administrator if the filters of both let it through (`AND_OP`), or those of either
//! (`OR_OP`). A side without filters lets all through, and does not count for `OR_OP` unless the other side has none
//! either (formal/04-10-13, 2.1.2).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use parking_lot::{Mutex, RwLock};

use crate::client::{Form, Style};
use crate::common::Common;
use crate::cos_notification::EventType;
use crate::cos_notify_channel_admin::{AdminId, InterFilterGroupOperator as Operator};
use crate::cos_notify_filter::MappingFilter;
use crate::filter::{Attached, AttachedMapping, Mappings};
use crate::hub::Hub;
use crate::proxy::{Kind, Proxy};
use crate::qos::Level;
use crate::quality::Quality;
use crate::refusal::Refusal;
use crate::types::{BadTypes, Types};

/// Parts of an administrator of consumers or suppliers.
pub(crate) struct Group {
    pub(crate) hub: Arc<dyn Hub>,
    pub(crate) id: AdminId,
    pub(crate) number: u64,
    pub(crate) operator: Operator,
    pub(crate) quality: Quality,
    pub(crate) filters: Attached,
    types: Mutex<Types>,
    /// Mapping filters of an administrator of consumers.
    pub(crate) mappings: RwLock<Mappings>,
    next_proxy: AtomicI32,
    has_ended: AtomicBool,
}

/// Id of the administrators that each channel has from the beginning.
pub(crate) const DEFAULT: AdminId = 0;

impl Group {
    pub(crate) fn new(hub: Arc<dyn Hub>, id: AdminId, operator: Operator) -> Self {
        Self {
            number: hub.common().objects.number(),
            id,
            operator,
            quality: hub.quality().inherited(Level::Admin),
            filters: no_filters(&*hub),
            types: Mutex::default(),
            mappings: RwLock::default(),
            next_proxy: AtomicI32::new(0),
            has_ended: AtomicBool::new(false),
            hub,
        }
    }

    /// Notes that the administrator ends, and removes its object.
    pub(crate) fn end(&self) {
        // Pairs with the load in `has_ended`: a proxy that this thread does not find among those to end is ended by the
        // thread that adds it.
        self.has_ended.store(true, Ordering::SeqCst);
        self.hub.common().objects.remove(&self.object_id());
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::SeqCst)
    }

    /// Returns the id of the administrator's object.
    pub(crate) fn object_id(&self) -> Vec<u8> {
        self.hub.common().objects.id_of(self.number)
    }

    /// Returns whether an event passes with these verdicts of the administrator's and the proxy's filters.
    pub(crate) fn passes(&self, admin: Option<bool>, proxy: Option<bool>) -> bool {
        match (self.operator, admin, proxy) {
            (_, None, None) => true,
            (Operator::AndOp, admin, proxy) => admin.unwrap_or(true) && proxy.unwrap_or(true),
            (Operator::OrOp, admin, proxy) => admin == Some(true) || proxy == Some(true),
        }
    }

    pub(crate) fn common(&self) -> &Common {
        self.hub.common()
    }

    pub(crate) fn types(&self) -> Types {
        self.types.lock().clone()
    }

    /// Changes the types of all proxies that state none themselves.
    ///
    /// # Errors
    /// They are wrong, or too many.
    pub(crate) fn change_types(
        &self,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), BadTypes> {
        let most = self.hub.common().limits.types;
        let mut types = self.types.lock();
        *types = types.changed(added, removed, most)?;
        Ok(())
    }

    /// Makes the parts of a proxy that all have.
    pub(crate) fn proxy(&self, form: Form, style: Style) -> Proxy {
        let common = self.hub.common().clone();
        let kind = Kind {
            // Relaxed: only the number matters.
            id: self.next_proxy.fetch_add(1, Ordering::Relaxed),
            number: common.objects.number(),
            form,
            style,
        };
        let quality = self.quality.inherited(Level::Proxy);
        Proxy::new(common, kind, quality, no_filters(&*self.hub))
    }

    /// Returns a mapping filter of this service with its reference, or none for a nil one.
    ///
    /// # Errors
    /// It is not of this service.
    pub(crate) fn mapping(
        &self,
        filter: Option<&MappingFilter>,
    ) -> Result<AttachedMapping, Refusal> {
        let found = filter.map(|filter| {
            let found = self.hub.registry().mapping(self.hub.common(), filter)?;
            Ok((filter.clone(), found))
        });
        found.transpose()
    }
}

/// Returns an empty list of filters.
fn no_filters(hub: &dyn Hub) -> Attached {
    Attached::new(hub.common().clone(), hub.registry().clone())
}
