//! Models: the examples, and random ones as TOML text.

use crate::assignment::sets::Random;
use punctual_scheduling::model::{Model, read};
use punctual_scheduling::plan::{Plan, plan};
use punctual_scheduling::strategy::by_name;
use std::fmt::Write;

/// Names of the files in `examples/schedule`.
pub(crate) const EXAMPLES: [&str; 3] = ["fits", "overloaded", "two_hosts"];

/// Properties of random models.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Operations call others, on two hosts.
    pub(crate) has_calls: bool,
    /// Operations lock mutexes.
    pub(crate) has_mutexes: bool,
    /// Some operations are not preempted at any time.
    pub(crate) has_segments: bool,
    /// Sum of the utilisations of sources, in percent.
    pub(crate) load: u64,
}

/// Reads a model, and plans it by its strategy.
pub(crate) fn planned(name: &str, text: &str) -> (Model, Plan) {
    let model = read(name, text).unwrap();
    let strategy = by_name(model.strategy.as_deref().unwrap()).unwrap();
    let plan = plan(&model, strategy).unwrap();
    (model, plan)
}

pub(crate) fn example(name: &str) -> (Model, Plan) {
    let root = env!("CARGO_MANIFEST_DIR");
    let text = std::fs::read_to_string(format!("{root}/../../examples/schedule/{name}.toml"));
    planned(name, &text.unwrap())
}

/// Writes a random model.
pub(crate) fn random(random: &mut Random, strategy: &str, shape: Shape) -> String {
    let mut text = format!("strategy = \"{strategy}\"\nmutexes = [\"m\", \"n\"]\n");
    let protocol = ["inheritance", "ceiling", "immediate-ceiling"][random.below(3)];
    writeln!(text, "lock_protocol = \"{protocol}\"").unwrap();
    let hosts = if shape.has_calls { 2 } else { 1 };
    for host in 0..hosts {
        let processors = match shape.has_mutexes {
            true => 1,
            false => random.within(1, 2),
        };
        writeln!(text, "[host.h{host}]\nprocessors = {processors}").unwrap();
    }
    if hosts == 2 {
        let time = random.within(1, 5);
        writeln!(
            text,
            "[[message]]\nfrom = \"h0\"\nto = \"h1\"\ntime = \"{time}us\""
        )
        .unwrap();
    }
    let sources = random.within(2, 5);
    let called = if shape.has_calls {
        random.within(1, 3)
    } else {
        0
    };
    for source in 0..sources {
        operation(&mut text, random, (source, sources, called), shape);
    }
    for callee in 0..called {
        writeln!(
            text,
            "[operation.c{callee}]\nhost = \"h{}\"",
            random.below(2)
        )
        .unwrap();
        writeln!(text, "wcet = \"{}us\"", random.within(1, 4)).unwrap();
    }
    text
}

fn operation(
    text: &mut String,
    random: &mut Random,
    (source, sources, called): (u64, u64, u64),
    shape: Shape,
) {
    let host = if shape.has_calls { random.below(2) } else { 0 };
    let period = random.within(2, 12) * 10;
    let wcet = (period * random.within(1, 2 * shape.load / sources) / 100).clamp(1, period);
    let deadline = random.within(wcet.max(period / 2), period * 3 / 2);
    let offset = random.within(0, 20);
    let level = ["low", "medium", "high"][random.below(3)];
    writeln!(
        text,
        "[operation.s{source}]\nhost = \"h{host}\"\nwcet = \"{wcet}us\""
    )
    .unwrap();
    writeln!(text, "period = \"{period}us\"\ndeadline = \"{deadline}us\"").unwrap();
    writeln!(text, "offset = \"{offset}us\"\ncriticality = \"{level}\"").unwrap();
    let last = random.within(1, wcet);
    match random.below(6) {
        0 if shape.has_segments => writeln!(text, "preemption = \"none\"").unwrap(),
        1 if shape.has_segments => {
            let longest = random.within(last, wcet);
            let segments = format!("{{ longest = \"{longest}us\", last = \"{last}us\" }}");
            writeln!(text, "segments = {segments}").unwrap();
        }
        2 if shape.has_segments => writeln!(text, "section = \"{last}us\"").unwrap(),
        _ => {}
    }
    if shape.has_mutexes && host == 0 && random.below(2) == 0 {
        let first = random.below(2);
        let lock = |mutex: usize, time| {
            let mutex = ["m", "n"][mutex];
            format!("{{ mutex = \"{mutex}\", time = \"{time}us\" }}")
        };
        let mut locks = vec![lock(first, last)];
        // The second comes after the first.
        if random.below(3) == 0 && last < wcet {
            locks.push(lock(1 - first, random.within(1, wcet - last)));
        }
        writeln!(text, "locks = [{}]", locks.join(", ")).unwrap();
    }
    if called > 0 && random.below(2) == 0 {
        let callee = random.within(0, called - 1);
        let kind = ["one-way", "two-way"][random.below(2)];
        let times = random.within(1, 2);
        let call = format!("{{ operation = \"c{callee}\", kind = \"{kind}\", times = {times} }}");
        writeln!(text, "calls = [{call}]").unwrap();
    }
}

impl Random {
    /// Returns a number below another.
    pub(crate) fn below(&mut self, limit: u64) -> usize {
        usize::try_from(self.within(0, limit - 1)).unwrap()
    }
}
