//! What asynchronous calls add to a specification before anything is generated: the reply handlers of its interfaces, and
//! where the module Messaging of the runtime is.

use punctual_idl::implied::{self, Handlers};
use punctual_idl::model::Specification;

use crate::Options;

/// A specification with all that its asynchronous calls imply.
pub(crate) struct Implied {
    pub(crate) specification: Specification,
    pub(crate) options: Options,
    pub(crate) handlers: Handlers,
}

/// Types of module Messaging that the runtime has.
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
