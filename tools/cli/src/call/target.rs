//! Target of a call.

use punctual::{ObjectRef, Orb};

/// Returns the object that a text denotes: a reference, or a file that contains one.
pub(super) fn object(orb: &Orb, text: &str) -> Result<ObjectRef, String> {
    // A name that another service knows, such as `rir:/NameService`, is not a file.
    let text = if text.starts_with("rir:") {
        format!("corbaloc:{text}")
    } else {
        crate::ior::read(text)?
    };
    orb.string_to_object(&text).map_err(crate::shown::exception)
}
