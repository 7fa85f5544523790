//! The lines of a file, one at a time and of bounded length.

use std::io::{self, BufRead as _, BufReader, Read};

/// The longest line that is read, in bytes.
const LONGEST: usize = 64 * 1024;

/// Some programs begin a file with it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads lines. What is not closed in one of them, a quote say, can't swallow the next.
pub(super) struct Lines {
    input: BufReader<Box<dyn Read + Send>>,
    text: Vec<u8>,
    number: u64,
}

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'l> {
    /// Its number, counted from 1.
    pub(super) number: u64,
    /// It without its end; none where it is too long.
    pub(super) text: Option<&'l [u8]>,
}

impl Lines {
    pub(super) fn new(input: Box<dyn Read + Send>) -> Self {
        Self {
            input: BufReader::with_capacity(LONGEST, input),
            text: Vec::new(),
            number: 0,
        }
    }

    /// The next line that is not blank.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        while self.read()? {
            let text = self.text.strip_suffix(b"\n").unwrap_or(&self.text);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            let is_blank = text.iter().all(u8::is_ascii_whitespace);
            if is_blank && text.len() <= LONGEST {
                continue;
            }
            // Borrowed anew: the one above ends with the loop.
            let (start, end) = match text.strip_prefix(BYTE_ORDER_MARK) {
                Some(rest) if self.number == 1 => (BYTE_ORDER_MARK.len(), BYTE_ORDER_MARK.len() + rest.len()),
                _ => (0, text.len()),
            };
            return Ok(Some(Line {
                number: self.number,
                text: (end <= LONGEST).then(|| &self.text[start..end]),
            }));
        }
        Ok(None)
    }

    /// Reads a line with its end, and no more of it than tells that it is too long.
    fn read(&mut self) -> io::Result<bool> {
        self.text.clear();
        let mut is_begun = false;
        loop {
            let at_hand = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                at_hand => at_hand?,
            };
            if at_hand.is_empty() {
                break;
            }
            is_begun = true;
            let end = at_hand.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(at_hand.len(), |end| end + 1);
            let room = (LONGEST + 3).saturating_sub(self.text.len());
            self.text.extend_from_slice(&at_hand[..taken.min(room)]);
            self.input.consume(taken);
            if end.is_some() {
                break;
            }
        }
        self.number += u64::from(is_begun);
        Ok(is_begun)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<(u64, Option<Vec<u8>>)> {
        let mut lines = Lines::new(Box::new(io::Cursor::new(text.to_vec())));
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push((line.number, line.text.map(<[u8]>::to_vec)));
        }
        found
    }

    #[test]
    fn blank_lines_count_and_are_no_rows() {
        let expected = [(1, Some(b"a".to_vec())), (4, Some(b" b".to_vec()))];
        assert_eq!(lines(b"\xef\xbb\xbfa\r\n\n \r\n b"), expected);
        assert_eq!(lines(b"\n"), []);
    }

    #[test]
    fn a_long_line_costs_only_itself() {
        let (whole, long) = (vec![b'x'; LONGEST], vec![b'x'; LONGEST + 1]);
        let text = [&*whole, b"\r\n", &long, b"\n", &vec![b'y'; 10 * LONGEST], b"\nc"].concat();
        let expected = [(1, Some(whole)), (2, None), (3, None), (4, Some(b"c".to_vec()))];
        assert_eq!(lines(&text), expected);
    }
}
