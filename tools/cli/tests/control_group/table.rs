//! Table of the services: how each is started, and what its hostile clients send.

use std::time::Duration;

use punctual_cdr::Encoder;

use crate::client::{Client, Place, Request};

/// A service, and what its clients ask for.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) name: &'static str,
    /// Arguments of the command, which `{folder}` and `{etcd}` may stand in.
    pub(crate) arguments: &'static [&'static str],
    /// Options by which it may be changed.
    pub(crate) changing: &'static [&'static str],
    /// What is done before clients come.
    pub(crate) prepare: fn(&Place),
    /// Options that grant changes to somebody else.
    pub(crate) refusing: &'static [&'static str],
    /// Time that one attack takes.
    pub(crate) attack: Duration,
    /// Requests whose answers lead, each from the object of the one before, to the object that deep data and what is to be
    /// kept are sent to. The service's own object without any.
    pub(crate) path: &'static [Request],
    /// Short request with a long answer, which may be refused for lack of room; `None` if all answers are short.
    pub(crate) long_answer: Option<Request>,
    /// Short request with an answer of about 1 MiB, for which there is room.
    pub(crate) answer: Option<Request>,
    /// Request with deep or wide data.
    pub(crate) deep: Request,
    /// Request that has the service keep something, up to 15 KiB, each time it is made with another number.
    pub(crate) kept: (&'static str, fn(&mut Encoder<'_>, u64)),
}

/// Time that one attack on the first services takes.
const LONG: Duration = Duration::from_secs(4);
/// Time that one attack on a later service takes: together they take less than a minute.
const SHORT: Duration = Duration::from_millis(700);

pub(crate) const SERVICES: &[Service] = &[
    Service {
        name: "naming in memory",
        arguments: &["naming", "serve", "--memory"],
        ..NAMING
    },
    Service {
        name: "naming in a file",
        arguments: &["naming", "serve", "--store", "{folder}/names.redb"],
        ..NAMING
    },
    Service {
        name: "naming on etcd",
        arguments: &["naming", "serve", "--etcd", "{etcd}"],
        ..NAMING
    },
    Service {
        name: "interface repository",
        arguments: &["ifr", "serve", "{folder}/large.idl"],
        changing: &["--writable"],
        prepare: |_| {},
        attack: LONG,
        path: &[],
        refusing: &["--allow", "192.0.2.1"],
        // All, and some.
        long_answer: Some(("describe_contents", |out| put_first(out, -1))),
        answer: Some(("describe_contents", |out| put_first(out, 5))),
        deep: ("lookup", |out| {
            out.put_string(&"a::".repeat(4 << 20)).unwrap()
        }),
        kept: ("create_module", |out, number| {
            let name = format!("m{number}{}", "x".repeat(7 << 10));
            out.put_string(&format!("IDL:{name}:1.0")).unwrap();
            out.put_string(&name).unwrap();
            out.put_string("1.0").unwrap();
        }),
    },
    Service {
        name: "real-time event channel",
        arguments: &["events", "serve"],
        deep: ("_is_a", put_long_text),
        kept: ("append_observer", |out, _| put_reference(out, 15 << 10)),
        ..LATER
    },
    Service {
        name: "Event Service",
        arguments: &["events", "cos", "serve"],
        path: &[("for_suppliers", |_| {})],
        deep: ("_is_a", put_long_text),
        kept: ("obtain_push_consumer", |_, _| {}),
        ..LATER
    },
    Service {
        name: "Notification Service",
        arguments: &["notify", "serve"],
        path: &[
            ("create_channel", |out| {
                out.put_u32(0);
                out.put_u32(0);
            }),
            ("_get_default_filter_factory", |_| {}),
            ("create_filter", |out| {
                out.put_string("EXTENDED_TCL").unwrap()
            }),
        ],
        deep: ("add_constraints", |out| {
            put_constraint(out, &"(".repeat(4 << 20));
        }),
        kept: ("add_constraints", |out, number| {
            put_constraint(out, &format!("$a == '{number}{}'", "x".repeat(15 << 10)));
        }),
        ..LATER
    },
    Service {
        name: "Log Service",
        arguments: &["log", "serve", "--store", "{folder}/logs.redb"],
        path: &[("create", |out| {
            out.put_u16(0);
            out.put_u64(0);
        })],
        deep: ("write_records", |out| {
            out.put_u32(1);
            // An Any of an Any of an Any and so on.
            (0..2_000_000).for_each(|_| out.put_u32(11));
            out.put_u32(0);
        }),
        kept: ("write_records", |out, number| {
            out.put_u32(1);
            out.put_u32(18);
            out.put_u32(0);
            out.put_string(&format!("{number}{}", "x".repeat(15 << 10)))
                .unwrap();
        }),
        ..LATER
    },
    Service {
        name: "scheduling service",
        arguments: &["schedule", "serve"],
        deep: ("lookup", put_long_text),
        kept: ("create", |out, number| {
            out.put_string(&format!("o{number}{}", "x".repeat(200)))
                .unwrap();
        }),
        ..LATER
    },
];

