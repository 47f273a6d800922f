//! Messaging protocol over a link: the ORB's two sides.
//!
//! A server listens on the measured protocol and, for what a one-way protocol cannot ask, on TCP;
//! the client's policy selects the protocol of a call.

use super::Calls;
use super::operation::Operation;
use crate::peer::{nanoseconds, nanoseconds_since, sampled, serve_until_the_end};
use crate::protocol::obey;
use crate::{Error, Result};
use punctual::policy::{Collocation, Otherwise, Transfer};
use punctual::{
    Interface, ListenEndpoint, ObjectRef, Orb, OrbBuilder, OrbConfig, Policy, RootPoa, SetOverride,
    SystemExceptionKind,
};
use punctual_example_cubit::CubitImpl;
use punctual_example_cubit::idl::bench::{Cube, Cubit};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// GIOP over TCP, the base of the paper's comparisons.
pub(super) const BASE: &str = "iiop";
/// Time limit of a call.
const CALL_TIMEOUT: Duration = Duration::from_secs(20);
/// Number of one-ways in flight: few enough for a socket's buffer, as datagrams that do not fit are
/// lost.
const WINDOW: u64 = 64;
/// Time after the last arrival from which missing one-ways count as lost.
const LOST: Duration = Duration::from_millis(250);

/// Note that a client adds to its `ready` message if its protocol has no replies.
pub(super) const ONE_WAY: &str = "one-way";

/// Transport that both the server and the client use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Medium {
    /// Name of the ORB's transport protocol.
    pub(super) protocol: String,
    /// Time for which waiting threads spin, in microseconds; only for links that have this
    /// property.
    pub(super) spin_us: Option<u64>,
    /// Size in bytes from which shared memory lends, if not the usual one.
    pub(super) lend_from: Option<usize>,
}

impl Medium {
    fn lend(&self, config: &mut OrbConfig) {
        if let Some(octets) = self.lend_from {
            config.shmiop.lend_threshold = octets;
        }
    }
}

/// Settings for starting the server and the client process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(super) medium: Medium,
    /// Command-line options of the ORB.
    pub(super) orb: Vec<String>,
}

/// Serves the benchmark's requests until the standard input ends.
pub(crate) fn serve(setup: &Setup) -> Result<()> {
    let server = Server::start(&setup.medium, &setup.orb)?;
    serve_until_the_end(server.reference()?)?;
    server.stop()
}

/// Makes the calls that each line of input requests, until the input ends.
pub(crate) fn call(setup: &Setup, at: &str) -> Result<()> {
    let mut client = Client::connect(&setup.medium, at, &setup.orb)?;
    let note = if client.has_two_ways()? { "" } else { ONE_WAY };
    obey(note, |calls| match calls {
        Calls::TwoWay { operation, calls } => {
            let mut call = client.prepare(operation)?;
            for _ in 0..calls.div_ceil(10) {
                call()?;
            }
            sampled(calls, call)
        }
        Calls::OneWay { octets, calls } => client.flood(octets, calls),
    })
}

/// Function that makes a call, verifies its answer and returns the nanoseconds of the call without
/// the verification.
pub(super) type Timed<'c> = Box<dyn FnMut() -> Result<u64> + 'c>;

/// Returns the ORB's error if it cannot serve a protocol; `None` if it can.
pub(super) fn refusal(protocol: &str, orb: &[String]) -> Option<String> {
    let medium = Medium {
        protocol: protocol.to_owned(),
        spin_us: None,
        lend_from: None,
    };
    let server = Server::start(&medium, orb).and_then(Server::stop);
    server.err().map(|error| error.to_string())
}

/// Returns the messaging protocols and the links of an ORB with these options, adapters included.
pub(super) fn catalogue(orb: &[String]) -> Result<(Vec<String>, Vec<String>)> {
    let orb = builder(orb)?.build()?;
    Ok((orb.protocol_catalogue().messaging, links(&orb)))
}

/// Returns every link of an ORB, and each adapter over a link that can carry more messaging
/// protocols than the link itself.
fn links(orb: &Orb) -> Vec<String> {
    let catalogue = orb.protocol_catalogue();
    let fits =
        |messaging: &str, link: &str| orb.check_protocol(&format!("{messaging}+{link}")).is_ok();
    let mut links = Vec::new();
    for link in &catalogue.links {
        let helps = |adapted: &String| {
            let mut messaging = catalogue.messaging.iter();
            messaging.any(|one| fits(one, adapted) && !fits(one, link))
        };
        let adapted = catalogue.adapters.iter().map(|one| format!("{one}+{link}"));
        links.push(link.clone());
        links.extend(adapted.filter(helps));
    }
    links
}

/// Benchmark server with one CORBA object.
pub(super) struct Server {
    orb: Orb,
    cubit: Cubit,
}

