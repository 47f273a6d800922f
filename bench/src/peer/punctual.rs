//! Client and server of Punctual, with the stubs and skeletons that its IDL compiler generates.

use super::sample::SAMPLE;
use super::{Caller, OrbOptions, dynamic, race, serve_until_the_end};
use crate::Result;
use crate::case::{Case, Operation};
use crate::protocol::References;
use crate::timeprobes::servant::Ahead;
use punctual::dynamic::dynamic_servant;
use punctual::fault_tolerance::{FaultTolerance, FtGroup, GroupMember};
use punctual::interceptor::{
    ClientRequestInterceptor, Ior, RequestContext, ServerRequestInterceptor,
};
use punctual::poa::PoaPolicy;
use punctual::policy::Buffering;
use punctual::probe::{self, Point};
use punctual::rt::{NativePolicy, PriorityModelPolicy, RtConfig, RtOrb};
use punctual::stub::ByteOrder;
use punctual::{Interface, ListenEndpoint, ObjectRef, Orb, OrbBuilder, RootPoa};
use punctual_example_cubit::CubitImpl;
use punctual_example_cubit::idl::bench::{BinStruct, Cube, Cubit};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

/// Serves a Cubit until the input ends; by default over TCP.
pub(super) fn serve(options: &super::Server) -> Result<()> {
    let orb = builder(&options.orb)?
        .configure(|config| {
            if config.listen.is_empty() {
                let endpoint = ListenEndpoint::iiop("127.0.0.1", 0);
                config.listen.push(match options.orb.lane {
                    true => endpoint.option("priority", PRIORITY.get()),
                    false => endpoint,
                });
            }
            if let Some(connections) = options.connections {
                config.max_connections = connections;
            }
        })
        .build()?;
    let root = orb.root_poa()?;
    let poa = match options.orb.lane {
        true => {
            let model = PriorityModelPolicy::client_propagated(PRIORITY);
            root.create_poa("lane", Some(root.manager()), &[PoaPolicy::of(model)])?
        }
        false => root,
    };
    let servant = CubitImpl::new(orb.clone());
    let cubit: Cubit = if options.dsi {
        let id = poa.activate_object(dynamic_servant(dynamic::Servant::default()))?;
        Cubit::from_object(poa.create_object_with_id(&id, Cubit::REPOSITORY_ID)?)
    } else if probe::is_on() {
        poa.activate(Ahead(servant, || probe::begins(Point::ServerUpcall)))?
    } else {
        poa.activate(servant)?
    };
    orb.listen()?;
    let reference = match FaultTolerance::of(&orb) {
        Some(tolerance) => in_group(&tolerance, cubit.as_object())?,
        None => orb.object_to_string(&cubit)?,
    };
    poa.manager().activate()?;
    serve_until_the_end(reference)?;
    Ok(orb.shutdown(true)?)
}

/// Makes the object the member of a group of its own. Returns the group's reference.
fn in_group(tolerance: &FaultTolerance, object: &ObjectRef) -> Result<String> {
    let group = FtGroup {
        domain: "bench".to_owned(),
        id: 1,
        version: 1,
    };
    let member = GroupMember::new(&group.domain, group.id);
    tolerance.join(object, &member)?;
    let member = object.ior();
    let ior = Ior::of_group(
        &member.type_id,
        &group,
        std::slice::from_ref(member),
        Some(0),
    )?;
    Ok(ior.stringify(ByteOrder::NATIVE)?)
}

/// Priority of the server's single lane.
const PRIORITY: punctual::rt::Priority = punctual::rt::Priority::MAX;

/// Service context RTCorbaPriority of Real-time CORBA, which carries the priority of the calling
/// thread.
#[derive(Debug)]
struct Priority;

impl RequestContext for Priority {
    fn id(&self) -> u32 {
        10
    }

    fn length(&self) -> usize {
        4
    }

    fn fill(&self, data: &mut [u8]) {
        let [high, low] = black_box(100_i16).to_be_bytes();
        if let Some(data) = data.first_chunk_mut() {
            *data = [0, 0, high, low];
        }
    }
}

/// Interceptor for clients and servers that does nothing at any interception point.
#[derive(Debug)]
struct Idle;

impl ClientRequestInterceptor for Idle {}
impl ServerRequestInterceptor for Idle {}

