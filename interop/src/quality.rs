//! Policies of Messaging in the captured bytes: Wireshark's decoder says which response flags a one-way has and whether a reply
//! comes, and the service context INVOCATION_POLICIES is compared with bytes written by hand.
//!
//! ```text
//! Response flags (CORBA 3.3 part 2, §9.4.2): 0 SYNC_NONE, SYNC_WITH_TRANSPORT; 1 SYNC_WITH_SERVER; 3 SYNC_WITH_TARGET, two-ways
//! INVOCATION_POLICIES, id 7 (§22.3.2):       an encapsulation of sequence<{ ulong type; sequence<octet> value }>
//! RequestEndTime 28, ReplyEndTime 30:        an encapsulation of UtcT { ulonglong; ulong; ushort; short }
//! ```

use crate::Failure;
use crate::capture::Capture;
use crate::directions::{Until, reported};
use crate::matrix::{Direction, Matrix, Outcome, Version};
use crate::params as p;
use crate::peer::Peer;
use crate::process::Running;
use crate::role::Role;
use crate::sides::{LIMIT, announced, describe, iiop_profile, orb};
use crate::transport::Transport;
use punctual::policy::SyncScope;
use punctual::{Interface, ObjectRef, Policy, RootPoa, SetOverride};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

const VERSION: Version = Version::V1_2;

const NONE_OF_THEIRS: &str = "omniORB has no policies of Messaging";

/// End time used in the tests, since the beginning of 1970: far in the future.
const END: Duration = Duration::from_secs(4_000_000_000);
/// `END` as the standard's `UtcT` represents it: in tenths of a microsecond since 15 October 1582.
const END_AS_UTC: u64 = 162_192_928_000_000_000;
const A_MINUTE: Duration = Duration::from_secs(60);

const REQUEST_END: u32 = 28;
const REPLY_END: u32 = 30;

/// Tests the policies of Messaging in both directions.
///
/// # Errors
/// Reasons why the run could not be made.
pub(crate) fn run(peer: &Peer, folder: &Path, matrix: &mut Matrix) -> Result<(), Failure> {
    matrix.over("TCP, policies of Messaging");
    eprintln!("  policies of Messaging, captured");
    to(peer, folder, matrix)?;
    from(peer, folder, matrix)
}

/// Tests Punctual's client against the peer's server while Wireshark records the messages.
fn to(peer: &Peer, folder: &Path, matrix: &mut Matrix) -> Result<(), Failure> {
    let client = orb(VERSION, &Transport::Tcp, Role::Client)?;
    let mut command = peer.command(VERSION, &Transport::Tcp, Role::Server);
    // The server requires a target for its relay, which this test never calls.
    command.args(["serve", "corbaloc:iiop:127.0.0.1:1/nobody"]);
    let server = Running::start("their server", &mut command)?;
    let reference = announced(&server)?.remove("describe");
    let reference = reference.ok_or("their server has no `describe`")?;
    let object = client.string_to_object(&reference)?;
    let port = iiop_profile(&object)?.port;
    let capture = Capture::start(&folder.join("messaging-to.pcapng"), port, Vec::new());
    let begun = SystemTime::now();
    let made = calls(&object).map_err(|error| error.to_string());
    let seen = CapturedMessages::end(capture, port);
    let mut record = |case, outcome: Outcome| {
        matrix.record(case, VERSION, Direction::To, outcome);
    };
    for (case, outcome) in made_and_seen(made, &seen, |seen| {
        let contexts = seen.contexts("_get_name")?;
        let [request_end, reply_end, relative, round_trip] = &contexts[..] else {
            return Err(format!("{} calls of `name`", contexts.len()));
        };
        same(request_end, &Some(told(REQUEST_END)))?;
        same(reply_end, &Some(told(REPLY_END)))?;
        check_ends_in_a_minute(relative.as_deref(), REQUEST_END, begun)?;
        // The round-trip timeout is the client's own and is not sent.
        same(round_trip, &None)
    }) {
        record(case, outcome);
    }
    drop(server);
    Ok(client.shutdown(false)?)
}

fn calls(object: &ObjectRef) -> Result<(), Failure> {
    let under = |policy: Policy| -> Result<p::Describe, Failure> {
        let object = object.set_policy_overrides(&[policy], SetOverride::Add)?;
        Ok(p::Describe::from_object(object))
    };
    let plain = p::Describe::from_object(object.clone());
    let mut posted = plain.posted()?;
    for (number, scope) in (1..).zip([
        SyncScope::None,
        SyncScope::WithTransport,
        SyncScope::WithServer,
        SyncScope::WithTarget,
    ]) {
        under(Policy::SyncScope(scope))?.post(number)?;
        posted += number;
        // Calls in between give each one-way a frame of its own. JacORB's threads may serve them
        // before the one-way.
        let begun = Instant::now();
        while plain.posted()? != posted {
            if begun.elapsed() > LIMIT {
                return Err(format!("{scope:?}: the one-way has not come").into());
            }
        }
    }
    let end = SystemTime::UNIX_EPOCH + END;
    for policy in [
        Policy::RequestEndTime(end),
        Policy::ReplyEndTime(end),
        Policy::RelativeRequestTimeout(A_MINUTE),
        Policy::RelativeRoundtripTimeout(A_MINUTE),
    ] {
        under(policy)?.name()?;
    }
    Ok(())
}

