//! Tables and charts of the curves: the paper's figures 31 (random) and 32 (worst case), the other
//! orders, larger numbers, one-ways and depth; and the table of the parts measured alone.

use crate::experiment::{Chart, Column, Experiment, Row, Sheet, Tabled};

/// Largest number of objects in the paper's experiment.
const PAPER: f64 = 500.0;

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "demux",
    "what finding an object and its operation costs, by strategy",
)
.reproduces("Gokhale and Schmidt 1998, figures 6 to 9, 31 and 32")
.frames(&["rows", "inside"])
.conditions("client and server: {placement}; {rounds} rounds of {calls} calls")
.tables(&[
    matrix(
        |row| over_objects(row) && (is_drawn(row) || has_most_operations(row)),
        &["algorithm", "operations"],
        "{algorithm}, {operations} operation(s), over objects; µs",
        "objects",
    ),
    matrix(
        is_one_way,
        &["algorithm", "operations"],
        "one-way, {algorithm}, {operations} operation(s), over objects; µs",
        "objects",
    ),
    matrix(
        over_depth,
        &["algorithm", "operations"],
        "depth of adapters, {objects} objects, {algorithm}; µs",
        "depth",
    ),
    Tabled::listing(
        "inside",
        "inside a call, by itself",
        "{what}",
        &[
            Column::ratio("", "value").decimals(1),
            Column::figure("at most", "goal"),
            Column::text("", "unit").faint(),
            Column::text("", "verdict"),
        ],
    ),
])
.sheet(Sheet::new(
    (480, 360),
    3,
    &[
        chart(
            |row| of_the_paper(row) && row.is("algorithm", "random"),
            "figure 31: {algorithm}, {operations} operation(s)",
            "objects",
            false,
        ),
        chart(
            |row| of_the_paper(row) && row.is("algorithm", "worst_case"),
            "figure 32: {algorithm}, {operations} operation(s)",
            "objects",
            false,
        ),
        chart(
            |row| of_the_paper(row) && !is_drawn(row) && is_of_calls(row),
            "figures 6 to 9: two-way, {algorithm}",
            "objects",
            false,
        ),
        chart(
            |row| is_one_way(row) && row.number("objects") <= Some(PAPER) && is_of_calls(row),
            "figures 6 to 9: one-way, {algorithm}",
            "objects",
            false,
        ),
        chart(
            |row| over_objects(row) && is_far(row) && row.is("algorithm", "random"),
            "{algorithm}, {operations} operation(s), without linear search",
            "objects",
            true,
        ),
        chart(
            over_depth,
            "depth of adapters, {objects} objects, {algorithm}",
            "depth",
            false,
        ),
    ],
));

const fn matrix(
    only: fn(&Row) -> bool,
    each: &'static [&'static str],
    title: &'static str,
    across: &'static str,
) -> Tabled {
    Tabled::matrix(
        "rows",
        title,
        ("strategy", across),
        Column::micros("", "median").marked_by("noisy"),
    )
    .only(only)
    .each(each)
}

const fn chart(
    only: fn(&Row) -> bool,
    title: &'static str,
    across: &'static str,
    logarithmic: bool,
) -> Chart {
    Chart::lines(
        "rows",
        title,
        (across, across),
        &[("{strategy}", "median")],
        (1000.0, "µs a call, median"),
    )
    .logarithmic(logarithmic, false)
    .least(if logarithmic { 2 } else { 1 })
    .only(only)
    .each(&["algorithm", "operations"])
}

fn over_objects(row: &Row) -> bool {
    row.is("over", "objects") && row.flag("two_way")
}

fn is_one_way(row: &Row) -> bool {
    !row.flag("two_way")
}

fn over_depth(row: &Row) -> bool {
    row.is("over", "depth")
}

/// Returns whether the paper has a figure for the row's calling order.
fn is_drawn(row: &Row) -> bool {
    row.is("algorithm", "random") || row.is("algorithm", "worst_case")
}

/// Returns whether a row belongs to the charts of stubs beside the DII, which have no other strategies.
fn is_of_calls(row: &Row) -> bool {
    ["active", "dii", "omniorb"]
        .iter()
        .any(|one| row.is("strategy", one))
}

fn has_most_operations(row: &Row) -> bool {
    row.number("operations") == Some(100.0)
}

fn of_the_paper(row: &Row) -> bool {
    over_objects(row) && has_most_operations(row) && row.number("objects") <= Some(PAPER)
}

/// Returns whether a row belongs to the charts of more objects than the paper has. Linear search is
/// left out there: it takes milliseconds and would flatten the other curves into one line.
fn is_far(row: &Row) -> bool {
    let is_far = row.number("objects") >= Some(PAPER);
    is_far && has_most_operations(row) && !row.is("strategy", "linear")
}
