//! Peer ORB: the commands that start its processes, and its known limitations.

use crate::matrix::{Direction, Outcome, Version};
use crate::role::Role;
use crate::transport::Transport;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

const NO_WIDE: &str = "GIOP 1.0 has no wide characters (CORBA 3.3 part 2, 9.3.1.6)";
const NO_WIDE_IN_1_1: &str = "omniORB has no wide text in GIOP 1.1: its references say so (they \
                              publish no code sets), and its client raises INV_OBJREF";
const EXTENDED: &str = "omniORB sends the processor's own format (80 bits on x86-64) instead of \
                        the IEEE 754 quadruple of CORBA 3.3 part 2, 9.3.1.4";

/// Cases that JacORB fails through faults of its own, with the reasons.
const JACORB_LACKS: [(&[&str], &str); 5] = [
    (
        &["e_longdouble"],
        "JacORB has Java's double in the place of a long double, of 8 octets instead of 16",
    ),
    (
        &["context"],
        "JacORB's stubs and skeletons know no contexts",
    ),
    (
        &["e_money", "e_huge", "e_fraction"],
        "JacORB writes a fixed with as many digits as the value has, instead of the type. Its client \
         sends some that have all",
    ),
    (
        &["e_widetag"],
        "JacORB's skeleton reads an inout wstring with a bound as if it were a string",
    ),
    (
        &[
            "say_by_short",
            "say_by_ushort",
            "say_by_long",
            "say_by_ulong",
            "say_by_ulonglong",
            "say_by_char",
            "e_byshort",
            "e_byushort",
            "e_bylong",
            "e_byulong",
            "e_byulonglong",
            "e_bychar",
        ],
        "JacORB forgets the discriminator of a union that has no label of its own when it reads one. \
         Its client sends the one that it knows",
    ),
];

