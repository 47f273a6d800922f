//! Naming Service in which other services of this command bind their names.

use punctual::{Interface, ObjectRef, Orb};
use punctual_host::Problem;
use punctual_host::publish::Registry;
use punctual_naming::client::Names;
use punctual_naming::cos_naming::NamingContext;
use std::any::Any;
use std::time::Duration;

/// Interval at which the bound name is checked.
const INTERVAL: Duration = Duration::from_secs(10);

const ON_NAMES: &str = "a name is id.kind components with slashes between, as plants/repository";
const ON_SERVICES: &str =
    "--naming names a naming context: an `IOR:`, `corbaloc:` or `corbaname:` text";

/// Naming context of a reference, or the default one.
#[derive(Debug)]
pub(crate) struct InNaming(pub(crate) Option<String>);

impl Registry for InNaming {
    fn bind(&self, orb: &Orb, name: &str, reference: &ObjectRef) -> Result<Box<dyn Any>, Problem> {
        let context = match &self.0 {
            Some(text) => {
                let object = orb.string_to_object(text);
                object.map_err(|exception| exception.to_string())
            }
            None => super::service::initial(orb),
        };
        let context = context.map_err(|message| Problem::new(message, ON_SERVICES))?;
        let names = Names::below(&NamingContext::from_object(context));
        let kept = names.keep_bound(name, reference, INTERVAL);
        let kept = kept.map_err(|exception| Problem::new(exception, ON_NAMES))?;
        Ok(Box::new(kept))
    }
}
