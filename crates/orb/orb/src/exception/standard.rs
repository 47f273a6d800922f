//! The standard exceptions and their contents.

use super::minor;
use std::fmt;
use std::sync::Arc;

/// Progress of the operation before the exception was raised (CORBA 3.3 part 1, §A.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompletionStatus {
    /// The operation was completed.
    Yes,
    /// The operation has not begun: repeating the call is safe.
    No,
    /// It is not known how far the operation has progressed.
    Maybe,
}

impl CompletionStatus {
    /// Returns the number that encodes the completion status in messages.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Self::Yes => 0,
            Self::No => 1,
            Self::Maybe => 2,
        }
    }

    /// Converts from the number on the wire; an unknown one becomes [`Self::Maybe`].
    #[must_use]
    pub fn from_number(number: u32) -> Self {
        match number {
            0 => Self::Yes,
            1 => Self::No,
            _ => Self::Maybe,
        }
    }
}

impl fmt::Display for CompletionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Yes => "COMPLETED_YES",
            Self::No => "COMPLETED_NO",
            Self::Maybe => "COMPLETED_MAYBE",
        })
    }
}

macro_rules! kinds {
    ($($variant:ident $name:literal $meaning:literal;)+) => {
        /// Kind of a standard exception (CORBA 3.3 part 1, §A.3).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum SystemExceptionKind {
            $(#[doc = concat!("`", $name, "`: ", $meaning, ".")] $variant,)+
        }

        impl SystemExceptionKind {
            /// List of all kinds of system exceptions.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the IDL name of the exception, e.g. `BAD_PARAM`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// Returns the exception's repository id, e.g. `IDL:omg.org/CORBA/BAD_PARAM:1.0`.
            #[must_use]
            pub fn repository_id(self) -> &'static str {
                match self { $(Self::$variant => concat!("IDL:omg.org/CORBA/", $name, ":1.0"),)+ }
            }

            /// Returns the exception's meaning in a few words.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)+ }
            }
        }
    };
}

kinds! {
    Unknown "UNKNOWN" "an exception that the operation does not declare";
    BadParam "BAD_PARAM" "a parameter that is not valid";
    NoMemory "NO_MEMORY" "no memory";
    ImpLimit "IMP_LIMIT" "a limit of an implementation";
    CommFailure "COMM_FAILURE" "communication broke off after the request was sent";
    InvObjref "INV_OBJREF" "an object reference that is not valid";
    NoPermission "NO_PERMISSION" "not allowed";
    Internal "INTERNAL" "an error within an ORB";
    Marshal "MARSHAL" "a value that cannot be marshaled or unmarshaled";
    Initialize "INITIALIZE" "the ORB could not be initialised";
    NoImplement "NO_IMPLEMENT" "an operation without an implementation";
    BadTypecode "BAD_TYPECODE" "a TypeCode that is not valid";
    BadOperation "BAD_OPERATION" "an operation that the object does not have";
    NoResources "NO_RESOURCES" "resources ran out";
    NoResponse "NO_RESPONSE" "no response yet";
    PersistStore "PERSIST_STORE" "persistent storage failed";
    BadInvOrder "BAD_INV_ORDER" "a call at the wrong moment";
    Transient "TRANSIENT" "the object could not be reached now; it may be reached later";
    FreeMem "FREE_MEM" "memory could not be freed";
    InvIdent "INV_IDENT" "an identifier that is not valid";
    InvFlag "INV_FLAG" "a flag that is not valid";
    IntfRepos "INTF_REPOS" "the interface repository could not be reached";
    BadContext "BAD_CONTEXT" "a context without what the operation needs";
    ObjAdapter "OBJ_ADAPTER" "an object adapter failed";
    DataConversion "DATA_CONVERSION" "a character or a priority that cannot be converted";
    ObjectNotExist "OBJECT_NOT_EXIST" "the object does not exist";
    TransactionRequired "TRANSACTION_REQUIRED" "a transaction is required";
    TransactionRolledback "TRANSACTION_ROLLEDBACK" "the transaction was rolled back";
    InvalidTransaction "INVALID_TRANSACTION" "the transaction is not valid";
    InvPolicy "INV_POLICY" "policies that do not fit each other";
    CodesetIncompatible "CODESET_INCOMPATIBLE" "no code set that both sides know";
    Rebind "REBIND" "a rebind that the policy forbids";
    Timeout "TIMEOUT" "the time for the call was up";
    TransactionUnavailable "TRANSACTION_UNAVAILABLE" "no transaction service";
    TransactionMode "TRANSACTION_MODE" "a transaction mode that does not fit";
    BadQos "BAD_QOS" "a quality of service that cannot be given";
    InvalidActivity "INVALID_ACTIVITY" "the activity is not valid here";
    ActivityCompleted "ACTIVITY_COMPLETED" "the activity has completed";
    ActivityRequired "ACTIVITY_REQUIRED" "an activity is required";
    ThreadCancelled "THREAD_CANCELLED" "the thread was cancelled";
}

