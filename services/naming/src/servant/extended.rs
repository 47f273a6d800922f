//! `CosNaming::NamingContextExt` (CosNaming 1.3, §2.5.4): names as text.

use punctual::ObjectRef;
use punctual_ior::Corbaname;

use super::server::Server;
use crate::cos_naming::naming_context_ext::InvalidAddress;
use crate::cos_naming::{
    Name, NameComponent, NamingContextExtResolveStrError, NamingContextExtServant,
    NamingContextExtToNameError, NamingContextExtToStringError, NamingContextExtToUrlError,
    NamingContextResolveError, NamingContextServant,
};
use crate::name::{check, from_text_within, to_text};

impl NamingContextExtServant for Server {
    fn to_string(&self, n: &[NameComponent]) -> Result<String, NamingContextExtToStringError> {
        check(n, &self.service().limits())?;
        Ok(to_text(n))
    }

    fn to_name(&self, sn: &str) -> Result<Name, NamingContextExtToNameError> {
        Ok(from_text_within(sn, &self.service().limits())?)
    }

    fn to_url(&self, addr: &str, sn: &str) -> Result<String, NamingContextExtToUrlError> {
        let bad_address = || NamingContextExtToUrlError::InvalidAddress(InvalidAddress);
        let limits = self.service().limits();
        // The address may end with a key, but not with a name; as part of a reference, its length
        // is limited.
        if addr.len() > limits.reference_bytes || addr.contains('#') {
            return Err(bad_address());
        }
        let url = format!("corbaname:{addr}").parse::<Corbaname>();
        let context = url.map_err(|_| bad_address())?.context;
        let name = from_text_within(sn, &limits)?;
        let component = |one: NameComponent| punctual_ior::NameComponent {
            id: one.id,
            kind: one.kind,
        };
        let name = name.into_iter().map(component).collect();
        let whole = Corbaname { context, name }.to_string();
        // The address stays exactly as given by the client.
        let name = whole.split_once('#').map_or("", |(_, name)| name);
        Ok(format!("corbaname:{addr}#{name}"))
    }

    fn resolve_str(&self, sn: &str) -> Result<Option<ObjectRef>, NamingContextExtResolveStrError> {
        let name = from_text_within(sn, &self.service().limits())?;
        self.resolve(&name).map_err(|error| match error {
            NamingContextResolveError::NotFound(it) => it.into(),
            NamingContextResolveError::CannotProceed(it) => it.into(),
            NamingContextResolveError::InvalidName(it) => it.into(),
            NamingContextResolveError::System(it) => it.into(),
        })
    }
}
