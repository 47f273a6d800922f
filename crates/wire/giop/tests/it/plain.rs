//! Tests that the fast paths agree with the slow ones: the fast path's result for a message is that
//! of `examine` and the headers' decoders, whatever its bytes; and plain messages take the fast
//! path.

#![allow(clippy::unwrap_used)]

use crate::support;

use proptest::prelude::*;
use punctual_cdr::{ByteOrder, CdrError, Coding, Encoder, GiopVersion, Limits};
use punctual_giop::{
    Examined, MessageHeader, MessageKind, PlainRequest, PlainRequests, ReplyHeader, ReplyStatus,
    RequestHeader, ResponseFlags, ServiceContexts, Target, align_body, examine, match_plain_reply,
    message_decoder, parse_plain_reply, service_context,
};
use support::message;

const ORDERS: [ByteOrder; 2] = [ByteOrder::Big, ByteOrder::Little];
const VERSIONS: [GiopVersion; 3] = [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2];
const STATUSES: [ReplyStatus; 6] = [
    ReplyStatus::NoException,
    ReplyStatus::UserException,
    ReplyStatus::SystemException,
    ReplyStatus::LocationForward,
    ReplyStatus::LocationForwardPerm,
    ReplyStatus::NeedsAddressingMode,
];

/// Content from which a test encodes a request.
#[derive(Clone, Debug)]
struct Request {
    version: GiopVersion,
    order: ByteOrder,
    id: u32,
    response: u8,
    key: Vec<u8>,
    operation: String,
    contexts: Vec<(u32, Vec<u8>)>,
    body: Vec<u8>,
}

fn put_body(out: &mut Encoder<'_>, body: &[u8]) {
    if !body.is_empty() {
        align_body(out);
        out.put_bytes(body);
    }
}

fn borrowed(contexts: &[(u32, Vec<u8>)]) -> Vec<(u32, &[u8])> {
    contexts.iter().map(|(id, data)| (*id, &**data)).collect()
}

impl Request {
    fn octets(&self) -> Vec<u8> {
        let contexts = borrowed(&self.contexts);
        let write = |out: &mut Encoder<'_>| -> Result<(), CdrError> {
            RequestHeader {
                request_id: self.id,
                response: ResponseFlags(self.response),
                target: Target::ObjectKey(&self.key),
                operation: &self.operation,
                contexts: ServiceContexts::new(&contexts),
            }
            .encode(out)?;
            put_body(out, &self.body);
            Ok(())
        };
        message(self.version, self.order, MessageKind::Request, write)
    }

    /// Returns whether the request is plain, and within the limits of the fast path.
    fn is_plain(&self, limits: &Limits) -> bool {
        self.version == GiopVersion::V1_2
            && are_short(&self.contexts)
            && self.contexts.len() <= limits.sequence
            && self.key.len() < limits.sequence
            && self.operation.len() <= limits.string
            && self.octets().len() <= limits.message
            && self.head() <= 256
    }

    /// Returns the number of bytes from the response flags to the contexts.
    fn head(&self) -> usize {
        let padded = |length: usize| length.next_multiple_of(4);
        let contexts = self.contexts.iter().map(|(_, data)| 8 + padded(data.len()));
        let numbers = 12 + padded(self.key.len()) + 4 + padded(self.operation.len() + 1) + 4;
        numbers + contexts.sum::<usize>()
    }
}

/// Returns whether there are no contexts, or few short ones that concern only their request.
fn are_short(contexts: &[(u32, Vec<u8>)]) -> bool {
    let is_short =
        |(id, data): &(u32, Vec<u8>)| *id != service_context::CODE_SETS && data.len() <= 64;
    contexts.len() <= 4 && contexts.iter().all(is_short)
}