fn builder(options: &OrbOptions) -> Result<OrbBuilder> {
    let (builder, rest) = Orb::builder().arguments(options.rest.iter().cloned())?;
    if let Some(unknown) = rest.first() {
        return Err(format!("`{unknown}` is no option of the ORB").into());
    }
    let builder = match options.context {
        true => builder.request_context(Arc::new(Priority)),
        false => builder,
    };
    let builder = match options.intercepted {
        true => builder
            .client_interceptor(Arc::new(Idle))
            .server_interceptor(Arc::new(Idle)),
        false => builder,
    };
    let builder = match options.group {
        true => FaultTolerance::extend(builder)?,
        false => builder,
    };
    let builder = match options.lane {
        true => {
            // The kernel's work is not counted; it learns of no priorities, either.
            let rt = RtOrb::new(RtConfig {
                policy: NativePolicy::Other,
                ..RtConfig::default()
            })?;
            rt.current().set_the_priority(PRIORITY)?;
            rt.extend(builder)?
        }
        false => builder,
    };
    Ok(builder.configure(|config| {
        if options.no_spin {
            config.iiop.spin.budget = Duration::ZERO;
            config.uiop.spin.budget = Duration::ZERO;
        }
        for property in &options.property {
            let link = config.link_properties.entry(property.link.clone());
            link.or_default()
                .insert(property.name.clone(), property.value.clone());
        }
    }))
}

/// Reference to the object, and prepared arguments for the calls.
pub(super) struct Client {
    orb: Orb,
    /// Stringified reference to the object, as the server printed it.
    at: String,
    cubit: Cubit,
    /// Number of one-ways that the server will have counted when all have arrived.
    thrown: u64,
    octets: Vec<u8>,
    longs: Vec<i32>,
    structs: Vec<BinStruct>,
}

impl Client {
    pub(super) fn new(options: &super::Client) -> Result<Self> {
        let orb = builder(&options.orb)?
            .configure(|config| {
                config.one_way_buffering = options.buffered.then_some(BUFFERING);
            })
            .build()?;
        Self::of(&orb, &options.at)
    }

    pub(super) fn cubit(&self) -> &Cubit {
        &self.cubit
    }

    /// Returns one reference for each thread: clones of the existing one, or separately made ones.
    pub(super) fn for_threads(&self, threads: u32, references: References) -> Result<Vec<Cubit>> {
        let reference = |_| match references {
            References::Shared => Ok(self.cubit.clone()),
            References::Own => made(&self.orb, &self.at),
        };
        (0..threads).map(reference).collect()
    }

    fn of(orb: &Orb, reference: &str) -> Result<Self> {
        let cubit = made(orb, reference)?;
        Ok(Self {
            orb: orb.clone(),
            at: reference.to_owned(),
            thrown: cubit.pings()?,
            cubit,
            octets: Vec::new(),
            longs: Vec::new(),
            structs: Vec::new(),
        })
    }
}

fn made(orb: &Orb, reference: &str) -> Result<Cubit> {
    Ok(Cubit::narrow(orb.string_to_object(reference)?)?)
}

impl Caller for Client {
    fn prepare<'c>(&'c mut self, case: Case) -> Result<Box<dyn FnMut() -> Result<()> + 'c>> {
        let units = case.units as usize;
        self.octets.resize(units, 0x5a);
        self.longs.resize(units, 123_456_789);
        self.structs.resize(units, SAMPLE);
        let Self {
            cubit,
            thrown,
            octets,
            longs,
            structs,
            ..
        } = self;
        Ok(match case.operation {
            Operation::CubeVoid => Box::new(|| Ok(cubit.cube_void()?)),
            Operation::CubeLong => Box::new(|| {
                black_box(cubit.cube_long(black_box(21))?);
                Ok(())
            }),
            Operation::CubeStruct => Box::new(|| {
                black_box(cubit.cube_struct(black_box(&Cube { o: 5, l: 21, s: 7 }))?);
                Ok(())
            }),
            Operation::TakeOctets => Box::new(|| Ok(cubit.take_octets(octets)?)),
            Operation::TakeLongs => Box::new(|| Ok(cubit.take_longs(longs)?)),
            Operation::TakeBinStructs => Box::new(|| Ok(cubit.take_bin_structs(structs)?)),
            Operation::EchoOctets => Box::new(|| {
                black_box(cubit.echo_octets(octets)?);
                Ok(())
            }),
            Operation::EchoBinStructs => Box::new(|| {
                black_box(cubit.echo_bin_structs(structs)?);
                Ok(())
            }),
            Operation::EchoOctetsInto => {
                let mut back = Vec::new();
                Box::new(move || Ok(cubit.echo_octets_into(octets, black_box(&mut back))?))
            }
            Operation::EchoBinStructsInto => {
                let mut back = Vec::new();
                Box::new(move || Ok(cubit.echo_bin_structs_into(structs, black_box(&mut back))?))
            }
            Operation::Ping => Box::new(|| {
                *thrown += 1;
                Ok(cubit.ping()?)
            }),
            Operation::ThrowOctets => Box::new(|| {
                *thrown += 1;
                Ok(cubit.throw_octets(octets)?)
            }),
            Operation::ThrowBinStructs => Box::new(|| {
                *thrown += 1;
                Ok(cubit.throw_bin_structs(structs)?)
            }),
        })
    }

    fn settle(&mut self) -> Result<()> {
        while self.cubit.pings()? < self.thrown {}
        Ok(())
    }

    /// Makes calls by several threads, which share one connection, whether they share a reference
    /// or not.
    fn flood(&mut self, threads: u32, calls: u32, references: References) -> Result<Duration> {
        match references {
            References::Shared => {
                let cubit = &self.cubit;
                let caller = || Ok(cubit.cube_void()?);
                race(vec![caller; threads as usize], calls)
            }
            References::Own => {
                let own = self.for_threads(threads, references)?;
                let callers = own.iter().map(|cubit| || Ok(cubit.cube_void()?));
                race(callers.collect(), calls)
            }
        }
    }
}

