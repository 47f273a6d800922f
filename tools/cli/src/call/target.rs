//! What is called.

use punctual::{ObjectRef, Orb};

/// The object that a text leads to: a reference, or a file that holds one.
pub(super) fn object(orb: &Orb, text: &str) -> Result<ObjectRef, String> {
    // What somebody else knows by name, such as `rir:/NameService`, is no file.
    let text = if text.starts_with("rir:") {
        format!("corbaloc:{text}")
    } else {
        crate::ior::read(text)?
    };
    orb.string_to_object(&text).map_err(crate::shown::exception)
}
