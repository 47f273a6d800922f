//! What a bridge may be told.

use std::time::Duration;

/// How a bridge passes requests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BridgeOptions {
    /// Whether references in bodies are rewritten: those of the target's server in replies so that they
    /// lead through the bridge, those of the bridge in requests so that they lead to the server. Default:
    /// no.
    ///
    /// The types of a body are not known here. So it is searched for octets that decode as a reference
    /// and name a place that the target's reference names, too; each is replaced by one of the same
    /// length, so that nothing else moves. Limits: a server that goes by another address than in the
    /// target's reference is not recognised; a reference with too little room for the other's address
    /// stays as it is, which is logged; references as text, in the other byte order than the body (in an
    /// `any`'s encapsulation, say), or compressed are not found; and octets that look just like such a
    /// reference without being one are changed. The search takes time with each body.
    pub rewrite_references: bool,
    /// How long a request may take from here on. Default, `None`: as the ORB's configuration has it
    /// (`timeouts.call`), or the target reference's own policies.
    pub timeout: Option<Duration>,
    /// Which objects of the target's server are reached beside the target itself, by their keys there. Others are
    /// answered with OBJECT_NOT_EXIST, as if they were not. Default, `None`: all of them, whatever the key.
    ///
    /// Whoever reaches the bridge has what rights the bridge has at the server: a socket that lets in its owner only
    /// lets in the bridge for everybody. References in replies name further objects; these have to be listed, too.
    pub objects: Option<Vec<Vec<u8>>>,
    /// How many objects of the target's server are remembered, the least recently used forgotten first.
    /// Each takes some hundred octets. Default: 1024; at least 1.
    pub remembered_objects: usize,
}

impl Default for BridgeOptions {
    fn default() -> Self {
        Self {
            rewrite_references: false,
            timeout: None,
            objects: None,
            remembered_objects: 1024,
        }
    }
}
