//! Compiles the IDL of the tests, and extracts the examples of the guide to asynchronous calls, so
//! that they are compiled, too.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const GUIDE: &str = "../../../docs/guide/asynchrony.md";

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    println!("cargo:rerun-if-changed={GUIDE}");
    let guide = std::fs::read_to_string(GUIDE)?;
    std::fs::write(out.join("guide_examples.rs"), examples(&guide))?;
    let idl = out.join("guide.idl");
    let text: String = blocks(&guide, "idl").concat();
    if std::fs::read_to_string(&idl).ok().as_ref() != Some(&text) {
        std::fs::write(&idl, text)?;
    }
    compile(&idl)?;
    Ok(())
}

/// Returns the code blocks of a Markdown page whose info string is `language`.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut rest = page;
    let start = format!("\n```{language}\n");
    while let Some((_, after)) = rest.split_once(&start) {
        let Some((block, after)) = after.split_once("\n```\n") else {
            break;
        };
        blocks.push(format!("{block}\n"));
        rest = after;
    }
    blocks
}

/// Returns Rust source with a function for each example of a page, and two functions, a synchronous
/// and an `async` one, that run all of them.
fn examples(page: &str) -> String {
    let mut text = String::new();
    for (asynchronous, language, all) in
        [("", "rust", "all"), ("async ", "rust,async", "all_async")]
    {
        let examples = blocks(page, language);
        let wait = if asynchronous.is_empty() {
            ""
        } else {
            ".await"
        };
        for (number, example) in examples.iter().enumerate() {
            let _ = write!(
                text,
                "{asynchronous}fn {all}_{number}(orb: &Orb, clerk: &Clerk) -> Result<(), Box<dyn Error>> {{\n\
                 {example}let _ = orb;\nOk(())\n}}\n\n"
            );
        }
        let calls =
            (0..examples.len()).map(|number| format!("{all}_{number}(orb, clerk){wait}?;\n"));
        let calls: String = calls.collect();
        let count = examples.len();
        let _ = write!(
            text,
            "{asynchronous}fn {all}(orb: &Orb, clerk: &Clerk) -> Result<usize, Box<dyn Error>> {{\n\
             {calls}Ok({count})\n}}\n\n"
        );
    }
    text
}

fn compile(guide: &Path) -> Result<(), punctual_build::Error> {
    let called_and_served =
        punctual_build::Builder::new().native("local_things::Failure", "crate::local::Failure");
    // Each way to call and to serve is as much code again: for those that tests use, and for all
    // kinds of values.
    let in_every_way = called_and_served
        .clone()
        .asynchronous(true)
        .amh(true)
        .async_servants(true);
    let files = [
        "idl/asynchronous.idl",
        "idl/family.idl",
        "idl/intercepted.idl",
        "idl/side_by_side/pumps.idl",
        "idl/side_by_side/tanks.idl",
        "idl/values.idl",
    ];
    let files: Vec<&Path> = files.iter().map(Path::new).chain([guide]).collect();
    in_every_way.compile(&files)?;
    called_and_served.compile(&[
        "idl/events.idl",
        "idl/idl4.idl",
        "idl/interpreted.idl",
        "idl/local.idl",
        "idl/near.idl",
        "idl/timed.idl",
    ])
}