impl Server {
    pub(super) fn start(medium: &Medium, options: &[String]) -> Result<Self> {
        let mut endpoint = ListenEndpoint::new(&medium.protocol, place(&medium.protocol));
        if let Some(spin) = medium.spin_us {
            endpoint = endpoint.option("spin_us", spin);
        }
        let mut builder = builder(options)?
            // Only one process can listen on the endpoints of a configuration file.
            .configure(|config| {
                config.listen.clear();
                medium.lend(config);
            })
            .listen(endpoint);
        if medium.protocol != BASE {
            builder = builder.listen(ListenEndpoint::new(BASE, place(BASE)));
        }
        let orb = builder.build()?;
        let poa = orb.root_poa()?;
        let cubit = poa.activate(CubitImpl::new(orb.clone()))?;
        orb.listen()?;
        poa.manager().activate()?;
        Ok(Self { orb, cubit })
    }

    pub(super) fn reference(&self) -> Result<String> {
        Ok(self.orb.object_to_string(&self.cubit)?)
    }

    pub(super) fn stop(self) -> Result<()> {
        Ok(self.orb.shutdown(true)?)
    }
}

/// Returns the address to listen on: the loopback for IP protocols, otherwise the link's default.
fn place(protocol: &str) -> &'static str {
    match protocol.rsplit('+').next() {
        Some("iiop" | "diop" | "ssliop") => "127.0.0.1:0",
        _ => "",
    }
}

fn builder(options: &[String]) -> Result<OrbBuilder> {
    let (builder, rest) = Orb::builder().arguments(options.iter().cloned())?;
    match rest.first() {
        Some(unknown) => Err(format!("`{unknown}` is no option of the ORB").into()),
        None => Ok(builder),
    }
}

/// Benchmark client that calls over one transport protocol.
pub(super) struct Client {
    cubit: Cubit,
    /// Reference to the object under the policy that no buffers are lent.
    copied: Cubit,
    /// Reference to the object over TCP, for control calls.
    control: Cubit,
    octets: Vec<u8>,
    longs: Vec<i32>,
    structs: Vec<Cube>,
}

impl Client {
    pub(super) fn connect(medium: &Medium, reference: &str, options: &[String]) -> Result<Self> {
        let orb = builder(options)?
            .configure(|config| {
                config.timeouts.call = Some(CALL_TIMEOUT);
                // The pair is measured even where both ends are in one process.
                config.collocation = Collocation::None;
                medium.lend(config);
            })
            .build()?;
        let object = orb.string_to_object(reference)?;
        let mut policies = vec![Policy::protocols(&[&medium.protocol], Otherwise::Raise)];
        let spin = medium.spin_us.map(Duration::from_micros);
        policies.extend(spin.map(Policy::spin));
        let by = |policies: &[Policy]| -> Result<Cubit> {
            let object: ObjectRef = object.set_policy_overrides(policies, SetOverride::Set)?;
            Ok(Cubit::narrow(object)?)
        };
        let cubit = by(&policies)?;
        policies.push(Policy::Transfer(Transfer::Copy));
        Ok(Self {
            cubit,
            copied: by(&policies)?,
            control: by(&[Policy::protocols(&[BASE], Otherwise::Raise)])?,
            octets: Vec::new(),
            longs: Vec::new(),
            structs: Vec::new(),
        })
    }

    /// Returns whether calls with replies can be made, or one-ways only.
    ///
    /// # Errors
    /// Neither can be made.
    pub(super) fn has_two_ways(&mut self) -> Result<bool> {
        match self.cubit.cube_void() {
            Ok(()) => Ok(true),
            // No profile of the requested protocol has replies, or none can be reached.
            Err(refused) if refused.kind() == SystemExceptionKind::InvPolicy => {
                match self.flood(0, 1)?[..] {
                    [_, 1] => Ok(false),
                    _ => Err(refused.into()),
                }
            }
            Err(failed) => Err(failed.into()),
        }
    }

