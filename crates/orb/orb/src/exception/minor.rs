//! Minor codes: the standard's (CORBA 3.3 part 1, §A.5) and Punctual's own.

use std::fmt;

/// Vendor id of the OMG in minor codes of system exceptions.
pub const OMG: u32 = 0x4f4d_0000;
/// Vendor id of Punctual in minor codes, the letters `PU`.
pub const PUNCTUAL: u32 = 0x5055_0000;

/// Returns the minor code with this number in the OMG's standard.
#[must_use]
pub const fn omg(number: u32) -> u32 {
    OMG | number
}

const fn own(number: u32) -> u32 {
    PUNCTUAL | number
}

/// Declares the codes, and [`meaning`] of their comments: the exceptions, a colon, and the meaning.
macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $vendor:ident($number:literal);)*) => {
        $($(#[doc = $doc])+ pub const $name: u32 = $vendor($number);)*

        /// Table of the minor codes, each with the text of the documentation comment.
        const CODES: &[(u32, &str)] = &[$(($name, concat!($($doc),+))),*];
    };
}

codes! {
    /// BAD_PARAM: a URL whose scheme is not known.
    BAD_SCHEME = omg(7);
    /// BAD_PARAM: a URL whose address does not parse.
    BAD_ADDRESS = omg(8);
    /// BAD_PARAM: a URL whose scheme-specific part does not parse.
    BAD_SCHEME_SPECIFIC_PART = omg(9);
    /// BAD_PARAM: a URL that is wrong for another reason.
    BAD_URL = omg(10);
    /// BAD_PARAM: nil given to `register_initial_reference`.
    NIL_REGISTERED = omg(27);
    /// BAD_PARAM: two policies of the same type.
    DUPLICATE_POLICY = omg(30);
    /// INV_POLICY: policies that cannot be reconciled.
    CANNOT_RECONCILE = omg(1);
    /// BAD_INV_ORDER: `shutdown` that would wait for the call it is in.
    SHUTDOWN_IN_UPCALL = omg(3);
    /// BAD_INV_ORDER: a DII request that was sent before is sent again.
    REQUEST_ALREADY_SENT = omg(10);
    /// BAD_INV_ORDER: the response of a DII request that was not sent.
    REQUEST_NOT_SENT = omg(11);
    /// BAD_INV_ORDER: the response of a DII request has been retrieved already.
    RESPONSE_ALREADY_RETRIEVED = omg(12);
    /// TIMEOUT: no reply in the time that a poller was given.
    NO_REPLY_IN_TIME = omg(1);
    /// NO_RESPONSE: no reply yet.
    NO_REPLY_YET = omg(1);
    /// BAD_INV_ORDER: the ORB has shut down.
    ORB_HAS_SHUT_DOWN = omg(4);
    /// CODESET_INCOMPATIBLE: client and server have no code set in common.
    NO_COMMON_CODE_SET = omg(1);
    /// CODESET_INCOMPATIBLE: the client chose a code set that the server does not have.
    CODE_SET_UNSUPPORTED = omg(2);
    /// INV_OBJREF: wide text for a reference that announces no wide code set.
    WIDE_NOT_SUPPORTED = omg(1);
    /// INV_OBJREF: wide text for a reference that announces no code sets at all.
    NO_CODE_SETS = omg(2);
    /// BAD_PARAM: wide text, and no code set for it was agreed on.
    WIDE_NOT_NEGOTIATED = omg(23);
    /// MARSHAL: wide text in a request of GIOP 1.0.
    WIDE_ARGUMENT_IN_GIOP_1_0 = omg(5);
    /// MARSHAL: wide text in a reply of GIOP 1.0.
    WIDE_RESULT_IN_GIOP_1_0 = omg(6);
    /// TRANSIENT: no resource, or the request was discarded.
    DISCARDED = omg(1);
    /// TRANSIENT: no profile of the reference can be used.
    NO_USABLE_PROFILE = omg(2);
    /// OBJECT_NOT_EXIST: the object is not (or no longer) active.
    NOT_ACTIVE = omg(1);
    /// OBJECT_NOT_EXIST: no adapter for the object key.
    NO_ADAPTER = omg(2);
    /// DATA_CONVERSION: a character that the negotiated code set cannot carry.
    CHARACTER = omg(1);
    /// BAD_OPERATION: not an operation of this object.
    NO_SUCH_OPERATION = omg(2);
    /// UNKNOWN: a user exception that the operation does not declare.
    UNLISTED_USER_EXCEPTION = omg(1);
    /// MARSHAL: no factory for a value.
    NO_VALUE_FACTORY = omg(1);
    /// NO_IMPLEMENT: a value whose operations have no implementation.
    NO_VALUE_IMPLEMENTATION = omg(1);
    /// TRANSIENT: no endpoint of the reference could be connected to.
    CONNECT_FAILED = own(1);
    /// COMM_FAILURE: the connection broke while the request was being sent.
    SEND_FAILED = own(2);
    /// COMM_FAILURE: the connection broke before the reply had arrived.
    RECEIVE_FAILED = own(3);
    /// TIMEOUT: the call's time was up.
    CALL_TIMED_OUT = own(4);
    /// TIMEOUT: the time for setting up the connection was up.
    CONNECT_TIMED_OUT = own(5);
    /// COMM_FAILURE or MARSHAL: the peer broke the protocol.
    PROTOCOL = own(6);
    /// TRANSIENT: forwarded more often than allowed.
    TOO_MANY_FORWARDS = own(7);
    /// BAD_PARAM or IMP_LIMIT: a value over a configured limit.
    LIMIT = own(8);
    /// MARSHAL: bytes that are no valid encoding of the type.
    ENCODING = own(9);
    /// BAD_PARAM: a value that its IDL type does not allow (a bound, an inner NUL, a label).
    VALUE = own(10);
    /// UNKNOWN: the servant panicked.
    SERVANT_PANICKED = own(11);
    /// INV_OBJREF: text that is not an object reference.
    BAD_REFERENCE = own(12);
    /// INV_OBJREF or BAD_PARAM: nil where an object is needed.
    NIL = own(13);
    /// INITIALIZE: an endpoint could not be listened at.
    LISTEN_FAILED = own(14);
    /// TRANSIENT: too many calls wait for one connection.
    TOO_MANY_CALLS = own(15);
    /// COMM_FAILURE: the peer closed the connection in good order, and again after a retry.
    PEER_CLOSED = own(16);
    /// TRANSIENT: all threads of the pool that would serve it are busy.
    POOL_EXHAUSTED = own(18);
    /// TRANSIENT: upcalls nest too deep (`max_nesting`).
    TOO_DEEP = own(19);
    /// INTERNAL: an invariant of the ORB does not hold.
    BROKEN_INVARIANT = own(17);
    /// BAD_INV_ORDER: an attribute or operation of a request's information that is not valid at the interception point.
    INTERCEPTION_POINT = omg(14);
    /// BAD_INV_ORDER: a service context is there already.
    SERVICE_CONTEXT_EXISTS = omg(15);
    /// BAD_INV_ORDER: a policy type has a factory already.
    POLICY_FACTORY_EXISTS = omg(16);
    /// BAD_INV_ORDER: slots are asked for before the ORB has started.
    SLOTS_BEFORE_START = omg(10);
    /// BAD_PARAM: no service context has the id.
    NO_SERVICE_CONTEXT = omg(26);
    /// BAD_PARAM: no component has the tag.
    NO_COMPONENT = omg(28);
    /// NO_RESOURCES: information that a call of this kind does not have.
    INFORMATION_NOT_AVAILABLE = omg(1);
    /// INV_POLICY: no policy of the type.
    INVALID_POLICY_TYPE = omg(2);
    /// INV_POLICY: no factory makes policies of the type.
    NO_POLICY_FACTORY = omg(3);
    /// UNKNOWN: an interceptor panicked.
    INTERCEPTOR_PANICKED = own(21);
    /// REBIND: a bound reference would have to be bound again.
    MUST_REBIND = own(20);
    /// NO_RESPONSE: a servant that was to answer later has dropped the response.
    NOT_ANSWERED = own(30);
    /// TIMEOUT: a servant that was to answer later did not within the time that it may take.
    ANSWER_TIMED_OUT = own(31);
    /// TRANSIENT: the buffer of a connection is full (WhenFull::Raise).
    BUFFER_FULL = own(40);
    /// NO_PERMISSION: a callback came by the client's own connection, which the object's POA does not allow.
    NOT_BIDIRECTIONAL = own(41);
    /// INV_POLICY: nothing may be sent unencrypted to the object, and it has no endpoint of TLS that can be used.
    NO_PROTECTED_ENDPOINT = own(42);
    /// NO_RESOURCES: no room for results among the data of all peers (`limits.received`).
    NO_ROOM_FOR_RESULTS = own(43);
    /// TRANSIENT: the Implementation Repository knows no server of the name.
    UNKNOWN_SERVER = own(50);
    /// TRANSIENT: the server does not run, and the Implementation Repository may not start it for a client.
    NOT_STARTED_FOR_CLIENTS = own(51);
    /// TRANSIENT: the Implementation Repository could not start the server.
    START_FAILED = own(52);
    /// TRANSIENT: the server was started and did not register with the Implementation Repository in time.
    START_TIMED_OUT = own(53);
    /// TRANSIENT: starts of the server have failed, and the next one has to wait.
    STARTS_HELD_BACK = own(54);
}

/// Returns the meaning of a code in an exception of this name, for those that are known: a clause without full stop.
pub(super) fn meaning(exception: &str, code: u32) -> Option<&'static str> {
    CODES.iter().find_map(|&(one, comment)| {
        let (exceptions, meaning) = comment.split_once(": ")?;
        let is_meant = one == code && exceptions.split_whitespace().any(|name| name == exception);
        is_meant.then(|| meaning.trim_end_matches('.'))
    })
}

/// Display form of a minor code: the vendor's name, where known, and the number.
#[derive(Clone, Copy, Debug)]
pub struct Readable(
    /// Minor code of a system exception.
    pub u32,
);

impl fmt::Display for Readable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (vendor, number) = (self.0 & 0xffff_f000, self.0 & 0xfff);
        match vendor {
            0 => write!(f, "{number}"),
            OMG => write!(f, "OMG {number}"),
            PUNCTUAL => write!(f, "Punctual {number}"),
            0x4154_0000 => write!(f, "omniORB {number}"),
            0x5441_0000..=0x5441_f000 => write!(f, "TAO {:#x}", self.0),
            0x4a43_0000 => write!(f, "JacORB {number}"),
            _ => write!(f, "{:#010x}", self.0),
        }
    }
}
