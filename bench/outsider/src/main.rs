//! Server and client as users write them: a separate crate with the unchanged release profile and
//! the ORB's default options.
//!
//! Both speak the harness's protocol (bench/src/protocol.rs) over their standard input and output.

use punctual::{Interface, Orb, RootPoa, SystemException};
use std::error::Error;
use std::io::{BufRead, Write};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

mod idl {
    include!(concat!(env!("OUT_DIR"), "/outsider.rs"));
}
use idl::Cubit;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

#[derive(Default)]
struct Servant {
    pings: AtomicU64,
}

impl idl::CubitServant for Servant {
    fn cube_void(&self) -> std::result::Result<(), SystemException> {
        Ok(())
    }

    fn cube_long(&self, l: i32) -> std::result::Result<i32, SystemException> {
        Ok(l.wrapping_pow(3))
    }

    fn ping(&self) -> std::result::Result<(), SystemException> {
        self.pings.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn pings(&self) -> std::result::Result<u64, SystemException> {
        Ok(self.pings.load(Ordering::Relaxed))
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Err(error) = run(&arguments) {
        println!("error {error}");
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let option = |name: &str| {
        let place = arguments.iter().position(|word| word == name)?;
        arguments.get(place + 1)
    };
    if let Some(processor) = option("--pin") {
        pin(processor)?;
    }
    // Spinning before a thread blocks is not part of a call's cost.
    let looks = !arguments.iter().any(|word| word == "--no-spin");
    match (arguments.get(1).map(String::as_str), option("--at")) {
        (Some("server"), _) => serve(looks),
        (Some("client"), Some(reference)) => call(reference, looks),
        _ => Err("expected server, or client --at REFERENCE".into()),
    }
}

/// Pins this thread, and those that it starts later, to one processor.
fn pin(processor: &str) -> Result<()> {
    let own = std::process::id().to_string();
    let output = std::process::Command::new("taskset")
        .args(["--pid", "--cpu-list", processor, &own])
        .output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err("taskset failed".into()),
    }
}

fn orb(options: &[&str], looks: bool) -> Result<Orb> {
    if looks {
        return Ok(Orb::init(options.iter().map(|&option| option.to_owned()))?.0);
    }
    let (builder, _) = Orb::builder().arguments(options.iter().map(|&option| option.to_owned()))?;
    let builder = builder.configure(|config| config.iiop.spin.budget = Duration::ZERO);
    Ok(builder.build()?)
}

fn serve(looks: bool) -> Result<()> {
    let options = ["outsider", "-ORBListenEndpoints", "iiop://127.0.0.1:0"];
    let orb = orb(&options, looks)?;
    let poa = orb.root_poa()?;
    poa.manager().activate()?;
    let cubit: Cubit = poa.activate(Servant::default())?;
    println!("ready {}", orb.object_to_string(&cubit)?);
    // The server runs until the harness closes its input.
    for _ in std::io::stdin().lines() {}
    Ok(orb.shutdown(true)?)
}

fn call(reference: &str, looks: bool) -> Result<()> {
    let orb = orb(&[], looks)?;
    let cubit = Cubit::narrow(orb.string_to_object(reference)?)?;
    cubit.cube_void()?;
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        if let Err(error) = obey(&line?, &orb, &cubit, reference) {
            println!("error {error}");
        }
    }
    Ok(())
}

fn obey(line: &str, orb: &Orb, cubit: &Cubit, reference: &str) -> Result<()> {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["run", case, warm_up, calls] => {
            repeat(cubit, case, warm_up.parse()?)?;
            if case == "ping" {
                let calls: u32 = calls.parse()?;
                let began = Instant::now();
                repeat(cubit, case, calls)?;
                return answer(&[began.elapsed() / calls.max(1)]);
            }
            let mut samples = vec![Duration::ZERO; calls.parse()?];
            for sample in &mut samples {
                let began = Instant::now();
                repeat(cubit, case, 1)?;
                *sample = began.elapsed();
            }
            answer(&samples)
        }
        ["calls", case, calls] => {
            repeat(cubit, case, calls.parse()?)?;
            println!("done");
            Ok(())
        }
        ["flood", threads, calls] => {
            let cubits = vec![cubit; threads.parse()?];
            answer(&[flood(&cubits, calls.parse()?)?])
        }
        ["flood", threads, calls, "own"] => {
            let own = |_| Ok(Cubit::narrow(orb.string_to_object(reference)?)?);
            let cubits = (0..threads.parse()?).map(own).collect::<Result<Vec<_>>>()?;
            let cubits: Vec<&Cubit> = cubits.iter().collect();
            answer(&[flood(&cubits, calls.parse()?)?])
        }
        _ => Err(format!("no such command: {line}").into()),
    }
}

/// Makes `calls` calls; waits for one-ways until the server has counted them.
fn repeat(cubit: &Cubit, case: &str, calls: u32) -> Result<()> {
    match case {
        "cube_void" => Ok((0..calls).try_for_each(|_| cubit.cube_void())?),
        "cube_long" => Ok((0..calls).try_for_each(|_| cubit.cube_long(21).map(drop))?),
        "ping" => {
            let counted = cubit.pings()? + u64::from(calls);
            (0..calls).try_for_each(|_| cubit.ping())?;
            while cubit.pings()? < counted {}
            Ok(())
        }
        _ => Err(format!("no such case: {case}").into()),
    }
}

/// Makes each thread perform its share of the calls through its own reference, after one untimed
/// warm-up call.
fn flood(cubits: &[&Cubit], calls: usize) -> Result<Duration> {
    let (share, start) = (calls / cubits.len().max(1), Barrier::new(cubits.len()));
    let thread = |cubit: &Cubit| {
        let warm = cubit.cube_void();
        start.wait();
        let began = Instant::now();
        warm?;
        (0..share).try_for_each(|_| cubit.cube_void())?;
        Ok((began, Instant::now()))
    };
    let times: Result<Vec<_>> = std::thread::scope(|scope| {
        let spawn = |&cubit| scope.spawn(move || thread(cubit));
        let threads: Vec<_> = cubits.iter().map(spawn).collect();
        let ends = threads.into_iter().map(|one| one.join());
        ends.map(|end| end.unwrap_or_else(|_| Err("a thread panicked".into())))
            .collect()
    });
    let (began, ended): (Vec<_>, Vec<_>) = times?.into_iter().unzip();
    let first = began.into_iter().min().ok_or("no threads")?;
    Ok(ended.into_iter().max().ok_or("no threads")? - first)
}

fn answer(samples: &[Duration]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "samples {}", samples.len())?;
    for sample in samples {
        out.write_all(&u64::try_from(sample.as_nanos())?.to_ne_bytes())?;
    }
    Ok(out.flush()?)
}
