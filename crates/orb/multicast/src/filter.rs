//! Check of messages that arrived for groups, before they have anything to do with the ORB: what is not a complete request
//! for a group with members here makes no connection, no thread and no line in the log.

use crate::table::Groups;
use punctual_cdr::{Coding, Decoder, GiopVersion, Limits};
use punctual_giop::{MessageHeader, MessageKind, RequestHeader, Target};
use punctual_ior::{GroupInfo, UipmcProfile, tags};

/// Returns whether a message is a request for a group that has members.
pub(crate) fn is_for_a_group(groups: &Groups, message: &[u8]) -> bool {
    group_of(message).is_some_and(|group| !groups.members(&group).is_empty())
}

/// Returns the group that a message is a request for.
fn group_of(message: &[u8]) -> Option<GroupInfo> {
    let header = MessageHeader::parse(message.first_chunk()?).ok()?;
    let is_request = header.kind == MessageKind::Request && !header.more_fragments;
    if !is_request || header.version != GiopVersion::V1_2 || header.message_len() != message.len() {
        return None;
    }
    let limits = Limits::default();
    let coding = Coding::new(header.version, &limits);
    let mut input = Decoder::new(message, header.order, coding);
    input.skip(MessageHeader::LEN).ok()?;
    let request = RequestHeader::decode(&mut input).ok()?;
    match &request.target {
        Target::Profile { tag, data } => group_in(*tag, data),
        Target::Reference { selected, ior } => {
            let profile = ior.profiles.get(usize::try_from(*selected).ok()?)?;
            group_in(profile.tag, &profile.data)
        }
        Target::ObjectKey(_) => None,
    }
}

fn group_in(tag: u32, data: &[u8]) -> Option<GroupInfo> {
    let is_group = tag == tags::profile::UIPMC;
    is_group.then(|| UipmcProfile::decode(data).ok()?.group())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Member;
    use punctual_cdr::{Block, ByteOrder};
    use punctual_giop::{ResponseFlags, ServiceContexts, begin_message, finish_message};
    use punctual_ior::Ior;

    fn profile() -> Vec<u8> {
        let group = GroupInfo::new("d", 1);
        let profile = UipmcProfile::of_group(&group, ("239.255.0.1", 5555), None).unwrap();
        profile.encode(ByteOrder::Big).unwrap()
    }

    fn message(kind: MessageKind, version: GiopVersion, target: Target<'_>) -> Vec<u8> {
        let limits = Limits::default();
        let coding = Coding::new(version, &limits);
        let mut out = punctual_cdr::Encoder::new(Block::default(), ByteOrder::Big, coding);
        begin_message(&mut out, kind);
        let header = RequestHeader {
            request_id: 1,
            response: ResponseFlags::NONE,
            target,
            operation: "op",
            contexts: ServiceContexts::new(&[]),
        };
        header.encode(&mut out).unwrap();
        let mut block = out.into_block();
        finish_message(&mut block).unwrap();
        block.to_vec()
    }

    #[test]
    fn requests_for_a_group_with_members_pass_and_nothing_else() {
        let groups = Groups::default();
        let passes = |message: &[u8]| is_for_a_group(&groups, message);
        let (request, newest) = (MessageKind::Request, GiopVersion::V1_2);
        let profile = profile();
        let target = |tag| Target::Profile {
            tag,
            data: &profile,
        };
        let good = message(request, newest, target(tags::profile::UIPMC));
        assert!(!passes(&good));
        let member = Member {
            poa: Box::default(),
            id: "id".into(),
            key: Box::default(),
            place: Box::default(),
        };
        groups.add(&GroupInfo::new("d", 1), &member);
        assert!(passes(&good));
        let mut ior = Ior::nil();
        ior.profiles.push(punctual_ior::TaggedProfile {
            tag: tags::profile::UIPMC,
            data: profile.clone(),
        });
        let by_reference = |selected| Target::Reference {
            selected,
            ior: Box::new(ior.clone()),
        };
        assert!(passes(&message(request, newest, by_reference(0))));
        assert!(!passes(&message(request, newest, by_reference(1))));
        assert!(!passes(&message(request, newest, target(0))));
        let key = Target::ObjectKey(b"key");
        assert!(!passes(&message(request, newest, key.clone())));
        assert!(!passes(&message(request, GiopVersion::V1_1, key)));
        for kind in [
            MessageKind::LocateRequest,
            MessageKind::CancelRequest,
            MessageKind::CloseConnection,
            MessageKind::MessageError,
            MessageKind::Reply,
            MessageKind::Fragment,
        ] {
            let other = message(kind, newest, target(tags::profile::UIPMC));
            assert!(!passes(&other), "{kind}");
        }
        for length in 0..good.len() {
            assert!(!passes(&good[..length]), "{length}");
        }
        let longer = [&good[..], b"x"].concat();
        assert!(!passes(&longer));
        let mut fragment = good.clone();
        fragment[6] |= 2;
        assert!(!passes(&fragment));
    }
}
