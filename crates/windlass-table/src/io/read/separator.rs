//! The separator of text, detected from its first records.

use memchr::{memchr, memchr2};

use super::value::ValueKinds;

/// Number of bytes that are inspected.
pub(super) const SAMPLE: usize = 1 << 16;
const RECORDS: usize = 200;
const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The separator that gives all records the same number of fields, at least two. Of several, the
/// one whose fields are most often numbers, booleans or dates; the usual one wins a tie.
pub(super) fn detect(sample: &[u8], usual: u8) -> u8 {
    let sample = sample.strip_prefix(b"\xef\xbb\xbf").unwrap_or(sample);
    let mut best = None;
    for candidate in std::iter::once(usual).chain(CANDIDATES) {
        if let Some(typed) = typed_share(sample, candidate)
            && best.is_none_or(|(_, most)| typed > most)
        {
            best = Some((candidate, typed));
        }
    }
    best.map_or(usual, |(separator, _)| separator)
}

/// The share of typed fields behind the header, if all records have the same number of fields.
fn typed_share(sample: &[u8], separator: u8) -> Option<f64> {
    let (mut records, mut width, mut typed, mut all) = (0, 0, 0_u32, 0_u32);
    let (mut at, mut fields, mut typed_in_record) = (0, 0, 0_u32);
    while at < sample.len() && records < RECORDS {
        if fields == 0 {
            match &sample[at..] {
                [b'\n', ..] => {
                    at += 1;
                    continue;
                }
                [b'\r', b'\n', ..] => {
                    at += 2;
                    continue;
                }
                _ => {}
            }
        }
        let start = at;
        let quoted = sample[at] == b'"';
        if quoted {
            // The sample may end inside a quoted field.
            let Some(end) = closing_quote(sample, at) else { break };
            at = end;
        }
        let stop = memchr2(separator, b'\n', &sample[at..]).map(|length| at + length);
        // The last record may be cut off: it does not count, unless it is the only one.
        if stop.is_none() && records > 0 && sample.len() >= SAMPLE {
            break;
        }
        let stop = stop.unwrap_or(sample.len());
        let field = if quoted { &sample[start + 1..at - 1] } else { &sample[start..stop] };
        fields += 1;
        let value = std::str::from_utf8(field).unwrap_or("text").trim();
        typed_in_record += u32::from(ValueKinds::classify(value, true) & ValueKinds::TEXT == 0);
        if sample.get(stop) != Some(&separator) {
            if records == 0 {
                width = fields;
            } else if fields != width {
                return None;
            } else {
                typed += typed_in_record;
                all += u32::try_from(fields).unwrap_or(u32::MAX);
            }
            records += 1;
            (fields, typed_in_record) = (0, 0);
        }
        at = stop + 1;
    }
    // A separator at the very end begins an empty field.
    (width > 1).then(|| f64::from(typed) / f64::from(all.max(1)))
}

/// The position behind the closing quote.
fn closing_quote(sample: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        at += memchr(b'"', &sample[at..])? + 1;
        match sample.get(at) {
            Some(b'"') => at += 1,
            _ => return Some(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::detect;

    #[test]
    fn separators_are_detected() {
        for (text, expected) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2,5\n", b';'),
            ("a\tb\n1\t2", b'\t'),
            ("a|b\r\n1|2\r\n\r\n3|4\r\n", b'|'),
            // Commas in the header and in every row.
            ("size, cm;weight, kg\n1,5;2,5\n2,5;3,5\n", b';'),
            // Quoted fields.
            ("\"a;b\",c\n\"1;2\",3\n", b','),
            ("\"a,b\";c\n\"x \"\", y\n\";3\n", b';'),
            // One column, and text that holds other separators.
            ("a\n1\n2\n", b','),
            ("note,x\nred; green,1\nblue,2\n", b','),
            ("tags|more,x\na|b,1\nc|d,2\n", b','),
            // Nothing fits.
            ("a,b\n1;2\n", b','),
            ("", b','),
        ] {
            assert_eq!(detect(text.as_bytes(), b','), expected, "{text:?}");
        }
        assert_eq!(detect(b"a,b\n1,2\n", b'\t'), b',');
        // A record that the end of the sample cuts off.
        let long = "1;2;3\n".repeat(20_000);
        assert_eq!(detect(&long.as_bytes()[..super::SAMPLE], b','), b';');
    }
}
