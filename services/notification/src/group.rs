//! What the proxies of one administrator have in common: filters, types and quality.
//!
//! An event passes a proxy and its administrator if the filters of both let it through (`AND_OP`), or those of either
//! (`OR_OP`). A side without filters lets all through, and does not count for `OR_OP` unless the other side has none
//! either (formal/04-10-13, 2.1.2).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use punctual_constraint::Constraint;

use crate::common::Common;
use crate::cos_notify_channel_admin::{AdminId, InterFilterGroupOperator as Operator, ProxyId};
use crate::cos_notify_filter::MappingFilter;
use crate::draft::Draft;
use crate::filter::{Attached, AttachedMapping, mappings};
use crate::hub::Hub;
use crate::kept;
use crate::proxy::{Kind, Proxy};
use crate::qos::Level;
use crate::refusal::Refusal;
use crate::stated::{Stated, Stating};
use crate::storage::Change;
use crate::tally::Tally;

/// Parts of an administrator of consumers or suppliers.
pub(crate) struct Group {
    pub(crate) hub: Arc<dyn Hub>,
    pub(crate) id: AdminId,
    pub(crate) operator: Operator,
    has_consumers: bool,
    pub(crate) stated: Stated,
    next_proxy: AtomicI32,
    has_ended: AtomicBool,
}

/// Place of an administrator in its channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) id: AdminId,
    /// Number of its object.
    pub(crate) number: u64,
    pub(crate) operator: Operator,
    pub(crate) has_consumers: bool,
}

/// Id of the administrators that each channel has from the beginning.
pub(crate) const DEFAULT: AdminId = 0;

impl Group {
    pub(crate) fn new(hub: Arc<dyn Hub>, place: Place) -> Self {
        let quality = hub.quality().inherited(Level::Admin);
        let filters = no_filters(&*hub, place.has_consumers);
        Self {
            id: place.id,
            operator: place.operator,
            has_consumers: place.has_consumers,
            stated: Stated::new(hub.common().clone(), place.number, quality, filters),
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
        self.hub.common().forget_name(self.stated.number);
        self.forget();
    }

    /// Returns a text that names the client of a proxy, for logs.
    pub(crate) fn client(&self, proxy: ProxyId) -> String {
        let client = match self.has_consumers {
            true => "consumer",
            false => "supplier",
        };
        format!(
            "{client} {proxy} of administrator {} in channel {}",
            self.id,
            self.hub.id()
        )
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::SeqCst)
    }

    /// Returns the id of the administrator's object.
    pub(crate) fn object_id(&self) -> Vec<u8> {
        self.hub.common().objects.id_of(self.stated.number)
    }

    /// Returns whether an event passes with these verdicts of the administrator's and the proxy's filters.
    pub(crate) fn passes(&self, admin: Option<bool>, proxy: Option<bool>) -> bool {
        match (self.operator, admin, proxy) {
            (_, None, None) => true,
            (Operator::AndOp, admin, proxy) => admin.unwrap_or(true) && proxy.unwrap_or(true),
            (Operator::OrOp, admin, proxy) => admin == Some(true) || proxy == Some(true),
        }
    }

    /// Returns constraints of which one has to be true for an event that passes the administrator's filters and those of a
    /// proxy; `None` without any filter, and where the verdict depends on foreign ones alone.
    pub(crate) fn needs(&self, of_proxy: &Attached) -> Option<Vec<Constraint>> {
        let has_foreign = || self.stated.filters.has_foreign() || of_proxy.has_foreign();
        if self.operator == Operator::OrOp && has_foreign() {
            return None;
        }
        let (admin, proxy) = (self.stated.filters.needs(), of_proxy.needs());
        match (self.operator, admin, proxy) {
            (Operator::OrOp, Some(admin), Some(proxy)) => Some([admin, proxy].concat()),
            (_, admin, proxy) => proxy.or(admin),
        }
    }

    pub(crate) fn common(&self) -> &Common {
        self.hub.common()
    }

    /// Makes the parts of a new proxy that all have.
    pub(crate) fn proxy(&self, kind: Kind) -> Proxy {
        // Relaxed: only the number matters.
        let id = self.next_proxy.fetch_add(1, Ordering::Relaxed);
        self.proxy_with(id, self.hub.common().objects.number(), kind)
    }

    /// Makes the parts of a proxy with a number that was kept.
    pub(crate) fn kept_proxy(&self, id: ProxyId, number: u64, kind: Kind) -> Proxy {
        self.next_proxy
            .fetch_max(id.wrapping_add(1), Ordering::Relaxed);
        self.proxy_with(id, number, kind)
    }

    fn proxy_with(&self, id: ProxyId, number: u64, kind: Kind) -> Proxy {
        let common = self.hub.common().clone();
        let quality = self.stated.quality.inherited(Level::Proxy);
        let stated = Stated::new(
            common,
            number,
            quality,
            no_filters(&*self.hub, self.has_consumers),
        );
        let tally = Tally::new(self.hub.counts().clone(), stated.common.metrics.clone());
        Proxy::new((self.stated.number, id), kind, stated, tally)
    }

    /// Returns the record of the administrator of a channel that is kept, or is not.
    pub(crate) fn record_in(&self, is_channel_kept: bool, draft: &Draft) -> Option<Change> {
        let is_kept =
            draft.settings.has_persistent_connections() || (self.id == DEFAULT && is_channel_kept);
        is_kept.then(|| {
            let admin = kept::Admin {
                channel: self.hub.number(),
                has_consumers: self.has_consumers,
                id: self.id,
                is_or: self.operator == Operator::OrOp,
                stated: draft.to_kept(),
            };
            Change::Admin(self.stated.number, Some(admin))
        })
    }

    /// Returns a mapping filter with its reference, or none for a nil one.
    ///
    /// # Errors
    /// It is a foreign one, and the service takes none or no more of these.
    pub(crate) fn mapping(
        &self,
        filter: Option<&MappingFilter>,
    ) -> Result<AttachedMapping, Refusal> {
        mappings::find(self.hub.registry(), self.hub.common(), filter)
    }
}

impl Stating for Group {
    fn stated(&self) -> &Stated {
        &self.stated
    }

    fn record(&self, draft: &Draft) -> Result<Option<Change>, Refusal> {
        Ok(self.record_in(self.hub.is_kept(), draft))
    }

    fn removal(&self) -> Change {
        Change::Admin(self.stated.number, None)
    }

    fn has_ended(&self) -> bool {
        Self::has_ended(self)
    }
}

/// Returns an empty list of filters, of consumers or of suppliers.
fn no_filters(hub: &dyn Hub, has_consumers: bool) -> Attached {
    let may_wait = has_consumers || !hub.may_block();
    Attached::new(hub.common().clone(), hub.registry().clone(), may_wait)
}
