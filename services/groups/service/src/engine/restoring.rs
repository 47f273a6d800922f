//! The contents of a store as groups.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use super::Engine;
use super::records::{lease, member, read};
use crate::properties::Settings;
use crate::state::{Due, Group};
use crate::storage::Contents;

impl Engine {
    /// Makes the contents of a store the groups. Each member has a whole lease from now on.
    pub(super) fn restore(&self, stored: Contents) {
        let Ok(served) = self.served() else { return };
        let orb = &served.orb;
        let now = Instant::now();
        self.with(|state| {
            for (number, record) in stored.types {
                let properties = read(orb, record.props);
                match record.type_id.is_empty() {
                    true => state.defaults = properties,
                    false => {
                        state.types.insert(record.type_id, (number, properties));
                    }
                }
            }
            for (id, one) in stored.states {
                state.set_stored(id, Some(one));
            }
            for (id, record) in stored.groups {
                let members: BTreeMap<_, _> = record
                    .the_members
                    .into_iter()
                    .filter_map(|one| member(orb, one))
                    .collect();
                let primary =
                    Some(record.primary).filter(|primary| members.contains_key(&**primary));
                let own = read(orb, record.props);
                let mut group = Group {
                    settings: Settings::default(),
                    type_id: record.type_id,
                    is_balanced: record.is_balanced,
                    own,
                    version: record.version,
                    primary: primary.map(Into::into),
                    next_token: record.next_token,
                    former_lease: lease(record.former_lease_ms),
                    members,
                };
                group.settings = state.settings(&group.type_id, &group.own);
                state.put(id, Arc::new(group), now);
            }
            let interval = state.limits.monitor_interval;
            state.due.insert((now + interval, Due::Monitors));
        });
    }
}
