//! Additions to a specification for asynchronous calls, made before anything is generated: the
//! reply handlers of its interfaces, and the location of the runtime's module Messaging.

use punctual_idl::implied::{self, Handlers};
use punctual_idl::model::Specification;

use crate::Options;

/// Specification with everything that its asynchronous calls imply.
pub(crate) struct Implied {
    pub(crate) specification: Specification,
    pub(crate) options: Options,
    pub(crate) handlers: Handlers,
}

/// Types of module Messaging that the runtime provides.
const OF_THE_RUNTIME: [&str; 2] = ["::Messaging::ReplyHandler", "::Messaging::ExceptionHolder"];

pub(crate) fn implied(specification: &Specification, options: &Options) -> Implied {
    let mut specification = specification.clone();
    let handlers = implied::add_handlers(&mut specification);
    let mut options = options.clone();
    let module = format!("{}::messaging", options.runtime_path);
    for name in OF_THE_RUNTIME {
        options.extern_paths.push((name.to_owned(), module.clone()));
    }
    Implied {
        specification,
        options,
        handlers,
    }
}
