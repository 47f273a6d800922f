//! Opened link of a library.

use super::checked::{self, Reasons};
use super::library::Library;
use crate::abi::{
    self, DATAGRAM, Failure, Functions, LONGEST_NAME, LONGEST_PLACE, NEVER, OK, Property,
    RawGuarantees, RawLink, STREAM, Text,
};
use crate::{Fault, PluginError};
use punctual_exec::Deadline;
use punctual_link::{Address, Cause, Framing, Guarantees, LinkError, Phase, Properties};
use std::ffi::c_int;
use std::ptr::{self, NonNull};

/// Handle of a link, with its checked properties, and the library that it is in.
#[derive(Debug)]
pub(super) struct Opened {
    // Dropped by hand, before the library.
    raw: NonNull<RawLink>,
    name: Box<str>,
    guarantees: Guarantees,
    reasons: Reasons,
    library: Library,
}

// SAFETY: by `punctual_link.h` every function of the table, except the ones that drop, is callable
// from any thread, several at once.
unsafe impl Send for Opened {}
// SAFETY: as above.
unsafe impl Sync for Opened {}

impl Opened {
    /// Opens the link and checks its name and guarantees.
    pub(super) fn open(library: Library) -> Result<Self, PluginError> {
        let functions = library.functions;
        let mut failure = Failure::NONE;
        let mut raw = ptr::null_mut();
        // SAFETY: both pointers are to variables that live through the call.
        let status = unsafe { (functions.open)(&raw mut failure, &raw mut raw) };
        let fault = match (status, NonNull::new(raw)) {
            (OK, Some(raw)) => {
                let mut opened = Self {
                    raw,
                    name: Box::default(),
                    guarantees: UNKNOWN,
                    reasons: Reasons::default(),
                    library,
                };
                return match opened.introduce() {
                    Ok(()) => Ok(opened),
                    Err(fault) => Err(opened.refused(fault)),
                };
            }
            (OK, None) => "it returned null".to_owned(),
            (status, _) => checked::failure_text(status, &failure),
        };
        Err(PluginError {
            library: library.path().to_owned(),
            fault: Fault::NotOpened(fault.into()),
        })
    }

    fn introduce(&mut self) -> Result<(), Fault> {
        let mut name = NO_TEXT;
        // SAFETY: the handle is open, and the pointer to a variable that lives through the call.
        unsafe { (self.functions().name)(self.raw.as_ptr(), &raw mut name) };
        // SAFETY: the library owns the text as long as the handle.
        let name = unsafe { checked::text(name, LONGEST_NAME) };
        let name = name.map_err(|what| Fault::BadName(what.into()))?;
        if !is_a_name(&name) {
            return Err(Fault::BadName(
                format!(
                    "`{name}`: expected a letter followed by letters, digits, `+`, `-`, `.`, `_`"
                )
                .into(),
            ));
        }
        self.name = name.into();
        let mut given = RawGuarantees::default();
        // SAFETY: as for the name.
        unsafe { (self.functions().guarantees)(self.raw.as_ptr(), &raw mut given) };
        self.guarantees = guarantees(&given).map_err(Fault::BadGuarantees)?;
        Ok(())
    }

    fn refused(&self, fault: Fault) -> PluginError {
        PluginError {
            library: self.library.path().to_owned(),
            fault,
        }
    }

    pub(super) fn raw(&self) -> *const RawLink {
        self.raw.as_ptr()
    }

    pub(super) fn functions(&self) -> &Functions {
        &self.library.functions
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn guarantees(&self) -> Guarantees {
        self.guarantees
    }

    /// Refuses an address of another link, or one that is too long: the library gets the address
    /// without the link's name.
    pub(super) fn own(&self, address: &Address, phase: Phase) -> Result<(), LinkError> {
        if address.link() == self.name() && address.place().len() <= LONGEST_PLACE {
            return Ok(());
        }
        Err(LinkError {
            phase,
            cause: Cause::BadAddress("one that begins with this link's name, and is not too long"),
        })
    }

    /// Converts a code that is not [`OK`] to an error.
    pub(super) fn error(&self, during: Phase, status: c_int, failure: &Failure) -> LinkError {
        self.reasons
            .link_error(self.library.path(), during, status, failure)
    }

    /// Makes the error of a library that violates the ABI.
    pub(super) fn broken(&self, during: Phase, how: &str) -> LinkError {
        checked::broken(self.library.path(), during, how)
    }

    /// Returns the address that the function `ask` obtains from one of the library's handles.
    ///
    /// # Safety
    /// The text that `ask` stores is valid for its stated length, or null.
    pub(super) unsafe fn address(
        &self,
        during: Phase,
        whose: &str,
        ask: impl FnOnce(*mut Text),
    ) -> Result<Address, LinkError> {
        let mut place = NO_TEXT;
        ask(&raw mut place);
        // SAFETY: by this function's own condition.
        let place = unsafe { checked::text(place, LONGEST_PLACE) };
        let place = place.map_err(|what| {
            self.broken(during, &format!("gave a bad address of {whose}: {what}"))
        })?;
        Ok(Address::new(self.name(), &place))
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: opened once, dropped once; acceptors and connections keep this alive, so that
        // none is left. The library is unmapped behind this, with the fields.
        unsafe { (self.functions().drop_link)(self.raw.as_ptr()) };
    }
}

/// Empty text, which a function of the library is to replace.
const NO_TEXT: Text = Text {
    octets: ptr::null(),
    length: 0,
};

/// Value of the guarantees before the library has filled them in.
const UNKNOWN: Guarantees = Guarantees {
    reliable: false,
    ordered: false,
    framing: Framing::Datagram,
    largest: None,
};

/// Returns whether a name can stand before the `://` of an address.
fn is_a_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name
            .chars()
            .all(|one| one.is_ascii_alphanumeric() || "+-._".contains(one))
}

fn guarantees(given: &RawGuarantees) -> Result<Guarantees, &'static str> {
    if given.reliable > 1 || given.ordered > 1 {
        return Err("a flag is neither 0 nor 1");
    }
    if given.reserved != [0; 5] {
        return Err("reserved bytes are not 0");
    }
    let framing = match given.framing {
        STREAM => Framing::Stream,
        DATAGRAM => Framing::Datagram,
        _ => return Err("neither a stream nor datagrams"),
    };
    let largest = usize::try_from(given.largest).unwrap_or(usize::MAX);
    Ok(Guarantees {
        reliable: given.reliable == 1,
        ordered: given.ordered == 1,
        framing,
        largest: (largest > 0).then_some(largest),
    })
}

/// Converts `text` for the library, for the duration of a call.
pub(super) fn lend_text(text: &str) -> Text {
    Text {
        octets: text.as_ptr(),
        length: text.len(),
    }
}

/// Converts `properties` for the library, for the duration of a call.
pub(super) fn lend_properties(properties: &Properties) -> Vec<Property> {
    let lend = |(key, value)| Property {
        key: lend_text(key),
        value: lend_text(value),
    };
    properties.iter().map(lend).collect()
}

/// Returns the time left of a deadline, in nanoseconds.
pub(super) fn nanoseconds(deadline: Deadline) -> i64 {
    deadline.remaining().map_or(NEVER, |left| {
        i64::try_from(left.as_nanos()).unwrap_or(i64::MAX)
    })
}

/// Converts the result of `pending`; an invalid value counts as the end.
pub(super) fn pending(said: c_int) -> punctual_link::Pending {
    match said {
        abi::QUIET => punctual_link::Pending::Nothing,
        abi::DATA => punctual_link::Pending::Data,
        _ => punctual_link::Pending::End,
    }
}
