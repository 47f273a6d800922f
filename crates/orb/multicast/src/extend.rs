//! Extension of an ORB by multicast groups.

use crate::adapter::Wrapper;
use crate::codec::UipmcCodec;
use crate::filter::is_for_a_group;
use crate::messaging::{GroupGiop, PROTOCOL};
use crate::table::Groups;
use parking_lot::Mutex;
use punctual_cdr::{ByteOrder, CdrError};
use punctual_ior::{GroupInfo, Ior, UipmcProfile};
use punctual_link::miop::{Miop, MiopCounts, MiopOptions};
use punctual_orb::{ListenEndpoint, ObjectRef, Orb, OrbBuilder, SystemException, relay};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

/// Multicast groups of an ORB: as a client, and as a server of their members.
#[derive(Debug)]
pub struct Multicast {
    link: Arc<Miop>,
    pub(crate) groups: Arc<Groups>,
    joined: Mutex<HashMap<String, Joined>>,
}

/// Address of groups that the ORB has joined.
#[derive(Debug)]
struct Joined {
    /// Endpoint that was added for it; `None` if the configuration has one.
    endpoint: Option<ListenEndpoint>,
    /// Number of members of groups at the address.
    members: usize,
}

/// What the reference of a group says.
#[derive(Clone, Debug)]
pub struct GroupReference<'r> {
    /// Group, by its domain and id.
    pub group: GroupInfo,
    /// Multicast address of the group. Several groups may have one.
    pub address: SocketAddr,
    /// Repository id of the members' interface; empty if unknown.
    pub type_id: &'r str,
    /// Object to which calls with replies go: its first IIOP profile is in the reference.
    pub gateway: Option<&'r ObjectRef>,
}

impl Multicast {
    /// Adds multicast groups to an ORB; [`Multicast::of`] then finds them. Properties of the link `miop` in the
    /// configuration, of endpoints and of policies replace the defaults ([`MiopOptions`]).
    #[must_use]
    pub fn extend(builder: OrbBuilder) -> OrbBuilder {
        Self::extend_with(builder, MiopOptions::default())
    }

    /// Adds multicast groups to an ORB, with these options of the link.
    #[must_use]
    pub fn extend_with(builder: OrbBuilder, options: MiopOptions) -> OrbBuilder {
        let groups = Arc::new(Groups::default());
        let known = groups.clone();
        let filter = Arc::new(move |message: &[u8]| is_for_a_group(&known, message));
        let link = Arc::new(Miop::new(options).accepting(filter));
        let this = Arc::new(Self {
            link: link.clone(),
            groups: groups.clone(),
            joined: Mutex::default(),
        });
        builder
            .link(link)
            .messaging(Arc::new(GroupGiop))
            .profile_codec(Arc::new(UipmcCodec))
            .adapter_wrapper(Arc::new(Wrapper(groups)))
            .extension(this)
    }

    /// Returns the groups of an ORB, if they have been added.
    #[must_use]
    pub fn of(orb: &Orb) -> Option<Arc<Self>> {
        orb.extension()
    }

    /// Returns what has arrived for all groups, and what was lost.
    #[must_use]
    pub fn counts(&self) -> MiopCounts {
        self.link.counts()
    }

    /// Makes a reference of a group. Nothing is sent, and no group is joined.
    ///
    /// # Errors
    /// [`CdrError`] for a domain that is too long or cannot be written.
    pub fn reference(orb: &Orb, of: &GroupReference<'_>) -> Result<ObjectRef, CdrError> {
        let gateways = of.gateway.iter().flat_map(|one| one.ior().iiop_profiles());
        let gateway = gateways.filter_map(Result::ok).next();
        let host = of.address.ip().to_string();
        let at = (host.as_str(), of.address.port());
        let profile = UipmcProfile::of_group(&of.group, at, gateway.as_ref())?;
        let ior = Ior {
            type_id: of.type_id.to_owned(),
            profiles: vec![profile.to_tagged(ByteOrder::NATIVE)?],
        };
        Ok(relay::reference_to(orb, ior))
    }

    /// Joins the group at an address for one more member: listens there, unless the ORB does so already.
    pub(crate) fn join(&self, orb: &Orb, place: &str) -> Result<(), SystemException> {
        let mut joined = self.joined.lock();
        if let Some(known) = joined.get_mut(place) {
            known.members += 1;
            return Ok(());
        }
        // Endpoints of the configuration count once the ORB listens.
        orb.listen()?;
        let wanted = ListenEndpoint::new(PROTOCOL, place);
        let is_same = |text: &str| {
            text == place || socket_of(text).is_some_and(|at| socket_of(place) == Some(at))
        };
        let is_wanted = |one: &ListenEndpoint| one.protocol == PROTOCOL && is_same(&one.place);
        let endpoint = match orb.endpoints().iter().any(is_wanted) {
            true => None,
            false => Some(orb.add_endpoint(wanted)?),
        };
        let members = 1;
        joined.insert(place.to_owned(), Joined { endpoint, members });
        Ok(())
    }

    /// Leaves the group at an address for one member: stops listening after the last, if an endpoint was added for it.
    pub(crate) fn leave(&self, orb: &Orb, place: &str) {
        let mut joined = self.joined.lock();
        let Some(known) = joined.get_mut(place) else {
            return;
        };
        known.members -= 1;
        if known.members > 0 {
            return;
        }
        if let Some(Joined {
            endpoint: Some(endpoint),
            ..
        }) = joined.remove(place)
        {
            orb.retire_endpoint(&endpoint);
        }
    }
}

/// Returns the address that a text means, if it is one: an IPv6 address has several texts.
fn socket_of(place: &str) -> Option<SocketAddr> {
    place.parse().ok()
}
