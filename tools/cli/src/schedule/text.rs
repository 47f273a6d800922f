//! Plans for people.

use super::here::Remark;
use anstyle::{AnsiColor, Style};
use punctual_scheduling::Time;
use punctual_scheduling::analysis::bounds::{Outcome, Strength, Test};
use punctual_scheduling::plan::{
    Blocker, Explained, LaneCost, Mends, Move, Plan, PlannedProcessor, PlannedStream, Refusal,
    Term, Verdict,
};
use std::collections::{HashMap, VecDeque};

const BOLD: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Prints the processors, the streams, the verdict, and what would mend it.
pub(super) fn print(plan: &Plan, mends: &[Mends], moves: &[Move], blockers: &[Blocker]) {
    print_processors(plan);
    anstream::println!();
    print_streams(plan);
    anstream::println!();
    print_verdict(plan);
    for mends in mends {
        print_mends(plan, mends);
    }
    print_unsearched(plan, mends);
    print_moves(plan, moves);
    print_blockers(plan, blockers);
}

/// Prints what the plan needs of this machine, and if it has that.
pub(super) fn print_here(remarks: Option<&[Remark]>) {
    let Some(remarks) = remarks else { return };
    anstream::println!("\n{BOLD}on this machine{BOLD:#}");
    for remark in remarks {
        let (style, verdict) = match remark.is_met {
            true => (GOOD, "ok"),
            false => (BAD, "missing"),
        };
        anstream::println!("  {style}{verdict:<7}{style:#}  {}", remark.text);
    }
}

/// Prints the strategy that meets all deadlines by another order of fixed priorities, if there is one.
pub(super) fn print_other_order(strategy: Option<&str>) {
    if let Some(name) = strategy {
        anstream::println!(
            "\nanother order of fixed priorities meets all deadlines:\n  strategy = \"{name}\""
        );
    }
}

fn print_moves(plan: &Plan, moves: &[Move]) {
    let mut before = None;
    for one in moves {
        if before != Some(one.processor) {
            let at = name(&plan.processors[one.processor]);
            anstream::println!("\neach of these moves alone mends processor {at}:");
            before = Some(one.processor);
        }
        anstream::println!("  {}.processor = {}", one.operation, one.to);
    }
}

fn print_blockers(plan: &Plan, blockers: &[Blocker]) {
    let mut before = None;
    for one in blockers {
        if before != Some(one.processor) {
            let at = name(&plan.processors[one.processor]);
            anstream::println!("\neach of these shorter sections alone mends processor {at}:");
            before = Some(one.processor);
        }
        let (operation, time) = (&one.operation, one.time);
        match &one.mutex {
            Some(mutex) => anstream::println!("  {operation} holds `{mutex}` for {time} at most"),
            None => {
                anstream::println!("  {operation} runs without preemption for {time} at most");
            }
        }
    }
}

fn print_processors(plan: &Plan) {
    anstream::println!(
        "{BOLD}{:<20} {:>11}  {}{BOLD:#}",
        "processor",
        "utilisation",
        "utilisation bounds"
    );
    for processor in &plan.processors {
        let mut bounds: Vec<_> = processor.bounds.iter().filter_map(bound).collect();
        bounds.extend(
            processor
                .interference
                .map(|taken| format!("the platform takes {taken}")),
        );
        let percent = 100.0 * processor.utilisation;
        let name = name(processor);
        anstream::println!("{name:<20} {percent:>10.1}%  {}", bounds.join(", "));
    }
}

/// Returns a utilisation bound with its outcome; `None` if it does not hold for such tasks.
fn bound(outcome: &Outcome) -> Option<String> {
    let passed = match (outcome.passed?, outcome.test.strength()) {
        (true, _) => "passed",
        (false, Strength::Exact) => "failed",
        (false, Strength::Sufficient) => "open",
    };
    let name = match outcome.test {
        Test::LiuLayland => "Liu and Layland",
        Test::Hyperbolic => "hyperbolic",
        Test::EdfUtilisation => "EDF",
        Test::EdfDensity => "EDF density",
    };
    Some(format!(
        "{name} {:.3} of {:.3} {passed}",
        outcome.load, outcome.limit
    ))
}

