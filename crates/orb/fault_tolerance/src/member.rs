//! What a member of an object group says of its group and of itself.

use arc_swap::ArcSwapOption;
use punctual_ior::{FtGroup, Ior};
use punctual_sys::clock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// Part that a member plays in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// The member serves requests: the primary of a passive group, each member of a stateless or active one.
    Serving,
    /// The member stands by: requests are forwarded to the group.
    Backup,
    /// The member must not serve: requests are refused with TRANSIENT, and clients go on to other members.
    Refusing,
}

/// Member of an object group: its ORB asks it, at each request for its object, for the current reference of the group and for
/// the member's role ([`crate::FaultTolerance::join`]). The program sets both at any time and from any thread; a
/// request reads atomics only.
///
/// ```
/// use punctual_fault_tolerance::{GroupMember, Role};
/// use std::time::Duration;
///
/// let member = GroupMember::new("plant", 7);
/// member.set_role(Role::Serving);
/// // A primary that has lost its lease, or was stopped for as long, refuses.
/// member.serve_for(Duration::from_secs(3600));
/// assert_eq!(member.role(), Role::Serving);
/// ```
pub struct GroupMember {
    domain: String,
    id: u64,
    reference: ArcSwapOption<Current>,
    /// Version of the reference, and 1 more; 0 while there is none. Follows the reference, as versions only rise.
    known: AtomicU64,
    role: AtomicU8,
    /// End of the lease, in nanoseconds of the monotonic clock.
    until: AtomicU64,
    /// Function that is called with a client's newer version.
    newer: ArcSwapOption<Box<dyn Fn(u32) + Send + Sync>>,
}

/// Reference of a group, and its version.
#[derive(Debug)]
pub(crate) struct Current {
    pub(crate) ior: Ior,
    pub(crate) version: u32,
}

const SERVING: u8 = 0;
const BACKUP: u8 = 1;
const REFUSING: u8 = 2;

impl GroupMember {
    /// Makes a member of the group with this id in its domain. It serves, and knows no reference of the group yet: clients'
    /// versions are not compared until then.
    #[must_use]
    pub fn new(domain: &str, id: u64) -> Arc<Self> {
        Arc::new(Self {
            domain: domain.to_owned(),
            id,
            reference: ArcSwapOption::empty(),
            known: AtomicU64::new(0),
            role: AtomicU8::new(SERVING),
            until: AtomicU64::new(u64::MAX),
            newer: ArcSwapOption::empty(),
        })
    }

    /// Sets the current reference of the group; returns `false`, and sets nothing, if it is a reference of another group, or
    /// older than the one that was set before.
    pub fn set_reference(&self, ior: &Ior) -> bool {
        let is_own = |group: &FtGroup| group.id == self.id && group.domain == self.domain;
        let Some(group) = ior.group().filter(is_own) else {
            return false;
        };
        let new = Arc::new(Current {
            ior: ior.clone(),
            version: group.version,
        });
        let is_older = |there: &Option<Arc<Current>>| {
            there
                .as_ref()
                .is_some_and(|there| there.version > new.version)
        };
        let before = self.reference.rcu(|there| match is_older(there) {
            true => there.clone(),
            false => Some(new.clone()),
        });
        // Release pairs with the Acquire in `serves`.
        self.known
            .fetch_max(u64::from(group.version) + 1, Ordering::Release);
        !is_older(&before)
    }

    /// Returns the version of the group's current reference, if it is known.
    #[must_use]
    pub fn version(&self) -> Option<u32> {
        self.reference
            .load()
            .as_ref()
            .map(|current| current.version)
    }

    /// Returns whether the member serves a client with this version of the reference, if it has one, without looking at the
    /// reference. `false` where that has to be found out.
    #[inline]
    pub(crate) fn serves(&self, version: Option<u32>) -> bool {
        let known = self.known.load(Ordering::Acquire);
        let is_current = known == 0 || version.is_none_or(|theirs| u64::from(theirs) + 1 == known);
        is_current && self.role() == Role::Serving
    }

    pub(crate) fn current(&self) -> Option<Arc<Current>> {
        self.reference.load_full()
    }