/// Buffering limits: as many one-ways as the server receives by one system call.
const BUFFERING: Buffering = Buffering {
    messages: 900,
    octets: 64 * 1024,
    delay: Some(Duration::from_millis(5)),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{self, Lengths};
    use punctual::policy::Collocation;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Number of bytes that were sent in each direction through a relay.
    #[derive(Default)]
    struct Meter {
        requests: AtomicUsize,
        replies: AtomicUsize,
    }

    impl Meter {
        fn read(&self) -> Lengths {
            // The counted transfers happened before the reply that the reader has, or before its
            // own send.
            Lengths {
                request: self.requests.load(Ordering::SeqCst),
                reply: self.replies.load(Ordering::SeqCst),
            }
        }
    }

    fn relay(mut from: TcpStream, mut to: TcpStream, count: impl Fn(usize)) {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            count(read);
            to.write_all(&buffer[..read]).unwrap();
        }
    }

    fn meter_connection(listener: &TcpListener, server: u16, meter: &Arc<Meter>) {
        let (client, _) = listener.accept().unwrap();
        let server = TcpStream::connect(("127.0.0.1", server)).unwrap();
        let (back, forth) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        let counted = meter.clone();
        std::thread::spawn(move || {
            relay(client, server, |octets| {
                counted.requests.fetch_add(octets, Ordering::SeqCst);
            });
        });
        let counted = meter.clone();
        std::thread::spawn(move || {
            relay(back, forth, |octets| {
                counted.replies.fetch_add(octets, Ordering::SeqCst);
            });
        });
    }

    #[test]
    fn messages_are_as_long_as_the_floor_takes_them_to_be() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = ListenEndpoint::iiop("127.0.0.1", 0)
            .option("port_in_ior", listener.local_addr().unwrap().port());
        let server = Orb::builder().listen(endpoint).build().unwrap();
        let poa = server.root_poa().unwrap();
        let cubit: Cubit = poa.activate(CubitImpl::new(server.clone())).unwrap();
        poa.manager().activate().unwrap();
        let reference = server.object_to_string(&cubit).unwrap();
        let (port, meter) = (
            server.endpoints()[0].port().unwrap(),
            Arc::new(Meter::default()),
        );
        let metering = meter.clone();
        std::thread::spawn(move || meter_connection(&listener, port, &metering));

        // Calls within the process have no length.
        let orb = Orb::builder()
            .configure(|config| config.collocation = Collocation::None)
            .build()
            .unwrap();
        let mut client = Client::of(&orb, &reference).unwrap();
        let cubit = client.cubit.clone();
        // A call behind the one-ways, whose lengths are known and are subtracted.
        let settle = || cubit.cube_void().unwrap();
        settle();
        let void = Case::plain(Operation::CubeVoid).lengths();
        let ping = Case::plain(Operation::Ping);
        for case in case::full()
            .into_iter()
            .chain(case::of_the_goals())
            .chain([ping])
        {
            let before = meter.read();
            client.prepare(case).unwrap()().unwrap();
            settle();
            let after = meter.read();
            let seen = Lengths {
                request: after.request - before.request - void.request,
                reply: after.reply - before.reply - void.reply,
            };
            assert_eq!(seen, case.lengths(), "{case}");
        }
        server.shutdown(true).unwrap();
    }
}