fn name(processor: &PlannedProcessor) -> String {
    format!("{} {}", processor.host, processor.number)
}

fn print_streams(plan: &Plan) {
    let width = plan.streams.iter().map(|stream| shown(stream).len()).max();
    let width = width.unwrap_or(0).max("operation".len());
    anstream::println!(
        "{BOLD}{:<width$} {:<16} {:>5} {:>8} {:>9} {:>9} {:>9} {:>9}{BOLD:#}",
        "operation",
        "processor",
        "level",
        "priority",
        "wcet",
        "period",
        "response",
        "deadline"
    );
    for stream in &plan.streams {
        let (style, verdict) = verdict(stream.verdict);
        let place = match stream.processor {
            Some(number) => format!("{} {number}", stream.host),
            None => stream.host.clone(),
        };
        anstream::println!(
            "{:<width$} {place:<16} {:>5} {:>8} {:>9} {:>9} {:>9} {:>9}  {style}{verdict}{style:#}",
            shown(stream),
            optional(stream.level),
            optional(stream.priority),
            rounded(stream.wcet),
            rounded(stream.period),
            stream.response.map_or("-".to_owned(), rounded),
            rounded(stream.deadline),
        );
    }
}

/// Returns the name of a stream: that of the operation, and of the source that releases it.
fn shown(stream: &PlannedStream) -> String {
    match stream.operation == stream.source {
        true => stream.operation.clone(),
        false => format!("{} (of {})", stream.operation, stream.source),
    }
}

fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// Returns a time with four digits at most behind the point, rounded up.
pub(super) fn rounded(time: Time) -> String {
    let nanos = time.as_nanos();
    let step = match nanos {
        ..1_000_000 => 1,
        1_000_000..1_000_000_000 => 100,
        _ => 100_000,
    };
    Time::from_nanos(nanos.div_ceil(step).saturating_mul(step)).to_string()
}

fn verdict(verdict: Verdict) -> (Style, &'static str) {
    match verdict {
        Verdict::Fits => (GOOD, "fits"),
        Verdict::Misses => (BAD, "misses"),
        Verdict::LeftOut => (BAD, "left out"),
        Verdict::NeverReleased => (BAD, "never released"),
    }
}

fn print_verdict(plan: &Plan) {
    let streams = plan.streams.iter().enumerate();
    let bad = streams.filter(|(_, stream)| stream.verdict != Verdict::Fits);
    let bad: Vec<_> = bad.collect();
    if bad.is_empty() {
        anstream::println!(
            "{GOOD}fits{GOOD:#}: every operation meets its deadline under {}",
            plan.strategy
        );
        return;
    }
    if !plan.is_complete {
        anstream::println!(
            "{BAD}not known{BAD:#}: the analysis was given up, as too many operations influence one another;\n\
             spread them over more processors, or shorten the chains of calls"
        );
        return;
    }
    anstream::println!("{BAD}does not fit{BAD:#} under {}:", plan.strategy);
    for (index, stream) in bad {
        let what = match (stream.verdict, stream.response) {
            (Verdict::Misses, Some(response)) => {
                format!("ends up to {} late", rounded(response - stream.deadline))
            }
            (Verdict::Misses, None) => {
                "is not proved to end in time: no bound of its response was found".to_owned()
            }
            (Verdict::LeftOut, _) => left_out(stream.refusal),
            _ => never_released(plan, index),
        };
        anstream::println!("  {} {what}", shown(stream));
    }
}

/// Returns why a stream is left out.
fn left_out(refusal: Option<Refusal>) -> String {
    let Some(Refusal { utilisation, limit }) = refusal else {
        return "is left out by the strategy's admission".to_owned();
    };
    let with_it = 100.0 * utilisation;
    let most = match limit {
        Some(limit) => format!("{:.1} % at most", 100.0 * limit),
        None => "less, by a test".to_owned(),
    };
    format!(
        "is left out: with it and what was admitted before it, its processor would be used to {with_it:.1} %, and the\n    \
         strategy's admission takes {most}"
    )
}

