//! C ABI of the boundary; `include/punctual_link.h` is its C form, and a test compares the two.
//!
//! A library exports one function, [`ENTRY`], which returns a [`Table`]. The first four fields of a
//! table are the same in every future version, so that a library of another version is distinguished from a
//! broken one:
//!
//! ```text
//! offset  0  u64  magic      "PUNCLINK" as a big-endian number
//!         8  u32  version    of the ABI
//!        12  u32  size       of the table, in octets; what a later revision appends is not read
//!        16  u64  signature  over names, signatures and places of all below, and over the structs
//!        24  u64  flags      RESIDENT or 0
//!        32  functions, in the order in which they stand below, none of them null
//! ```
//!
//! A function that can fail returns [`OK`] or a cause, and then adds details in the [`Failure`]
//! that it was lent. No panic or exception unwinds across the boundary. Handles are opaque, made
//! and dropped by the library, and shared among threads as [`punctual_link::Connection`] says.

use std::ffi::c_int;
use std::fmt;

/// Name of the function that a library exports, without its terminator: `const Table *(void)`.
pub const ENTRY: &str = "punctual_link_plugin";
/// Value of the first field of every table: `PUNCLINK` in ASCII.
pub const MAGIC: u64 = u64::from_be_bytes(*b"PUNCLINK");
/// Version of the ABI that this crate speaks, as host and as library.
pub const VERSION: u32 = 1;
/// Flag of a table: the library may have threads that outlive its handles, so it stays mapped until
/// the process ends.
pub const RESIDENT: u64 = 1;
/// Deadline that never passes; any other is the nanoseconds left, and not negative.
pub const NEVER: i64 = -1;
/// Result of [`Table`]'s `descriptor` for a connection without one.
pub const NO_DESCRIPTOR: c_int = -1;
/// Length of the longest text of a failure, in bytes.
pub const LONGEST_REASON: usize = 256;
/// Length of the longest link address that the ABI allows, in bytes.
pub const LONGEST_PLACE: usize = 4096;
/// Length of the longest name of a link, in bytes.
pub const LONGEST_NAME: usize = 64;

/// Success. Any other result of a function is one of the causes below.
pub const OK: c_int = 0;
/// Result code for [`punctual_link::Cause::TimedOut`].
pub const TIMED_OUT: c_int = 1;
/// Result code for [`punctual_link::Cause::Closed`].
pub const CLOSED: c_int = 2;
/// Result code for [`punctual_link::Cause::BadAddress`]; `expected` describes the valid form.
pub const BAD_ADDRESS: c_int = 3;
/// [`punctual_link::Cause::BadProperty`]; `text` is `name=value`, `expected` says which values fit.
pub const BAD_PROPERTY: c_int = 4;
/// Result code for [`punctual_link::Cause::BadPeer`]; `text` describes the peer's fault.
pub const BAD_PEER: c_int = 5;
/// Result code for [`punctual_link::Cause::TooLarge`]; `number` is the limit in bytes.
pub const TOO_LARGE: c_int = 6;
/// Result code for [`punctual_link::Cause::NoMemory`]; `number` is the requested number of bytes.
pub const NO_MEMORY: c_int = 7;
/// [`punctual_link::Cause::Os`]; `number` is the `errno`, or 0 and `text` describes the error.
pub const OS: c_int = 8;
/// Panic of the library's code, or the like; `text` is its message.
pub const PANICKED: c_int = 9;

/// [`punctual_link::Phase`], in the order of its variants; 0 stands for the phase of the function
/// itself.
pub const PHASES: [punctual_link::Phase; 6] = [
    punctual_link::Phase::Resolve,
    punctual_link::Phase::Connect,
    punctual_link::Phase::Listen,
    punctual_link::Phase::Accept,
    punctual_link::Phase::Send,
    punctual_link::Phase::Receive,
];

/// Result of `pending`, like the two below: no data.
pub const QUIET: c_int = 0;
/// Result of `pending`: data can be received.
pub const DATA: c_int = 1;
/// Result of `pending`: the other side has closed.
pub const END: c_int = 2;

/// Value of `framing` in [`RawGuarantees`] for a stream of bytes.
pub const STREAM: u8 = 0;
/// Value of `framing` in [`RawGuarantees`] for datagrams.
pub const DATAGRAM: u8 = 1;

/// UTF-8 text, not terminated. `octets` may be null where `length` is 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// Pointer to the first byte of the text.
    pub octets: *const u8,
    /// Length of the text in bytes.
    pub length: usize,
}

/// Property of an endpoint.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Property {
    /// Name of the property.
    pub key: Text,
    /// Value of the property.
    pub value: Text,
}