/// Case of values or Anys that a peer fails: its name, the directions concerned, and the reason.
type Lack = (&'static str, &'static [Direction], &'static str);

const OMNIORB_LACKS_OF_VALUES: [Lack; 2] = [
    (
        "any of exception",
        &[Direction::To],
        "omniORB before 4.3 neither writes nor reads the repository id of an exception in an Any. Ours are \
         read in both forms, and go back in the form that they came in",
    ),
    (
        "any of recursive value",
        &[Direction::From],
        "omniORB raises BAD_TYPECODE when it marshals its own TypeCode of a recursive valuetype",
    ),
];

const JACORB_LACKS_OF_VALUES: [Lack; 3] = [
    (
        "e_text",
        &[Direction::To],
        "JacORB's skeleton reads an inout boxed value without what stands before its state. Its client sends \
         and reads boxes as they should be",
    ),
    ("e_base, boxed", &[Direction::To], BOXES_OF_JAVA),
    ("any of boxed value", &[Direction::To], BOXES_OF_JAVA),
];

const BOXES_OF_JAVA: &str = "JacORB takes a boxed value whose place does not say its type for one of Java's \
                             RMI-IIOP, which Java has lost";

/// Command-line options of every omniORB process in the tests.
const OMNIORB: [&str; 6] = [
    "-ORBgiopMaxMsgSize",
    "134217728",
    "-ORBverifyObjectExistsAndType",
    "1",
    "-ORBtraceLevel",
    "1",
];

/// Options of every JacORB process: first those of the Java virtual machine, chosen for a fast
/// start, then those of the ORB.
const JACORB: [&str; 10] = [
    "-XX:TieredStopAtLevel=1",
    // A chain of values is read by recursion, in code that is interpreted at first: on a busy
    // machine, where it is compiled late, the stack of 1 MiB was too small now and then.
    "-Xss16m",
    "-XX:+UseSerialGC",
    "-Dfile.encoding=UTF-8",
    "-Djacorb.native_wchar_codeset=UTF16",
    "-Djacorb.log.default.verbosity=1",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
    "-DOAIAddr=127.0.0.1",
    "-Djacorb.dns.enable=off",
    // Without it, more one-ways at once than its queue holds are refused with TRANSIENT.
    "-Djacorb.poa.queue_wait=on",
];

/// Peer ORB of the interoperability tests, with its compiled program.
#[derive(Debug)]
pub(crate) enum Peer {
    /// omniORB, with the path of the test program.
    Omniorb(PathBuf),
    /// JacORB, with the Java class path of the test program.
    Jacorb(OsString),
}

impl Peer {
    /// Returns the name that the peer's objects return as their own.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Omniorb(_) => "omniORB",
            Self::Jacorb(_) => "JacORB",
        }
    }

    /// Returns the command that starts the peer in a role, with its options; the caller may append
    /// arguments.
    pub(crate) fn command(&self, version: Version, transport: &Transport, role: Role) -> Command {
        match self {
            Self::Omniorb(program) => {
                let mut command = Command::new(program);
                command.args(OMNIORB);
                command.args(["-ORBmaxGIOPVersion", version.text()]);
                transport.tell_peer(&mut command, version, role);
                command
            }
            Self::Jacorb(classes) => {
                let mut command = Command::new("java");
                command.args(JACORB);
                let (_, minor) = version.text().split_once('.').unwrap_or_default();
                command.arg(format!("-Djacorb.giop_minor_version={minor}"));
                // omniORB replies in its native set, whatever was negotiated.
                let native = if version == Version::V1_0 {
                    "ISO8859_1"
                } else {
                    "UTF8"
                };
                command.arg(format!("-Djacorb.native_char_codeset={native}"));
                command.arg("-classpath").arg(classes).arg("Main");
                command
            }
        }
    }

    /// Returns the reason why wide text cannot be exchanged with the peer, or `None`.
    pub(crate) fn no_wide(&self, version: Version) -> Option<Outcome> {
        let why = match (self, version) {
            (_, Version::V1_0) => NO_WIDE,
            (Self::Omniorb(_), Version::V1_1) => NO_WIDE_IN_1_1,
            (Self::Jacorb(_), Version::V1_1) | (_, Version::V1_2) => return None,
        };
        Some(Outcome::NotApplicable(why.to_owned()))
    }

    /// Returns the reason, other than wide text, why a case cannot be run with the peer, or `None`.
    pub(crate) fn excuse(&self, case: &str) -> Option<Outcome> {
        let why = match (self, case) {
            (Self::Omniorb(_), "e_longdouble") => Some(EXTENDED),
            (Self::Omniorb(_), _) => None,
            (Self::Jacorb(_), _) => JACORB_LACKS
                .iter()
                .find(|(cases, _)| cases.contains(&case))
                .map(|(_, why)| *why),
        };
        why.map(|why| Outcome::NotApplicable(why.to_owned()))
    }

    /// Returns the reason why a value or an Any cannot be exchanged with the peer, or `None`.
    pub(crate) fn excuse_value(
        &self,
        case: &str,
        version: Version,
        direction: Direction,
    ) -> Option<Outcome> {
        if case == "any of wstring" {
            return self.no_wide(version);
        }
        let lacks = match self {
            Self::Omniorb(_) => &OMNIORB_LACKS_OF_VALUES[..],
            Self::Jacorb(_) => &JACORB_LACKS_OF_VALUES[..],
        };
        let found = lacks
            .iter()
            .find(|(of, ways, _)| *of == case && ways.contains(&direction));
        found.map(|(_, _, why)| Outcome::NotApplicable((*why).to_owned()))
    }

    /// Returns whether the code sets in the peer's references of this version make our client
    /// choose UTF-8. References that publish no code sets imply ISO 8859-1.
    pub(crate) fn publishes_utf8(&self, version: &str) -> bool {
        match self {
            Self::Omniorb(_) => version == "1.2",
            Self::Jacorb(_) => version != "1.0",
        }
    }
}
