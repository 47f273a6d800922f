//! `cargo xtask figures`: the size and the structure of the code, by area.
//!
//! Lines of files and of functions are given as percentiles, without the unit tests at the end of a
//! file. Of the dependencies between files, the cycles are counted, and the uses that would have to
//! be removed to break them.

use crate::modules;
use crate::run::{Result, packages, root};
use crate::sources;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Options of `cargo xtask figures`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Print the files of each dependency cycle, too.
    #[arg(long, conflicts_with = "json")]
    cycles: bool,
}

/// Figures of one area.
#[derive(Debug, Default, Serialize)]
struct Figures {
    lines: usize,
    /// Lines of files: the median, the 90th percentile, the maximum.
    files: [usize; 3],
    /// Lines of functions: the median, the 90th percentile, the maximum.
    functions: [usize; 3],
    cycles: usize,
    arrows_back: usize,
    #[serde(skip)]
    lengths: (Vec<usize>, Vec<usize>),
}

#[derive(Deserialize)]
struct Package {
    manifest_path: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut areas: BTreeMap<String, Figures> = BTreeMap::new();
    for (path, text) in sources::of_the_product()? {
        let one = areas.entry(area(&path)).or_default();
        let text = without_tests(&text);
        let count = text.lines().count();
        one.lines += count;
        one.lengths.0.push(count);
        one.lengths.1.extend(functions(text));
    }
    for package in packages::<Package>()? {
        let folder = package.manifest_path.parent().unwrap_or(Path::new(""));
        let short = folder.strip_prefix(root()).unwrap_or(folder);
        let src = folder.join("src");
        if let Some(one) = areas.get_mut(&area(short))
            && src.is_dir()
        {
            let (cycles, back) = modules::structure(&src)?;
            one.cycles += cycles.len();
            if options.cycles {
                for cycle in cycles {
                    println!("{}: {cycle}", short.display());
                }
            }
            one.arrows_back += back;
        }
    }
    for one in areas.values_mut() {
        one.files = percentiles(&mut one.lengths.0);
        one.functions = percentiles(&mut one.lengths.1);
    }
    match options.json {
        true => {
            let text = serde_json::to_string_pretty(&areas).map_err(|error| error.to_string())?;
            println!("{text}");
        }
        false => print(&areas),
    }
    Ok(())
}

fn print(areas: &BTreeMap<String, Figures>) {
    println!(
        "{:14} {:>8}  {:>16}  {:>16}  {:>7}  arrows back",
        "area", "lines", "files 50/90/max", "fns 50/90/max", "cycles"
    );
    for (name, one) in areas {
        let shown = |[half, most, all]: [usize; 3]| format!("{half}/{most}/{all}");
        println!(
            "{name:14} {:8}  {:>16}  {:>16}  {:7}  {:11}",
            one.lines,
            shown(one.files),
            shown(one.functions),
            one.cycles,
            one.arrows_back
        );
    }
}

/// Returns the folder in which a file is counted: `crates/orb`, `services`, `tools`.
fn area(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    match parts.as_slice() {
        [first, second, ..] if first == "crates" => format!("crates/{second}"),
        [first, ..] => first.to_string(),
        [] => String::new(),
    }
}

/// Returns a file's text up to its unit tests, which stand last.
fn without_tests(text: &str) -> &str {
    let tests = text.find("\n#[cfg(test)]\nmod ");
    text.get(..tests.unwrap_or(text.len())).unwrap_or(text)
}

/// Returns the number of lines of each function, from `fn` to the closing brace. As rustfmt formats
/// the text, that is the first brace with the indentation of the function.
fn functions(text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let mut lengths = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        if !is_function(code) {
            continue;
        }
        let indent = &line[..line.len() - code.len()];
        let mut ends = lines[place..].iter().enumerate();
        let end = ends.find(|(number, end)| {
            let rest = end.strip_prefix(indent).unwrap_or_default();
            rest.starts_with('}')
                || (*number == 0 && end.ends_with(['}', ';']))
                || rest.starts_with(") -> ") && rest.ends_with(';')
        });
        if let Some((number, end)) = end
            && !end.ends_with(';')
        {
            lengths.push(number + 1);
        }
    }
    lengths
}

/// Returns `true` if a line begins a function: `fn`, possibly after qualifiers.
fn is_function(code: &str) -> bool {
    let mut words = code.split_whitespace();
    words
        .find(|word| {
            let qualifies = ["pub", "const", "async", "unsafe", "extern", "\"C\""];
            !(qualifies.contains(word) || word.starts_with("pub("))
        })
        .is_some_and(|word| word == "fn")
}

fn percentiles(lengths: &mut [usize]) -> [usize; 3] {
    lengths.sort_unstable();
    let at = |percent: usize| {
        let place = lengths.len() * percent / 100;
        lengths
            .get(place.min(lengths.len().saturating_sub(1)))
            .copied()
            .unwrap_or(0)
    };
    [at(50), at(90), at(100)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_measured_from_their_name_to_their_brace() {
        let text = "pub(crate) const fn a() -> u8 {\n    1\n}\n\nimpl B {\n    async fn b(\n        c: u8,\n    ) {\n        d();\n    }\n    fn e() {}\n}\ntrait F {\n    fn g(&self);\n}\n";
        assert_eq!(functions(text), [3, 5, 1]);
    }

    #[test]
    fn tests_at_the_end_do_not_count() {
        assert_eq!(
            without_tests("fn a() {}\n\n#[cfg(test)]\nmod tests {\n}\n"),
            "fn a() {}\n"
        );
    }

    #[test]
    fn percentiles_are_lengths_that_occur() {
        assert_eq!(percentiles(&mut [5, 1, 3, 2, 4]), [3, 5, 5]);
        assert_eq!(percentiles(&mut []), [0, 0, 0]);
    }
}
