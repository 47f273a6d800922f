//! Support code for the snippets of the guide.
#![allow(unreachable_pub)]

pub use punctual::prelude::*;
pub use std::error::Error;
pub use std::time::Duration;

/// Result type of the guide's code snippets.
pub type Done = Result<(), Box<dyn Error>>;

/// Returns an ORB that listens on the loopback and calls its own objects over the network, and its
/// root POA, which is active.
pub fn orb_and_root() -> Result<(Orb, Poa), Box<dyn Error>> {
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .configure(|config| config.collocation = punctual::policy::Collocation::None)
        .build()?;
    let root = orb.root_poa()?;
    root.manager().activate()?;
    Ok((orb, root))
}

/// Writes the model of the guide's plant, with a faster display; returns its path, which lasts as long as the value.
pub fn plan_of_the_plant() -> Result<tempfile::TempPath, Box<dyn Error>> {
    let page = std::fs::read_to_string(punctual_guide::root().join("docs/guide/schedules.md"))?;
    let model = page
        .split("```toml\n")
        .nth(1)
        .and_then(|text| text.split("```").next());
    let model = model
        .ok_or("the page has no model")?
        .replace("\"10ms\"\nperiod = \"40ms\"", "\"6ms\"\nperiod = \"40ms\"");
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), model)?;
    Ok(file.into_temp_path())
}

/// Writes a file that a page of the guide shows; returns its path, which lasts as long as the value.
pub fn file_of_the_page(page: &str, name: &str) -> Result<tempfile::TempPath, Box<dyn Error>> {
    let page =
        std::fs::read_to_string(punctual_guide::root().join(format!("docs/guide/{page}.md")))?;
    let text = page
        .split(&format!("<!-- guide: file {name} -->\n"))
        .nth(1)
        .and_then(|text| text.split("```").nth(1))
        .and_then(|text| text.split_once('\n'));
    let (_language, text) = text.ok_or("the page has no such file")?;
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), text)?;
    Ok(file.into_temp_path())
}

/// Checks that a configuration file with this text is accepted.
pub fn configuration(text: &str) -> Done {
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), text)?;
    punctual::OrbConfig::default().apply_file(file.path())?;
    Ok(())
}
