//! Rows of JSON: one object a line.

use serde_json::{Map, Value};

use super::column::{Column, Fields};
use crate::{
    catalog::Refusal,
    source::{shortened, shown_key},
};

/// Reads one object.
pub(super) fn row(line: &[u8], fields: &mut Fields) -> Result<(), Refusal> {
    let object: Map<String, Value> = serde_json::from_slice(line).map_err(|error| {
        let what = if error.is_data() {
            "the line is JSON, but no object"
        } else {
            "the line is no JSON"
        };
        Refusal::new(what, "write one object a line")
    })?;
    for (name, value) in &object {
        let Some(column) = Column::named(name.as_bytes()) else {
            let name = shortened(shown_key(name.as_bytes()), 64);
            return Err(Refusal::new(
                format!("the row has `{name}`"),
                format!("write {}, and no more", Column::names()),
            ));
        };
        match value {
            Value::Null => {}
            Value::String(text) => fields.set(column, text.as_bytes()),
            Value::Number(number) => fields.set(column, number.to_string().as_bytes()),
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                return Err(Refusal::new(
                    format!("`{}` is neither text nor a number", column.name()),
                    "write one of them",
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<[String; 8], String> {
        let mut fields = Fields::default();
        row(line.as_bytes(), &mut fields).map_err(|refusal| refusal.what)?;
        Ok(Column::ALL.map(|column| String::from_utf8_lossy(fields.get(column)).into_owned()))
    }

    #[test]
    fn texts_and_numbers_are_read_as_they_are_written() {
        let line =
            r#"{"count":9223372036854775808,"minute":202503101205,"outcome":null,"identity":"São \"1\""}"#;
        let expected = [
            "",
            "",
            "",
            "",
            "São \"1\"",
            "",
            "202503101205",
            "9223372036854775808",
        ];
        assert_eq!(read(line), Ok(expected.map(str::to_owned)));
    }

    #[test]
    fn what_is_no_row_is_refused() {
        for (line, what) in [
            ("{", "no JSON"),
            ("[1]", "no object"),
            (r#"{"counts":1}"#, "has `counts`"),
            (r#"{"count":[1]}"#, "`count` is neither"),
        ] {
            assert!(read(line).unwrap_err().contains(what), "{line}");
        }
    }
}
