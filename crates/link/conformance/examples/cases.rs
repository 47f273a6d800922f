//! Prints every case of the suite with its family.

use punctual_link_conformance::CASES;

fn main() {
    for (case, family) in CASES.into_iter().flatten() {
        println!("{family:8}  {}", case.replace('_', " "));
    }
}
