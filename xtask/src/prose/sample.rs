//! Sample of comments, drawn at random, for a reader who does not see the code.

use super::comments;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Prints `count` comments. A given seed always selects the same comments of unchanged files.
pub(super) fn print(files: &BTreeMap<PathBuf, String>, count: usize, seed: u64) {
    let mut all: Vec<(String, String)> = Vec::new();
    for (path, text) in files {
        for comment in comments::of(text) {
            if comment.documents() {
                all.push((format!("{}:{}", path.display(), comment.line), comment.text));
            }
        }
    }
    let mut chance = seed;
    for number in 1..=count.min(all.len()) {
        let place = usize::try_from(next(&mut chance) % all.len() as u64).unwrap_or(0);
        let (place, text) = all.swap_remove(place);
        println!("{number:3}  {text}\n     ({place})\n");
    }
}

/// Returns the next pseudo-random number (SplitMix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
