//! Options of a bridge.

use std::time::Duration;

/// Options of a bridge between ORBs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BridgeOptions {
    /// Set if references in bodies are rewritten: in replies, references to the target's server
    /// then lead through the bridge; in requests, references to the bridge then lead to the server.
    /// Default: no.
    ///
    /// The bridge does not know the types in a body. So it searches the body for octets that decode
    /// as a reference and name an address that the target's reference also names; each such
    /// reference is replaced by one of the same length, so that nothing else moves. Limits: a
    /// server with another address than in the target's reference is not recognised; a reference
    /// whose replacement would be longer is left unchanged, which is logged; references that are
    /// text, compressed, or in another byte order than the body (in an `any`'s encapsulation, for
    /// example) are not found; and octets that happen to have the form of such a reference are
    /// changed. The search takes time for each body.
    pub rewrite_references: bool,
    /// Time limit of a request from the bridge to the target. Default, `None`: that of the ORB's
    /// configuration (`timeouts.call`), or of the target reference's own policies.
    pub timeout: Option<Duration>,
    /// Object keys, at the target's server, of the objects that can be reached in addition to the
    /// target itself. Requests for others are answered with OBJECT_NOT_EXIST. Default, `None`: all
    /// of them, whatever the key.
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
