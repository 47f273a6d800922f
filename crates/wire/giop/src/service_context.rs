//! Service contexts: information that ORBs and services exchange beside a call (CORBA 3.3 part 2,
//! §9.4.2 and §7.7). A `sequence<struct { ulong id; sequence<octet> data; }>`; the data is nearly
//! always an encapsulation.

use std::fmt;

use crate::numbers::either;
use punctual_cdr::{ByteOrder, CdrError, Coding, Decoder, Encoder};

/// Service context id of the transaction context of the Object Transaction Service.
pub const TRANSACTION: u32 = 0;
/// Id of the code sets that the client chose for the connection.
pub const CODE_SETS: u32 = 1;
/// Id of the addresses where the client listens, on a bidirectional connection.
pub const BI_DIR_IIOP: u32 = 5;
/// Id of the run-time type information of a Java peer.
pub const SENDING_CONTEXT_RUN_TIME: u32 = 6;
/// Service context id of the policies with which an operation is invoked.
pub const INVOCATION_POLICIES: u32 = 7;
/// Service context id of a forwarded identity.
pub const FORWARDED_IDENTITY: u32 = 8;
/// Id of the details of an exception that has no CORBA counterpart.
pub const UNKNOWN_EXCEPTION_INFO: u32 = 9;
/// Service context id of the CORBA priority of a call, in Real-time CORBA.
pub const RT_CORBA_PRIORITY: u32 = 10;
/// Id of a range of priorities to be bound.
pub const RT_CORBA_PRIORITY_RANGE: u32 = 11;
/// Service context id of the version of a fault-tolerant object group.
pub const FT_GROUP_VERSION: u32 = 12;
/// Service context id of the identification of a request in Fault Tolerant CORBA.
pub const FT_REQUEST: u32 = 13;
/// Service context id of the human-readable message of an exception.
pub const EXCEPTION_DETAIL_MESSAGE: u32 = 14;
/// Service context id of the security attributes of CSIv2.
pub const SECURITY_ATTRIBUTE_SERVICE: u32 = 15;
/// Service context id of the activity context of the Activity Service.
pub const ACTIVITY: u32 = 16;

/// Id of a scheduling segment of Real-time CORBA's dynamic part, `PUN` and a number: Punctual's
/// own, as the standard has none.
pub const SCHEDULING_SEGMENT: u32 = 0x5055_4e02;

/// Id of a trace context of the W3C: two strings, `traceparent` and `tracestate`. `PUN` and a
/// number: Punctual's own, as the standard has none.
pub const TRACE_CONTEXT: u32 = 0x5055_4e03;

/// Returns the standard name of a service context id, for display.
#[must_use]
pub const fn name(id: u32) -> Option<&'static str> {
    Some(match id {
        TRANSACTION => "Transaction",
        CODE_SETS => "CodeSets",
        BI_DIR_IIOP => "BiDirIIOP",
        SENDING_CONTEXT_RUN_TIME => "SendingContextRunTime",
        INVOCATION_POLICIES => "InvocationPolicies",
        FORWARDED_IDENTITY => "ForwardedIdentity",
        UNKNOWN_EXCEPTION_INFO => "UnknownExceptionInfo",
        RT_CORBA_PRIORITY => "RTCorbaPriority",
        RT_CORBA_PRIORITY_RANGE => "RTCorbaPriorityRange",
        FT_GROUP_VERSION => "FTGroupVersion",
        FT_REQUEST => "FTRequest",
        EXCEPTION_DETAIL_MESSAGE => "ExceptionDetailMessage",
        SECURITY_ATTRIBUTE_SERVICE => "SecurityAttributeService",
        ACTIVITY => "Activity",
        SCHEDULING_SEGMENT => "SchedulingSegment",
        TRACE_CONTEXT => "TraceContext",
        _ => return None,
    })
}

/// Service context, as a pair of its id and its encoded data.
pub type ServiceContext<'m> = (u32, &'m [u8]);

/// Service contexts of a message: those to be sent, or those received, which are read from the
/// message at each access.
#[derive(Clone, Copy)]
pub struct ServiceContexts<'m>(Contexts<'m>);

#[derive(Clone, Copy)]
enum Contexts<'m> {
    ToSend(&'m [ServiceContext<'m>]),
    Received {
        /// Bytes from the first context on; all of its numbers are 4 bytes long, and it began at a
        /// multiple of 4.
        octets: &'m [u8],
        order: ByteOrder,
        count: usize,
    },
}

impl<'m> ServiceContexts<'m> {
    /// Creates an empty list of service contexts.
    #[inline]
    #[must_use]
    pub const fn none() -> Self {
        Self(Contexts::ToSend(&[]))
    }

