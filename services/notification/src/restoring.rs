//! What a store has kept is made anew: filters, channels, administrators, and connected proxies.
//!
//! What cannot be made, such as a proxy whose filter is not known, is reported and stays in the store. Where several
//! servers have the service, it does not start without its store of events. Records without a
//! channel or administrator, and destroyed filters that are not attached, are removed.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use punctual::{Orb, SystemException, SystemExceptionKind};

use crate::channel::{Admin, Channel};
use crate::client::Client;
use crate::draft::Draft;
use crate::factory::Channels;
use crate::filter::Restored;
use crate::hub::Hub;
use crate::journal::Journal;
use crate::kept;
use crate::proxy::Kind;
use crate::refusal::Refusal;
use crate::storage::{Change, Kept};

/// Makes all that was kept, and cleans the store. `others` are the numbers of filters that another service has attached.
/// Returns the filters.
///
/// # Errors
/// The store cannot be written; that of events, which several servers share, cannot be reached.
pub(crate) fn restore(
    channels: &Channels,
    orb: &Orb,
    kept: &Kept,
    others: &[u64],
) -> Result<Restored, Refusal> {
    channels.common.names.restore(&kept.names);
    channels.reconnections.restore(orb, &kept.reconnections);
    let mut restored = Restored::new(channels.filters(), orb);
    for (number, filter) in &kept.filters {
        report("filter", *number, restored.add(*number, filter));
    }
    for (number, callback) in &kept.callbacks {
        let added = restored.add_callback(*number, callback);
        report("callback", *number, added);
    }
    let restoring = Restoring {
        orb,
        filters: restored,
        is_away: Cell::new(false),
    };
    let made = restoring.channels(channels, kept);
    let admins = restoring.admins(&made, kept);
    for channel in made.values() {
        report("channel", channel.number(), channel.complete());
    }
    restoring.proxies(&admins, kept);
    // Another server may reach it, and serve all of them.
    let is_shared = |journal: &Journal| journal.is_shared();
    if restoring.is_away.get() && channels.common.journal.as_ref().is_some_and(is_shared) {
        let reason = "the store of events cannot be reached, so that objects would be missing";
        return Err(Refusal::NoResources(reason.to_owned()));
    }
    channels.common.keep(waste(kept, others))?;
    clean_logs(channels, &made, kept)?;
    Ok(restoring.filters)
}

struct Restoring<'o> {
    orb: &'o Orb,
    filters: Restored,
    /// States that the store of events could not be reached.
    is_away: Cell<bool>,
}

impl Restoring<'_> {
    fn channels(&self, channels: &Channels, kept: &Kept) -> HashMap<u64, Arc<Channel>> {
        let made = kept.channels.iter().filter_map(|(number, channel)| {
            let restored = channels.restore(*number, channel);
            let restored = restored.inspect_err(|refusal| self.note_away(&refusal.clone().into()));
            Some((*number, report("channel", *number, restored)?))
        });
        made.collect()
    }

    /// Notes whether the store of events could not be reached.
    fn note_away(&self, error: &SystemException) {
        if error.kind() == SystemExceptionKind::Transient {
            self.is_away.set(true);
        }
    }

    fn admins(&self, channels: &HashMap<u64, Arc<Channel>>, kept: &Kept) -> HashMap<u64, Admin> {
        let made = kept.admins.iter().filter_map(|(number, admin)| {
            let channel = channels.get(&admin.channel)?;
            let draft = Draft::of_kept(&admin.stated, &self.filters);
            let restored = draft.and_then(|draft| channel.restore(*number, admin, draft));
            Some((*number, report("administrator", *number, restored)?))
        });
        made.collect()
    }

    fn proxies(&self, admins: &HashMap<u64, Admin>, kept: &Kept) {
        for (number, proxy) in &kept.proxies {
            if let Some(admin) = admins.get(&proxy.admin) {
                let restored = self.proxy(admin, *number, proxy);
                let restored = restored.inspect_err(|error| self.note_away(error));
                report("proxy", *number, restored);
            }
        }
    }

    fn proxy(
        &self,
        admin: &Admin,
        number: u64,
        proxy: &kept::Proxy,
    ) -> Result<(), SystemException> {
        let kind = Kind::of_kept(proxy);
        let client = match proxy.client.as_str() {
            "" => None,
            text => Some(Client::of_text(self.orb, text, (kind.form, kind.style))?),
        };
        let draft = Draft::of_kept(&proxy.stated, &self.filters)?;
        match admin {
            Admin::Consumers(admin) => admin.restore(number, proxy, client, draft),
            Admin::Suppliers(admin) => admin.restore(number, proxy, client, draft),
        }
    }
}

