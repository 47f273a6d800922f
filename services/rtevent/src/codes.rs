//! Event types that TAO reserves: `RtecEventChannelAdmin`'s codes in `header.type`.

/// Any event.
pub const ANY: i32 = 0;
/// Shutdown of a channel.
pub const SHUTDOWN: i32 = 1;
/// Request to act.
pub const ACT: i32 = 2;
/// Notification.
pub const NOTIFICATION: i32 = 3;
/// Timer that expires once.
pub const TIMEOUT: i32 = 4;
/// Timer that expires at each multiple of its length.
pub const INTERVAL_TIMEOUT: i32 = 5;
/// Timer that restarts whenever its consumer has received an event.
pub const DEADLINE_TIMEOUT: i32 = 6;
/// Designator of a global group.
pub const GLOBAL_DESIGNATOR: i32 = 7;
/// Group that passes events when each of its children has passed one (conjunction).
pub const CONJUNCTION: i32 = 8;
/// Group that accepts an event if one of its children does (disjunction).
pub const DISJUNCTION: i32 = 9;
/// Filter that accepts what its child does not.
pub const NEGATION: i32 = 10;
/// Group that accepts an event if all of its children do.
pub const LOGICAL_AND: i32 = 11;
/// Masks of type and source, and a child.
pub const BITMASK: i32 = 12;
/// Masks and values of type and source.
pub const MASKED_TYPE: i32 = 13;
/// Filter that accepts every event.
pub const NULL: i32 = 14;
/// First type that is free for users.
pub const FIRST_OF_USERS: i32 = 16;
