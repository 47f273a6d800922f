//! Multicast groups of objects (MIOP), on the loopback interface. Where a machine has no multicast there, the tests are
//! skipped with a line that says so.

mod calls;
mod hostile;
mod members;
mod namespaces;
mod process;
mod support;