impl Service {
    pub(crate) fn needs_etcd(&self) -> bool {
        self.arguments.contains(&"{etcd}")
    }
}

const NAMING: Service = Service {
    name: "",
    arguments: &[],
    changing: &[],
    prepare: |place| {
        let mut client = Client::new(place).unwrap();
        for number in 0..1000 {
            let id = format!("{number:0>1000}");
            let bound = client.call("rebind", |out| put_binding(out, &id, 100));
            assert!(bound.unwrap().is_result(), "{number}");
        }
    },
    attack: LONG,
    path: &[],
    refusing: &["--allow", "=192.0.2.1"],
    long_answer: Some(("list", |out| out.put_u32(1000))),
    answer: Some(("list", |out| out.put_u32(1000))),
    deep: ("resolve", |out| {
        let count = 1_000_000;
        out.put_u32(count);
        for _ in 0..count {
            out.put_string("a").unwrap();
            out.put_string("").unwrap();
        }
    }),
    kept: ("rebind", |out, number| {
        put_binding(out, &format!("k{number}"), 15 << 10)
    }),
};

/// What the later services have in common: their answers are short.
const LATER: Service = Service {
    name: "",
    arguments: &[],
    changing: &[],
    prepare: |_| {},
    refusing: &["--allow", "192.0.2.1"],
    attack: SHORT,
    path: &[],
    long_answer: None,
    answer: None,
    deep: ("", |_| {}),
    kept: ("", |_, _| {}),
};

/// Writes arguments that ask for the first so many definitions of all kinds, inherited ones as well.
fn put_first(out: &mut Encoder<'_>, count: i32) {
    let dk_all = 1;
    out.put_u32(dk_all);
    out.put_bool(false);
    out.put_i32(count);
}

/// Writes a name, and a reference whose only profile has an unknown tag.
fn put_binding(out: &mut Encoder<'_>, id: &str, octets: usize) {
    out.put_u32(1);
    out.put_string(id).unwrap();
    out.put_string("").unwrap();
    put_reference(out, octets);
}

/// Writes a reference whose only profile has an unknown tag.
fn put_reference(out: &mut Encoder<'_>, octets: usize) {
    out.put_string("IDL:x:1.0").unwrap();
    out.put_u32(1);
    out.put_u32(0x7fff_0000);
    out.put_octets(&vec![7; octets]).unwrap();
}

/// Writes a text of 12 MiB.
fn put_long_text(out: &mut Encoder<'_>) {
    out.put_string(&"a::".repeat(4 << 20)).unwrap();
}

/// Writes one constraint for all types of events.
fn put_constraint(out: &mut Encoder<'_>, text: &str) {
    out.put_u32(1);
    out.put_u32(0);
    out.put_string(text).unwrap();
}
