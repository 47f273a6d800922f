//! Options of a bridge.

use std::time::Duration;

/// Options of a bridge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BridgeOptions {
    /// Set if references in bodies are rewritten: those of the target's server in replies so that
    /// they lead through the bridge, those of the bridge in requests so that they lead to the
    /// server. Default: no.
    ///
    /// The types of a body are not known here. So it is searched for octets that decode as a
    /// reference and name an address that the target's reference names, too; each is replaced by
    /// one of the same length, so that nothing else moves. Limits: a server with another address
    /// than in the target's reference is not recognised; a reference with too little room for the
    /// other's address stays as it is, which is logged; references as text, in the other byte order
    /// than the body (in an `any`'s encapsulation, for example), or compressed are not found; and
    /// octets that look just like such a reference without being one are changed. The search takes
    /// time with each body.
    pub rewrite_references: bool,
    /// Time limit of a request from the bridge to the target. Default, `None`: that of the ORB's
    /// configuration (`timeouts.call`), or of the target reference's own policies.
    pub timeout: Option<Duration>,
    /// Objects of the target's server that can be reached beside the target itself, by their keys
    /// there. Others are answered with OBJECT_NOT_EXIST. Default, `None`: all of them, whatever the
    /// key.
    ///
    /// All clients of the bridge have the bridge's rights at the server: a socket that admits only
    /// its owner then admits everyone through the bridge. References in replies name further
    /// objects; these have to be listed, too.
    pub objects: Option<Vec<Vec<u8>>>,
    /// Number of objects of the target's server whose references the bridge caches; the least
    /// recently used are dropped first. Each takes some hundred bytes. Default: 1024; at least 1.
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
