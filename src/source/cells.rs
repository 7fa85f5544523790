//! From the cells of one key to its rows: pure.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap},
};

use crate::{
    catalog::{Captures, Scope, SourceKind},
    time::Minute,
};

use super::{
    FoundKey, Identities, Met, Rejects, Target,
    key::undeclared,
    normalise, parse_count,
    reject::LONGEST_KEY,
    text::{name, shortened, shown_key},
};

/// Identities without a place in a table of members that are listed.
pub const LISTED: usize = 100;

/// What one key said when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRead {
    /// What all minutes of the same series of keys share.
    pub stem: i64,
    /// The key's minute.
    pub minute: Minute,
    /// Its rows by name; none where all its counts are zero or odd.
    pub rows: Vec<RowRead>,
    /// The identities that a table of members lacks, in words.
    pub strangers: BTreeSet<String>,
}

/// The samples of one key that share all but the identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowRead {
    /// What they share.
    pub name: SeriesName,
    /// Ids of the identities, ascending, each once.
    pub ids: Vec<i64>,
    /// Their counts, in the order of the ids, all above zero; samples of gauges can be zero.
    pub counts: Vec<i64>,
}

/// What the samples of one row share beside environment, source and minute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesName {
    /// Endpoint.
    pub endpoint: String,
    /// Scope.
    pub scope: String,
    /// Outcome; empty where there is none.
    pub outcome: String,
}

/// The cells of one key as they come in.
pub(super) struct Cells<'a> {
    target: Target<'a>,
    identities: &'a Identities,
    key: &'a FoundKey,
    met: &'a mut Met,
    rows: Vec<Row>,
    /// Which row, if any, takes the cells of a name as the field spells it.
    slots: HashMap<Vec<u8>, Result<usize, String>>,
    /// The spelling of the cell in hand, and of the one before with its row: fields of one name often come in a run.
    spelling: Vec<u8>,
    last: Option<(Vec<u8>, usize)>,
    refused: BTreeMap<Cow<'static, str>, u64>,
    strangers: BTreeSet<String>,
}

struct Row {
    name: SeriesName,
    scope: Scope,
    cells: Vec<(i64, i64)>,
}

impl<'a> Cells<'a> {
    pub(super) fn new(
        target: Target<'a>,
        identities: &'a Identities,
        key: &'a FoundKey,
        met: &'a mut Met,
    ) -> Self {
        Self {
            target,
            identities,
            key,
            met,
            rows: Vec::new(),
            slots: HashMap::new(),
            spelling: Vec::new(),
            last: None,
            refused: BTreeMap::new(),
            strangers: BTreeSet::new(),
        }
    }

    /// Takes one field of a hash.
    pub(super) fn field(&mut self, field: &[u8], count: &[u8]) {
        let captures = self.target.source.field.as_ref().and_then(|pattern| {
            pattern.captures(&self.target.environment.prefix, field, self.target.source.minute)
        });
        match captures {
            Some(captures) => self.cell(&captures, count),
            None => self.refuse("a field does not fit the field pattern"),
        }
    }

    /// Takes the one count of a counter.
    pub(super) fn counter(&mut self, count: &[u8]) {
        self.cell(&Captures::default(), count);
    }

    /// The rows, and into `rejects` whatever was odd.
    pub(super) fn finish(self, rejects: &mut Rejects) -> KeyRead {
        for (reason, count) in self.refused {
            rejects.add(&self.key.raw, &reason, count);
        }
        let mut rows: Vec<_> = self
            .rows
            .into_iter()
            .filter(|row| !row.cells.is_empty())
            .map(Row::finish)
            .collect();
        rows.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        KeyRead {
            stem: self.identities.stem(&self.key.raw, &self.key.minute_at),
            minute: self.key.minute,
            rows,
            strangers: self.strangers,
        }
    }