/// Tests the peer's client against Punctual's server while Wireshark records the messages.
fn from(peer: &Peer, folder: &Path, matrix: &mut Matrix) -> Result<(), Failure> {
    let mut record = |case, outcome: Outcome| {
        matrix.record(case, VERSION, Direction::From, outcome);
    };
    if matches!(peer, Peer::Omniorb(_)) {
        for case in [FLAGS, CONTEXTS] {
            record(case, Outcome::NotApplicable(NONE_OF_THEIRS.to_owned()));
        }
        return Ok(());
    }
    let server = orb(VERSION, &Transport::Tcp, Role::Server)?;
    let root = server.root_poa()?;
    let object = describe(&root)?;
    root.manager().activate()?;
    let port = iiop_profile(object.as_object())?.port;
    let capture = Capture::start(&folder.join("messaging-from.pcapng"), port, Vec::new());
    let begun = SystemTime::now();
    let mut command = peer.command(VERSION, &Transport::Tcp, Role::Client);
    command.args(["hurry", &server.object_to_string(&object)?]);
    let client = Running::start("their client", &mut command)?;
    let mut made = Ok(());
    reported(&client, Until::Done, &mut |case, outcome| {
        if let Outcome::Failed(why) = outcome {
            made = Err(format!("{case}: {why}"));
        }
    })?;
    client.end(LIMIT)?;
    let seen = CapturedMessages::end(capture, port);
    for (case, outcome) in made_and_seen(made, &seen, |seen| {
        let contexts = seen.contexts("_get_name")?;
        let [request_end, round_trip] = &contexts[..] else {
            return Err(format!("{} calls of `name`", contexts.len()));
        };
        let ends = ends(request_end.as_deref())?;
        same(&ends[..], &[(REQUEST_END, END_AS_UTC)][..])?;
        check_ends_in_a_minute(round_trip.as_deref(), REPLY_END, begun)
    }) {
        record(case, outcome);
    }
    Ok(server.shutdown(true)?)
}

const FLAGS: &str = "tshark: response flags and replies of each SyncScope";
const CONTEXTS: &str = "tshark: end times in INVOCATION_POLICIES";

/// Returns the outcomes: whether the calls succeeded, and whether the captured frames have the
/// expected contents.
fn made_and_seen(
    made: Result<(), String>,
    seen: &Result<CapturedMessages, Outcome>,
    contexts: impl FnOnce(&CapturedMessages) -> Result<(), String>,
) -> [(&'static str, Outcome); 2] {
    match (made, seen) {
        (Err(why), _) => [FLAGS, CONTEXTS].map(|case| (case, Outcome::Failed(why.clone()))),
        (_, Err(outcome)) => [FLAGS, CONTEXTS].map(|case| (case, outcome.clone())),
        (Ok(()), Ok(seen)) => [
            (FLAGS, seen.flags().into()),
            (CONTEXTS, contexts(seen).into()),
        ],
    }
}

/// GIOP message as decoded by Wireshark.
struct Message {
    /// Operation name of a Request; empty for other messages.
    operation: String,
    id: String,
    flags: String,
    /// Ids of the service contexts in the message, as Wireshark prints them.
    contexts: String,
    octets: Vec<u8>,
    to_server: bool,
}

struct CapturedMessages(Vec<Message>);

impl CapturedMessages {
    fn end(capture: Capture, port: u16) -> Result<Self, Outcome> {
        let frames = capture.fields(&[
            "giop.request_op",
            "giop.request_id",
            "giop.response_flag",
            "giop.iiop.sc.scid",
            "tcp.payload",
            "tcp.dstport",
        ])?;
        let message = |fields: Vec<String>| match <[String; 6]>::try_from(fields) {
            Ok([operation, id, flags, contexts, octets, to]) => Ok(Message {
                operation,
                id,
                flags,
                contexts,
                octets: octets_of(&octets),
                to_server: to == port.to_string(),
            }),
            Err(fields) => Err(Outcome::Failed(format!("{fields:?} is not a frame"))),
        };
        frames
            .into_iter()
            .map(message)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Checks the response flags and the number of replies of the one-ways, in the order of their
    /// sync scopes.
    fn flags(&self) -> Result<(), String> {
        let posts = self.0.iter().filter(|one| one.operation == "post");
        let found: Vec<(&str, usize)> = posts
            .map(|post| {
                let replies = self
                    .0
                    .iter()
                    .filter(|one| !one.to_server && one.id == post.id);
                (post.flags.as_str(), replies.count())
            })
            .collect();
        same(&found[..], &[("0", 0), ("0", 0), ("1", 1), ("3", 1)][..])
    }

    /// Returns the service context INVOCATION_POLICIES of each call of an operation, in order.
    fn contexts(&self, operation: &str) -> Result<Vec<Option<Vec<u8>>>, String> {
        let calls = self.0.iter().filter(|one| one.operation == operation);
        let found: Vec<Option<Vec<u8>>> = calls
            .clone()
            .map(|call| invocation_policies(&call.octets))
            .collect();
        for (call, found) in calls.zip(&found) {
            let ids: Vec<&str> = call.contexts.split(',').collect();
            if ids.contains(&"0x00000007") != found.is_some() {
                return Err(format!("Wireshark sees the contexts {ids:?}"));
            }
        }
        Ok(found)
    }
}

fn octets_of(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    let octet = |pair: &[u32]| pair.iter().fold(0, |octet, digit| octet << 4 | digit);
    digits
        .chunks(2)
        .filter_map(|pair| u8::try_from(octet(pair)).ok())
        .collect()
}

/// CDR reader written by hand, so that our own decoder is not compared with itself.
struct Cdr<'t> {
    octets: &'t [u8],
    at: usize,
    is_little: bool,
}

impl<'t> Cdr<'t> {
    fn of_encapsulation(octets: &'t [u8]) -> Option<Self> {
        let is_little = *octets.first()? == 1;
        Some(Self {
            octets,
            at: 1,
            is_little,
        })
    }

    fn take(&mut self, count: usize) -> Option<&'t [u8]> {
        let taken = self.octets.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }

    fn number(&mut self, size: usize) -> Option<u64> {
        self.at = self.at.next_multiple_of(size);
        let taken = self.take(size)?.iter().map(|octet| u64::from(*octet));
        let folded = |number, octet| number << 8 | octet;
        Some(match self.is_little {
            true => taken.rev().fold(0, folded),
            false => taken.fold(0, folded),
        })
    }

    fn sequence(&mut self) -> Option<&'t [u8]> {
        let length = self.number(4)?;
        self.take(usize::try_from(length).ok()?)
    }
}

