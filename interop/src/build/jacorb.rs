//! Builds the JacORB peer: jars by Maven, stubs by JacORB's IDL compiler, then `javac`, into the
//! target folder.

use crate::process::succeed;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Programs that must be installed, and the Debian packages that provide them.
pub(crate) const NEEDED: [(&str, &str); 3] = [
    ("java", "default-jdk-headless"),
    ("javac", "default-jdk-headless"),
    ("mvn", "maven"),
];

/// Artifacts that Maven would fetch for what is not used: calling the IDL compiler from Ant, tests of JacORB's, management by
/// JMX, filters in Java, and starting its services by a wrapper.
const UNUSED: [&str; 14] = [
    "ant",
    "ant-launcher",
    "junit",
    "jmock",
    "jmock-cglib",
    "cglib-full",
    "proxytoys",
    "nanocontainer-remoting",
    "mx4j",
    "mx4j-impl",
    "mx4j-jmx",
    "bsh",
    "geronimo-spec-ejb",
    "wrapper",
];

const LIMIT: Duration = Duration::from_secs(120);

/// Time limit of Maven, which fetches its own plugins first, then the jars.
const FETCH: Duration = Duration::from_secs(300);

/// Labels of unions with unsigned discriminators that JacORB's compiler rejects: Java has no
/// unsigned integers, so they are replaced by the negative numbers with the same bits, and thus the
/// same encoding.
const LABELS: [&str; 3] = ["65535", "4294967295", "18446744073709551615"];

/// Builds the peer's classes from `peers/jacorb` and the IDL into `folder`, and returns their class
/// path.
///
/// # Errors
/// The output of a tool that failed.
pub(crate) fn classes(folder: &Path) -> Result<OsString, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let peer = root.join("peers/jacorb");
    let jars = fetched(folder, &peer.join("pom.xml"))?;
    // Stubs that an earlier run generated from other IDL must not be compiled again.
    let (stubs, classes) = (folder.join("stubs"), folder.join("classes"));
    empty(&stubs)?;
    empty(&classes)?;
    let mut compiler = Command::new("java");
    compiler.arg("-classpath").arg(&jars);
    compiler.args(["org.jacorb.idl.parser", "-d"]).arg(&stubs);
    compiler.arg(signed(folder, &root.join("idl/params.idl"))?);
    compiler.arg(root.join("../examples/cubit/idl/cubit.idl"));
    compiler.arg(root.join("idl/adapters.idl"));
    compiler.arg(root.join("idl/values.idl"));
    compiler.arg(root.join("idl/callbacks.idl"));
    compiler.arg(root.join("idl/groups.idl"));
    succeed("JacORB's IDL compiler", &mut compiler, LIMIT)?;
    // Reply handlers are generated, too.
    let mut compiler = Command::new("java");
    compiler.arg("-classpath").arg(&jars);
    compiler.args(["org.jacorb.idl.parser", "-ami_callback", "-d"]);
    compiler.arg(&stubs).arg(root.join("idl/asynchronous.idl"));
    succeed("JacORB's IDL compiler", &mut compiler, LIMIT)?;
    super::write_implied(folder)?;
    let mut compiler = Command::new("java");
    compiler.arg("-classpath").arg(&jars);
    compiler.args(["org.jacorb.idl.parser", super::WITHOUT_POLLERS]);
    compiler.arg(format!("-I{}", root.join("idl").display()));
    compiler.arg(format!("-I{}", folder.display()));
    compiler
        .arg("-d")
        .arg(&stubs)
        .arg(root.join("idl/plain.idl"));
    compiler.arg(folder.join("implied_messaging.idl"));
    compiler.arg(folder.join("plain_handlers.idl"));
    succeed("JacORB's IDL compiler", &mut compiler, LIMIT)?;

    let mut sources = Vec::new();
    java_files(&stubs, &mut sources)?;
    java_files(&peer.join("src"), &mut sources)?;
    let mut javac = Command::new("javac");
    javac.args(["-nowarn", "-proc:none", "-d"]).arg(&classes);
    javac.arg("-classpath").arg(&jars).args(sources);
    succeed("javac", &mut javac, LIMIT)?;
    let mut path = classes.into_os_string();
    path.push(":");
    path.push(jars);
    Ok(path)
}

/// Returns the jars that the project file names, as a class path; fetches them unless an earlier
/// run has done so.
fn fetched(folder: &Path, project: &Path) -> Result<OsString, String> {
    let wanted = std::fs::read(project).map_err(|error| error.to_string())?;
    let (jars, done) = (folder.join("jars"), folder.join("fetched.xml"));
    if std::fs::read(&done).is_ok_and(|had| had == wanted) {
        return Ok(jars.join("*").into_os_string());
    }
    eprintln!("fetching JacORB");
    empty(&jars)?;
    let mut maven = Command::new("mvn");
    maven
        .args(["--batch-mode", "--quiet", "--file"])
        .arg(project);
    maven.arg("dependency:copy-dependencies");
    maven.arg(format!("-DoutputDirectory={}", jars.display()));
    maven.arg(format!("-DexcludeArtifactIds={}", UNUSED.join(",")));
    succeed("Maven", &mut maven, FETCH)?;
    std::fs::write(done, wanted).map_err(|error| error.to_string())?;
    Ok(jars.join("*").into_os_string())
}

/// Creates a folder, or empties it if it exists.
fn empty(folder: &Path) -> Result<(), String> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|error| error.to_string())?;
    }
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())
}

/// Copies an IDL file, with the labels that JacORB's compiler rejects replaced, and returns the
/// copy's path.
fn signed(folder: &Path, idl: &Path) -> Result<PathBuf, String> {
    let mut text = std::fs::read_to_string(idl).map_err(|error| error.to_string())?;
    for label in LABELS {
        text = text.replace(&format!("case {label}:"), "case -1:");
    }
    let copy = folder.join(idl.file_name().ok_or("IDL without a name")?);
    std::fs::write(&copy, text).map_err(|error| error.to_string())?;
    Ok(copy)
}

/// Collects the paths of all Java files below a folder.
fn java_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    for entry in std::fs::read_dir(folder).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.is_dir() {
            java_files(&path, files)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "java")
        {
            files.push(path);
        }
    }
    Ok(())
}