impl SystemExceptionKind {
    /// Returns the kind of system exception with this repository id.
    #[must_use]
    pub fn from_repository_id(id: &str) -> Option<Self> {
        let name = id
            .strip_prefix("IDL:omg.org/CORBA/")?
            .strip_suffix(":1.0")?;
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

/// Standard exception. Cloning is cheap; two exceptions are equal if their kind, minor code and
/// completion status are, whatever their messages.
#[derive(Clone)]
pub struct SystemException {
    kind: SystemExceptionKind,
    minor: u32,
    completed: CompletionStatus,
    detail: Option<Arc<str>>,
}

impl SystemExceptionKind {
    /// Returns an exception of this kind for a servant to raise, with COMPLETED_NO, no minor code,
    /// and the reason as its message, which is for logs and is not sent to the caller.
    ///
    /// ```
    /// use punctual_orb::{SystemException, SystemExceptionKind::BadParam};
    ///
    /// fn subscribe(observer: Option<&str>) -> Result<&str, SystemException> {
    ///     observer.ok_or(BadParam.because("the observer is nil"))
    /// }
    /// assert_eq!(subscribe(None).unwrap_err().kind(), BadParam);
    /// ```
    #[must_use]
    pub fn because(self, why: impl Into<Arc<str>>) -> SystemException {
        SystemException::from(self).with_detail(why)
    }
}

impl From<SystemExceptionKind> for SystemException {
    /// Converts to an exception without a minor code, with COMPLETED_NO.
    fn from(kind: SystemExceptionKind) -> Self {
        Self::new(kind, 0, CompletionStatus::No)
    }
}

impl SystemException {
    /// Creates an exception with a minor code (see [`minor`]).
    #[must_use]
    pub fn new(kind: SystemExceptionKind, minor: u32, completed: CompletionStatus) -> Self {
        Self {
            kind,
            minor,
            completed,
            detail: None,
        }
    }

    /// Adds a human-readable message: endpoint, phase and reason. It is not sent to the peer.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<Arc<str>>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Puts `context` in front of the exception's message.
    #[must_use]
    pub fn in_context(self, context: impl fmt::Display) -> Self {
        let detail = match &self.detail {
            Some(detail) => format!("{context}: {detail}"),
            None => context.to_string(),
        };
        self.with_detail(detail)
    }

    /// Changes the exception's completion status.
    #[must_use]
    pub fn completed_as(mut self, completed: CompletionStatus) -> Self {
        self.completed = completed;
        self
    }

    /// Returns the kind of exception.
    #[must_use]
    pub fn kind(&self) -> SystemExceptionKind {
        self.kind
    }

    /// Returns whether the operation cannot have begun, so that repeating the call is safe.
    #[must_use]
    pub fn is_not_begun(&self) -> bool {
        self.completed == CompletionStatus::No
    }

    /// Returns the minor code: the vendor's id in the upper 20 bits, the number in the lower 12.
    #[must_use]
    pub fn minor(&self) -> u32 {
        self.minor
    }

    /// Returns the completion status.
    #[must_use]
    pub fn completed(&self) -> CompletionStatus {
        self.completed
    }

    /// Returns the meaning of the minor code or, if that is not known, of the kind.
    pub(crate) fn meaning(&self) -> &'static str {
        minor::meaning(self.kind.name(), self.minor).unwrap_or_else(|| self.kind.meaning())
    }

    /// Returns the exception's human-readable message, if there is one.
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }
}

impl PartialEq for SystemException {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, self.minor, self.completed) == (other.kind, other.minor, other.completed)
    }
}

impl Eq for SystemException {}

impl fmt::Display for SystemException {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind.name())?;
        let detail = self.detail().unwrap_or_else(|| self.meaning());
        write!(f, ": {detail}")?;
        write!(
            f,
            " (minor {}, {})",
            minor::Readable(self.minor),
            self.completed
        )
    }
}

impl fmt::Debug for SystemException {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for SystemException {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_again_by_its_repository_id() {
        for &kind in SystemExceptionKind::ALL {
            assert_eq!(
                SystemExceptionKind::from_repository_id(kind.repository_id()),
                Some(kind)
            );
        }
        assert_eq!(
            SystemExceptionKind::from_repository_id("IDL:omg.org/CORBA/NONE:1.0"),
            None
        );
    }

    #[test]
    fn without_a_detail_the_message_has_the_meaning_of_the_minor_code() {
        let text =
            |kind, minor| SystemException::new(kind, minor, CompletionStatus::No).to_string();
        assert_eq!(
            text(SystemExceptionKind::InvPolicy, minor::NO_PROTECTED_ENDPOINT),
            "INV_POLICY: nothing may be sent unencrypted to the object, and it has no endpoint of TLS that can be used \
             (minor Punctual 42, COMPLETED_NO)"
        );
        // The numbers of the standard have a meaning for each kind.
        assert_eq!(
            text(SystemExceptionKind::ObjectNotExist, minor::omg(2)),
            "OBJECT_NOT_EXIST: no adapter for the object key (minor OMG 2, COMPLETED_NO)"
        );
        let kind = SystemExceptionKind::NoMemory;
        assert_eq!(
            text(kind, minor::omg(2)),
            format!("NO_MEMORY: {} (minor OMG 2, COMPLETED_NO)", kind.meaning())
        );
    }

    #[test]
    fn the_message_names_kind_detail_minor_and_completion() {
        let exception = SystemException::new(
            SystemExceptionKind::Transient,
            minor::omg(2),
            CompletionStatus::No,
        )
        .with_detail("connection refused")
        .in_context("iiop://h:1");
        assert_eq!(
            exception.to_string(),
            "TRANSIENT: iiop://h:1: connection refused (minor OMG 2, COMPLETED_NO)"
        );
    }
}
