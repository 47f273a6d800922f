//! References as text, and initial references by name (CORBA 3.3 part 1, §8.2.2 and §8.5).

use super::corbaname::resolve_in;
use super::interface::AsObject;
use super::object::ObjectRef;
use crate::config::has_scheme;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::orb::Orb;
use crate::profile::Origin;
use punctual_cdr::ByteOrder;
use punctual_ior::{Corbaloc, CorbalocError, CorbalocPart, Corbaname, CorbanameError, Ior};

/// Maximum number of names and files that may refer to one another; a longer chain is taken for a
/// loop.
const MAX_STEPS: u32 = 8;

impl Orb {
    /// Returns the object that `text` names: `IOR:…`, `corbaloc:…`, `corbaname:…` or `file://path`
    /// with one of these in it.
    ///
    /// `corbaloc:rir:/Name` means the initial reference of that name. A `corbaname:` with a name is
    /// resolved by a call to the naming context that the URL refers to, and takes as long as that
    /// call.
    ///
    /// # Errors
    /// INV_OBJREF for an IOR that cannot be decoded or is nil, BAD_PARAM with the standard's minor
    /// code for a URL that does not parse, a file that cannot be read, or a name that is not bound;
    /// the exceptions of the call.
    pub fn string_to_object(&self, text: &str) -> Result<ObjectRef, SystemException> {
        self.string_to_nilable(text)?.ok_or_else(|| {
            SystemException::new(Kind::InvObjref, minor::NIL, CompletionStatus::No)
                .with_detail("the text is a nil reference")
        })
    }

    /// Returns the object that `text` names, as [`Orb::string_to_object`] does, or `None` for nil.
    ///
    /// # Errors
    /// Those of [`Orb::string_to_object`], except for nil.
    pub fn string_to_nilable(&self, text: &str) -> Result<Option<ObjectRef>, SystemException> {
        self.resolve_text(text, MAX_STEPS)
    }

    /// Returns a reference as `IOR:` and hexadecimal digits; nil is converted, too.
    ///
    /// # Errors
    /// MARSHAL when a part of the reference is too long to be encoded.
    pub fn object_to_string(&self, object: &impl AsObject) -> Result<String, SystemException> {
        let nil = Ior::nil();
        let ior = object.object().map_or(&nil, ObjectRef::ior);
        ior.stringify(ByteOrder::NATIVE).map_err(|error| {
            SystemException::new(Kind::Marshal, minor::ENCODING, CompletionStatus::No)
                .with_detail(error.to_string())
        })
    }

    /// Returns the initial reference of this name: one registered here, configured by
    /// `-ORBInitRef`, or found below `-ORBDefaultInitRef`.
    ///
    /// # Errors
    /// INV_OBJREF if there is none of this name, and the errors of [`Orb::string_to_object`].
    pub fn resolve_initial_references(&self, name: &str) -> Result<ObjectRef, SystemException> {
        self.resolve_name(name, MAX_STEPS)
    }

    fn resolve_text(&self, text: &str, steps: u32) -> Result<Option<ObjectRef>, SystemException> {
        let Some(steps) = steps.checked_sub(1) else {
            return Err(bad_url(
                minor::BAD_URL,
                "references that lead to one another in a loop",
            ));
        };
        let text = text.trim();
        if has_scheme(text, "ior:") {
            return self.parse_ior(text);
        }
        if has_scheme(text, "corbaloc:") {
            let location: Corbaloc = text
                .parse()
                .map_err(|error: CorbalocError| bad_part(text, error.part(), &error))?;
            return self.located(text, &location, steps).map(Some);
        }
        if has_scheme(text, "corbaname:") {
            return self.resolve_corbaname(text, steps);
        }
        if has_scheme(text, "file://") {
            let path = text.get("file://".len()..).unwrap_or_default();
            let content = std::fs::read_to_string(path).map_err(|error| {
                bad_url(
                    minor::BAD_SCHEME_SPECIFIC_PART,
                    &format!("cannot read `{path}`: {error}"),
                )
            })?;
            return self
                .resolve_text(&content, steps)
                .map_err(|exception| exception.in_context(format_args!("in the file `{path}`")));
        }
        let shown: String = text.chars().take(40).collect();
        let detail = format!(
            "`{shown}` begins with none of `IOR:`, `corbaloc:`, `corbaname:` and `file://`"
        );
        Err(bad_url(minor::BAD_SCHEME, &detail))
    }