    fn cell(&mut self, captures: &Captures<'_>, count: &[u8]) {
        let row = match self.row(captures) {
            Ok(row) => row,
            Err(reason) => return self.refuse(reason),
        };
        let is_gauge = self.target.source.kind == SourceKind::Gauge;
        let count = match parse_count(count) {
            // A zero is a count like any other, but nobody was there. A gauge that is zero was.
            Ok(0) if !is_gauge => return,
            Ok(count) => count,
            // Counted down further than it was filled, or lost while requests were under way: there is nothing left.
            Err(_)
                if is_gauge
                    && count
                        .strip_prefix(b"-")
                        .is_some_and(|rest| parse_count(rest).is_ok()) =>
            {
                0
            }
            Err(reason) => return self.refuse(reason),
        };
        let constant = self.target.source.constants.identity.as_deref();
        let identity = captures
            .identity
            .or(self.key.parts.identity.as_deref())
            .or(constant.map(str::as_bytes));
        let Some(identity) = identity else {
            return self.refuse("neither pattern nor catalog gives an identity");
        };
        let row = &mut self.rows[row];
        let identity = normalise(row.scope, identity);
        let id = self.identities.id(&row.name.scope, &identity);
        row.cells.push((id, count));
        if row.scope.public {
            self.met.note(&row.name.scope, id, &identity);
        }
        for members in &self.target.catalog.members {
            let is_stranger = members.are_told_by(self.target.source)
                && !str::from_utf8(&identity).is_ok_and(|text| members.table.contains_key(text));
            if is_stranger && self.strangers.len() < LISTED {
                let shown = shortened(shown_key(&identity), LONGEST_KEY);
                self.strangers
                    .insert(format!("{} {shown} is part of no {}", members.scope, members.of));
            }
        }
    }

    /// The row of a cell, by what the field says beside the identity.
    fn row(&mut self, captures: &Captures<'_>) -> Result<usize, String> {
        self.spelling.clear();
        for part in [captures.endpoint, captures.scope, captures.outcome] {
            // One more than the length, so that nothing and an empty text differ.
            let length = part.map_or(0, |part| part.len() + 1);
            self.spelling.extend_from_slice(&length.to_le_bytes());
            self.spelling.extend_from_slice(part.unwrap_or_default());
        }
        if let Some((spelling, row)) = &self.last
            && *spelling == self.spelling
        {
            return Ok(*row);
        }
        let slot = if let Some(slot) = self.slots.get(&self.spelling) {
            slot.clone()
        } else {
            let slot = self.named(captures).and_then(|name| self.open(name));
            self.slots.insert(self.spelling.clone(), slot.clone());
            slot
        };
        self.last = slot.as_ref().ok().map(|row| (self.spelling.clone(), *row));
        slot
    }

    fn named(&self, captures: &Captures<'_>) -> Result<SeriesName, String> {
        let constants = &self.target.source.constants;
        let parts = &self.key.parts;
        let pick = |what, field: Option<&[u8]>, key: &Option<String>, constant: &Option<String>| match field {
            Some(raw) => name(what, raw).map(|text| Some(text.to_owned())),
            None => Ok(key.clone().or_else(|| constant.clone())),
        };
        let needed = |what, text: Option<String>| {
            text.ok_or_else(|| format!("neither pattern nor catalog gives {what}"))
        };
        let endpoint = pick(
            "endpoint",
            captures.endpoint,
            &parts.endpoint,
            &constants.endpoint,
        )?;
        let scope = pick("scope", captures.scope, &parts.scope, &constants.scope)?;
        let outcome = pick("outcome", captures.outcome, &parts.outcome, &constants.outcome)?;
        Ok(SeriesName {
            endpoint: needed("an endpoint", endpoint)?,
            scope: needed("a scope", scope)?,
            outcome: outcome.unwrap_or_default(),
        })
    }

    fn open(&mut self, name: SeriesName) -> Result<usize, String> {
        let Some(scope) = self.target.catalog.scopes.get(&name.scope) else {
            return Err(undeclared(&name.scope));
        };
        self.rows.push(Row {
            name,
            scope: *scope,
            cells: Vec::new(),
        });
        Ok(self.rows.len() - 1)
    }

    fn refuse(&mut self, reason: impl Into<Cow<'static, str>>) {
        *self.refused.entry(reason.into()).or_default() += 1;
    }
}

