//! CSIv2 mechanisms that a server accepts: the `CSI_SEC_MECH_LIST` component (CORBA 3.3 part 2,
//! §10.5.1).
//!
//! ```text
//! encapsulation { boolean stateful; sequence<CompoundSecMech> mechanism_list; }
//! struct CompoundSecMech {
//!     ushort target_requires; TaggedComponent transport_mech;
//!     AS_ContextSec as_context_mech; SAS_ContextSec sas_context_mech;
//! }
//! TLS_SEC_TRANS, an encapsulation {
//!     ushort target_supports; ushort target_requires; sequence<TransportAddress> addresses;
//! }
//! ```
//!
//! Of the security above the transport (names and passwords, asserted identities) only the
//! requirements are kept: a server that insists on it says so in its reply.

use punctual_cdr::{CdrError, Coding, Decoder, Unmarshal, unmarshal_each};

use crate::endpoint::Endpoint;
use crate::security::AssociationOptions;
use crate::tagged::TaggedComponent;
use crate::tags::component as tag;

/// Least size of a mechanism: two options, a tag, a length, twice two options, and six empty
/// sequences or numbers.
const LEAST: usize = 32;

/// Security mechanism that a server accepts, in its order of preference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompoundMechanism {
    /// Options that the server requires on all layers together.
    pub target_requires: AssociationOptions,
    /// Transport layer that the mechanism requires.
    pub transport: MechanismTransport,
}

/// Transport layer of a CSIv2 security mechanism.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MechanismTransport {
    /// No secure transport: the address in the profile itself is used.
    Null,
    /// TLS, with its association options and addresses.
    Tls(TlsSecTrans),
    /// Another transport, identified by its component tag.
    Other(u32),
}

/// TLS transport of a CSIv2 mechanism, with the addresses of its endpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsSecTrans {
    /// Security association options that the target supports.
    pub target_supports: AssociationOptions,
    /// Security association options that the target requires.
    pub target_requires: AssociationOptions,
    /// Addresses of the TLS endpoints, in the server's order of preference.
    pub addresses: Vec<Endpoint>,
}

/// Reads the list, from after the encapsulation's byte order on.
pub(crate) fn mechanisms(input: &mut Decoder<'_>) -> Result<Vec<CompoundMechanism>, CdrError> {
    let _stateful = input.get_bool()?;
    unmarshal_each(input, LEAST, mechanism)
}

fn mechanism(input: &mut Decoder<'_>) -> Result<CompoundMechanism, CdrError> {
    let target_requires = AssociationOptions(input.get_u16()?);
    let transport = TaggedComponent::unmarshal(input)?;
    // AS_ContextSec: supports, requires, the mechanism's object id, the target's name.
    let (_supports, _requires) = (input.get_u16()?, input.get_u16()?);
    let (_mechanism, _name) = (input.get_octets()?, input.get_octets()?);
    // SAS_ContextSec: supports, requires, privilege authorities, naming mechanisms, kinds of
    // identities.
    let (_supports, _requires) = (input.get_u16()?, input.get_u16()?);
    unmarshal_each(input, 8, |input| {
        input.get_u32()?;
        input.get_octets().map(drop)
    })?;
    unmarshal_each(input, 4, |input| input.get_octets().map(drop))?;
    input.get_u32()?;
    Ok(CompoundMechanism {
        target_requires,
        transport: transport_of(&transport)?,
    })
}

fn transport_of(component: &TaggedComponent) -> Result<MechanismTransport, CdrError> {
    Ok(match component.tag {
        tag::NULL_TAG => MechanismTransport::Null,
        tag::TLS_SEC_TRANS => {
            let mut input = Decoder::of_encapsulation(&component.data, Coding::default())?;
            MechanismTransport::Tls(TlsSecTrans {
                target_supports: AssociationOptions(input.get_u16()?),
                target_requires: AssociationOptions(input.get_u16()?),
                addresses: Vec::unmarshal(&mut input)?,
            })
        }
        other => MechanismTransport::Other(other),
    })
}
