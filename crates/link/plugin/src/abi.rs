//! What crosses the boundary, as C sees it: `include/punctual_link.h` says the same in C, and a test
//! holds the two together.
//!
//! A library exports one function, [`ENTRY`], which returns a [`Table`]. The first four fields of a
//! table stand for every version to come, so that a library of another version is told from one that
//! is broken:
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
//! A function that can fail returns [`OK`] or a cause, and then says more in the [`Failure`] that it
//! was lent. Nothing unwinds across the boundary. Handles are opaque, made and dropped by the
//! library, and shared among threads as [`punctual_link::Connection`] says.

use std::ffi::c_int;
use std::fmt;

/// The function that a library exports, without its terminator: `const Table *(void)`.
pub const ENTRY: &str = "punctual_link_plugin";
/// The first field of every table: `PUNCLINK` in ASCII.
pub const MAGIC: u64 = u64::from_be_bytes(*b"PUNCLINK");
/// The version of the ABI that this crate speaks, as host and as library.
pub const VERSION: u32 = 1;
/// Flag of a table: the library may have threads that outlive its handles, so it stays mapped until
/// the process ends.
pub const RESIDENT: u64 = 1;
/// A deadline that never passes; any other is in nanoseconds left, and not negative.
pub const NEVER: i64 = -1;
/// What [`Table`]'s `descriptor` returns for a connection that has none.
pub const NO_DESCRIPTOR: c_int = -1;
/// The longest text of a failure, in octets.
pub const LONGEST_REASON: usize = 256;
/// The longest address, in octets.
pub const LONGEST_PLACE: usize = 4096;
/// The longest name of a link, in octets.
pub const LONGEST_NAME: usize = 64;

/// Success. Everything else that a function returns is one of the causes below.
pub const OK: c_int = 0;
/// [`punctual_link::Cause::TimedOut`]
pub const TIMED_OUT: c_int = 1;
/// [`punctual_link::Cause::Closed`]
pub const CLOSED: c_int = 2;
/// [`punctual_link::Cause::BadAddress`]; `expected` says what fits.
pub const BAD_ADDRESS: c_int = 3;
/// [`punctual_link::Cause::BadProperty`]; `text` is `name=value`, `expected` says what fits.
pub const BAD_PROPERTY: c_int = 4;
/// [`punctual_link::Cause::BadPeer`]; `text` says how.
pub const BAD_PEER: c_int = 5;
/// [`punctual_link::Cause::TooLarge`]; `number` is the limit.
pub const TOO_LARGE: c_int = 6;
/// [`punctual_link::Cause::NoMemory`]; `number` is what was wanted.
pub const NO_MEMORY: c_int = 7;
/// [`punctual_link::Cause::Os`]; `number` is the `errno`, or 0 and `text` says it.
pub const OS: c_int = 8;
/// The library's code panicked, or the like; `text` says with what.
pub const PANICKED: c_int = 9;

/// [`punctual_link::Phase`], in the order in which it names them; 0 stands for the phase that the
/// function itself is.
pub const PHASES: [punctual_link::Phase; 6] = [
    punctual_link::Phase::Resolve,
    punctual_link::Phase::Connect,
    punctual_link::Phase::Listen,
    punctual_link::Phase::Accept,
    punctual_link::Phase::Send,
    punctual_link::Phase::Receive,
];

/// Nothing waits: what `pending` returns, as the two below.
pub const QUIET: c_int = 0;
/// Something waits to be received.
pub const DATA: c_int = 1;
/// The other side has closed.
pub const END: c_int = 2;

/// A stream of octets, in [`RawGuarantees`].
pub const STREAM: u8 = 0;
/// Datagrams, in [`RawGuarantees`].
pub const DATAGRAM: u8 = 1;

/// UTF-8, not terminated. `octets` may be null where `length` is 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// Its first octet.
    pub octets: *const u8,
    /// How many octets it has.
    pub length: usize,
}

/// A property of an endpoint.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Property {
    /// Its name.
    pub key: Text,
    /// Its value.
    pub value: Text,
}

/// A part of a message: POSIX's `struct iovec`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Its first octet.
    pub octets: *const u8,
    /// How many octets it has.
    pub length: usize,
}

/// [`punctual_link::Guarantees`]
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawGuarantees {
    /// 0 or 1.
    pub reliable: u8,
    /// 0 or 1.
    pub ordered: u8,
    /// [`STREAM`] or [`DATAGRAM`].
    pub framing: u8,
    /// 0.
    pub reserved: [u8; 5],
    /// The largest message in one piece, in octets; 0 for no limit.
    pub largest: u64,
}

/// What went wrong, filled by the library beside a cause that it returned. The host lends it zeroed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Failure {
    /// An index in [`PHASES`], counted from 1; 0 for the phase that the function itself is.
    pub phase: u32,
    /// Octets of `text`.
    pub text_length: u32,
    /// Octets of `expected`.
    pub expected_length: u32,
    /// 0.
    pub reserved: u32,
    /// An `errno`, or a number of octets.
    pub number: u64,
    /// What happened, in UTF-8.
    pub text: [u8; LONGEST_REASON],
    /// What would have fitted, in UTF-8.
    pub expected: [u8; LONGEST_REASON],
}

