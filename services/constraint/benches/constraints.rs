//! Benchmark of constraints: `cargo bench -p punctual-constraint`, of one part with its name as argument (`compile`,
//! `evaluate`, `set`). Times are the best of several rounds.
#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use punctual_any::{Any, TypeBuilder, Value};
use punctual_constraint::{Constraint, ConstraintSet, Event, FieldValue, Grammar, Limits, List};

/// Rounds of which the best counts.
const ROUNDS: usize = 15;

fn main() {
    let only = std::env::args()
        .nth(1)
        .filter(|word| !word.starts_with('-'));
    let is_wanted = |part: &str| only.as_ref().is_none_or(|word| word == part);
    if is_wanted("compile") {
        compiling();
    }
    if is_wanted("evaluate") {
        evaluating();
    }
    if is_wanted("set") {
        [10, 1_000, 10_000].into_iter().for_each(in_a_set);
    }
}

/// Alarm with 20 fields, as 3GPP's and TMF's have.
struct Alarm {
    type_name: String,
    fields: Vec<(String, Any)>,
}

impl Event for Alarm {
    fn domain_name(&self) -> &str {
        "tmf_mtnm"
    }

    fn type_name(&self) -> &str {
        &self.type_name
    }

    fn property_count(&self, list: List) -> usize {
        match list {
            List::VariableHeader => 0,
            List::FilterableData => self.fields.len(),
        }
    }

    fn property_at(&self, list: List, index: usize) -> Option<(&str, FieldValue<'_>)> {
        let fields = self
            .fields
            .get(index)
            .filter(|_| list == List::FilterableData);
        fields.map(|(name, value)| (&**name, value.into()))
    }
}

fn alarm(type_name: &str) -> Alarm {
    let mut types = TypeBuilder::default();
    let labels = [
        "INDETERMINATE",
        "CRITICAL",
        "MAJOR",
        "MINOR",
        "WARNING",
        "CLEARED",
    ];
    let root = types.enumeration("IDL:Severity:1.0", "Severity", &labels);
    let severity = Any::of_value(&types.finish(root), &Value::Enum(2)).unwrap();
    let mut fields: Vec<(String, Any)> = (0..17)
        .map(|at| {
            (
                format!("attribute{at:02}"),
                Any::new(&format!("value {at}")).unwrap(),
            )
        })
        .collect();
    fields.push(("perceivedSeverity".into(), severity));
    fields.push(("probableCause".into(), Any::new("LOS").unwrap()));
    fields.push(("count".into(), Any::new(&17u32).unwrap()));
    Alarm {
        type_name: type_name.to_owned(),
        fields,
    }
}

fn compile(text: &str) -> Constraint {
    let limits = Limits {
        length: 1 << 20,
        ..Limits::DEFAULT
    };
    Constraint::compile(Grammar::ExtendedTcl, text, &limits).unwrap()
}

/// Returns the least time of one of `count` runs.
fn best(count: u32, mut run: impl FnMut()) -> Duration {
    let rounds = (0..ROUNDS).map(|_| {
        let begin = Instant::now();
        (0..count).for_each(|_| run());
        begin.elapsed() / count
    });
    rounds.min().unwrap()
}

const USUAL: &str = "$type_name == 'NT_ALARM' and $perceivedSeverity == 'MAJOR' and \
    ($probableCause == 'LOS' or 'loss' ~ $attribute16) and $count >= 10";

fn compiling() {
    let time = best(10_000, || {
        black_box(compile(black_box(USUAL)));
    });
    println!("compile a usual constraint: {time:?}");
    for (what, part) in [
        ("and", " and TRUE"),
        ("fields", " and $a == 1"),
        ("sums", " and 1 < 1 + 2 * 3"),
    ] {
        for length in [1 << 17, 1 << 18, 1 << 19, 1 << 20] {
            let text = format!("TRUE{}", part.repeat((length - 4) / part.len()));
            let time = best(1, || {
                black_box(compile(&text));
            });
            println!("compile {length} bytes of {what}: {time:?}");
        }
    }
}

fn evaluating() {
    let event = alarm("NT_ALARM");
    for (what, text) in [
        ("the usual constraint", USUAL),
        ("the type's name", "$type_name == 'NT_ALARM'"),
        ("another type's name", "$type_name == 'NT_OTHER'"),
        ("the first field", "$attribute00 == 'value 0'"),
        ("the last field", "$count == 17"),
        (
            "the last field by its place",
            "$.filterable_data[19].value == 17",
        ),
        ("an enumerator", "$perceivedSeverity == 'MAJOR'"),
        ("an order of enumerators", "$perceivedSeverity <= 'MAJOR'"),
        ("a part of a string", "'16' ~ $attribute16"),
    ] {
        let constraint = compile(text);
        let time = best(100_000, || {
            black_box(black_box(&constraint).matches(black_box(&event)));
        });
        println!("evaluate {what}: {time:?} ({})", constraint.matches(&event));
    }
}

/// Measures a set of constraints on distinct types of events.
fn in_a_set(count: usize) {
    let texts = (0..count).map(|at| format!("$type_name == 'T{at}' and $count >= 10"));
    let constraints: Vec<Constraint> = texts.map(|text| compile(&text)).collect();
    let mut set = ConstraintSet::new();
    constraints.iter().for_each(|one| {
        set.insert(one.clone(), ());
    });
    let event = alarm("T7");
    let mut found = 0u64;
    let time = best(10_000, || set.for_each_match(&event, |_, ()| found += 1));
    let alone = best(10_000, || {
        black_box(constraints[7].matches(black_box(&event)));
    });
    let all = best(10, || {
        found += constraints.iter().filter(|one| one.matches(&event)).count() as u64;
    });
    assert!(found > 0);
    println!(
        "{count} constraints, one true: in a set {time:?}, it alone {alone:?}, one by one {all:?}"
    );
}