/// Part of a message to be sent: POSIX's `struct iovec`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Pointer to the first byte of the message part.
    pub octets: *const u8,
    /// Length of the message part in bytes.
    pub length: usize,
}

/// Guarantees of a link, as [`punctual_link::Guarantees`] in the layout of C.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawGuarantees {
    /// 1 if the link is reliable, else 0.
    pub reliable: u8,
    /// 1 if the link keeps the order of data, else 0.
    pub ordered: u8,
    /// Framing of the link's data: [`STREAM`] or [`DATAGRAM`].
    pub framing: u8,
    /// Reserved bytes, which must be 0.
    pub reserved: [u8; 5],
    /// Size of the largest message in one piece, in bytes; 0 for no limit.
    pub largest: u64,
}

/// Details of an error, filled by the library in addition to the cause that it returns. The host
/// lends it zeroed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Failure {
    /// Index in [`PHASES`], counted from 1; 0 for the phase of the function itself.
    pub phase: u32,
    /// Length of `text` in bytes.
    pub text_length: u32,
    /// Length of `expected` in bytes.
    pub expected_length: u32,
    /// Reserved field, which must be 0.
    pub reserved: u32,
    /// Number that belongs to the cause of the failure: `errno`, or a number of bytes.
    pub number: u64,
    /// Description of the failure, in UTF-8.
    pub text: [u8; LONGEST_REASON],
    /// Description of the valid input, in UTF-8.
    pub expected: [u8; LONGEST_REASON],
}

impl Failure {
    /// Failure with all fields zero, for a call without an error.
    pub const NONE: Self = Self {
        phase: 0,
        text_length: 0,
        expected_length: 0,
        reserved: 0,
        number: 0,
        text: [0; LONGEST_REASON],
        expected: [0; LONGEST_REASON],
    };
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failure")
            .field("phase", &self.phase)
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident)+) => {$(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Debug)]
        pub struct $name {
            _opaque: [u8; 0],
        }
    )+};
}

opaque! {
    /// Handle of a link, opaque to the host.
    RawLink
    /// Handle of an acceptor, opaque to the host.
    RawAcceptor
    /// Handle of a connection, opaque to the host.
    RawConnection
}