/// Returns the service context INVOCATION_POLICIES of a GIOP 1.2 request whose target is an object
/// key.
fn invocation_policies(message: &[u8]) -> Option<Vec<u8>> {
    let is_little = message.get(6)? & 1 == 1;
    let mut head = Cdr {
        octets: message,
        at: 12 + 4 + 4,
        is_little,
    };
    // The disposition, the key, the operation.
    head.number(2)?;
    head.sequence()?;
    head.sequence()?;
    for _ in 0..head.number(4)? {
        let (id, data) = (head.number(4)?, head.sequence()?);
        if id == 7 {
            return Some(data.to_vec());
        }
    }
    None
}

/// Returns the policies in the service context, all of which must be times: each policy's type and
/// its value.
fn ends(context: Option<&[u8]>) -> Result<Vec<(u32, u64)>, String> {
    let read = |context: &[u8]| -> Option<Vec<(u32, u64)>> {
        let mut values = Cdr::of_encapsulation(context)?;
        let mut ends = Vec::new();
        for _ in 0..values.number(4)? {
            let kind = u32::try_from(values.number(4)?).ok()?;
            let mut time = Cdr::of_encapsulation(values.sequence()?)?;
            ends.push((kind, time.number(8)?));
        }
        Some(ends)
    };
    let context = context.ok_or("no INVOCATION_POLICIES")?;
    read(context).ok_or_else(|| format!("{context:02x?} cannot be read"))
}

/// Returns the service context that our client is expected to send for the end time.
fn told(kind: u32) -> Vec<u8> {
    let native = u8::from(cfg!(target_endian = "little"));
    [
        &[native, 0, 0, 0][..],
        &1_u32.to_ne_bytes(),
        &kind.to_ne_bytes(),
        &24_u32.to_ne_bytes(),
        &[native, 0, 0, 0, 0, 0, 0, 0],
        &END_AS_UTC.to_ne_bytes(),
        &[0; 8],
    ]
    .concat()
}

/// Checks that the service context holds one end time, a minute after the time of a call made
/// between `begun` and now.
fn check_ends_in_a_minute(
    context: Option<&[u8]>,
    kind: u32,
    begun: SystemTime,
) -> Result<(), String> {
    let ticks = |time: SystemTime| {
        let since = time.duration_since(SystemTime::UNIX_EPOCH + END);
        let before = since
            .err()
            .map(|error| error.duration())
            .unwrap_or_default();
        u128::from(END_AS_UTC) - before.as_nanos() / 100
    };
    let (earliest, latest) = (ticks(begun + A_MINUTE), ticks(SystemTime::now() + A_MINUTE));
    match ends(context)?[..] {
        // A clock with millisecond resolution may be a little behind.
        [(found, end)]
            if found == kind && (earliest - 10_000..=latest).contains(&u128::from(end)) =>
        {
            Ok(())
        }
        ref other => Err(format!("{other:?} instead of {earliest} to {latest}")),
    }
}

fn same<T: PartialEq + std::fmt::Debug + ?Sized>(found: &T, expected: &T) -> Result<(), String> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{found:?} instead of {expected:?}")),
    }
}