fn contexts() -> impl Strategy<Value = Vec<(u32, Vec<u8>)>> {
    let id = prop_oneof![4 => any::<u32>(), 1 => Just(service_context::CODE_SETS)];
    let data = prop_oneof![4 => 0..20_usize, 1 => 60..70_usize]
        .prop_flat_map(|length| prop::collection::vec(any::<u8>(), length));
    let one = (id, data);
    prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(one, 0..6)]
}

fn versions() -> impl Strategy<Value = GiopVersion> {
    prop_oneof![3 => Just(GiopVersion::V1_2), 1 => prop::sample::select(&VERSIONS[..2])]
}

fn requests() -> impl Strategy<Value = Request> {
    let names = prop_oneof!["[a-z_]{1,12}", "[ -~]{0,80}"];
    let keys = prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..40),
        1 => prop::collection::vec(any::<u8>(), 100..300)
    ];
    let body = prop::collection::vec(any::<u8>(), 0..40);
    let order = prop::sample::select(&ORDERS[..]);
    // Versions before 1.2 have a boolean.
    let response = prop::sample::select(vec![0u8, 1, 3]);
    (
        versions(),
        order,
        any::<u32>(),
        response,
        keys,
        names,
        contexts(),
        body,
    )
        .prop_map(
            |(version, order, id, response, key, operation, contexts, body)| Request {
                version,
                order,
                id,
                response,
                key,
                operation,
                contexts,
                body,
            },
        )
}

/// Generates limits that some of the messages above exceed.
fn limits() -> impl Strategy<Value = Limits> {
    let tight = (40usize..400, 0usize..60, 1usize..60);
    let tight = tight.prop_map(|(message, sequence, string)| Limits {
        message,
        sequence,
        string,
        ..Limits::default()
    });
    prop_oneof![Just(Limits::default()), tight]
}

/// Returns the header of exactly one whole message that is neither a fragment nor has fragments to
/// come.
fn whole(octets: &[u8], limits: &Limits) -> Option<MessageHeader> {
    let Examined::Complete(header) = examine(octets, limits).ok()? else {
        return None;
    };
    (header.message_len() == octets.len() && !header.more_fragments).then_some(header)
}

/// Checks that the slow path agrees with the fast one.
fn check_request(octets: &[u8], limits: &Limits, told: &PlainRequest<'_>) {
    let header = whole(octets, limits).expect("a whole message");
    assert_eq!(header.kind, MessageKind::Request);
    assert_eq!(header.order, told.order);
    let coding = Coding {
        limits,
        ..Coding::default()
    };
    let mut input = message_decoder(&header, octets, coding);
    let decoded = RequestHeader::decode(&mut input).expect("a header that decodes");
    assert_eq!(decoded.request_id, told.request_id);
    assert_eq!(decoded.response, told.response);
    assert_eq!(decoded.target, Target::ObjectKey(told.object_key));
    assert_eq!(decoded.operation, told.operation);
    assert_eq!(decoded.contexts, told.contexts());
    assert_eq!(octets.len() - input.remaining(), told.body);
}

fn check_own_reply(octets: &[u8], id: u32) -> bool {
    let Some((order, status, body)) = match_plain_reply(octets, id) else {
        return false;
    };
    let header = whole(octets, &Limits::default()).expect("a whole message");
    assert_eq!(
        (header.kind, header.order, header.version),
        (MessageKind::Reply, order, GiopVersion::V1_2)
    );
    let mut input = message_decoder(&header, octets, Coding::default());
    let decoded = ReplyHeader::decode(&mut input).expect("a header that decodes");
    assert_eq!((decoded.request_id, decoded.status), (id, status));
    assert!(decoded.contexts.len() <= 1);
    assert_eq!(octets.len() - input.remaining(), body);
    true
}