    /// Returns the object at the location that a `corbaloc:` gives; `text` is the URL that contains
    /// it, for errors.
    fn located(
        &self,
        text: &str,
        location: &Corbaloc,
        steps: u32,
    ) -> Result<ObjectRef, SystemException> {
        let ior = location
            .to_ior()
            .map_err(|error| bad_url(minor::BAD_URL, &format!("`{text}`: {error}")))?;
        match ior {
            Some(ior) => Ok(ObjectRef::new(self.clone(), ior, Origin::ThisHost)),
            None => self.resolve_name(&String::from_utf8_lossy(&location.key), steps),
        }
    }

    /// Returns the object bound to the name in a `corbaname:`, or the naming context itself if
    /// there is no name.
    fn resolve_corbaname(
        &self,
        text: &str,
        steps: u32,
    ) -> Result<Option<ObjectRef>, SystemException> {
        let url: Corbaname = text
            .parse()
            .map_err(|error: CorbanameError| bad_part(text, error.part(), &error))?;
        let context = self.located(text, &url.context, steps)?;
        if url.name.is_empty() {
            return Ok(Some(context));
        }
        resolve_in(&context, &url.name)
            .map_err(|exception| exception.in_context(format_args!("resolving `{text}`")))
    }

    fn parse_ior(&self, text: &str) -> Result<Option<ObjectRef>, SystemException> {
        let ior = text.parse::<Ior>().map_err(|error| {
            SystemException::new(Kind::InvObjref, minor::BAD_REFERENCE, CompletionStatus::No)
                .with_detail(error.to_string())
        })?;
        Ok((!ior.is_nil()).then(|| ObjectRef::new(self.clone(), ior, Origin::ThisHost)))
    }

    fn resolve_name(&self, name: &str, steps: u32) -> Result<ObjectRef, SystemException> {
        if let Some(object) = self.registered(name) {
            return Ok(object);
        }
        let config = self.config();
        let text = match (
            config.initial_references.get(name),
            &config.default_initial_reference,
        ) {
            (Some(text), _) => text.clone(),
            (None, Some(prefix)) => format!("{}/{name}", prefix.trim_end_matches('/')),
            (None, None) => return Err(no_such_name(name)),
        };
        let in_name = |exception: SystemException| {
            exception.in_context(format_args!("the initial reference `{name}`"))
        };
        self.resolve_text(&text, steps)
            .map_err(in_name)?
            .ok_or_else(|| no_such_name(name))
    }
}

fn no_such_name(name: &str) -> SystemException {
    SystemException::new(Kind::InvObjref, minor::BAD_REFERENCE, CompletionStatus::No).with_detail(
        format!("unknown initial reference `{name}`; define it with -ORBInitRef {name}=…"),
    )
}

fn bad_url(minor: u32, detail: &str) -> SystemException {
    SystemException::new(Kind::BadParam, minor, CompletionStatus::No).with_detail(detail)
}

fn bad_part(text: &str, part: CorbalocPart, error: &dyn std::fmt::Display) -> SystemException {
    let minor = match part {
        CorbalocPart::Scheme => minor::BAD_SCHEME,
        CorbalocPart::Address => minor::BAD_ADDRESS,
        CorbalocPart::SchemeSpecific => minor::BAD_SCHEME_SPECIFIC_PART,
    };
    bad_url(minor, &format!("`{text}`: {error}"))
}
