//! `_interface`: definition of an object's interface in the Interface Repository that the ORB knows
//! by the name `InterfaceRepository` (CORBA 3.3 part 1, §8.3.2 and §14.4.2).

use crate::servant::Servant;
use punctual_cdr::Nilable;
use punctual_orb::{
    CompletionStatus, DispatchError, Dispatched, ObjectRef, Operation, Orb, ServerCall,
    SystemException, SystemExceptionKind as Kind, minor,
};
use std::time::Duration;

/// Maximum time to wait for an answer of the Interface Repository.
const PATIENCE: Duration = Duration::from_secs(5);

/// Answers with the definition of the most derived interface. Calls the repository, which may be
/// remote.
pub(crate) fn answer(
    servant: &dyn Servant,
    call: &mut ServerCall<'_>,
) -> Result<Dispatched, DispatchError> {
    let definition = definition(call.orb(), &servant.primary_interface())?;
    call.reply(|out| ObjectRef::marshal_nilable(Some(&definition), out))
}

fn definition(orb: &Orb, id: &str) -> Result<ObjectRef, SystemException> {
    const LOOKUP_ID: Operation = Operation::two_way("lookup_id");
    let repository = orb.resolve_initial_references("InterfaceRepository");
    let repository = repository.map_err(|_| unknown(1, "no Interface Repository is configured"))?;
    // The thread belongs to the object.
    let repository = repository.with_timeout(PATIENCE);
    let found = repository.invoke(
        &LOOKUP_ID,
        |out| out.put_string(id),
        ObjectRef::unmarshal_nilable,
    );
    let found = found.map_err(|why| {
        unknown(1, "the Interface Repository does not answer").in_context(format_args!("{why}"))
    })?;
    found.ok_or_else(|| unknown(2, "the Interface Repository does not know the interface"))
}

/// Returns the exception INTF_REPOS (CORBA 3.3 part 1, table A.3) with a minor code and a reason.
fn unknown(number: u32, why: &'static str) -> SystemException {
    SystemException::new(Kind::IntfRepos, minor::omg(number), CompletionStatus::No).with_detail(why)
}
