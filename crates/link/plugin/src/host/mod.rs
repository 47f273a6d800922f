//! The ORB's side: a link whose code is in a shared library.
//!
//! **Trust.** A library runs in this process, with all its rights, from the moment it is mapped: to
//! load one is to run a program, and whoever may write the configuration, or the file, is trusted
//! with that. What is checked here guards against mistakes (another version, another layout, a table
//! half filled, a length that cannot be) and keeps what a *peer* provokes through a library bounded.
//!
//! **Lifetimes.** Every handle keeps those alive that it came from, and in the end the library:
//! connections and acceptors are dropped before their link, the link before the library is unmapped.

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
/// [`PluginError`] names the file and what is wrong with it: [`crate::Fault`] lists what is looked for,
/// in order. Nothing of the library stays behind then, but what its own initialisers did.
pub fn load(path: impl AsRef<Path>) -> Result<Arc<dyn Link>, PluginError> {
    opened(Library::map(path.as_ref())?)
}

fn opened(library: Library) -> Result<Arc<dyn Link>, PluginError> {
    let link = Loaded {
        opened: Arc::new(Opened::open(library)?),
    };
    Ok(Arc::new(link))
}

/// The link behind a table that this program has, for fuzzing.
///
/// # Errors
/// As [`load`].
///
/// # Safety
/// The table's functions keep to `punctual_link.h` as far as memory goes: what they are lent is written within its
/// bounds, and what they give can be read. What they say may be wrong in any way.
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub unsafe fn take_in(table: &'static crate::abi::Table) -> Result<Arc<dyn Link>, PluginError> {
    // SAFETY: a whole table, there for good; its functions are as this function's own condition has it.
    opened(unsafe { Library::with_table(Path::new("in-process"), table, None) }?)
}

/// A link of a library.
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
