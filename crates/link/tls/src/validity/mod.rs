//! Validity period of a certificate.
//!
//! For this side's own certificates; the TLS library reads those of peers.

mod der;

use der::Moment;
use std::time::{SystemTime, UNIX_EPOCH};

/// Validity period of an X.509 certificate.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Validity {
    begin: Moment,
    end: Moment,
}

/// Position of a time relative to the validity period.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TimeCheck {
    Valid,
    NotYet(String),
    Expired(String),
}

impl Validity {
    /// Reads the period of a certificate in DER; `None` if that is malformed up to there.
    pub(crate) fn of(certificate: &[u8]) -> Option<Self> {
        let (begin, end) = der::validity(certificate)?;
        Some(Self { begin, end })
    }

    /// Returns the position of a time relative to the period.
    pub(crate) fn at(self, now: SystemTime) -> TimeCheck {
        let seconds = match now.duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
            Err(_) => 0,
        };
        if seconds < self.begin.seconds() {
            TimeCheck::NotYet(words(self.begin))
        } else if seconds > self.end.seconds() {
            TimeCheck::Expired(words(self.end))
        } else {
            TimeCheck::Valid
        }
    }
}

/// Formats a time of a certificate's validity period for error messages.
fn words(moment: Moment) -> String {
    let Moment {
        year,
        month,
        day,
        hour,
        minute,
        second,
    } = moment;
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

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
        assert_eq!(standing(2019), TimeCheck::NotYet(begin));
        assert_eq!(standing(2030), TimeCheck::Valid);
        let end = "2050-01-01 00:00:00 UTC".to_owned();
        assert_eq!(standing(2060), TimeCheck::Expired(end));
        for length in 0..der.len() {
            // Truncated anywhere: never a panic.
            let _ = Validity::of(&der[..length]);
        }
        assert_eq!(Validity::of(b"no certificate"), None);
    }
}
