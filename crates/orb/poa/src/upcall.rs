//! From a found object to its answer: what every object answers, or the servant.

use crate::servant::Servant;
use punctual_cdr::{Marshal, Nilable};
use punctual_orb::probe::{self, Point};
use punctual_orb::{
    CompletionStatus, DispatchError, Dispatched, ObjectRef, ServerCall, SystemException,
    SystemExceptionKind as Kind, minor,
};

/// Lets the object answer. Operations of `CORBA::Object` are answered without waking the servant.
pub(crate) fn answer(
    servant: &dyn Servant,
    call: &mut ServerCall<'_>,
) -> Result<Dispatched, DispatchError> {
    probe::begins!(Point::ServerOperation);
    // An IDL operation cannot begin with an underscore, but for attributes' (_get_, _set_).
    match call.operation() {
        "_is_a" => {
            let asked = call.arguments().get_string()?;
            let ids = servant.repository_ids();
            let is_a = ids.iter().any(|id| *id == asked) || asked == OBJECT;
            call.reply(|out| is_a.marshal(out))
        }
        // The older name is still in use (CORBA 3.3 part 2, §9.4.2.1).
        "_non_existent" | "_not_existent" => call.reply(|out| false.marshal(out)),
        "_repository_id" => {
            let id = servant.repository_ids().first().copied().unwrap_or(OBJECT);
            call.reply(|out| out.put_string(id))
        }
        "_component" => call.reply(|out| ObjectRef::marshal_nilable(None, out)),
        operation @ ("_interface" | "_domain_managers" | "_policy") => {
            Err(not_provided(operation).into())
        }
        _ => servant.dispatch(call),
    }
}

const OBJECT: &str = "IDL:omg.org/CORBA/Object:1.0";

fn not_provided(operation: &str) -> SystemException {
    SystemException::new(Kind::NoImplement, minor::omg(1), CompletionStatus::No)
        .with_detail(format!("`{operation}` is not provided here"))
}
