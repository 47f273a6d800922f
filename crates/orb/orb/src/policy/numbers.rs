//! Numbers of the policy types that affect calls.

/// Messaging's REBIND_POLICY_TYPE (CORBA 3.3 part 2, §22.2).
pub(super) const REBIND: u32 = 23;
/// Messaging's SYNC_SCOPE_POLICY_TYPE (CORBA 3.3 part 2, §22.2).
pub(super) const SYNC_SCOPE: u32 = 24;
/// Messaging's REQUEST_PRIORITY_POLICY_TYPE (CORBA 3.3 part 2, §22.2).
pub(crate) const REQUEST_PRIORITY: u32 = 25;
/// Messaging's REPLY_PRIORITY_POLICY_TYPE (CORBA 3.3 part 2, §22.2).
pub(crate) const REPLY_PRIORITY: u32 = 26;
/// Messaging's REQUEST_START_TIME_POLICY_TYPE (CORBA 3.3 part 2, §22.2).
pub(crate) const REQUEST_START: u32 = 27;
/// Messaging's REPLY_START_TIME_POLICY_TYPE (CORBA 3.3 part 2, §22.2).
pub(crate) const REPLY_START: u32 = 29;
/// Messaging's REQUEST_END_TIME_POLICY_TYPE (CORBA 3.3 part 2, §22.2).
pub(crate) const REQUEST_END: u32 = 28;
/// Messaging's REPLY_END_TIME_POLICY_TYPE (CORBA 3.3 part 2, §22.2).
pub(crate) const REPLY_END: u32 = 30;
/// Messaging's RELATIVE_REQ_TIMEOUT_POLICY_TYPE (CORBA 3.3 part 2, §22.2).
pub(super) const RELATIVE_REQUEST_TIMEOUT: u32 = 31;
/// Messaging's RELATIVE_RT_TIMEOUT_POLICY_TYPE (CORBA 3.3 part 1, §17.3).
pub(super) const RELATIVE_ROUNDTRIP_TIMEOUT: u32 = 32;
/// Messaging's QUEUE_ORDER_POLICY_TYPE (CORBA 3.3 part 2, §22.2).
pub(crate) const QUEUE_ORDER: u32 = 35;
/// BiDirPolicy's BIDIRECTIONAL_POLICY_TYPE (CORBA 3.3 part 2, §9.9).
pub(super) const BIDIRECTIONAL: u32 = 37;
/// Real-time CORBA's CLIENT_PROTOCOL_POLICY_TYPE.
pub(crate) const CLIENT_PROTOCOLS: u32 = 43;
// Punctual's own range of numbers.
pub(super) const TRANSFER: u32 = 0x5055_0001;
pub(super) const LINK_PROPERTY: u32 = 0x5055_0002;
pub(super) const MUX: u32 = 0x5055_0003;
pub(super) const WAIT: u32 = 0x5055_0004;
pub(super) const COLLOCATION: u32 = 0x5055_0005;
pub(crate) const SECURITY: u32 = 0x5055_0007;
pub(super) const CHAR_CODE_SET: u32 = 0x5055_0008;
pub(super) const BUFFERING: u32 = 0x5055_0009;
pub(super) const CONNECT_TIMEOUT: u32 = 0x5055_000a;
pub(super) const CALLS_IN_FLIGHT: u32 = 0x5055_000b;
pub(super) const BUFFER_CAPACITY: u32 = 0x5055_0010;
pub(super) const OUT_OF_BAND: u32 = 0x5055_0011;
