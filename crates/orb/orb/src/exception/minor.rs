//! Minor codes: the standard's (CORBA 3.3 part 1, §A.5) and Punctual's own.

use std::fmt;

/// The OMG's vendor id.
pub const OMG: u32 = 0x4f4d_0000;
/// Punctual's own vendor id, `PU`.
pub const PUNCTUAL: u32 = 0x5055_0000;

/// Returns a minor code of the standard.
#[must_use]
pub const fn omg(number: u32) -> u32 {
    OMG | number
}

const fn own(number: u32) -> u32 {
    PUNCTUAL | number
}

/// BAD_PARAM: a URL whose scheme is not known.
pub const BAD_SCHEME: u32 = omg(7);
/// BAD_PARAM: a URL whose address does not parse.
pub const BAD_ADDRESS: u32 = omg(8);
/// BAD_PARAM: a URL whose scheme-specific part does not parse.
pub const BAD_SCHEME_SPECIFIC_PART: u32 = omg(9);
/// BAD_PARAM: a URL that is wrong for another reason.
pub const BAD_URL: u32 = omg(10);
/// BAD_PARAM: nil given to `register_initial_reference`.
pub const NIL_REGISTERED: u32 = omg(27);
/// BAD_PARAM: two policies of the same type.
pub const DUPLICATE_POLICY: u32 = omg(30);
/// INV_POLICY: policies that cannot be reconciled.
pub const CANNOT_RECONCILE: u32 = omg(1);
/// BAD_INV_ORDER: `shutdown` that would wait for the call it is in.
pub const SHUTDOWN_IN_UPCALL: u32 = omg(3);
/// BAD_INV_ORDER: a DII request that was sent before is sent again.
pub const REQUEST_ALREADY_SENT: u32 = omg(10);
/// BAD_INV_ORDER: the response of a DII request that was not sent.
pub const REQUEST_NOT_SENT: u32 = omg(11);
/// BAD_INV_ORDER: the response of a DII request has been retrieved already.
pub const RESPONSE_ALREADY_RETRIEVED: u32 = omg(12);
/// TIMEOUT: no reply in the time that a poller was given.
pub const NO_REPLY_IN_TIME: u32 = omg(1);
/// NO_RESPONSE: no reply yet.
pub const NO_REPLY_YET: u32 = omg(1);
/// BAD_INV_ORDER: the ORB has shut down.
pub const ORB_HAS_SHUT_DOWN: u32 = omg(4);
/// CODESET_INCOMPATIBLE: client and server have no code set in common.
pub const NO_COMMON_CODE_SET: u32 = omg(1);
/// CODESET_INCOMPATIBLE: the client chose a code set that the server does not have.
pub const CODE_SET_UNSUPPORTED: u32 = omg(2);
/// INV_OBJREF: wide text for a reference that announces no wide code set.
pub const WIDE_NOT_SUPPORTED: u32 = omg(1);
/// INV_OBJREF: wide text for a reference that announces no code sets at all.
pub const NO_CODE_SETS: u32 = omg(2);
/// BAD_PARAM: wide text, and no code set for it was agreed on.
pub const WIDE_NOT_NEGOTIATED: u32 = omg(23);
/// MARSHAL: wide text in a request of GIOP 1.0.
pub const WIDE_ARGUMENT_IN_GIOP_1_0: u32 = omg(5);
/// MARSHAL: wide text in a reply of GIOP 1.0.
pub const WIDE_RESULT_IN_GIOP_1_0: u32 = omg(6);
/// TRANSIENT: no resource, or the request was discarded.
pub const DISCARDED: u32 = omg(1);
/// TRANSIENT: no profile of the reference can be used.
pub const NO_USABLE_PROFILE: u32 = omg(2);
/// OBJECT_NOT_EXIST: the object is not (or no longer) active.
pub const NOT_ACTIVE: u32 = omg(1);
/// OBJECT_NOT_EXIST: no adapter for the object key.
pub const NO_ADAPTER: u32 = omg(2);
/// DATA_CONVERSION: a character that the negotiated code set cannot carry.
pub const CHARACTER: u32 = omg(1);
/// BAD_OPERATION: not an operation of this object.
pub const NO_SUCH_OPERATION: u32 = omg(2);
/// UNKNOWN: a user exception that the operation does not declare.
pub const UNLISTED_USER_EXCEPTION: u32 = omg(1);
/// MARSHAL: no factory for a value.
pub const NO_VALUE_FACTORY: u32 = omg(1);
/// NO_IMPLEMENT: a value whose operations have no implementation.
pub const NO_VALUE_IMPLEMENTATION: u32 = omg(1);