    /// Creates a list of service contexts to be sent.
    #[inline]
    #[must_use]
    pub const fn new(contexts: &'m [ServiceContext<'m>]) -> Self {
        Self(Contexts::ToSend(contexts))
    }

    /// Makes a list of received contexts, all of which are in `octets`, from the first on.
    #[inline]
    pub(crate) const fn received(octets: &'m [u8], order: ByteOrder, count: usize) -> Self {
        Self(Contexts::Received {
            octets,
            order,
            count,
        })
    }

    /// Returns the number of service contexts.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Contexts::ToSend(contexts) => contexts.len(),
            Contexts::Received { count, .. } => *count,
        }
    }

    /// Returns whether the list contains no service contexts.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an iterator over the service contexts in the order of the message.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = ServiceContext<'m>> + use<'m> {
        match self.0 {
            Contexts::ToSend(contexts) => Iter::ToSend(contexts),
            Contexts::Received {
                octets,
                order,
                count,
            } => Iter::Received {
                rest: octets,
                is_native: order.is_native(),
                left: count,
            },
        }
    }

    /// Returns the data of the first context with this id.
    #[inline]
    #[must_use]
    pub fn find(&self, id: u32) -> Option<&'m [u8]> {
        if self.is_empty() {
            return None;
        }
        // Nearly always there is exactly one, the requested one.
        if let Contexts::Received { octets, order, .. } = self.0
            && order == ByteOrder::NATIVE
            && let Some((head, rest)) = octets.split_first_chunk::<8>()
        {
            let [a, b, c, d, e, f, g, h] = *head;
            let (first, length) = (
                u32::from_ne_bytes([a, b, c, d]),
                u32::from_ne_bytes([e, f, g, h]),
            );
            if first == id {
                return rest.get(..length as usize);
            }
        }
        self.find_among(id)
    }

    /// Returns the data of the context with this id, if it is the first one, in this machine's byte
    /// order, and of this length. `None` where it has to be searched for.
    #[inline]
    #[must_use]
    pub fn short<const LENGTH: usize>(&self, id: u32) -> Option<[u8; LENGTH]> {
        let Contexts::Received {
            octets,
            order,
            count,
        } = self.0
        else {
            return None;
        };
        let (head, data) = octets.split_first_chunk::<8>()?;
        let wanted = (id, u32::try_from(LENGTH).ok()?);
        let [a, b, c, d, e, f, g, h] = *head;
        let is_so = count != 0
            && order == ByteOrder::NATIVE
            && (
                u32::from_ne_bytes([a, b, c, d]),
                u32::from_ne_bytes([e, f, g, h]),
            ) == wanted;
        data.first_chunk().copied().filter(|_| is_so)
    }

    #[inline(never)]
    fn find_among(&self, id: u32) -> Option<&'m [u8]> {
        let mut contexts = self.iter();
        contexts.find_map(|(found, data)| (found == id).then_some(data))
    }

    /// Checks the contexts once, so that later access cannot fail, and skips them.
    #[inline]
    pub(crate) fn decode(input: &mut Decoder<'m>) -> Result<Self, CdrError> {
        let count = input.get_length(8)?;
        if count == 0 {
            return Ok(Self::none());
        }
        Self::decode_some(input, count)
    }

    fn decode_some(input: &mut Decoder<'m>, count: usize) -> Result<Self, CdrError> {
        let (octets, order) = (input.rest(), input.order());
        let mut contexts = Decoder::new(octets, order, Coding::default());
        for _ in 0..count {
            get_context(&mut contexts)?;
        }
        input.skip(contexts.position())?;
        Ok(Self(Contexts::Received {
            octets,
            order,
            count,
        }))
    }

    #[inline]
    pub(crate) fn encode(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        if self.is_empty() {
            out.put_u32(0);
            return Ok(());
        }
        out.put_length(self.len())?;
        for (id, data) in self.iter() {
            out.put_u32(id);
            out.put_octets(data)?;
        }
        Ok(())
    }
}

/// Iterator over service contexts.
enum Iter<'m> {
    ToSend(&'m [ServiceContext<'m>]),
    Received {
        /// Bytes from the next context on.
        rest: &'m [u8],
        is_native: bool,
        left: usize,
    },
}

impl<'m> Iterator for Iter<'m> {
    type Item = ServiceContext<'m>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::ToSend(contexts) => contexts.split_off_first().copied(),
            Self::Received {
                rest,
                is_native,
                left,
            } => {
                *left = left.checked_sub(1)?;
                let (head, behind) = rest.split_first_chunk()?;
                let [a, b, c, d, e, f, g, h] = *head;
                let length = either([e, f, g, h], *is_native) as usize;
                let data = behind.get(..length)?;
                // The last one may have no padding.
                let room = length.next_multiple_of(4);
                *rest = behind.get(room..).unwrap_or_default();
                Some((either([a, b, c, d], *is_native), data))
            }
        }
    }
}

#[inline]
fn get_context<'m>(input: &mut Decoder<'m>) -> Result<ServiceContext<'m>, CdrError> {
    let id = input.get_u32()?;
    // The message's length is the only bound: no limit of the application's applies.
    let length = input.get_u32()? as usize;
    Ok((id, input.get_bytes(length)?))
}

impl Default for ServiceContexts<'_> {
    fn default() -> Self {
        Self::none()
    }
}

impl PartialEq for ServiceContexts<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for ServiceContexts<'_> {}

/// Shows ids and lengths: the data may be secret.
impl fmt::Debug for ServiceContexts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.iter().map(|(id, data)| (id, data.len())))
            .finish()
    }
}