fn never_released(plan: &Plan, stream: usize) -> String {
    match plan.left_out_caller(stream) {
        Some(caller) => format!(
            "is not released, as {} is left out, which calls it",
            shown(&plan.streams[caller])
        ),
        None => "is not released, as an operation that calls it is left out".to_owned(),
    }
}

/// Number of processors that one line names.
const SHOWN_PROCESSORS: usize = 5;

/// Names the processors with missed deadlines for which no changes of single operations are searched.
fn print_unsearched(plan: &Plan, mends: &[Mends]) {
    let late = plan.streams.iter();
    let late = late.filter(|stream| stream.verdict == Verdict::Misses);
    let mut late: Vec<usize> = late.filter_map(|stream| stream.processor).collect();
    late.sort_unstable();
    late.dedup();
    late.retain(|processor| mends.iter().all(|mends| mends.processor != *processor));
    if late.is_empty() {
        return;
    }
    let shown = late.iter().take(SHOWN_PROCESSORS);
    let names: Vec<String> = shown.map(|at| name(&plan.processors[*at])).collect();
    let others = match late.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    anstream::println!(
        "\nno changes are searched for {}{others}: of processors that dispatch by laxity or in levels of deadlines, of more than 500 operations, or 1,000 together, and of incomplete plans (try some by what-if)",
        names.join(", ")
    );
}

fn print_mends(plan: &Plan, mends: &Mends) {
    let at = name(&plan.processors[mends.processor]);
    if mends.scale.is_none() && mends.interference.is_none() && mends.changes.is_empty() {
        anstream::println!(
            "\nof no shorter execution time and no longer period on processor {at} was it proved that it alone mends it (see what-if)"
        );
        return;
    }
    anstream::println!(
        "\neach of these alone mends processor {at}, if the jitter of its operations stays (see what-if):"
    );
    if let Some(scale) = mends.scale {
        anstream::println!(
            "  all execution times at most {:.1} % of what they are",
            (1_000.0 * scale).floor() / 10.0
        );
    }
    let platform = plan.processors[mends.processor].interference;
    if let Some((most, taken)) = mends.interference.zip(platform) {
        anstream::println!(
            "  interference of the platform at most {most} in any {}",
            taken.every
        );
    }
    for mend in &mends.changes {
        if let Some(wcet) = mend.wcet {
            anstream::println!("  {}.wcet at most {wcet}", mend.operation);
        }
        if let Some(period) = mend.period {
            let source = &plan.streams[mend.stream].source;
            anstream::println!("  {source}.period at least {period}");
        }
    }
}

/// Prints the priority of each operation, and the lanes.
pub(super) fn print_assignment(plan: &Plan, lanes: Option<&[LaneCost]>) {
    print_streams(plan);
    for lanes in lanes.unwrap_or_default() {
        let at = name(&plan.processors[lanes.processor]);
        let priorities: Vec<_> = lanes.priorities.iter().map(ToString::to_string).collect();
        anstream::println!(
            "\n{BOLD}processor {at}{BOLD:#}: lanes of priority {}",
            priorities.join(", ")
        );
        for stream in &lanes.streams {
            let cost = match (stream.before, stream.after) {
                (Some(before), Some(after)) if after > before => {
                    format!(
                        ": response {} instead of {}",
                        rounded(after),
                        rounded(before)
                    )
                }
                _ => String::new(),
            };
            anstream::println!("  {} in lane {}{cost}", stream.operation, stream.lane);
        }
        if lanes.breaks {
            anstream::println!(
                "  {BAD}too few lanes{BAD:#}: a deadline is missed that is met with more"
            );
        }
    }
}

