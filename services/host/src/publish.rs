//! Publishing: ways in which clients find a service's reference.
//!
//! | place | for clients that |
//! |---|---|
//! | initial reference | are in this process: `resolve_initial_references` |
//! | IOR table | know host and port: `corbaloc:iiop:HOST:PORT/NAME` |
//! | file | read it, on this machine or from a shared folder |
//! | name in a Naming Service | look names up |

use std::io::Write;
use std::path::Path;

use punctual::{ObjectRef, Orb, RootPoa, SystemException};

use crate::Problem;

const ON_PUBLISHING: &str = "the configuration, or another part of this program, may have the name";

/// Publishes a reference as an initial reference of the ORB and in its IOR table, under the same name.
///
/// # Errors
/// The name is taken.
pub fn publish(orb: &Orb, name: &str, reference: &ObjectRef) -> Result<(), Problem> {
    let raised = |exception: SystemException| Problem::new(exception, ON_PUBLISHING);
    orb.register_initial_reference(name, reference)
        .map_err(raised)?;
    let table = orb.ior_table().map_err(raised)?;
    let bound = table.bind(name, reference);
    bound.map_err(|error| Problem::new(error, ON_PUBLISHING))
}

/// Naming Service in which references are bound. This crate contains no client of it: the command
/// provides one.
pub trait Registry: Send {
    /// Binds a name to a reference, and keeps it bound until the returned value is dropped. If the
    /// Naming Service cannot be reached, the binding is tried again later.
    ///
    /// # Errors
    /// The name is invalid, or the Naming Service's reference is.
    fn bind(
        &self,
        orb: &Orb,
        name: &str,
        reference: &ObjectRef,
    ) -> Result<Box<dyn std::any::Any>, Problem>;
}

/// Writes a reference to a file for clients. Readers see all of it or nothing: it is written to a
/// temporary file, which is then renamed.
///
/// # Errors
/// The file cannot be written.
pub fn write_reference(path: &Path, reference: &str) -> Result<(), Problem> {
    write_whole(path, reference).map_err(|error| {
        let message = format!("{}: {error}", path.display());
        Problem::new(message, "name a file in a folder that can be written to")
    })
}

fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    writeln!(file, "{text}")?;
    file.persist(path)?;
    Ok(())
}