    /// Sets the member's role.
    pub fn set_role(&self, role: Role) {
        let role = match role {
            Role::Serving => SERVING,
            Role::Backup => BACKUP,
            Role::Refusing => REFUSING,
        };
        // Release pairs with the Acquire in `role`: what was done before is seen by requests.
        self.role.store(role, Ordering::Release);
    }

    /// Grants the member a lease: it serves for this long from now, and then refuses. To be called again in time. The lease ends
    /// also while the process is stopped, so that a primary that has been replaced meanwhile does not go on.
    pub fn serve_for(&self, lease: Duration) {
        let nanos = u64::try_from(lease.as_nanos()).unwrap_or(u64::MAX);
        self.serve_until(clock::nanos().saturating_add(nanos));
    }

    /// Sets the end of the lease, in nanoseconds of `CLOCK_MONOTONIC`: for a lease that began before its grant arrived.
    /// `u64::MAX`, the default, is for members without leases.
    pub fn serve_until(&self, nanos: u64) {
        self.until.store(nanos, Ordering::Release);
    }

    /// Returns the member's role now: [`Role::Refusing`] for one that would serve, but has no lease any more.
    #[inline]
    #[must_use]
    pub fn role(&self) -> Role {
        let until = self.until.load(Ordering::Acquire);
        match self.role.load(Ordering::Acquire) {
            SERVING if until != u64::MAX && clock::nanos() >= until => Role::Refusing,
            SERVING => Role::Serving,
            BACKUP => Role::Backup,
            _ => Role::Refusing,
        }
    }

    /// Sets the function that is called when a request has a newer version of the group's reference than is set here, with that
    /// version. It is called on the thread of the request, before the versions are compared again: it may set a newer reference,
    /// but should not block. Otherwise the client is raised TRANSIENT.
    pub fn on_newer_version(&self, ask: impl Fn(u32) + Send + Sync + 'static) {
        self.newer.store(Some(Arc::new(Box::new(ask))));
    }

    /// Reports a client's newer version.
    pub(crate) fn report_newer(&self, version: u32) {
        if let Some(ask) = self.newer.load_full() {
            ask(version);
        }
    }
}

impl std::fmt::Debug for GroupMember {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GroupMember")
            .field("domain", &self.domain)
            .field("id", &self.id)
            .field("version", &self.version())
            .field("role", &self.role())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_cdr::ByteOrder;
    use punctual_ior::{IiopProfile, IiopVersion};

    fn reference(id: u64, version: u32) -> Ior {
        let profile = IiopProfile {
            version: IiopVersion { major: 1, minor: 2 },
            host: "127.0.0.1".to_owned(),
            port: 1,
            object_key: b"key".to_vec(),
            components: Vec::new(),
        };
        let member = Ior {
            type_id: String::new(),
            profiles: vec![profile.to_tagged(ByteOrder::Big).unwrap()],
        };
        let group = FtGroup {
            domain: "plant".to_owned(),
            id,
            version,
        };
        Ior::of_group("", &group, &[member], None).unwrap()
    }

    #[test]
    fn only_newer_references_of_the_own_group_are_taken() {
        let member = GroupMember::new("plant", 7);
        assert_eq!(member.version(), None);
        assert!(member.serves(Some(1)), "no version is known");
        assert!(member.set_reference(&reference(7, 3)));
        assert_eq!(
            [1, 2, 3, 4].map(|it| member.serves(Some(it))),
            [false, false, true, false]
        );
        assert!(member.serves(None));
        assert!(!member.set_reference(&reference(8, 4)));
        assert!(!member.set_reference(&reference(7, 2)));
        assert!(!member.set_reference(&Ior::nil()));
        assert_eq!(member.version(), Some(3));
        assert!(member.serves(Some(3)));
        assert!(member.set_reference(&reference(7, 4)));
        assert_eq!(member.version(), Some(4));
    }

    #[test]
    fn a_member_whose_lease_has_ended_refuses_until_it_has_another() {
        let member = GroupMember::new("plant", 7);
        assert_eq!(member.role(), Role::Serving);
        member.serve_until(clock::nanos());
        assert_eq!(member.role(), Role::Refusing);
        assert!(!member.serves(None));
        member.set_role(Role::Backup);
        assert_eq!(member.role(), Role::Backup);
        member.set_role(Role::Serving);
        member.serve_for(Duration::from_secs(1000));
        assert_eq!(member.role(), Role::Serving);
    }
}