    /// Returns a call of `operation`, with its arguments prepared.
    pub(super) fn prepare(&mut self, operation: Operation) -> Result<Timed<'_>> {
        self.fill(operation);
        let (cubit, copied) = (&self.cubit, &self.copied);
        let (octets, longs, structs) = (&self.octets, &self.longs, &self.structs);
        Ok(match operation {
            Operation::Void => timed(|| cubit.cube_void(), ()),
            Operation::Octet => timed(|| cubit.cube_octet(5), 125),
            Operation::Long => timed(|| cubit.cube_long(21), 9261),
            Operation::Struct => timed(|| cubit.cube_struct(&CUBE), CUBED),
            Operation::Octets(_) => timed(|| cubit.echo_octets(octets), octets.clone()),
            Operation::Longs(_) => timed(|| cubit.echo_longs(longs), longs.clone()),
            Operation::Structs(_) => timed(|| cubit.echo_cubes(structs), structs.clone()),
            Operation::Slice(_) => timed(|| cubit.take_octets(octets), ()),
            Operation::Copied(_) => timed(|| copied.take_octets(octets), ()),
            Operation::Loan(units) => {
                let lent = move || cubit.take_octets(&cubit.as_object().loan(units as usize)?);
                timed(lent, ())
            }
        })
    }

    fn fill(&mut self, operation: Operation) {
        match operation {
            Operation::Octets(units) | Operation::Slice(units) | Operation::Copied(units) => {
                self.octets.resize(units as usize, 0x5a);
            }
            Operation::Longs(units) => self.longs.resize(units as usize, 123_456_789),
            Operation::Structs(units) => self.structs.resize(units as usize, CUBE),
            _ => {}
        }
    }

    /// Sends one-ways, a window of them at a time, until the server has counted all that arrive.
    /// Returns the nanoseconds until the last one was counted, and the number counted.
    pub(super) fn flood(&mut self, octets: u32, calls: u32) -> Result<Vec<u64>> {
        self.octets.resize(octets as usize, 0x5a);
        let calls = u64::from(calls);
        let before = self.control.pings()?;
        let (mut lost, mut took) = (0, Duration::ZERO);
        let mut sent = 0;
        while sent < calls {
            let began = Instant::now();
            let window = WINDOW.min(calls - sent);
            for _ in 0..window {
                self.throw(octets)?;
            }
            sent += window;
            let (arrived, last) = self.count_until(before + sent - lost, began)?;
            lost = before + sent - arrived.min(before + sent);
            took += last;
        }
        Ok(vec![nanoseconds(took), sent - lost])
    }

    fn throw(&self, octets: u32) -> Result<()> {
        let thrown = match octets {
            0 => self.cubit.ping(),
            _ => self.cubit.throw_octets(&self.octets),
        };
        Ok(thrown?)
    }

    /// Asks the server until it has counted `wanted`, or no more arrive; returns the count, and
    /// when the last ones were seen.
    fn count_until(&self, wanted: u64, began: Instant) -> Result<(u64, Duration)> {
        let mut arrived = self.control.pings()?;
        let mut last = Instant::now();
        while arrived < wanted && last.elapsed() < LOST {
            let now = self.control.pings()?;
            if now > arrived {
                (arrived, last) = (now, Instant::now());
            }
        }
        Ok((arrived, last.duration_since(began)))
    }
}

fn timed<'c, R, E>(call: impl Fn() -> std::result::Result<R, E> + 'c, right: R) -> Timed<'c>
where
    R: PartialEq + 'c,
    E: Into<Error>,
{
    Box::new(move || {
        let began = Instant::now();
        let answer = call().map_err(Into::into)?;
        let took = nanoseconds_since(began);
        if answer == right {
            Ok(took)
        } else {
            Err("the answer is not the right one".into())
        }
    })
}

const CUBE: Cube = Cube { o: 5, l: 21, s: 7 };
const CUBED: Cube = Cube {
    o: 125,
    l: 9261,
    s: 343,
};

#[cfg(test)]
mod tests {
    use super::super::operation::{FIGURE_16, lent};
    use super::*;

    fn medium(protocol: &str) -> Medium {
        Medium {
            protocol: protocol.to_owned(),
            spin_us: None,
            lend_from: None,
        }
    }

    fn with(protocol: &str, check: impl FnOnce(Client)) {
        let medium = medium(protocol);
        let server = Server::start(&medium, &[]).unwrap();
        check(Client::connect(&medium, &server.reference().unwrap(), &[]).unwrap());
        server.stop().unwrap();
    }

    #[test]
    fn every_operation_is_answered_right() {
        with("giop_lite+uiop", |mut client| {
            assert!(client.has_two_ways().unwrap());
            for operation in FIGURE_16.into_iter().chain(lent(1 << 20)) {
                let mut call = client.prepare(operation).unwrap();
                assert!(call().unwrap() > 0, "{operation}");
            }
        });
    }

    #[test]
    fn a_one_way_protocol_says_that_it_is_one_and_its_requests_are_counted() {
        with("frames+uiop", |mut client| {
            assert!(!client.has_two_ways().unwrap());
            for octets in [0, 16] {
                assert_eq!(client.flood(octets, 150).unwrap()[1], 150);
            }
        });
    }

    #[test]
    fn what_the_orb_refuses_is_told_in_its_words() {
        assert_eq!(refusal("giop_lite+uiop", &[]), None);
        let reason = refusal("giop_lite+diop", &[]).unwrap();
        assert!(reason.contains("cannot run over"), "{reason}");
        let reason = refusal("iiop", &["--loud".to_owned()]).unwrap();
        assert!(reason.contains("`--loud`"), "{reason}");
    }
}
