//! The one call that a `corbaname:` needs (CosNaming 1.3, §2.5.3.3): `resolve` of a
//! `CosNaming::NamingContext`.
//!
//! It is coded by hand, as the interface's IDL belongs to the Naming Service, which is built on the
//! ORB. It is sent as a request even if the context is an object of this process.

use super::object::ObjectRef;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind, minor};
use crate::operation::Operation;
use punctual_cdr::{CdrError, Decoder, Encoder, Marshal, Nilable, Unmarshal};
use punctual_ior::{NameComponent, name_to_text};

const RESOLVE: Operation = Operation::two_way("resolve");

/// Descriptions of the values of `CosNaming::NamingContext::NotFoundReason`, in their order.
const REASONS: [&str; 3] = [
    "it is not bound",
    "it is bound, but not to a naming context",
    "it is bound, but not to an object",
];

/// Returns the object bound to a name in a context.
///
/// # Errors
/// BAD_PARAM with the standard's minor code if the context reports that the name cannot be
/// resolved; the exceptions of the call.
pub(super) fn resolve_in(
    context: &ObjectRef,
    name: &[NameComponent],
) -> Result<Option<ObjectRef>, SystemException> {
    context.invoke_raising(
        &RESOLVE,
        |out| write(name, out),
        ObjectRef::unmarshal_nilable,
        |id, body| unresolved(name, id, body),
    )
}

/// Marshals a name of the naming service as `sequence<NameComponent>`.
fn write(name: &[NameComponent], out: &mut Encoder<'_>) -> Result<(), CdrError> {
    out.put_length(name.len())?;
    for component in name {
        component.id.marshal(out)?;
        component.kind.marshal(out)?;
    }
    Ok(())
}

/// Converts a user exception of `resolve` to BAD_PARAM, as the URL names no object.
fn unresolved(
    name: &[NameComponent],
    id: &str,
    body: &mut Decoder<'_>,
) -> Result<Option<SystemException>, CdrError> {
    let detail = match id {
        "IDL:omg.org/CosNaming/NamingContext/NotFound:1.0" => not_found(name, body)?,
        "IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0" => {
            "the naming service cannot proceed through another one".to_owned()
        }
        "IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0" => {
            "the naming service rejects the name as invalid".to_owned()
        }
        _ => return Ok(None),
    };
    let exception = SystemException::new(
        SystemExceptionKind::BadParam,
        minor::BAD_SCHEME_SPECIFIC_PART,
        CompletionStatus::No,
    );
    Ok(Some(exception.with_detail(detail)))
}

fn not_found(name: &[NameComponent], body: &mut Decoder<'_>) -> Result<String, CdrError> {
    let why = u32::unmarshal(body)?;
    let rest = usize::try_from(u32::unmarshal(body)?).unwrap_or(usize::MAX);
    // The rest is the end of the name that was asked for, so that its length identifies the
    // component.
    let failed = name.len().checked_sub(rest).and_then(|at| name.get(..=at));
    let failed = failed.unwrap_or(name).iter();
    let failed = name_to_text(failed.map(|one| (one.id.as_str(), one.kind.as_str())));
    let why = usize::try_from(why).ok().and_then(|why| REASONS.get(why));
    Ok(format!("`{failed}`: {}", why.unwrap_or(&"not found")))
}