/// TRANSIENT: no endpoint of the reference could be connected to.
pub const CONNECT_FAILED: u32 = own(1);
/// COMM_FAILURE: the connection broke while the request was being sent.
pub const SEND_FAILED: u32 = own(2);
/// COMM_FAILURE: the connection broke before the reply had arrived.
pub const RECEIVE_FAILED: u32 = own(3);
/// TIMEOUT: the call's time was up.
pub const CALL_TIMED_OUT: u32 = own(4);
/// TIMEOUT: the time for setting up the connection was up.
pub const CONNECT_TIMED_OUT: u32 = own(5);
/// COMM_FAILURE or MARSHAL: the peer broke the protocol.
pub const PROTOCOL: u32 = own(6);
/// TRANSIENT: forwarded more often than allowed.
pub const TOO_MANY_FORWARDS: u32 = own(7);
/// BAD_PARAM or IMP_LIMIT: a value over a configured limit.
pub const LIMIT: u32 = own(8);
/// MARSHAL: bytes that are no valid encoding of the type.
pub const ENCODING: u32 = own(9);
/// BAD_PARAM: a value that its IDL type does not allow (a bound, an inner NUL, a label).
pub const VALUE: u32 = own(10);
/// UNKNOWN: the servant panicked.
pub const SERVANT_PANICKED: u32 = own(11);
/// INV_OBJREF: text that is not an object reference.
pub const BAD_REFERENCE: u32 = own(12);
/// INV_OBJREF or BAD_PARAM: nil where an object is needed.
pub const NIL: u32 = own(13);
/// INITIALIZE: an endpoint could not be listened at.
pub const LISTEN_FAILED: u32 = own(14);
/// TRANSIENT: too many calls wait for one connection.
pub const TOO_MANY_CALLS: u32 = own(15);
/// COMM_FAILURE: the peer closed the connection in good order, and again after a retry.
pub const PEER_CLOSED: u32 = own(16);
/// TRANSIENT: all threads of the pool that would serve it are busy.
pub const POOL_EXHAUSTED: u32 = own(18);
/// TRANSIENT: upcalls nest too deep (`max_nesting`).
pub const TOO_DEEP: u32 = own(19);
/// INTERNAL: an invariant of the ORB does not hold.
pub const BROKEN_INVARIANT: u32 = own(17);
/// BAD_INV_ORDER: an attribute or operation of a request's information that is not valid at the interception point.
pub const INTERCEPTION_POINT: u32 = omg(14);
/// BAD_INV_ORDER: a service context is there already.
pub const SERVICE_CONTEXT_EXISTS: u32 = omg(15);
/// BAD_INV_ORDER: a policy type has a factory already.
pub const POLICY_FACTORY_EXISTS: u32 = omg(16);
/// BAD_INV_ORDER: slots are asked for before the ORB has started.
pub const SLOTS_BEFORE_START: u32 = omg(10);
/// BAD_PARAM: no service context has the id.
pub const NO_SERVICE_CONTEXT: u32 = omg(26);
/// BAD_PARAM: no component has the tag.
pub const NO_COMPONENT: u32 = omg(28);
/// NO_RESOURCES: information that a call of this kind does not have.
pub const INFORMATION_NOT_AVAILABLE: u32 = omg(1);
/// INV_POLICY: no policy of the type.
pub const INVALID_POLICY_TYPE: u32 = omg(2);
/// INV_POLICY: no factory makes policies of the type.
pub const NO_POLICY_FACTORY: u32 = omg(3);
/// UNKNOWN: an interceptor panicked.
pub const INTERCEPTOR_PANICKED: u32 = own(21);
/// REBIND: a bound reference would have to be bound again.
pub const MUST_REBIND: u32 = own(20);
/// NO_RESPONSE: a servant that was to answer later has dropped the response.
pub const NOT_ANSWERED: u32 = own(30);
/// TIMEOUT: a servant that was to answer later did not within the time that it may take.
pub const ANSWER_TIMED_OUT: u32 = own(31);
/// TRANSIENT: the buffer of a connection is full (WhenFull::Raise).
pub const BUFFER_FULL: u32 = own(40);
/// NO_PERMISSION: a callback came by the client's own connection, which the object's POA does not allow.
pub const NOT_BIDIRECTIONAL: u32 = own(41);
/// NO_RESOURCES: no room for results among the data of all peers (`limits.received`).
pub const NO_ROOM_FOR_RESULTS: u32 = own(42);

/// Display form of a minor code: the vendor's name, where known, and the number.
#[derive(Clone, Copy, Debug)]
pub struct Readable(
    /// The minor code.
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
