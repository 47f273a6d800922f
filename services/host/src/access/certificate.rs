//! Names in a certificate (RFC 5280, §4.1), by a minimal reader of DER (X.690): a library for all of
//! X.509 takes longer to compile than this crate.
//!
//! ```text
//! SEQUENCE                          certificate
//!   SEQUENCE                        what is signed
//!     [0] version, INTEGER, SEQUENCE algorithm, SEQUENCE issuer, SEQUENCE validity
//!     SEQUENCE                      subject
//!       SET  SEQUENCE  OID  STRING  one attribute, for example the common name
//!     SEQUENCE key, [1], [2]
//!     [3]  SEQUENCE                 extensions
//!       SEQUENCE  OID  BOOLEAN  OCTET STRING
//! ```
//!
//! TLS has checked the certificate's signatures before. Whatever is malformed all the same proves no
//! name: reading ends at the first octet that is not as expected, and yields nothing.

const BOOLEAN: u8 = 0x01;
const INTEGER: u8 = 0x02;
const OCTET_STRING: u8 = 0x04;
const OID: u8 = 0x06;
const UTF8_STRING: u8 = 0x0c;
const PRINTABLE_STRING: u8 = 0x13;
const IA5_STRING: u8 = 0x16;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const VERSION: u8 = 0xa0;
const ISSUER_ID: u8 = 0x81;
const SUBJECT_ID: u8 = 0x82;
const EXTENSIONS: u8 = 0xa3;
/// Alternative names that are text: mail, DNS, URI.
const TEXTS: [u8; 3] = [0x81, 0x82, 0x86];

/// Identifier 2.5.4.3.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
/// Identifier 2.5.29.17.
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];

/// Returns the common names of a certificate's subject, and its alternative names that are text.
pub(super) fn names(certificate: &[u8]) -> Option<Vec<String>> {
    let mut signed = Der(certificate).inside(SEQUENCE)?.inside(SEQUENCE)?;
    signed.optional(VERSION)?;
    signed.inside(INTEGER)?;
    for _algorithm_issuer_validity in 0..3 {
        signed.inside(SEQUENCE)?;
    }
    let mut names = Vec::new();
    let mut subject = signed.inside(SEQUENCE)?;
    while !subject.is_empty() {
        let mut attributes = subject.inside(SET)?;
        while !attributes.is_empty() {
            common_name(attributes.inside(SEQUENCE)?, &mut names)?;
        }
    }
    let _key = signed.inside(SEQUENCE)?;
    signed.optional(ISSUER_ID)?;
    signed.optional(SUBJECT_ID)?;
    if let Some(mut all) = signed.optional(EXTENSIONS)? {
        alternative_names(all.inside(SEQUENCE)?, &mut names)?;
    }
    Some(names)
}

/// Adds the value of an attribute of the subject that is a common name.
fn common_name(mut attribute: Der<'_>, names: &mut Vec<String>) -> Option<()> {
    let kind = attribute.inside(OID)?;
    let (tag, value) = attribute.element()?;
    if kind.0 == COMMON_NAME {
        match tag {
            UTF8_STRING => names.push(std::str::from_utf8(value.0).ok()?.to_owned()),
            PRINTABLE_STRING | IA5_STRING => names.push(value.ascii()?),
            // Other kinds of strings are not compared with names in rules.
            _ => {}
        }
    }
    Some(())
}

/// Adds the alternative names that are text. A certificate has them once (RFC 5280, §4.2).
fn alternative_names(mut extensions: Der<'_>, names: &mut Vec<String>) -> Option<()> {
    let mut is_found = false;
    while !extensions.is_empty() {
        let mut extension = extensions.inside(SEQUENCE)?;
        let kind = extension.inside(OID)?;
        extension.optional(BOOLEAN)?;
        let mut value = extension.inside(OCTET_STRING)?;
        if kind.0 != ALTERNATIVE_NAMES {
            continue;
        }
        if std::mem::replace(&mut is_found, true) {
            return None;
        }
        let mut all = value.inside(SEQUENCE)?;
        while !all.is_empty() {
            let (tag, name) = all.element()?;
            if TEXTS.contains(&tag) {
                names.push(name.ascii()?);
            }
        }
    }
    Some(())
}

