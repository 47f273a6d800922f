//! Groups as records of the store, and records as groups.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use punctual::stub::{ByteOrder, Coding, Decoder, Unmarshal};
use punctual::{Any, Interface, ObjectRef, Orb};
use punctual_groups_client::portable_group::GenericFactory;
use punctual_host::store::to_cdr;

use super::Engine;
use crate::kept;
use crate::properties::{Properties, Settings};
use crate::refusal::Refused;
use crate::state::{Creation, Due, Group, Member};
use crate::storage::Contents;

pub(super) fn properties(properties: &Properties) -> Refused<kept::Properties> {
    let record = |(name, value): &(String, Any)| {
        Ok(kept::Property {
            name: name.clone(),
            value: to_cdr(value)?,
        })
    };
    properties.0.iter().map(record).collect()
}

/// Returns the record of a group.
pub(super) fn group(group: &Group) -> Refused<kept::Group> {
    let members = group
        .members
        .iter()
        .map(|(key, member)| record(key, member));
    Ok(kept::Group {
        type_id: group.type_id.clone(),
        is_balanced: group.is_balanced,
        props: properties(&group.own)?,
        version: group.version,
        primary: group.primary.as_deref().unwrap_or_default().to_owned(),
        next_token: group.next_token,
        the_members: members.collect::<Refused<_>>()?,
    })
}

fn record(key: &str, member: &Member) -> Refused<kept::Member> {
    let (creation_id, made_by) = match &member.creation {
        Some(creation) => (to_cdr(&creation.id)?, text_of(creation.by.as_object())),
        None => (Vec::new(), String::new()),
    };
    let millis = member.lease.map_or(0, |lease| lease.as_millis());
    Ok(kept::Member {
        location: key.to_owned(),
        reference: text_of(&member.reference),
        token: member.token,
        lease_ms: u32::try_from(millis).unwrap_or(u32::MAX),
        is_draining: member.is_draining,
        creation_id,
        made_by,
    })
}

fn text_of(object: &ObjectRef) -> String {
    object.orb().object_to_string(object).unwrap_or_default()
}

/// Returns the value of a record, whose references belong to an ORB.
fn value(orb: &Orb, bytes: &[u8]) -> Option<Any> {
    let coding = Coding {
        environment: Some(orb),
        ..Coding::default()
    };
    Any::unmarshal(&mut Decoder::new(bytes, ByteOrder::Big, coding)).ok()
}

fn read(orb: &Orb, record: kept::Properties) -> Properties {
    let property = |one: kept::Property| Some((one.name, value(orb, &one.value)?));
    Properties(record.into_iter().filter_map(property).collect())
}

fn member(orb: &Orb, record: kept::Member) -> Option<(Arc<str>, Member)> {
    let creation = value(orb, &record.creation_id).and_then(|id| {
        let by = orb.string_to_object(&record.made_by).ok()?;
        let by = GenericFactory::from_object(by);
        Some(Creation { id, by })
    });
    let lease = Duration::from_millis(record.lease_ms.into());
    let member = Member {
        reference: orb.string_to_object(&record.reference).ok()?,
        token: record.token,
        lease: Some(lease).filter(|lease| !lease.is_zero()),
        is_draining: record.is_draining,
        creation,
    };
    Some((record.location.into(), member))
}

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
            let states = stored.states.into_iter();
            state.states = states.map(|(id, bytes)| (id, bytes.into())).collect();
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