fn check_glance(octets: &[u8]) -> bool {
    let Some(header) = whole(octets, &Limits::default()) else {
        return false;
    };
    let Some((id, status, body)) = parse_plain_reply(&header, octets) else {
        return false;
    };
    let mut input = message_decoder(&header, octets, Coding::default());
    assert_eq!(header.kind, MessageKind::Reply);
    let decoded = ReplyHeader::decode(&mut input).expect("a header that decodes");
    assert_eq!((decoded.request_id, decoded.status), (id, status));
    assert!(decoded.contexts.is_empty());
    assert_eq!(octets.len() - input.remaining(), body);
    true
}

fn reply(
    (version, order): (GiopVersion, ByteOrder),
    id: u32,
    status: ReplyStatus,
    contexts: &[(u32, Vec<u8>)],
    body: &[u8],
) -> Vec<u8> {
    let contexts = borrowed(contexts);
    message(version, order, MessageKind::Reply, |out| {
        ReplyHeader {
            request_id: id,
            status,
            contexts: ServiceContexts::new(&contexts),
        }
        .encode(out)?;
        put_body(out, body);
        Ok(())
    })
}

/// Generates the same message with one byte changed, for each byte and a few values, and cut off or
/// longer by one.
fn mutants(octets: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let changed = (0..octets.len()).flat_map(move |at| {
        [0x01, 0x80, 0xff].into_iter().map(move |change| {
            let mut mutant = octets.to_vec();
            mutant[at] ^= change;
            mutant
        })
    });
    let lengths = (0..octets.len())
        .map(|length| octets[..length].to_vec())
        .chain([[octets, &[0]].concat()]);
    changed.chain(lengths)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn requests_are_told_as_they_decode_one_after_the_other(
        requests in prop::collection::vec(requests(), 1..8),
        limits in limits(),
        again in prop::collection::vec(any::<prop::sample::Index>(), 0..16),
    ) {
        let mut memory = PlainRequests::default();
        // Some are repeated behind others, so that the cached entry is sometimes theirs and
        // sometimes another's.
        let repeated = again.iter().map(|index| index.get(&requests));
        for request in requests.iter().chain(repeated) {
            let octets = request.octets();
            let told = memory.read(&octets, &limits);
            prop_assert_eq!(told.is_some(), request.is_plain(&limits), "{:?}", request);
            if let Some(told) = told {
                check_request(&octets, &limits, &told);
            }
        }
    }

    #[test]
    fn requests_are_told_as_they_decode_under_limits_that_allow_next_to_nothing(
        request in requests(),
        sequence in 0usize..3,
        string in 0usize..4,
    ) {
        let limits = Limits { sequence, string, ..Limits::default() };
        let key = request.key.into_iter().take(sequence).collect();
        let operation = request.operation.chars().take(string).collect();
        let request = Request { key, operation, ..request };
        let octets = request.octets();
        let mut memory = PlainRequests::default();
        let told = memory.read(&octets, &limits);
        prop_assert_eq!(told.is_some(), request.is_plain(&limits), "{:?}", request);
        if let Some(told) = told {
            check_request(&octets, &limits, &told);
        }
    }

    #[test]
    fn requests_for_many_objects_and_operations_are_told_as_they_decode(
        first in requests(),
        others in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..24), "[a-z]{0,3}[0-9]{0,12}"), 1..80),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..200),
    ) {
        let mut memory = PlainRequests::default();
        let limits = Limits::default();
        let chosen = order.iter().map(|index| index.get(&others));
        for (key, operation) in others.iter().chain(chosen) {
            let request = Request { key: key.clone(), operation: operation.clone(), ..first.clone() };
            let octets = request.octets();
            let told = memory.read(&octets, &limits);
            prop_assert_eq!(told.is_some(), request.is_plain(&limits), "{:?}", request);
            if let Some(told) = told {
                check_request(&octets, &limits, &told);
            }
        }
    }

    #[test]
    fn a_changed_octet_is_told_as_it_decodes_whatever_is_remembered(
        request in requests(),
        other in requests(),
    ) {
        let limits = Limits::default();
        let mut memory = PlainRequests::default();
        for mutant in mutants(&request.octets()) {
            // With the cached head of the original message, of another, or of the previous mutant.
            let _ = memory.read(&request.octets(), &limits);
            let mut fresh = PlainRequests::default();
            let mut elsewhere = PlainRequests::default();
            let _ = elsewhere.read(&other.octets(), &limits);
            let alone = fresh.read(&mutant, &limits);
            prop_assert_eq!(memory.read(&mutant, &limits), alone);
            prop_assert_eq!(memory.read(&mutant, &limits), alone);
            prop_assert_eq!(elsewhere.read(&mutant, &limits), alone);
            if let Some(told) = alone {
                check_request(&mutant, &limits, &told);
            }
        }
    }

    #[test]
    fn replies_are_told_as_they_decode(
        version in versions(),
        order in prop::sample::select(&ORDERS[..]),
        id in any::<u32>(),
        other in any::<u32>(),
        status in prop::sample::select(&STATUSES[..]),
        contexts in contexts(),
        body in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        prop_assume!(ReplyStatus::from_number(status.number(), version).is_some());
        let octets = reply((version, order), id, status, &contexts, &body);
        let is_plain = version == GiopVersion::V1_2 && contexts.is_empty();
        prop_assert_eq!(check_glance(&octets), is_plain);
        let has_result = matches!(status, ReplyStatus::NoException | ReplyStatus::UserException);
        let has_short_context = matches!(&contexts[..], [(_, data)] if data.len() <= 64);
        let is_own = version == GiopVersion::V1_2
            && has_result
            && (contexts.is_empty() || has_short_context);
        prop_assert_eq!(check_own_reply(&octets, id), is_own);
        prop_assert_eq!(check_own_reply(&octets, other), is_own && other == id);
        for mutant in mutants(&octets) {
            check_glance(&mutant);
            check_own_reply(&mutant, id);
        }
    }
}

