//! Calls to the group service.

use punctual::stub::{ByteOrder, Coding, Decoder, Nilable};
use punctual::{Interface, ObjectRef, OperationError, Orb, SystemException, SystemExceptionKind};
use punctual_groups_client::portable_group::{
    ObjectGroupManager, ObjectGroupManagerRemoveMemberError,
};
use punctual_groups_client::punctual_groups::{
    Administration, AdministrationAdoptGroupError, AdministrationJoinError,
    AdministrationRemoveGroupError, AdministrationReportError, Changes, Founder, Group,
};

use crate::cos_naming::Name;
use crate::refusal::Refusal;
use crate::store::{Choice, Target};

/// Type of the groups of names: a member may be any object.
const ANY_OBJECT: &str = "IDL:omg.org/CORBA/Object:1.0";

/// Number of groups that are asked for at a time.
const AT_ONCE: u32 = 500;

/// Group service that is called.
#[derive(Debug)]
pub(crate) struct GroupCalls {
    orb: Orb,
    groups: Administration,
    /// The same object, by the interface of all object groups.
    members: ObjectGroupManager,
}

type Refused<T> = Result<T, Refusal>;

impl GroupCalls {
    pub(super) fn new(orb: &Orb, object: &ObjectRef) -> Self {
        Self {
            orb: orb.clone(),
            groups: Administration::from_object(object.clone()),
            members: ObjectGroupManager::from_object(object.clone()),
        }
    }

    /// Returns whether no call is possible any more.
    pub(crate) fn has_ended(&self) -> bool {
        self.orb.is_shut_down()
    }

    /// Makes a group with members, unless there is one of this number; returns the group.
    pub(crate) fn adopt(
        &self,
        id: u64,
        choice: Choice,
        members: Vec<(Name, Target)>,
    ) -> Refused<Group> {
        let founder = |(the_location, target): (Name, Target)| {
            let (reference, lease_ms) = self.read(&target)?;
            Ok(Founder {
                the_location,
                reference,
                lease_ms,
            })
        };
        let founders: Vec<Founder> = members.into_iter().map(founder).collect::<Refused<_>>()?;
        let adopted = self
            .groups
            .adopt_group(id, ANY_OBJECT, strategy(choice), &founders);
        adopted.map_err(|error| match error {
            AdministrationAdoptGroupError::Refused(it) => refused(it.reason),
            error => failed(&error),
        })
    }

    /// Removes a group with its members, if there is one of this number.
    pub(crate) fn remove(&self, id: u64) -> Refused<()> {
        match self.groups.remove_group(id) {
            Ok(()) | Err(AdministrationRemoveGroupError::ObjectGroupNotFound(_)) => Ok(()),
            Err(error) => Err(failed(&error)),
        }
    }

    /// Makes an object a member, in place of the one at its location; the same one is renewed. Returns the group's version.
    pub(crate) fn join(
        &self,
        group: Option<&ObjectRef>,
        location: &Name,
        target: &Target,
    ) -> Refused<u32> {
        let (reference, lease_ms) = self.read(target)?;
        let joined = self
            .groups
            .join(group, location, reference.as_ref(), lease_ms);
        let joined = joined.map_err(|error| match error {
            AdministrationJoinError::Refused(it) => refused(it.reason),
            error => failed(&error),
        })?;
        Ok(joined.current.version)
    }

    /// Ends a membership. Returns whether there was one.
    pub(crate) fn leave(&self, group: Option<&ObjectRef>, location: &Name) -> Refused<bool> {
        match self.members.remove_member(group, location) {
            Ok(_) => Ok(true),
            Err(
                ObjectGroupManagerRemoveMemberError::MemberNotFound(_)
                | ObjectGroupManagerRemoveMemberError::ObjectGroupNotFound(_),
            ) => Ok(false),
            Err(error) => Err(failed(&error)),
        }
    }

    /// Reports the load of a member. Returns whether there is one.
    pub(crate) fn report(&self, id: u64, location: &Name, load: f64) -> Refused<bool> {
        // A larger one is as good as the largest.
        #[allow(clippy::cast_possible_truncation)]
        let load = load.min(f64::from(f32::MAX)) as f32;
        match self.groups.report(id, location, load) {
            Ok(()) => Ok(true),
            Err(
                AdministrationReportError::MemberNotFound(_)
                | AdministrationReportError::ObjectGroupNotFound(_),
            ) => Ok(false),
            Err(error) => Err(failed(&error)),
        }
    }

    /// Returns a group, if there is one of this number.
    pub(crate) fn group(&self, id: u64) -> Refused<Option<Group>> {
        let listed = self.groups.list(id.saturating_sub(1), 1);
        let listed = listed.map_err(|exception| failed(&exception))?;
        Ok(listed.into_iter().find(|group| group.id == id))
    }

    /// Returns what has changed since a revision.
    pub(crate) fn changes_since(
        &self,
        epoch: u64,
        revision: u64,
    ) -> Result<Changes, SystemException> {
        self.groups.changes_since(epoch, revision, AT_ONCE)
    }

    /// Returns the object of a member's binding, and its lease in milliseconds, or 0.
    fn read(&self, target: &Target) -> Refused<(Option<ObjectRef>, u32)> {
        let (bytes, lease_ms) = match target {
            Target::Object(bytes) => (bytes, 0),
            Target::Temporary { reference, ttl } => (reference, ttl.millis()),
            Target::Context(_) | Target::Foreign(_) | Target::Group { .. } => {
                return Ok((None, 0));
            }
        };
        let coding = Coding {
            environment: Some(&self.orb),
            ..Coding::default()
        };
        let mut input = Decoder::new(bytes, ByteOrder::Big, coding);
        let object = ObjectRef::unmarshal_nilable(&mut input);
        let object = object.map_err(|error| refused(error.to_string()))?;
        Ok((object, lease_ms))
    }
}

/// Returns the strategy by which the group service leads clients of the group's own object to members.
const fn strategy(choice: Choice) -> &'static str {
    match choice {
        // Its clients get one member from there, and all from the name.
        Choice::RoundRobin | Choice::AllProfiles => "RoundRobin",
        Choice::ByChance => "Random",
        Choice::LeastLoaded => "LeastLoaded",
    }
}

fn refused(reason: String) -> Refusal {
    Refusal::GroupService(SystemExceptionKind::NoResources.because(reason))
}

/// Returns the refusal for a failed call. It is TRANSIENT where the group service cannot be reached: COMM_FAILURE would be
/// taken for one of this service.
fn failed<E: OperationError + std::fmt::Display>(error: &E) -> Refusal {
    use SystemExceptionKind as Kind;
    let exception = match error.system() {
        Some(exception) => match exception.kind() {
            Kind::CommFailure | Kind::Timeout | Kind::NoResponse | Kind::ObjectNotExist => {
                let transient = Kind::Transient.because(exception.to_string());
                transient.completed_as(exception.completed())
            }
            _ => exception.clone(),
        },
        None => Kind::Transient.because(error.to_string()),
    };
    Refusal::GroupService(exception)
}