/// Octets that are not read yet: elements, one behind the other.
#[derive(Clone, Copy, Debug)]
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Reads the next element, which must have this tag; returns its contents.
    fn inside(&mut self, tag: u8) -> Option<Der<'a>> {
        let (found, contents) = self.element()?;
        (found == tag).then_some(contents)
    }

    /// Reads the next element if it has this tag; `None` if it is malformed.
    fn optional(&mut self, tag: u8) -> Option<Option<Der<'a>>> {
        match self.0.first() {
            Some(&found) if found == tag => self.inside(tag).map(Some),
            _ => Some(None),
        }
    }

    /// Reads the next element; returns its tag and its contents. Tags of several octets do not
    /// occur on the way to names.
    fn element(&mut self) -> Option<(u8, Der<'a>)> {
        let (&[tag, first], rest) = self.0.split_first_chunk::<2>()?;
        if tag & 0x1f == 0x1f {
            return None;
        }
        let (length, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            // DER has the shortest form alone (X.690, §10.1).
            0x81 => match rest {
                [length @ 0x80..=0xff, rest @ ..] => (usize::from(*length), rest),
                _ => return None,
            },
            0x82 => match rest {
                [high @ 1..=0xff, low, rest @ ..] => {
                    (usize::from(u16::from_be_bytes([*high, *low])), rest)
                }
                _ => return None,
            },
            // Longer than 65,535 octets is no certificate.
            _ => return None,
        };
        let (contents, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, Der(contents)))
    }

    fn ascii(self) -> Option<String> {
        let text = std::str::from_utf8(self.0).ok()?;
        text.is_ascii().then(|| text.to_owned())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::names;
    use rcgen::{CertificateParams, DnType, DnValue, KeyPair, SanType};

    fn certificate(common: &[DnValue], alternative: Vec<SanType>) -> Vec<u8> {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params
            .distinguished_name
            .push(DnType::OrganizationName, "elsewhere");
        for name in common {
            params
                .distinguished_name
                .push(DnType::CommonName, name.clone());
        }
        params.subject_alt_names = alternative;
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    fn utf8(text: &str) -> DnValue {
        DnValue::Utf8String(text.to_owned())
    }

    #[test]
    fn names_are_the_common_one_and_the_alternative_ones_that_are_text() {
        let long = "d".repeat(200);
        let alternative = vec![
            SanType::DnsName("host.example".try_into().unwrap()),
            SanType::IpAddress("10.0.0.1".parse().unwrap()),
            SanType::URI("spiffe://example/one".try_into().unwrap()),
            SanType::Rfc822Name("one@example".try_into().unwrap()),
            SanType::DnsName(long.as_str().try_into().unwrap()),
        ];
        let of = |common: &[DnValue]| names(&certificate(common, alternative.clone())).unwrap();
        let others = ["host.example", "spiffe://example/one", "one@example", &long];
        assert_eq!(of(&[]), others);
        for (value, name) in [
            (utf8("Zoë"), "Zoë"),
            (DnValue::PrintableString("One".try_into().unwrap()), "One"),
            (DnValue::Ia5String("One".try_into().unwrap()), "One"),
        ] {
            assert_eq!(of(&[value])[0], name);
            assert_eq!(of(&[utf8(name)])[1..], others);
        }
        let none = certificate(&[], Vec::new());
        assert_eq!(names(&none), Some(Vec::new()));
    }

    #[test]
    fn a_cut_certificate_proves_nothing_and_a_changed_one_causes_no_panic() {
        let whole = certificate(
            &[utf8("name")],
            vec![SanType::DnsName("host".try_into().unwrap())],
        );
        let proved = names(&whole).unwrap();
        assert_eq!(proved, ["name", "host"]);
        for length in 0..whole.len() {
            assert_eq!(names(&whole[..length]), None, "{length}");
        }
        // Any result will do but a panic.
        for place in 0..whole.len() {
            for octet in [0, 0x1f, 0x30, 0x7f, 0x80, 0x81, 0x82, 0x84, 0xa3, 0xff] {
                let mut changed = whole.clone();
                changed[place] = octet;
                let _ = names(&changed);
            }
        }
    }

    #[test]
    fn lengths_in_another_than_the_shortest_form_are_refused() {
        let whole = certificate(&[utf8("name")], Vec::new());
        let [0x30, 0x82, high, low, contents @ ..] = &*whole else {
            panic!("it has more than 255 octets");
        };
        let longer = [&[0x30, 0x83, 0, *high, *low], contents].concat();
        assert_eq!(names(&longer), None);
    }
}
