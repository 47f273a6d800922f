//! A channel with all that clients have stated in it, and its name, for tools (`PunctualNotify::Channel`).

use std::sync::Arc;

use punctual::SystemException;

use super::core::Channel;
use crate::cos_notify_channel_admin::{AdminId, AdminNotFound};
use crate::draft::Draft;
use crate::group::Group;
use crate::naming::NotNamed;
use crate::proxy::Proxy;
use crate::punctual_notify::{
    AdminState, ChannelCounts, ChannelServant, ChannelSetAdminNameError, ChannelSetNameError,
    ProxyState, Statement, Topology,
};
use crate::stated::Stated;

impl ChannelServant for Channel {
    fn counts(&self, most: u32) -> Result<ChannelCounts, SystemException> {
        Ok(self.counted(most))
    }

    fn describe(&self) -> Result<Topology, SystemException> {
        let consumers = self.members.consumer_admins();
        let consumers = consumers.iter().map(|one| {
            let outlets = one.outlets();
            let proxies = outlets.iter().filter_map(|outlet| proxy(&outlet.base));
            self.admin(&one.base, proxies.collect())
        });
        let suppliers = self.members.supplier_admins();
        let suppliers = suppliers.iter().map(|one| {
            let inlets = one.inlets();
            let proxies = inlets.iter().filter_map(|inlet| proxy(&inlet.base));
            self.admin(&one.base, proxies.collect())
        });
        Ok(Topology {
            name: self.name(),
            quality: self.quality.properties(),
            administration: self.administration.read().to_properties(),
            consumers: consumers.collect(),
            suppliers: suppliers.collect(),
        })
    }

    fn set_name(&self, name: &str) -> Result<(), ChannelSetNameError> {
        self.common.check_access().map_err(SystemException::from)?;
        let others = self.home.upgrade().map(|home| home.numbers());
        let named = self
            .common
            .name(self.number, name, &others.unwrap_or_default());
        named.map_err(NotNamed::raised)
    }

    fn set_admin_name(
        &self,
        of_consumers: bool,
        id: AdminId,
        name: &str,
    ) -> Result<(), ChannelSetAdminNameError> {
        self.common.check_access().map_err(SystemException::from)?;
        let admins: Vec<Arc<Group>> = match of_consumers {
            true => bases(self.members.consumer_admins().iter().map(|one| &one.base)),
            false => bases(self.members.supplier_admins().iter().map(|one| &one.base)),
        };
        let named = admins.iter().find(|one| one.id == id);
        let number = named.ok_or(AdminNotFound)?.stated.number;
        let others: Vec<_> = admins.iter().map(|one| one.stated.number).collect();
        let named = self.common.name(number, name, &others);
        named.map_err(NotNamed::raised)
    }
}

impl Channel {
    /// Returns the channel's name; empty without one.
    pub(crate) fn name(&self) -> String {
        self.common.names.of(self.number)
    }

    fn admin(&self, group: &Group, proxies: Vec<ProxyState>) -> AdminState {
        AdminState {
            id: group.id,
            name: self.common.names.of(group.stated.number),
            op: group.operator,
            stated: statement(&group.stated),
            proxies,
        }
    }
}

fn bases<'g>(groups: impl Iterator<Item = &'g Arc<Group>>) -> Vec<Arc<Group>> {
    groups.cloned().collect()
}

/// Returns a proxy, if it is connected.
fn proxy(proxy: &Proxy) -> Option<ProxyState> {
    if !proxy.connection.is_connected() {
        return None;
    }
    let client = proxy.connection.peer();
    let client = client.and_then(|client| client.to_text().ok());
    Some(ProxyState {
        id: proxy.id,
        kind: proxy.proxy_type(),
        client: client.unwrap_or_default(),
        stated: statement(&proxy.stated),
    })
}

fn statement(stated: &Stated) -> Statement {
    let draft: Draft = stated.draft();
    let kept = draft.to_kept();
    Statement {
        quality: kept.quality,
        has_types: kept.has_types,
        types: kept.types,
        filters: draft.filters.states(),
        has_mappings: draft.mappings.priority.is_some() || draft.mappings.lifetime.is_some(),
        has_foreign_filters: draft.filters.has_foreign(),
    }
}
