//! Rows of comma-separated values: RFC 4180, a row a line.

use csv_core::ReadRecordResult;

use super::column::{Column, Fields};
use crate::{
    catalog::Refusal,
    source::{shortened, shown_key},
};

/// More fields than a row can have.
const MOST: usize = Column::ALL.len() + 1;

/// Splits lines by what the header said.
#[derive(Debug)]
pub(super) struct Csv {
    splitter: Splitter,
    columns: Vec<Column>,
}

#[derive(Debug)]
struct Splitter {
    core: csv_core::Reader,
    text: Vec<u8>,
    ends: [usize; MOST],
}

impl Csv {
    /// Reads the header.
    ///
    /// # Errors
    /// A column that is missing, unknown or there twice.
    pub(super) fn new(header: &[u8]) -> Result<Self, Refusal> {
        if header.is_empty() {
            return Err(header_refused("is missing"));
        }
        let mut splitter = Splitter {
            core: csv_core::Reader::new(),
            text: Vec::new(),
            ends: [0; MOST],
        };
        let mut columns = Vec::new();
        for name in splitter.split(header)? {
            let Some(column) = Column::named(name.trim_ascii()) else {
                let name = shortened(shown_key(name), 64);
                return Err(header_refused(&format!("has a column `{name}`")));
            };
            if columns.contains(&column) {
                return Err(header_refused(&format!("has `{}` twice", column.name())));
            }
            columns.push(column);
        }
        let missing = Column::ALL
            .into_iter()
            .find(|column| *column != Column::Outcome && !columns.contains(column));
        match missing {
            Some(column) => Err(header_refused(&format!("lacks `{}`", column.name()))),
            None => Ok(Self { splitter, columns }),
        }
    }

    pub(super) fn row(&mut self, line: &[u8], fields: &mut Fields) -> Result<(), Refusal> {
        let mut columns = self.columns.iter();
        let mut texts = self.splitter.split(line)?;
        loop {
            match (columns.next(), texts.next()) {
                (Some(column), Some(text)) => fields.set(*column, text),
                (None, None) => return Ok(()),
                _ => return Err(uneven()),
            }
        }
    }
}

impl Splitter {
    fn split(&mut self, line: &[u8]) -> Result<impl Iterator<Item = &[u8]>, Refusal> {
        self.core.reset();
        // Fields are never longer than their spelling.
        self.text.resize(line.len() + 1, 0);
        let (mut written, mut fields) = (0, 0);
        for part in [line, b"\n"] {
            let (result, read, text, ends) =
                self.core
                    .read_record(part, &mut self.text[written..], &mut self.ends[fields..]);
            written += text;
            fields += ends;
            match result {
                ReadRecordResult::Record if read < part.len() => {
                    return Err(Refusal::new(
                        "a carriage return stands in the line",
                        "end rows with a line feed, with or without a carriage return before it",
                    ));
                }
                ReadRecordResult::Record => {
                    let ends = self.ends[..fields].iter();
                    let starts = [0].into_iter().chain(ends.clone().copied());
                    let text = &self.text;
                    return Ok(starts.zip(ends).map(|(start, end)| &text[start..*end]));
                }
                ReadRecordResult::OutputEndsFull => return Err(uneven()),
                ReadRecordResult::InputEmpty | ReadRecordResult::OutputFull | ReadRecordResult::End => {}
            }
        }
        Err(Refusal::new(
            "a quote is not closed in its line",
            "write a quote within quotes twice, and no line breaks",
        ))
    }
}

fn header_refused(what: &str) -> Refusal {
    Refusal::new(
        format!("the first line {what}"),
        format!(
            "write a header of the columns {}, in any order; outcome may be left out",
            Column::names()
        ),
    )
}

fn uneven() -> Refusal {
    Refusal::new(
        "the row has more or fewer fields than the header",
        "put fields with commas in quotes",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "minute,count,environment,source,endpoint,scope,identity";

    fn row(line: &str) -> Result<[String; 8], String> {
        let mut fields = Fields::default();
        Csv::new(HEADER.as_bytes())
            .unwrap()
            .row(line.as_bytes(), &mut fields)
            .map_err(|refusal| refusal.what)?;
        Ok(Column::ALL.map(|column| String::from_utf8_lossy(fields.get(column)).into_owned()))
    }

    #[test]
    fn a_carriage_return_ends_no_row_alone() {
        assert_eq!(
            row("5,202503101201,prod,gateway,a,ip,1\r").map(|own| own[0].clone()),
            Ok("prod".to_owned())
        );
        let lost = row("5,202503101201,prod,gateway,a,ip,1\r6,202503101202,prod,gateway,a,ip,2");
        assert_eq!(lost, Err("a carriage return stands in the line".to_owned()));
    }

    #[test]
    fn a_header_names_the_columns_in_any_order() {
        let expected = ["prod", "gateway", "a,\"b\"", "ip", " 1", "", "5", ""].map(str::to_owned);
        assert_eq!(row(r#"5,,prod,gateway,"a,""b""",ip, 1"#), Ok(expected));
        for (header, wrong) in [
            ("environment,source", "lacks `endpoint`"),
            ("environment,environment", "has `environment` twice"),
            ("environment;source", "has a column `environment;source`"),
            ("a,b,c,d,e,f,g,h,i,j", "more or fewer"),
        ] {
            let refused = Csv::new(header.as_bytes()).unwrap_err().to_string();
            assert!(refused.contains(wrong), "{refused}");
        }
        assert!(Csv::new(b"outcome, count,environment,source,endpoint,scope,identity,minute").is_ok());
    }

    #[test]
    fn a_row_that_does_not_fit_is_refused() {
        for line in ["1,2", "1,2,3,4,5,6,7,8", "1,2,3,4,5,6,7,8,9,10,11"] {
            assert!(row(line).unwrap_err().contains("more or fewer"), "{line}");
        }
        for line in [r#"1,2,3,4,5,6,"7"#, r#"1,2,3,4,5,6,"7"""#, "\""] {
            assert!(row(line).unwrap_err().contains("quote"), "{line}");
        }
    }

    #[test]
    fn a_row_after_an_odd_one_is_read() {
        let mut csv = Csv::new(HEADER.as_bytes()).unwrap();
        let mut fields = Fields::default();
        assert!(csv.row(br#"1,2,3,4,5,6,"7"#, &mut fields).is_err());
        fields.clear();
        csv.row(b"1,2,3,4,5,6,7", &mut fields).unwrap();
        assert_eq!(fields.get(Column::Identity), b"7");
    }
}
