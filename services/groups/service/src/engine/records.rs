//! Groups as records of the store, and records as groups.

use std::sync::Arc;
use std::time::Duration;

use punctual::stub::{ByteOrder, Coding, Decoder, Unmarshal};
use punctual::{Any, Interface, ObjectRef, Orb};
use punctual_groups_client::portable_group::GenericFactory;
use punctual_host::store::to_cdr;

use crate::kept;
use crate::properties::Properties;
use crate::refusal::Refused;
use crate::state::{Creation, Group, Member};

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
        former_lease_ms: millis(group.former_lease),
        the_members: members.collect::<Refused<_>>()?,
    })
}

fn record(key: &str, member: &Member) -> Refused<kept::Member> {
    let (creation_id, made_by) = match &member.creation {
        Some(creation) => (to_cdr(&creation.id)?, text_of(creation.by.as_object())),
        None => (Vec::new(), String::new()),
    };
    Ok(kept::Member {
        location: key.to_owned(),
        reference: text_of(&member.reference),
        token: member.token,
        lease_ms: millis(member.lease),
        is_draining: member.is_draining,
        creation_id,
        made_by,
    })
}

fn millis(lease: Option<Duration>) -> u32 {
    let millis = lease.map_or(0, |lease| lease.as_millis());
    u32::try_from(millis).unwrap_or(u32::MAX)
}

/// Returns the lease of a record, in which 0 means none.
pub(super) fn lease(millis: u32) -> Option<Duration> {
    (millis > 0).then(|| Duration::from_millis(millis.into()))
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

pub(super) fn read(orb: &Orb, record: kept::Properties) -> Properties {
    let property = |one: kept::Property| Some((one.name, value(orb, &one.value)?));
    Properties(record.into_iter().filter_map(property).collect())
}

pub(super) fn member(orb: &Orb, record: kept::Member) -> Option<(Arc<str>, Member)> {
    let creation = value(orb, &record.creation_id).and_then(|id| {
        let by = orb.string_to_object(&record.made_by).ok()?;
        let by = GenericFactory::from_object(by);
        Some(Creation { id, by })
    });
    let member = Member {
        reference: orb.string_to_object(&record.reference).ok()?,
        token: record.token,
        lease: lease(record.lease_ms),
        is_draining: record.is_draining,
        creation,
    };
    Some((record.location.into(), member))
}
