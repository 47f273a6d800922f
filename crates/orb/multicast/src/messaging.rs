//! Requests to groups: GIOP 1.2 one-ways, addressed by the profile of the group (ProfileAddr), as groups have no object keys.

use crate::key;
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder, GiopVersion, Limits};
use punctual_giop::{MessageKind, RequestHeader, Target};
use punctual_ior::tags;
use punctual_link::Framing;
use punctual_orb::{
    Abilities, BadFrame, Examined, Giop, Head, Messaging, Needs, RepeatableHead, Session,
};
use std::sync::Arc;

/// Name of the messaging protocol of groups.
pub const NAME: &str = "giop_group";
/// Name of the protocol of groups, as in endpoints: this messaging protocol over the link of multicast.
pub const PROTOCOL: &str = "giop_group+miop";

/// Messaging protocol of groups.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupGiop;

impl Messaging for GroupGiop {
    fn name(&self) -> &str {
        NAME
    }

    fn needs(&self) -> Needs {
        Needs {
            framing: Some(Framing::Datagram),
            ..Giop::one_way().needs()
        }
    }

    fn abilities(&self) -> Abilities {
        Giop::one_way().abilities()
    }

    fn session(&self) -> Arc<dyn Session> {
        Arc::new(GroupSession(Giop::one_way().session()))
    }
}

/// Session of GIOP, but for the targets of requests.
#[derive(Debug)]
struct GroupSession(Arc<dyn Session>);

impl Session for GroupSession {
    fn examine(
        &self,
        octets: &[u8],
        available: usize,
        limits: &Limits,
    ) -> Result<Examined, BadFrame> {
        self.0.examine(octets, available, limits)
    }

    fn begin<'e>(
        &self,
        block: Block,
        kind: MessageKind,
        order: ByteOrder,
        coding: Coding<'e>,
    ) -> Encoder<'e> {
        self.0.begin(block, kind, order, coding)
    }

    fn finish(&self, block: &mut Block) -> Result<(), CdrError> {
        self.0.finish(block)
    }

    /// Writes a header; a request for a group is addressed by its profile.
    fn put_head(&self, out: &mut Encoder<'_>, head: &Head<'_>) -> Result<(), CdrError> {
        if let Head::Request(header, arrival) = head
            && let Target::ObjectKey(object_key) = &header.target
            && let Some(data) = key::profile_in(object_key)
        {
            let target = Target::Profile {
                tag: tags::profile::UIPMC,
                data,
            };
            let header = RequestHeader {
                target,
                ..header.clone()
            };
            return self.0.put_head(out, &Head::Request(header, *arrival));
        }
        self.0.put_head(out, head)
    }

    fn get_head<'m>(
        &self,
        kind: MessageKind,
        input: &mut Decoder<'m>,
    ) -> Result<Head<'m>, CdrError> {
        self.0.get_head(kind, input)
    }

    fn repeatable_head(&self, version: GiopVersion) -> Option<RepeatableHead> {
        self.0.repeatable_head(version)
    }
}
