//! ORB's side: a link whose code is in a shared library.
//!
//! **Trust.** A library runs in this process, with all its privileges, from the moment it is
//! mapped: loading one is running a program, and anyone who may write the configuration, or the
//! file, is trusted with that. The checks here guard against mistakes (another version, another
//! layout, an incomplete table, an impossible length) and keep resources that a *peer* consumes
//! through a library bounded.
//!
//! **Lifetimes.** Every handle keeps alive those that it came from, and in the end the library:
//! connections and acceptors are dropped before their link, the link before the library is
//! unmapped.

mod acceptor;
mod checked;
mod connection;
mod file;
mod library;
mod opened;

use crate::PluginError;
use library::Library;
use opened::Opened;
use punctual_exec::Deadline;
use punctual_link::{
    Acceptor, Address, Connection, Guarantees, Link, LinkError, Phase, Properties,
};
use std::path::Path;
use std::sync::Arc;

/// Loads the link that the library at `path` exports.
///
/// Blocks while the library's initialisers run. Loading one file twice gives two links.
///
/// # Errors
/// [`PluginError`] names the file and its fault: [`crate::Fault`] lists the checks, in order.
/// Nothing of the library remains then, except effects of its own initialisers.
pub fn load(path: impl AsRef<Path>) -> Result<Arc<dyn Link>, PluginError> {
    opened(Library::map(path.as_ref())?)
}

fn opened(library: Library) -> Result<Arc<dyn Link>, PluginError> {
    let link = Loaded {
        opened: Arc::new(Opened::open(library)?),
    };
    Ok(Arc::new(link))
}

/// Makes the link of a table in this program, for fuzzing.
///
/// # Errors
/// As [`load`].
///
/// # Safety
/// The table's functions obey `punctual_link.h` in memory accesses: they write lent memory within
/// its bounds, and the memory they return can be read. The values may be wrong in any way.
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub unsafe fn take_in(table: &'static crate::abi::Table) -> Result<Arc<dyn Link>, PluginError> {
    // SAFETY: a whole table, there permanently; its functions satisfy this function's own condition.
    opened(unsafe { Library::with_table(Path::new("in-process"), table, None) }?)
}

/// Link whose functions are provided by a loaded library.
#[derive(Debug)]
struct Loaded {
    opened: Arc<Opened>,
}

impl Link for Loaded {
    fn name(&self) -> &str {
        self.opened.name()
    }

    fn guarantees(&self) -> Guarantees {
        self.opened.guarantees()
    }

    fn connect(
        &self,
        address: &Address,
        properties: &Properties,
        deadline: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        self.opened.own(address, Phase::Connect)?;
        connection::connect(&self.opened, address, properties, deadline)
    }

    fn listen(
        &self,
        address: &Address,
        properties: &Properties,
    ) -> Result<Box<dyn Acceptor>, LinkError> {
        self.opened.own(address, Phase::Listen)?;
        acceptor::listen(&self.opened, address, properties)
    }
}

#[cfg(test)]
mod tests;