/// Defines, from one list, the table as a library provides it, its non-null form in the host, and
/// the signature.
macro_rules! table {
    ($($(#[$doc:meta])* $name:ident, $shape:literal: $type:ty;)+) => {
        /// Table that a library gives the host. Every function takes pointers that the host
        /// guarantees to be valid during the call, and handles that this table's functions have
        /// made.
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct Table {
            /// Always [`MAGIC`]: shows that the library has given a table of this kind.
            pub magic: u64,
            /// Version of the interface: [`VERSION`] at the time when the library was built.
            pub version: u32,
            /// Size of this table, in bytes.
            pub size: u32,
            /// Always [`SIGNATURE`], which depends on the names and types of the table's functions.
            pub signature: u64,
            /// Flags of the library: [`RESIDENT`] or 0.
            pub flags: u64,
            $($(#[$doc])* pub $name: Option<$type>,)+
        }

        /// Functions of a link library's table, none of them null.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct Functions {
            $(pub(crate) $name: $type,)+
        }

        impl Functions {
            /// Returns the functions of `table`.
            ///
            /// # Errors
            /// The name of the first function that is null.
            pub(crate) fn of(table: &Table) -> Result<Self, &'static str> {
                Ok(Self {
                    $($name: table.$name.ok_or(stringify!($name))?,)+
                })
            }
        }

        /// Name of each function, its signature in the header's words, and its offset.
        const SHAPES: &[(&str, &str, usize)] =
            &[$((stringify!($name), $shape, std::mem::offset_of!(Table, $name)),)+];
    };
}

table! {
    /// Opens the link: called before all others, once for each handle.
    open, "failure*,link**->cause":
        unsafe extern "C" fn(*mut Failure, *mut *mut RawLink) -> c_int;
    /// Drops the handle. Called only when no acceptor or connection of the link is left.
    drop_link, "link*":
        unsafe extern "C" fn(*mut RawLink);
    /// Returns the link's name, which lives as long as the handle.
    name, "link*,text*":
        unsafe extern "C" fn(*const RawLink, *mut Text);
    /// Returns the transport guarantees of the link.
    guarantees, "link*,guarantees*":
        unsafe extern "C" fn(*const RawLink, *mut RawGuarantees);
    /// Connects to an address, given without the link's name, with an array of properties and its
    /// length, until the deadline.
    connect, "link*,failure*,text,property*,size,nanoseconds,connection**->cause":
        unsafe extern "C" fn(
            *const RawLink,
            *mut Failure,
            Text,
            *const Property,
            usize,
            i64,
            *mut *mut RawConnection,
        ) -> c_int;
    /// Listens at an address, given without the link's name, with an array of properties and its
    /// length.
    listen, "link*,failure*,text,property*,size,acceptor**->cause":
        unsafe extern "C" fn(
            *const RawLink,
            *mut Failure,
            Text,
            *const Property,
            usize,
            *mut *mut RawAcceptor,
        ) -> c_int;
    /// Returns the actual listening address without the link's name; the text lives as long as the
    /// handle.
    acceptor_place, "acceptor*,text*":
        unsafe extern "C" fn(*const RawAcceptor, *mut Text);
    /// Waits for a connection of the acceptor, and returns a handle for it.
    accept, "acceptor*,failure*,connection**->cause":
        unsafe extern "C" fn(*const RawAcceptor, *mut Failure, *mut *mut RawConnection) -> c_int;
    /// Stops listening and ends a waiting `accept`; callable from any thread.
    close_acceptor, "acceptor*":
        unsafe extern "C" fn(*const RawAcceptor);
    /// Drops the handle. Called only when no thread waits in any of its functions.
    drop_acceptor, "acceptor*":
        unsafe extern "C" fn(*mut RawAcceptor);
    /// Sends an array of parts as one message until the deadline. On failure the last parameter
    /// receives the number of bytes handed to the operating system.
    send, "connection*,failure*,part*,size,nanoseconds,size*->cause":
        unsafe extern "C" fn(
            *const RawConnection,
            *mut Failure,
            *const Part,
            usize,
            i64,
            *mut usize,
        ) -> c_int;
    /// Receives at least one byte into a buffer, until the deadline. The first size is the buffer's
    /// capacity, the second the number of bytes still wanted. Returns the number of bytes received,
    /// and the number that the library holds besides, which no descriptor would report: the host
    /// fetches those at once.
    receive, "connection*,failure*,octets,size,size,nanoseconds,size*,size*->cause":
        unsafe extern "C" fn(
            *const RawConnection,
            *mut Failure,
            *mut u8,
            usize,
            usize,
            i64,
            *mut usize,
            *mut usize,
        ) -> c_int;
    /// Returns the state of incoming data, without blocking: [`QUIET`], [`DATA`] or [`END`].
    pending, "connection*->pending":
        unsafe extern "C" fn(*const RawConnection) -> c_int;
    /// Ends both directions and wakes waiting threads; callable from any thread. The descriptor
    /// stays open.
    close, "connection*":
        unsafe extern "C" fn(*const RawConnection);
    /// Returns the address of the other side without the link's name; the text lives as long as the
    /// handle.
    peer, "connection*,text*":
        unsafe extern "C" fn(*const RawConnection, *mut Text);
    /// Returns the address of this side without the link's name; the text lives as long as the
    /// handle.
    local, "connection*,text*":
        unsafe extern "C" fn(*const RawConnection, *mut Text);
    /// Returns a descriptor that is readable when there is data to receive, open as long as the
    /// handle lives; or [`NO_DESCRIPTOR`].
    descriptor, "connection*->descriptor":
        unsafe extern "C" fn(*const RawConnection) -> c_int;
    /// Drops the handle. Called only when no thread is in any of its functions.
    drop_connection, "connection*":
        unsafe extern "C" fn(*mut RawConnection);
}

/// Signature that both sides state: FNV-1a over each function's name, signature and offset, and
/// each struct's size. A table whose functions differ in order or parameters has a different
/// signature.
pub const SIGNATURE: u64 = signature();

const fn signature() -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let mut index = 0;
    while index < SHAPES.len() {
        let (name, shape, place) = SHAPES[index];
        hash = hash_octets(hash, name.as_bytes());
        hash = hash_octets(hash, b":");
        hash = hash_octets(hash, shape.as_bytes());
        hash = hash_octets(hash, &(place as u64).to_le_bytes());
        index += 1;
    }
    let sizes = [
        size_of::<Table>(),
        size_of::<Text>(),
        size_of::<Property>(),
        size_of::<Part>(),
        size_of::<RawGuarantees>(),
        size_of::<Failure>(),
    ];
    let mut index = 0;
    while index < sizes.len() {
        hash = hash_octets(hash, &(sizes[index] as u64).to_le_bytes());
        index += 1;
    }
    hash
}

const fn hash_octets(mut hash: u64, octets: &[u8]) -> u64 {
    let mut index = 0;
    while index < octets.len() {
        hash = (hash ^ octets[index] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        index += 1;
    }
    hash
}