impl Row {
    /// Cells that fall on one id are one identity in several spellings: their counts add up.
    fn finish(mut self) -> RowRead {
        self.cells.sort_unstable_by_key(|(id, _)| *id);
        self.cells.dedup_by(|cell, kept| {
            let same = cell.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(cell.1);
            }
            same
        });
        let (ids, counts) = self.cells.into_iter().unzip();
        RowRead {
            name: self.name,
            ids,
            counts,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        catalog::{Catalog, Constants, Secret},
        source::{
            Labels,
            fixture::{catalog, counters, hashes},
            key::Parts,
        },
    };

    const KEY: &str = "olp:m:send-otp:202503101205";

    fn identities() -> Identities {
        Identities::new(&Secret::new("0123456789abcdef".to_owned()))
    }

    fn target(catalog: &Catalog) -> Target<'_> {
        Target {
            catalog,
            source: &catalog.sources[0],
            environment: &catalog.environments[0],
        }
    }

    fn found(target: Target<'_>, key: &str) -> FoundKey {
        let captures = target.captures(key.as_bytes()).unwrap();
        let (minute, minute_at) = captures.minute.clone().unwrap();
        FoundKey {
            raw: key.as_bytes().to_vec(),
            minute,
            minute_at,
            parts: Parts::new(&captures, &target.catalog.scopes).unwrap(),
        }
    }

    /// Reads one hash of the gateway's shape: its rows, rejects as (reason, count), labels.
    fn gateway(fields: &[(&[u8], &[u8])]) -> (KeyRead, Vec<(String, u64)>, Labels) {
        let catalog = catalog(vec![hashes(
            "gateway",
            "{env}m:{endpoint}:{minute}",
            "{scope}:{identity}",
        )]);
        read(&catalog, KEY, fields)
    }

    fn read(
        catalog: &Catalog,
        key: &str,
        fields: &[(&[u8], &[u8])],
    ) -> (KeyRead, Vec<(String, u64)>, Labels) {
        let target = target(catalog);
        let (identities, key, mut met) = (identities(), found(target, key), Met::default());
        let mut cells = Cells::new(target, &identities, &key, &mut met);
        for (field, count) in fields {
            cells.field(field, count);
        }
        let mut rejects = Rejects::default();
        let read = cells.finish(&mut rejects);
        let rejects = rejects
            .iter()
            .map(|reject| (reject.reason, reject.count))
            .collect();
        (read, rejects, met.take_labels())
    }

    /// A row as text: name, then the counts of these identities.
    fn row(read: &KeyRead, n: usize, identities_of: &[&str]) -> (String, Vec<i64>) {
        let row = &read.rows[n];
        let name = format!("{} {} {}", row.name.endpoint, row.name.scope, row.name.outcome);
        let counts = identities_of.iter().map(|identity| {
            let id = identities().id(&row.name.scope, identity.as_bytes());
            row.ids.binary_search(&id).map_or(0, |at| row.counts[at])
        });
        (name, counts.collect())
    }

    #[test]
    fn one_hash_gives_a_row_for_each_scope() {
        let (read, rejects, labels) = gateway(&[
            (b"usuario_id:7", b"3"),
            (b"ip:10.0.0.1", b"2"),
            (b"usuario_id:8", b"1"),
            (b"escola_id:esc-1", b"4"),
            (b"usuario_id:9", b"0"),
        ]);
        assert_eq!(read.minute.to_string(), "2025-03-10T12:05Z");
        assert_eq!(
            row(&read, 0, &["esc-1"]),
            ("send-otp escola_id ".to_owned(), vec![4])
        );
        assert_eq!(row(&read, 1, &["10.0.0.1"]), ("send-otp ip ".to_owned(), vec![2]));
        assert_eq!(
            row(&read, 2, &["7", "8", "9"]),
            ("send-otp usuario_id ".to_owned(), vec![3, 1, 0])
        );
        assert_eq!((read.rows.len(), rejects.len()), (3, 0));
        // Only the public scope keeps its label.
        let id = identities().id("escola_id", b"esc-1");
        assert_eq!(
            labels,
            HashMap::from([("escola_id".to_owned(), HashMap::from([(id, "esc-1".to_owned())]))])
        );
    }

    #[test]
    fn spellings_of_one_identity_add_up() {
        let most = i64::MAX.to_string();
        let (read, ..) = gateway(&[
            (b"ip:2001:db8::1", b"2"),
            (b"ip:2001:0db8::2", b"3"),
            (b"ip:10.0.0.1", most.as_bytes()),
            (b"ip:::ffff:10.0.0.1", b"1"),
        ]);
        assert_eq!(row(&read, 0, &["2001:db8::/64", "10.0.0.1"]).1, [5, i64::MAX]);
    }

    #[test]
    fn odd_cells_cost_only_themselves() {
        let (read, rejects, _) = gateway(&[
            (b"usuario_id:a", b"3.1"),
            (b"usuario_id:b", b"2.5"),
            (b"usuario_id:d", b"007"),
            (b"usuario_id:\xff", b"6"),
            (b"tenant:x", b"1"),
            (b"\xc3(:x", b"1"),
            (b"none", b"1"),
        ]);
        assert_eq!(row(&read, 0, &["d"]).1, [7]);
        // Bytes that are no text are an identity like any other.
        let odd = identities().id("usuario_id", b"\xff");
        assert!(read.rows[0].ids.contains(&odd));
        let expected = [
            ("a field does not fit the field pattern", 1),
            ("scope \"tenant\" is not declared", 1),
            ("the count is not a whole number", 2),
            ("the scope is not UTF-8", 1),
        ];
        assert_eq!(
            rejects,
            expected.map(|(reason, count)| (reason.to_owned(), count))
        );
    }

    #[test]
    fn what_the_field_lacks_comes_from_key_and_constants() {
        let mut source = hashes(
            "messaging",
            "{env}wa:metrics:{identity}:{minute}",
            "{endpoint}:{outcome}",
        );
        source.constants.scope = Some("escola_id".to_owned());
        let catalog = catalog(vec![source]);
        let key = "olp:wa:metrics:5511999990000:device2:202503101205";
        let (read, ..) = read(
            &catalog,
            key,
            &[(b"wasender:ok", b"4"), (b"twilio:error:429", b"2")],
        );
        let identity = ["5511999990000:device2"];
        assert_eq!(
            row(&read, 0, &identity),
            ("twilio escola_id error:429".to_owned(), vec![2])
        );
        assert_eq!(
            row(&read, 1, &identity),
            ("wasender escola_id ok".to_owned(), vec![4])
        );
    }

    #[test]
    fn a_counter_is_one_sample() {
        let constants = Constants {
            scope: Some("escola_id".to_owned()),
            ..Constants::default()
        };
        let catalog = catalog(vec![counters(
            "portal",
            "{env}metrics:{endpoint}:{identity}:{minute}",
            constants,
        )]);
        let target = target(&catalog);
        let (identities, mut met) = (identities(), Met::default());
        let key = found(target, "olp:metrics:msg:esc:9:202503101205");
        let mut cells = Cells::new(target, &identities, &key, &mut met);
        cells.counter(b"5");
        let read = cells.finish(&mut Rejects::default());
        assert_eq!(row(&read, 0, &["esc:9"]), ("msg escola_id ".to_owned(), vec![5]));
    }

    proptest! {
        #[test]
        fn the_order_of_the_cells_does_not_matter(
            cells in prop::collection::vec(("(ip|usuario_id|odd):(10[.]0[.]0[.]1|::ffff:10[.]0[.]0[.]1|[a-c])", "[0-9]{1,3}|x"), 0..40)
                .prop_flat_map(|cells| (Just(cells.clone()), Just(cells).prop_shuffle()))
        ) {
            let bytes = |cells: &[(String, String)]| -> Vec<(Vec<u8>, Vec<u8>)> {
                cells.iter().map(|(f, c)| (f.as_bytes().to_vec(), c.as_bytes().to_vec())).collect()
            };
            let read = |cells: &[(Vec<u8>, Vec<u8>)]| {
                gateway(&cells.iter().map(|(f, c)| (f.as_slice(), c.as_slice())).collect::<Vec<_>>())
            };
            prop_assert_eq!(read(&bytes(&cells.0)), read(&bytes(&cells.1)));
        }
    }
}
