//! From when until when a certificate is valid: the one thing that has to be read out of it here.
//!
//! A walk over a few nodes of DER (RFC 5280, §4.1). The file is this side's own; what peers send is
//! read by the TLS library.

use std::time::{SystemTime, UNIX_EPOCH};

const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// A span of time, in seconds since 1970, and as it stands in the certificate.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Validity {
    begin: Moment,
    end: Moment,
}

#[derive(Debug, PartialEq, Eq)]
struct Moment {
    seconds: i64,
    /// For people.
    text: String,
}

/// What time it is for a certificate.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Valid,
    NotYet(String),
    Expired(String),
}

impl Validity {
    /// Of a certificate in DER; `None` if that is malformed.
    pub(crate) fn of(certificate: &[u8]) -> Option<Self> {
        let (certificate, _) = node(certificate, SEQUENCE)?;
        let (mut fields, _) = node(certificate, SEQUENCE)?;
        if fields.first() == Some(&VERSION) {
            (_, _, fields) = any_node(fields)?;
        }
        // Serial number, signature algorithm, issuer.
        for _ in 0..3 {
            (_, _, fields) = any_node(fields)?;
        }
        let (validity, _) = node(fields, SEQUENCE)?;
        let (tag, begin, rest) = any_node(validity)?;
        let begin = Moment::of(tag, begin)?;
        let (tag, end, _) = any_node(rest)?;
        let end = Moment::of(tag, end)?;
        Some(Self { begin, end })
    }

    /// How the certificate stands at a time.
    pub(crate) fn at(self, now: SystemTime) -> Standing {
        let seconds = match now.duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
            Err(_) => 0,
        };
        if seconds < self.begin.seconds {
            Standing::NotYet(self.begin.text)
        } else if seconds > self.end.seconds {
            Standing::Expired(self.end.text)
        } else {
            Standing::Valid
        }
    }
}

/// The content of a node with this tag, and what is behind it.
fn node(octets: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, content, rest) = any_node(octets)?;
    (found == tag).then_some((content, rest))
}

/// Tag and content of a node, and what is behind it.
fn any_node(octets: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = octets.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        short @ ..=0x7f => (usize::from(*short), rest),
        // No certificate is longer than 16 MiB.
        long @ 0x81..=0x83 => {
            let (length, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
            let fold = |sum: usize, octet: &u8| sum << 8 | usize::from(*octet);
            (length.iter().fold(0, fold), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

impl Moment {
    /// `YYMMDDHHMMSSZ`, or with four digits of the year (RFC 5280, §4.1.2.5).
    fn of(tag: u8, text: &[u8]) -> Option<Self> {
        let text = str::from_utf8(text).ok()?.strip_suffix('Z')?;
        if !text.bytes().all(|octet| octet.is_ascii_digit()) {
            return None;
        }
        let (year, rest) = match (tag, text.len()) {
            (UTC_TIME, 12) => {
                let year: i64 = text.get(..2)?.parse().ok()?;
                (
                    if year < 50 { 2000 + year } else { 1900 + year },
                    text.get(2..)?,
                )
            }
            (GENERALIZED_TIME, 14) => (text.get(..4)?.parse().ok()?, text.get(4..)?),
            _ => return None,
        };
        let part = |at: usize| rest.get(at..at + 2)?.parse::<i64>().ok();
        let (month, day) = (part(0)?, part(2)?);
        let (hour, minute, second) = (part(4)?, part(6)?, part(8)?);
        let in_day = hour * 3600 + minute * 60 + second;
        Some(Self {
            seconds: days_since_1970(year, month, day) * 86_400 + in_day,
            text: format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC"),
        })
    }
}

/// Of a date of the Gregorian calendar: years begin in March here, so that leap days come last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates_are_counted_from_1970_on() {
        for (date, days) in [
            ((1970, 1, 1), 0),
            ((1969, 12, 31), -1),
            ((2000, 2, 29), 11_016),
            ((2000, 3, 1), 11_017),
            ((2026, 11, 21), 20_778),
        ] {
            assert_eq!(days_since_1970(date.0, date.1, date.2), days, "{date:?}");
        }
    }

    #[test]
    fn a_certificate_says_from_when_until_when_it_is_valid() {
        let mut params = rcgen::CertificateParams::new(vec!["h".to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(2020, 1, 1);
        params.not_after = rcgen::date_time_ymd(2050, 1, 1);
        let key = rcgen::KeyPair::generate().unwrap();
        let der = params.self_signed(&key).unwrap().der().to_vec();
        let standing = |year: u64| {
            let now = UNIX_EPOCH + Duration::from_secs((year - 1970) * 365 * 86_400);
            Validity::of(&der).unwrap().at(now)
        };
        let begin = "2020-01-01 00:00:00 UTC".to_owned();
        assert_eq!(standing(2019), Standing::NotYet(begin));
        assert_eq!(standing(2030), Standing::Valid);
        let end = "2050-01-01 00:00:00 UTC".to_owned();
        assert_eq!(standing(2060), Standing::Expired(end));
        for length in 0..der.len() {
            // Cut off anywhere: never a panic.
            let _ = Validity::of(&der[..length]);
        }
        assert_eq!(Validity::of(b"no certificate"), None);
    }
}