impl Failure {
    /// Nothing went wrong yet.
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
    /// A link, as its library knows it.
    RawLink
    /// An acceptor, as its library knows it.
    RawAcceptor
    /// A connection, as its library knows it.
    RawConnection
}

/// Defines the table as a library gives it, the same without nulls as the host keeps it, and the
/// signature, from one list.
macro_rules! table {
    ($($(#[$doc:meta])* $name:ident, $shape:literal: $type:ty;)+) => {
        /// What a library gives the host. Every function takes pointers that the host vouches for
        /// during the call, and handles that this table's functions have made.
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct Table {
            /// [`MAGIC`]
            pub magic: u64,
            /// [`VERSION`]
            pub version: u32,
            /// The size of this table.
            pub size: u32,
            /// [`SIGNATURE`]
            pub signature: u64,
            /// [`RESIDENT`] or 0.
            pub flags: u64,
            $($(#[$doc])* pub $name: Option<$type>,)+
        }

        /// A table's functions, all there.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct Functions {
            $(pub(crate) $name: $type,)+
        }

        impl Functions {
            /// The functions of `table`, or the name of the first that is null.
            pub(crate) fn of(table: &Table) -> Result<Self, &'static str> {
                Ok(Self {
                    $($name: table.$name.ok_or(stringify!($name))?,)+
                })
            }
        }

        /// Each function's name, signature in the header's words, and place.
        const SHAPES: &[(&str, &str, usize)] =
            &[$((stringify!($name), $shape, std::mem::offset_of!(Table, $name)),)+];
    };
}

table! {
    /// Opens the link: called before all others, once for each handle.
    open, "failure*,link**->cause":
        unsafe extern "C" fn(*mut Failure, *mut *mut RawLink) -> c_int;
    /// Gives the handle back: nothing of the link is left when it is called.
    drop_link, "link*":
        unsafe extern "C" fn(*mut RawLink);
    /// The link's name, which lives as long as the handle.
    name, "link*,text*":
        unsafe extern "C" fn(*const RawLink, *mut Text);
    /// What the link guarantees.
    guarantees, "link*,guarantees*":
        unsafe extern "C" fn(*const RawLink, *mut RawGuarantees);
    /// Connects to a place, with that many properties, until the deadline.
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
    /// Listens at a place, with that many properties.
    listen, "link*,failure*,text,property*,size,acceptor**->cause":
        unsafe extern "C" fn(
            *const RawLink,
            *mut Failure,
            Text,
            *const Property,
            usize,
            *mut *mut RawAcceptor,
        ) -> c_int;
    /// The place where it really listens; lives as long as the handle.
    acceptor_place, "acceptor*,text*":
        unsafe extern "C" fn(*const RawAcceptor, *mut Text);
    /// Waits for a connection.
    accept, "acceptor*,failure*,connection**->cause":
        unsafe extern "C" fn(*const RawAcceptor, *mut Failure, *mut *mut RawConnection) -> c_int;
    /// Stops listening and ends a waiting `accept`, from any thread.
    close_acceptor, "acceptor*":
        unsafe extern "C" fn(*const RawAcceptor);
    /// Gives the handle back: nobody waits in it any more.
    drop_acceptor, "acceptor*":
        unsafe extern "C" fn(*mut RawAcceptor);
    /// Sends that many parts as one message until the deadline. The last parameter says, on failure,
    /// how many octets are under way.
    send, "connection*,failure*,part*,size,nanoseconds,size*->cause":
        unsafe extern "C" fn(
            *const RawConnection,
            *mut Failure,
            *const Part,
            usize,
            i64,
            *mut usize,
        ) -> c_int;
    /// Receives at least one octet into a buffer of that capacity (its first number), of which so
    /// many (its second) are still wanted, until the deadline. Says how many came, and how many more
    /// the library holds already, so that no descriptor would tell of them: the host fetches those at
    /// once.
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
    /// [`QUIET`], [`DATA`] or [`END`], without blocking.
    pending, "connection*->pending":
        unsafe extern "C" fn(*const RawConnection) -> c_int;
    /// Ends both directions and wakes whoever waits, from any thread. The descriptor stays open.
    close, "connection*":
        unsafe extern "C" fn(*const RawConnection);
    /// The place of the other side; lives as long as the handle.
    peer, "connection*,text*":
        unsafe extern "C" fn(*const RawConnection, *mut Text);
    /// The place of this side; lives as long as the handle.
    local, "connection*,text*":
        unsafe extern "C" fn(*const RawConnection, *mut Text);
    /// A descriptor that is readable when there is something to receive, open as long as the handle
    /// lives; or [`NO_DESCRIPTOR`].
    descriptor, "connection*->descriptor":
        unsafe extern "C" fn(*const RawConnection) -> c_int;
    /// Gives the handle back: nobody is in any of its functions any more.
    drop_connection, "connection*":
        unsafe extern "C" fn(*mut RawConnection);
}

/// Told by both sides: FNV-1a over each function's name, signature and place, and each struct's size.
/// A table whose functions stand in another order, or take other things, has another.
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
