//! Minimal DER reader for the validity of a certificate (ITU-T X.690; RFC 5280, section 4.1): a
//! full X.509 library would take a tenth of a small program's compile time.

/// Tags of the elements that lead to the validity period (X.690, section 8.1.2; X.680, section
/// 8.6).
const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// Tag `[0] EXPLICIT` of the version, which the first version of certificates omits.
const VERSION: u8 = 0xA0;

/// Reader of DER data, holding the bytes that are not read yet.
#[derive(Clone, Copy)]
struct Der<'a>(&'a [u8]);

/// Date and time of day, in UTC. The earlier of two is the smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment {
    pub(super) year: u16,
    pub(super) month: u8,
    pub(super) day: u8,
    pub(super) hour: u8,
    pub(super) minute: u8,
    pub(super) second: u8,
}

/// Returns the times `notBefore` and `notAfter` of an X.509 certificate.
pub(super) fn validity(certificate: &[u8]) -> Option<(Moment, Moment)> {
    let mut signed = Der(certificate).inside(SEQUENCE)?;
    let mut certificate = signed.inside(SEQUENCE)?;
    if certificate.0.first() == Some(&VERSION) {
        certificate.inside(VERSION)?;
    }
    let _serial = certificate.inside(INTEGER)?;
    let _algorithm = certificate.inside(SEQUENCE)?;
    let _issuer = certificate.inside(SEQUENCE)?;
    let mut validity = certificate.inside(SEQUENCE)?;
    Some((validity.moment()?, validity.moment()?))
}

impl<'a> Der<'a> {
    /// Returns the contents of the next element, which must have this tag.
    fn inside(&mut self, tag: u8) -> Option<Der<'a>> {
        let (found, contents) = self.element()?;
        (found == tag).then_some(contents)
    }

    /// Returns the next element: its tag, and its contents.
    fn element(&mut self) -> Option<(u8, Der<'a>)> {
        let (&[tag, first], mut rest) = self.0.split_first_chunk::<2>()?;
        let mut length = usize::from(first);
        if first & 0x80 != 0 {
            // The number of bytes of the length. DER has no indefinite lengths (X.690, section
            // 10.1).
            let bytes = rest.get(..usize::from(first & 0x7f))?;
            rest = rest.get(bytes.len()..)?;
            if !(1..=4).contains(&bytes.len()) {
                return None;
            }
            let digit = |length: usize, byte: &u8| (length << 8) | usize::from(*byte);
            length = bytes.iter().fold(0, digit);
        }
        let contents = rest.get(..length)?;
        self.0 = rest.get(length..)?;
        Some((tag, Der(contents)))
    }

    /// Reads a time in one of the two forms that certificates have: to the second, and in UTC (RFC
    /// 5280, section 4.1.2.5).
    fn moment(&mut self) -> Option<Moment> {
        let (tag, Der(text)) = self.element()?;
        let (year, rest) = match tag {
            UTC_TIME => {
                let (&[tens, ones], rest) = text.split_first_chunk()?;
                let year = u16::from(number([tens, ones])?);
                // Two digits stand for 1950 to 2049.
                (year + if year >= 50 { 1900 } else { 2000 }, rest)
            }
            GENERALIZED_TIME => {
                let (&[a, b, c, d], rest) = text.split_first_chunk()?;
                let century = u16::from(number([a, b])?);
                (century * 100 + u16::from(number([c, d])?), rest)
            }
            _ => return None,
        };
        let (digits, b"Z") = rest.split_first_chunk::<10>()? else {
            return None;
        };
        let [a, b, c, d, e, f, g, h, i, j] = *digits;
        let moment = Moment {
            year,
            month: number([a, b])?,
            day: number([c, d])?,
            hour: number([e, f])?,
            minute: number([g, h])?,
            second: number([i, j])?,
        };
        let is_one = (1..=12).contains(&moment.month) && (1..=31).contains(&moment.day);
        let of_a_day = moment.hour < 24 && moment.minute < 60 && moment.second < 60;
        (is_one && of_a_day).then_some(moment)
    }
}

fn number([tens, ones]: [u8; 2]) -> Option<u8> {
    let digit = |one: u8| one.is_ascii_digit().then(|| one - b'0');
    Some(digit(tens)? * 10 + digit(ones)?)
}

impl Moment {
    /// Returns the seconds since 1970, by days of the Gregorian calendar as if each year began in
    /// March.
    pub(super) fn seconds(self) -> i64 {
        let (month, day) = (i64::from(self.month), i64::from(self.day));
        let year = i64::from(self.year) - i64::from(month <= 2);
        let month = (month + 9) % 12;
        let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        // The first day of March of the year 0 was 719,468 days before 1970.
        let days = year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468;
        let minutes = i64::from(self.hour) * 60 + i64::from(self.minute);
        days * 86_400 + minutes * 60 + i64::from(self.second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tag: u8, text: &str) -> Option<Moment> {
        let length = u8::try_from(text.len()).unwrap();
        let der = [&[tag, length], text.as_bytes()].concat();
        Der(&der).moment()
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        let seconds = |tag, text| read(tag, text).unwrap().seconds();
        assert_eq!(seconds(UTC_TIME, "700101000000Z"), 0);
        assert_eq!(seconds(UTC_TIME, "500101000000Z"), -631_152_000);
        assert_eq!(seconds(UTC_TIME, "000229235959Z"), 951_868_799);
        assert_eq!(seconds(UTC_TIME, "491231235959Z"), 2_524_607_999);
        assert_eq!(seconds(GENERALIZED_TIME, "20500101000000Z"), 2_524_608_000);
        assert_eq!(seconds(GENERALIZED_TIME, "21000301120000Z"), 4_107_585_600);
        assert_eq!(
            seconds(GENERALIZED_TIME, "99991231235959Z"),
            253_402_300_799
        );
    }

    #[test]
    fn times_in_forms_that_certificates_do_not_have_are_refused() {
        for text in [
            "",
            "700101000000",
            "7001010000Z",
            "701301000000Z",
            "700100000000Z",
            "700101240000Z",
            "700101000000+0100",
            "7001010000a0Z",
        ] {
            assert_eq!(read(UTC_TIME, text), None, "{text}");
        }
        assert_eq!(read(INTEGER, "700101000000Z"), None);
    }

    #[test]
    fn lengths_beyond_what_is_there_are_refused() {
        for der in [
            &[0x30][..],
            &[0x30, 5, 0],
            &[0x30, 0x80, 0, 0],
            &[0x30, 0x81],
            &[0x30, 0x84, 255, 255, 255, 255],
            &[0x30, 0x89, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ] {
            assert!(Der(der).element().is_none(), "{der:?}");
        }
        let (tag, contents) = Der(&[0x30, 0x82, 0, 1, 7, 8]).element().unwrap();
        assert_eq!((tag, contents.0), (0x30, &[7][..]));
    }
}
