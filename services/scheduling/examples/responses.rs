//! Prints the response times of tasks that it reads from standard input.
//!
//! Each line is a task: execution time, period and deadline in whole nanoseconds, in falling order of
//! priority. An empty line ends a set. The argument is `fixed` or `edf`. Of each set, it prints a line
//! with `feasible` or `infeasible`, and the response times; `-` for none.

use std::io::{self, BufRead};

use punctual_scheduling::Time;
use punctual_scheduling::analysis::edf::{self, Sharing};
use punctual_scheduling::analysis::fixed_priority::{self, Prioritized};
use punctual_scheduling::analysis::{Response, Task};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let by_deadline = match std::env::args().nth(1).as_deref() {
        Some("fixed") => false,
        Some("edf") => true,
        _ => return Err("usage: responses fixed|edf < tasks".into()),
    };
    let mut tasks = Vec::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        if line.trim().is_empty() {
            print(&tasks, by_deadline);
            tasks.clear();
        } else {
            tasks.push(task(&line)?);
        }
    }
    if !tasks.is_empty() {
        print(&tasks, by_deadline);
    }
    Ok(())
}

/// Parses a task.
fn task(line: &str) -> Result<Task, Box<dyn std::error::Error>> {
    let numbers: Vec<u64> = line
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    let [wcet, period, deadline] = numbers[..] else {
        return Err(format!("`{line}` is not an execution time, a period and a deadline").into());
    };
    let task = Task::new(Time::from_nanos(wcet), Time::from_nanos(period));
    Ok(task.with_deadline(Time::from_nanos(deadline)))
}

/// Prints the verdict on a set, and its response times.
fn print(tasks: &[Task], by_deadline: bool) {
    let (feasible, responses) = if by_deadline {
        let sharing = |task| Sharing {
            task,
            sections: &[],
        };
        let tasks: Vec<_> = tasks.iter().map(sharing).collect();
        (
            edf::demand_test(&tasks).is_feasible(),
            edf::responses(&tasks),
        )
    } else {
        let ranked = tasks.iter().zip((0..i32::MAX).rev());
        let ranked: Vec<_> = ranked
            .map(|(task, priority)| Prioritized { task, priority })
            .collect();
        let responses = fixed_priority::responses(&ranked);
        let mut met = responses.iter().zip(tasks);
        let feasible = met.all(|(response, task)| response.meets(task.deadline));
        (feasible, responses)
    };
    let shown = responses.into_iter().map(Response::bound).map(|bound| {
        let nanos = bound.map(|time| time.as_nanos().to_string());
        nanos.unwrap_or_else(|| "-".to_owned())
    });
    let verdict = if feasible { "feasible" } else { "infeasible" };
    println!("{verdict} {}", shown.collect::<Vec<_>>().join(" "));
}
