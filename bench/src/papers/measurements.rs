//! List of the measurements that the claims need.

use super::measurement::{Measurement, Origin};

/// Command that this program runs, and draws; a quick run adds options.
const fn run(
    name: &'static str,
    about: &'static str,
    command: &'static str,
    quick: &'static str,
    seconds: [u32; 2],
) -> Measurement {
    Measurement {
        name,
        about,
        origin: Origin::Run { command, quick },
        draws: true,
        seconds,
    }
}

/// Measurement without a drawing.
const fn undrawn(measurement: Measurement) -> Measurement {
    Measurement {
        draws: false,
        ..measurement
    }
}

/// Report that lies in the folder once somebody ran this command.
const fn elsewhere(name: &'static str, about: &'static str, command: &'static str) -> Measurement {
    Measurement {
        name,
        about,
        origin: Origin::Folder { command },
        draws: false,
        seconds: [0; 2],
    }
}

/// All measurements.
pub(super) const ALL: &[Measurement] = &[
    run(
        "ami",
        "asynchronous and synchronous calls",
        "ami --placement same",
        "--rounds 5 --calls 1000 --many 50000",
        [70, 10],
    ),
    run(
        "oneway",
        "one-ways, buffered and reliable",
        "oneway --placement same,cross",
        "--rounds 7",
        [8, 6],
    ),
    run(
        "latency",
        "calls by stubs and by the DII, by size, beside raw sockets and omniORB",
        "latency --placement same --contenders punctual,punctual-dii,omniorb",
        "--quick",
        [120, 15],
    ),
    run(
        "cubit",
        "messaging protocols over links, by type of data",
        "cubit --placement same",
        "--rounds 9 --calls 400",
        [34, 12],
    ),
    run(
        "lent",
        "octets lent over shared memory beside octets copied, by size",
        "cubit --messaging giop --link shmiop --placement same --lent=1024,4096,8192,16384,32768,65536,131072,262144,1048576",
        "--rounds 9 --calls 400",
        [60, 20],
    ),
    run(
        "demux",
        "finding objects and operations, by strategy",
        "demux",
        "--quick",
        [65, 10],
    ),
    run(
        "inversion",
        "an urgent client beside low ones of one priority",
        "rt inversion --placement same",
        "--low 1,5,20,50 --calls 1000",
        [2, 1],
    ),
    run(
        "priorities",
        "an urgent client beside low ones with a priority each",
        "rt inversion --each --pace 2000 --placement same --contenders lanes --calls 500",
        "--low 1,10,30,50 --calls 200",
        [52, 12],
    ),
    run(
        "endpoints",
        "endpoints with priorities beside an ORB a thread",
        "rt endpoints --placement same",
        "--low 1,6,15 --calls 1000",
        [9, 3],
    ),
    run(
        "pools",
        "thread pools and lanes",
        "rt pools --placement same",
        "--low 1,10,30 --calls 1000",
        [8, 3],
    ),
    undrawn(run(
        "start",
        "a server with lanes beside one with an ORB for each priority",
        "rt start --low 3",
        "--rounds 10",
        [1, 1],
    )),
    run(
        "dispatching",
        "urgent consumers of events beside others that compute",
        "events dispatching --placement same",
        "--rounds 3 --events 500",
        [31, 6],
    ),
    undrawn(run(
        "servants",
        "many calls of each of very many servants",
        "servants",
        "--servants 1000,10000",
        [200, 20],
    )),
    undrawn(run(
        "copies",
        "bytes that a call copies in user space",
        "copies --contenders punctual,omniorb --cases take_octets:65536,echo_octets:65536,echo_octets_into:65536 --calls 50",
        "--calls 20",
        [60, 60],
    )),
    undrawn(run(
        "instructions",
        "instructions of a call by the data that it carries",
        "instructions --contenders punctual,omniorb --cases cube_void,take_octets:1024,take_bin_structs:1024",
        "--calls 200",
        [60, 40],
    )),
    // A program with probes has other figures for all the rest.
    Measurement {
        draws: true,
        ..elsewhere(
            "timeprobes",
            "stages of a call at the client and at the server",
            "punctual bench timeprobes --placement same --contenders punctual,punctual-uiop \
                --json=papers/timeprobes.json --svg papers/timeprobes.svg",
        )
    },
    elsewhere(
        "marshaling",
        "stages of a call with 1,024 BinStructs",
        "punctual bench timeprobes --placement same --case take_bin_structs:1024 --json=papers/marshaling.json",
    ),
    elsewhere(
        "footprint",
        "sizes of programs by Cargo features",
        "cargo xtask footprint --levels s --json > papers/footprint.json",
    ),
    elsewhere(
        "complexity",
        "paths through the functions of the source",
        "cargo xtask complexity --json > papers/complexity.json",
    ),
];