/// Removes logs and readers of channels and proxies that are not kept.
fn clean_logs(
    channels: &Channels,
    made: &HashMap<u64, Arc<Channel>>,
    kept: &Kept,
) -> Result<(), Refusal> {
    let Some(journal) = &channels.common.journal else {
        return Ok(());
    };
    let proxies: HashSet<u64> = kept.proxies.iter().map(|(number, _)| *number).collect();
    for log in made.values().filter_map(|channel| channel.log()) {
        log.keep_readers(&proxies)?;
    }
    journal.keep(&kept.channels.iter().map(|(number, _)| *number).collect())
}

/// Logs what could not be made.
fn report<T, E: std::fmt::Display>(what: &str, number: u64, outcome: Result<T, E>) -> Option<T> {
    outcome
        .inspect_err(|error| tracing::error!("{what} {number} of the store is not served: {error}"))
        .ok()
}

/// Returns the removals of records that count for nothing.
fn waste(kept: &Kept, others: &[u64]) -> Vec<Change> {
    let channels: HashSet<u64> = kept.channels.iter().map(|(number, _)| *number).collect();
    let (admins, lone_admins): (BTreeMap<u64, &kept::Admin>, BTreeMap<u64, &kept::Admin>) = kept
        .admins
        .iter()
        .map(|(number, admin)| (*number, admin))
        .partition(|(_, admin)| channels.contains(&admin.channel));
    let (proxies, lone_proxies): (Vec<_>, Vec<_>) = kept
        .proxies
        .iter()
        .partition(|(_, proxy)| admins.contains_key(&proxy.admin));
    let of_proxies = proxies.iter().map(|(_, proxy)| &proxy.stated);
    let attached: HashSet<u64> = admins
        .values()
        .map(|admin| &admin.stated)
        .chain(of_proxies)
        .flat_map(filters_of)
        .chain(others.iter().copied())
        .collect();
    let destroyed = kept
        .filters
        .iter()
        .filter(|(number, filter)| filter.is_destroyed && !attached.contains(number));
    let admins_kept: HashSet<u64> = admins.keys().copied().collect();
    let lone = lone_admins
        .into_keys()
        .map(|number| Change::Admin(number, None));
    let proxies = lone_proxies
        .iter()
        .map(|(number, _)| Change::Proxy(*number, None));
    let filters = destroyed.map(|(number, _)| Change::Filter(*number, None));
    let is_named = |number: &u64| channels.contains(number) || admins_kept.contains(number);
    let living = kept.filters.iter().filter(|(_, one)| !one.is_destroyed);
    let living: HashSet<u64> = living.map(|(number, _)| *number).collect();
    let callbacks = kept.callbacks.iter();
    let callbacks = callbacks.filter(|(_, callback)| !living.contains(&callback.filter));
    let callbacks = callbacks.map(|(number, _)| Change::Callback(*number, None));
    let nameless = kept.names.iter().filter(|(number, _)| !is_named(number));
    let names = nameless.map(|(number, _)| Change::Name(*number, None));
    let all = lone
        .chain(proxies)
        .chain(filters)
        .chain(callbacks)
        .chain(names);
    all.collect()
}

/// Returns the numbers of all filters that are attached.
fn filters_of(stated: &kept::State) -> impl Iterator<Item = u64> + '_ {
    let mappings = [stated.priority_filter, stated.lifetime_filter];
    let filters = stated.filters.iter().map(|one| one.filter);
    filters.chain(mappings)
}