/// Prints the terms of a response time.
pub(super) fn print_terms(plan: &Plan, index: usize, terms: Option<&Explained>) {
    let stream = &plan.streams[index];
    let (style, verdict) = verdict(stream.verdict);
    anstream::println!(
        "{BOLD}{}{BOLD:#} on {}: {style}{verdict}{style:#}",
        shown(stream),
        stream.host
    );
    let Some(terms) = terms else {
        anstream::println!("  it {}", without_terms(plan, index));
        return;
    };
    line(terms.jitter, "+", "latest release");
    for term in &terms.blocking {
        line(term.time, "+", &format!("blocked by {}", term.operation));
    }
    let jobs = match terms.jobs {
        1 => "own execution".to_owned(),
        jobs => format!("own execution, {jobs} jobs"),
    };
    line(terms.execution, "+", &jobs);
    if !terms.suspended.is_zero() {
        anstream::println!(
            "{:>14}   of which it awaits replies for {}",
            "",
            terms.suspended
        );
    }
    for term in &terms.interference {
        line(term.time, "+", &interference(term));
    }
    line(terms.platform, "+", "interference of the platform");
    if !terms.elapsed.is_zero() {
        line(terms.elapsed, "-", "release of the worst of these jobs");
    }
    line(
        terms.response,
        "=",
        &format!("response, of {} allowed", stream.deadline),
    );
}

/// Returns why a stream has no terms.
fn without_terms(plan: &Plan, index: usize) -> String {
    let stream = &plan.streams[index];
    match (stream.verdict, stream.response) {
        (Verdict::LeftOut, _) => left_out(stream.refusal),
        (Verdict::NeverReleased, _) => never_released(plan, index),
        (_, None) => "has no terms, as no bound of its response time was found".to_owned(),
        (_, Some(response)) => format!(
            "ends within {}, of which there are no terms: its level does not dispatch by fixed priority",
            rounded(response)
        ),
    }
}

fn interference(term: &Term) -> String {
    match term.jobs {
        1 => format!("{}, 1 job", term.operation),
        jobs => format!("{}, {jobs} jobs", term.operation),
    }
}

fn line(time: Time, sign: &str, what: &str) {
    if !time.is_zero() || sign == "=" {
        anstream::println!("{:>14} {sign} {what}", time.to_string());
    }
}

/// Prints the streams whose response or verdict differs between two plans.
pub(super) fn print_comparison(before: &Plan, after: &Plan) {
    let width = after.streams.iter().map(|stream| shown(stream).len()).max();
    let width = width.unwrap_or(0).max(28);
    anstream::println!(
        "{BOLD}{:<width$} {:>10} {:>10} {:>10}{BOLD:#}",
        "operation",
        "before",
        "after",
        "deadline"
    );
    let mut same = 0;
    let mut old = Streams::of(before);
    for new in &after.streams {
        let old = old.take(new);
        if old.is_some_and(|old| (old.response, old.verdict) == (new.response, new.verdict)) {
            same += 1;
            continue;
        }
        let (style, verdict) = verdict(new.verdict);
        let response = |stream: &PlannedStream| stream.response.map_or("-".to_owned(), rounded);
        anstream::println!(
            "{:<width$} {:>10} {:>10} {:>10}  {style}{verdict}{style:#}",
            shown(new),
            old.map_or("-".to_owned(), response),
            response(new),
            rounded(new.deadline),
        );
    }
    anstream::println!("{same} others are as before\n");
    print_verdict(after);
}

/// Streams of a plan by operation and source, in order.
struct Streams<'p>(HashMap<(String, String), VecDeque<&'p PlannedStream>>);

impl<'p> Streams<'p> {
    fn of(plan: &'p Plan) -> Self {
        let mut streams: HashMap<_, VecDeque<_>> = HashMap::new();
        for stream in &plan.streams {
            let key = (stream.operation.clone(), stream.source.clone());
            streams.entry(key).or_default().push_back(stream);
        }
        Self(streams)
    }

    /// Takes the next stream of the operation and source of another.
    fn take(&mut self, of: &PlannedStream) -> Option<&'p PlannedStream> {
        let key = (of.operation.clone(), of.source.clone());
        self.0.get_mut(&key)?.pop_front()
    }
}
