//! `corbaloc:` URLs (CORBA 3.3 part 2, §7.6.10): references that people can type.
//!
//! ```text
//! corbaloc:rir:/NameService
//! corbaloc:iiop:1.2@host:2809,:[::1]:2810/Key%20with%20space
//! corbaloc:ssliop:host:684/key          IIOP over TLS
//! corbaloc:uiop:1.2@/run/server|key     a path holds slashes: a bar stands before the key
//! corbaloc:diop:host:2809/key           GIOP over UDP
//! corbaloc:miop:1.0@1.0-domain-1/239.255.0.1:5555
//!                                       a multicast group: it has no key
//! corbaloc:miop:1.0@1.0-domain-1-3/239.255.0.1:5555;iiop:1.2@host:2809/key
//!                                       the same, with an object for calls with replies
//! corbaloc:shmiop:/run/server|key       GIOP over a link of Punctual's
//! corbaloc:vsock:3:5000/key             the same: a virtual machine's number, and a port
//! corbaloc:giop_lite+uiop:/run/server|key
//!                                       any messaging protocol over any link
//! ```

mod address;
mod error;
mod parse;

pub use address::Address;
pub(crate) use address::write_escaped;
pub use error::{CorbalocError, CorbalocPart, KeyMark};

use std::fmt;

use punctual_cdr::CdrError;

use crate::reference::Ior;

/// Default port of an IIOP or DIOP address in a `corbaloc:` URL.
pub const DEFAULT_IIOP_PORT: u16 = 2809;

/// Default port of an SSLIOP address (IANA: corba-iiop-ssl).
pub const DEFAULT_SSLIOP_PORT: u16 = 684;

/// Parsed `corbaloc:` URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Corbaloc {
    /// Addresses of the object, in order of preference; at least one. `Rir` stands alone.
    pub addresses: Vec<Address>,
    /// Object key, escapes resolved, never empty after parsing but for a multicast group; for `rir` the name of the initial
    /// reference.
    pub key: Vec<u8>,
}

impl Corbaloc {
    /// Returns whether the URL names an initial reference of this ORB.
    #[must_use]
    pub fn is_rir(&self) -> bool {
        self.addresses.contains(&Address::Rir)
    }

    /// Returns the reference that the URL stands for: one profile for each address, no type id.
    /// `None` for `rir`, which the ORB resolves.
    ///
    /// # Errors
    /// Those of an invalid host name or location, if the value was not parsed.
    pub fn to_ior(&self) -> Result<Option<Ior>, CdrError> {
        let mut profiles = Vec::with_capacity(self.addresses.len());
        for address in &self.addresses {
            match address.to_profile(&self.key)? {
                Some(profile) => profiles.push(profile),
                None => return Ok(None),
            }
        }
        Ok(Some(Ior {
            type_id: String::new(),
            profiles,
        }))
    }
}

/// Shows a URL that parses to the same value.
impl fmt::Display for Corbaloc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("corbaloc:")?;
        for (index, address) in self.addresses.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            address.fmt(f)?;
        }
        if self.addresses.iter().any(Address::has_no_key) {
            return Ok(());
        }
        let bar = self.addresses.last().is_some_and(Address::ends_with_bar);
        f.write_str(if bar { "|" } else { "/" })?;
        address::write_escaped(f, &self.key, address::KEY_UNESCAPED)
    }
}
