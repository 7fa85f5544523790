//! The rows of a file, whatever its format.

use std::io::{self, Read};

use clap::ValueEnum;

use super::{
    column::Fields,
    csv::Csv,
    json_lines,
    lines::{Line, Lines},
};
use crate::catalog::Refusal;

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Comma-separated values under a header.
    Csv,
    /// A JSON object a line.
    Jsonl,
}

/// How files begin that are no plain text, and what to do about them.
const NO_TEXT: [(&[u8], &str, &str); 6] = [
    (b"\x1f\x8b", "compressed with gzip", "zcat FILE | folga import …"),
    (
        b"\x28\xb5\x2f\xfd",
        "compressed with zstd",
        "zstdcat FILE | folga import …",
    ),
    (b"\xfd7zXZ", "compressed with xz", "xzcat FILE | folga import …"),
    (
        b"PK\x03\x04",
        "a ZIP archive or a workbook",
        "save it as CSV, or unzip -p FILE | folga import …",
    ),
    (b"\xff\xfe", "UTF-16", "save it as UTF-8"),
    (b"\xfe\xff", "UTF-16", "save it as UTF-8"),
];

/// The rows of a file.
pub struct Rows {
    lines: Lines,
    /// How rows are split; none where each is JSON.
    csv: Option<Csv>,
}

/// A row's line, and why it is none.
pub(super) type Numbered = (u64, Result<(), Refusal>);

impl Rows {
    /// Begins to read a file.
    ///
    /// # Errors
    /// It can't be read, is no plain text, or its header is none.
    pub fn open(format: Format, input: Box<dyn Read + Send>) -> anyhow::Result<Self> {
        let mut lines = Lines::new(plain(input)?);
        let csv = match format {
            Format::Csv => {
                let header = lines.next()?.and_then(|line| line.text);
                Some(Csv::new(header.unwrap_or_default())?)
            }
            Format::Jsonl => None,
        };
        Ok(Self { lines, csv })
    }

    /// Reads the next row into `fields`.
    pub(super) fn next(&mut self, fields: &mut Fields) -> io::Result<Option<Numbered>> {
        fields.clear();
        let Some(Line { number, text }) = self.lines.next()? else {
            return Ok(None);
        };
        let row = match (text, &mut self.csv) {
            (None, _) => Err(Refusal::new(
                "the line is longer than 64 KiB",
                "write a row a line",
            )),
            (Some(line), Some(csv)) => csv.row(line, fields),
            (Some(line), None) => json_lines::row(line, fields),
        };
        Ok(Some((number, row)))
    }
}

/// The input from its beginning, unless that tells of something else than text.
fn plain(mut input: Box<dyn Read + Send>) -> anyhow::Result<Box<dyn Read + Send>> {
    let mut head = Vec::new();
    input.by_ref().take(8).read_to_end(&mut head)?;
    match NO_TEXT.iter().find(|(magic, ..)| head.starts_with(magic)) {
        Some((_, what, remedy)) => Err(Refusal::new(format!("the file is {what}"), *remedy).into()),
        None => Ok(Box::new(io::Cursor::new(head).chain(input))),
    }
}