#[test]
fn a_head_is_remembered_for_one_byte_order_only() {
    // An empty key and name: the lengths are the same in both byte orders, except for the name's 1.
    let request = |order| Request {
        version: VERSIONS[2],
        order,
        id: 1,
        response: 3,
        key: Vec::new(),
        operation: String::new(),
        contexts: Vec::new(),
        body: vec![7; 8],
    };
    let limits = Limits::default();
    let mut memory = PlainRequests::default();
    for order in [ORDERS, ORDERS].concat() {
        let octets = request(order).octets();
        let told = memory.read(&octets, &limits).unwrap();
        assert_eq!((told.order, told.request_id), (order, 1));
        check_request(&octets, &limits, &told);
    }
}

#[test]
fn what_begins_with_zeros_is_no_request_whatever_was_read_before_it() {
    let plain = Request {
        version: VERSIONS[2],
        order: ByteOrder::NATIVE,
        id: 1,
        response: 3,
        key: b"key".to_vec(),
        operation: "f".to_owned(),
        contexts: Vec::new(),
        body: vec![7; 8],
    };
    let older = Request {
        version: VERSIONS[0],
        ..plain.clone()
    };
    let zeroed = |request: &Request| {
        let mut octets = request.octets();
        octets[..8].fill(0);
        octets
    };
    let limits = [
        Limits::default(),
        Limits {
            sequence: usize::MAX,
            ..Limits::default()
        },
    ];
    for limits in limits {
        let mut memory = PlainRequests::default();
        // With an empty key its front is all zeros except for the flags.
        let bare = Request {
            response: 0,
            key: Vec::new(),
            ..plain.clone()
        };
        assert_eq!(memory.read(&zeroed(&bare), &limits), None);
        assert!(memory.read(&plain.octets(), &limits).is_some());
        assert_eq!(memory.read(&zeroed(&plain), &limits), None);
        assert_eq!(memory.read(&older.octets(), &limits), None);
        assert_eq!(memory.read(&zeroed(&plain), &limits), None);
        assert!(memory.read(&plain.octets(), &limits).is_some());
    }
}
