//! Upcalls: the servant's operation answers a request, or the ORB does for operations that every
//! object has.

#[cfg(feature = "comparison")]
use crate::adapter::ByStrategy;
use crate::adapter::{Adapter, CalledServant, Request, RequestedObject};
use crate::interface_of;
use crate::ior_table::UnknownObjects;
use crate::servant::Servant;
use crate::served::ServedObjectInfo;
use punctual_cdr::{Marshal, Nilable};
use punctual_orb::probe::{self, Point};
use punctual_orb::{
    CompletionStatus, DispatchError, Dispatched, ObjectRef, Quoted, ServerCall, SystemException,
    SystemExceptionKind as Kind, UpcallHook, minor,
};

/// Request that has come in a message, as opposed to a collocated call.
pub(crate) struct OverTheWire<'c, 'm>(pub(crate) &'c mut ServerCall<'m>);

impl Request for OverTheWire<'_, '_> {
    type Done = Dispatched;

    fn operation(&self) -> &str {
        self.0.operation()
    }

    fn is_in_timeline(&self) -> bool {
        true
    }

    #[inline]
    fn enter(&mut self, around: &UpcallHook) -> Result<u64, SystemException> {
        around.enter(self.0)
    }

    // Inlined into the function that finds the servant, of which it is a good part.
    #[inline(always)]
    fn answer(&mut self, servant: CalledServant<'_>) -> Result<Dispatched, DispatchError> {
        probe::begins!(Point::ServerOperation);
        let call = &mut *self.0;
        if call.is_intercepted() {
            return intercepted(servant, call, &mut |call| servant.dispatch(call));
        }
        call.found()?;
        match answer_common_operation(servant, call) {
            Some(answered) => answered,
            None => servant.dispatch(call),
        }
    }

    #[cfg(feature = "comparison")]
    fn answer_by(
        &mut self,
        strategy: ByStrategy<'_>,
        servant: CalledServant<'_>,
    ) -> Result<Dispatched, DispatchError> {
        probe::begins!(Point::ServerOperation);
        let call = &mut *self.0;
        let upcall = |call: &mut ServerCall<'_>| match strategy {
            ByStrategy::Number(number) => servant.upcall(number, call),
            ByStrategy::Name(how, tables) => tables.upcall(how, servant.shared, call),
        };
        if call.is_intercepted() {
            return intercepted(servant, call, &mut { upcall });
        }
        call.found()?;
        match answer_common_operation(servant, call) {
            Some(answered) => answered,
            None => upcall(call),
        }
    }

    fn answer_unknown(
        &mut self,
        unknown: &dyn UnknownObjects,
        object_key: &[u8],
    ) -> Result<Dispatched, DispatchError> {
        self.0.found()?;
        unknown.dispatch(object_key, self.0)
    }

    fn serve_by_main_thread(
        &mut self,
        adapter: &Adapter,
        wanted: RequestedObject<'_>,
    ) -> Result<Option<Dispatched>, DispatchError> {
        let orb = self.0.orb();
        orb.on_main_thread(|| adapter.serve_now(wanted, self))?
    }

    fn outcome_without_wait(&self) -> Option<Dispatched> {
        None
    }
}

/// Makes the upcall in an ORB with interceptors, which are called before it on the thread of the
/// upcall.
#[cold]
#[inline(never)]
fn intercepted(
    servant: CalledServant<'_>,
    call: &mut ServerCall<'_>,
    upcall: &mut dyn FnMut(&mut ServerCall<'_>) -> Result<Dispatched, DispatchError>,
) -> Result<Dispatched, DispatchError> {
    /// Guard that ends the upcall when it is dropped, even if the servant panics.
    struct InUpcall<'c, 'm>(&'c mut ServerCall<'m>);

    impl Drop for InUpcall<'_, '_> {
        fn drop(&mut self) {
            self.0.leave_upcall();
        }
    }

    let upcall_on = InUpcall(call);
    let call = &mut *upcall_on.0;
    let object = ServedObjectInfo::now(servant.shared);
    if servant.is_dynamic() && (servant.is_transparent() || !is_common_operation(call.operation()))
    {
        call.receive_request_later(object);
        call.found()?;
        let answered = upcall(call);
        // Interceptors are called once, also if the servant has not read its arguments.
        call.tell_arguments(None)?;
        return answered;
    }
    call.receive_request(object, servant.operation_types(call.operation()))?;
    call.found()?;
    match answer_common_operation(servant, call) {
        Some(answered) => answered,
        None => upcall(call),
    }
}

/// Returns whether the operation is one that every object has.
fn is_common_operation(operation: &str) -> bool {
    const ALL: [&str; 8] = [
        "_is_a",
        "_non_existent",
        "_not_existent",
        "_repository_id",
        "_component",
        "_interface",
        "_domain_managers",
        "_policy",
    ];
    ALL.contains(&operation)
}

/// Answers an operation that every object has; returns `None` for other operations, and for a
/// servant that answers these itself.
#[inline(always)]
fn answer_common_operation(
    servant: CalledServant<'_>,
    call: &mut ServerCall<'_>,
) -> Option<Result<Dispatched, DispatchError>> {
    // An IDL operation cannot begin with an underscore, except for attributes' (_get_, _set_).
    if call.operation().starts_with('_') && !servant.is_transparent() {
        answer_for_all(&*servant, call)
    } else {
        None
    }
}

/// Answers an operation of every object, without calling the servant (CORBA 3.3 part 2, §9.4.2.1).
#[inline(never)]
fn answer_for_all(
    servant: &dyn Servant,
    call: &mut ServerCall<'_>,
) -> Option<Result<Dispatched, DispatchError>> {
    Some(match call.operation() {
        "_is_a" => is_a(servant, call),
        // The older name is still in use.
        "_non_existent" | "_not_existent" => call.reply(|out| false.marshal(out)),
        "_repository_id" => {
            let id = servant.primary_interface();
            let id = if id.is_empty() { OBJECT } else { &*id };
            call.reply(|out| out.put_string(id))
        }
        "_component" => call.reply(|out| ObjectRef::marshal_nilable(None, out)),
        "_interface" => interface_of::answer(servant, call),
        operation @ ("_domain_managers" | "_policy") => Err(not_provided(operation).into()),
        _ => return None,
    })
}

fn is_a(servant: &dyn Servant, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
    let asked = call.arguments().get_string()?;
    let is_a = servant.is_a(&asked) || asked == OBJECT;
    call.reply(|out| is_a.marshal(out))
}

const OBJECT: &str = "IDL:omg.org/CORBA/Object:1.0";

fn not_provided(operation: &str) -> SystemException {
    SystemException::new(Kind::NoImplement, minor::omg(1), CompletionStatus::No)
        .with_detail(format!("`{}` is not provided here", Quoted(operation)))
}
