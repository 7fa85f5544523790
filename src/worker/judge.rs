//! Judges the limits that a drain brought news of, in the drain's own transaction: how they stand is stored with the
//! counts that say so, and so is what there is to tell.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::TimeDelta;

use super::{
    Folga,
    aggregate::{ActiveShape, Changes, FoldContext, Watched},
    covered::Covered,
};
use crate::{
    alert::{
        High, Kind, Level, Lines, News, Rule, Standing, Turn, key,
        words::{self, Reached, Subject, Words},
    },
    catalog::{Limit, NtfySettings},
    fold::Watch,
    report::LeftOut,
    store::{StoreError, Tx, hourly, labels, minutes, outbox, series::Series, standings},
    time::{Algorithm, Hour, Minute},
};

/// Identities that an alert names.
const NAMED: usize = 3;

/// The limits of an environment, before a drain's changes are folded.
pub(super) struct Judge<'a> {
    folga: &'a Folga,
    environment: &'a str,
    source: &'a str,
    context: &'a FoldContext<'a>,
    changes: &'a Changes,
    limits: Vec<Judged<'a>>,
    standings: HashMap<String, Standing>,
    /// The largest counts of hours, as far as old minutes of them have changed.
    known: HashMap<(i32, Hour), u64>,
    clear_after: TimeDelta,
}

/// A limit that can be alerted.
struct Judged<'a> {
    limit: &'a Limit,
    lines: Lines,
    active: &'a ActiveShape,
}

impl<'a> Judge<'a> {
    /// Looks at how the limits stand, and at what is about to be folded anew.
    pub(super) async fn begin(
        tx: &mut Tx,
        folga: &'a Folga,
        (environment, source): (&'a str, &'a str),
        context: &'a FoldContext<'a>,
        changes: &'a Changes,
    ) -> Result<Self, StoreError> {
        let percent = folga.catalog.alert_percent;
        let limits: Vec<Judged<'a>> = (folga.catalog.limits())
            .filter_map(|(_, limit)| {
                let lines = Lines::of(limit, environment, percent)?;
                let active = (context.shapes.iter()).find(|active| active.limits.contains(&limit.id))?;
                Some(Judged { limit, lines, active })
            })
            .collect();
        let mut judge = Self {
            folga,
            environment,
            source,
            context,
            changes,
            limits,
            standings: standings::read(tx, environment, None).await?,
            known: HashMap::new(),
            clear_after: folga
                .catalog
                .ntfy
                .as_ref()
                .map_or(NtfySettings::QUARTER, |ntfy| ntfy.clear_after),
        };
        judge.known = judge.read_known(tx).await?;
        Ok(judge)
    }

    /// The limits that the drained source feeds: of others it says nothing.
    fn fed(&self) -> impl Iterator<Item = &Judged<'a>> {
        self.limits
            .iter()
            .filter(|judged| judged.active.is_fed_by(Some(self.source)))
    }

    /// The counts that the folds are to look out for.
    pub(super) fn watched(&self) -> Watched {
        let mut watched = Watched {
            left_out: self.left_out(),
            ..Watched::default()
        };
        for judged in self.fed() {
            let least = watched.least.entry(judged.active.stored.id).or_insert(u64::MAX);
            *least = judged.lines.clear_at().min(*least);
        }
        watched
    }

    /// What is known of hours in which minutes have changed that were judged long ago.
    async fn read_known(&self, tx: &mut Tx) -> Result<HashMap<(i32, Hour), u64>, StoreError> {
        let mut known = HashMap::new();
        for judged in self.fed() {
            let Some(judged_before) = self.standing(&judged.limit.id).judged_before else {
                continue;
            };
            let judged_before = judged_before.min(self.context.closed_before);
            let recent_from = self.rule(judged, judged.lines).recent_from(judged_before);
            let news = self.context.news(judged.active, &self.changes.minutes);
            let (Some(first), Some(last)) = (news.first(), news.last()) else {
                continue;
            };
            let (from, to) = (
                first.start.hour(),
                last.end.min(recent_from).plus(-1).hour().next(),
            );
            if first.start >= recent_from || from >= to {
                continue;
            }
            let rules = self.context.rules(&judged.active.shape);
            let shape = judged.active.stored.id;
            for (_, row) in hourly::read(tx, &[shape], from, to).await? {
                let peak = row
                    .figures
                    .peak
                    .map_or(row.figures.lower, |peak| rules.certain(peak.value));
                known.insert((shape, row.hour), peak);
            }
        }
        Ok(known)
    }

    fn standing(&self, key: &str) -> Standing {
        self.standings.get(key).copied().unwrap_or_default()
    }

    /// Judges what was seen, and stores how everything stands and what there is to tell.
    pub(super) async fn finish(self, tx: &mut Tx, seen: &HashMap<i32, Watch>) -> Result<(), StoreError> {
        // From where an alert that has not ended may have begun to be over.
        let open = (self.standings.values())
            .filter(|standing| standing.level > Level::Ok)
            .filter_map(|standing| standing.last_high);
        let news = (self.changes.minutes.values()).filter_map(|minutes| minutes.first().copied());
        let to = self.context.closed_before.hour().next();
        let from = open.chain(news).min().map_or(to, Minute::hour);
        let covered = Covered::read(tx, &self.folga.catalog, self.environment, from, to).await?;
        let mut standings = Vec::new();
        let mut told: Vec<(String, Turn, Words)> = Vec::new();
        for judged in self.fed() {
            let (id, shape) = (&judged.limit.id, judged.active.stored.id);
            let is_covered = |minute: Minute| covered.holds(&judged.active.shape.sources, minute);
            let seen = seen.get(&shape);
            let known = |hour: Hour| self.known.get(&(shape, hour)).copied().unwrap_or(0);
            let (standing, turn) = self.rule(judged, judged.lines).judge(
                self.standing(id),
                &News {
                    highs: &highs(seen, judged.lines),
                    closed_before: self.context.closed_before,
                    covered: &is_covered,
                    known: &known,
                },
            );
            standings.push((id.clone(), standing));
            if let Some(turn) = turn {
                let reached = self.reached(tx, judged, seen).await?;
                let words = words::of_limit(
                    &self.subject(judged),
                    &turn,
                    &reached,
                    self.folga.clock.now(),
                    self.late_after(judged.limit),
                );
                told.push((id.clone(), turn, words));
            }

            let refused = self.refused(tx, judged).await?;
            let refused_key = key::refused(id);
            if refused.is_empty() && !self.standings.contains_key(&refused_key) {
                continue;
            }
            let left_out = self.left_out();
            let highs: Vec<High> = (refused.iter())
                .filter(|(minute, _)| !left_out.holds(minute.hour()))
                .map(|(minute, count)| High {
                    minute: *minute,
                    count: u64::try_from(*count).unwrap_or(u64::MAX),
                })
                .collect();
            let (standing, turn) = self.rule(judged, Lines::REFUSED).judge(
                self.standing(&refused_key),
                &News {
                    highs: &highs,
                    closed_before: self.context.closed_before,
                    covered: &is_covered,
                    known: &|_| 0,
                },
            );
            standings.push((refused_key.clone(), standing));
            if let Some(turn) = turn {
                let refused = highs.iter().map(|high| u128::from(high.count)).sum();
                let words = words::of_refused(&self.subject(judged), &turn, refused);
                told.push((refused_key, turn, words));
            }
        }
        outbox::lock(tx, self.environment).await?;
        standings::put(tx, self.environment, &standings).await?;
        for (key, turn, words) in &told {
            let kind = if turn.ended { Kind::Ended } else { Kind::Raised };
            self.put(tx, key, kind, turn.level, words).await?;
        }
        self.end_what_is_gone(tx).await
    }

    fn rule(&self, judged: &Judged<'_>, lines: Lines) -> Rule {
        Rule {
            lines,
            rules: self.context.rules(&judged.active.shape),
            clear_after: self.clear_after(judged),
        }
    }

    /// How long a limit must be low. Between two samples of a gauge nothing was seen.
    fn clear_after(&self, judged: &Judged<'_>) -> TimeDelta {
        if judged.limit.algorithm != Algorithm::Sampled {
            return self.clear_after;
        }
        let sources = self.folga.catalog.sources.iter();
        let own = sources.filter(|source| judged.limit.sources.contains(&source.name));
        let gap = own.map(|source| source.longest_gap() + TimeDelta::minutes(1));
        gap.max().unwrap_or_default().max(self.clear_after)
    }

    fn subject(&self, judged: &Judged<'a>) -> Subject<'a> {
        Subject {
            limit: judged.limit,
            environment: self.environment,
            lines: judged.lines,
            zone: self.folga.catalog.timezone,
        }
    }

    fn left_out(&self) -> LeftOut {
        LeftOut::new(&self.folga.catalog.ignored, self.environment)
    }

    /// Data are late where they come after the run that should have brought them, and the late writes it waits for.
    fn late_after(&self, limit: &Limit) -> TimeDelta {
        let sources = self.folga.catalog.sources.iter();
        let own = sources.filter(|source| limit.sources.contains(&source.name));
        own.map(|source| source.longest_gap() + source.wait() + source.lateness)
            .max()
            .unwrap_or_default()
    }

    async fn reached(
        &self,
        tx: &mut Tx,
        judged: &Judged<'_>,
        seen: Option<&Watch>,
    ) -> Result<Reached, StoreError> {
        let Some(seen) = seen.filter(|_| !judged.limit.shared) else {
            return Ok(Reached::default());
        };
        let scope = &judged.limit.scope;
        let (identities, all) = seen.identities(judged.lines.alert_at);
        let top: Vec<_> = (seen.top().into_iter())
            .filter(|top| top.peak >= judged.lines.alert_at)
            .take(NAMED)
            .collect();
        let ids: Vec<i64> = top.iter().map(|top| top.identity).collect();
        let labels = labels::of(tx, &self.folga.catalog.public_scopes(), &ids).await?;
        let name = |identity: i64| {
            let label = labels.get(&(scope.clone(), identity)).cloned();
            label.unwrap_or_else(|| format!("{:016x}", identity.cast_unsigned()))
        };
        Ok(Reached {
            identities,
            all,
            top: top.iter().map(|top| (name(top.identity), top.peak)).collect(),
        })
    }

    /// The refused requests of a limit in minutes that have changed.
    async fn refused(&self, tx: &mut Tx, judged: &Judged<'_>) -> Result<BTreeMap<Minute, u128>, StoreError> {
        let id = &judged.limit.id;
        let accepted = (self.context.shapes.iter()).find(|active| active.accepted_of.contains(id));
        let Some(accepted) = accepted else {
            return Ok(BTreeMap::new());
        };
        let is_refused = |series: &&Series| judged.active.counts(series) && !accepted.counts(series);
        let series = self.context.series.iter().filter(is_refused);
        let (mut own, mut changed) = (Vec::new(), BTreeSet::new());
        for series in series {
            if let Some(minutes) = self.changes.minutes.get(&series.id) {
                own.push(series.id);
                changed.extend(minutes.iter().copied());
            }
        }
        if own.is_empty() {
            return Ok(BTreeMap::new());
        }
        minutes::totals(tx, &own, &changed).await
    }

    /// What is alerted and no longer in the catalog, or has nothing to be held against any more, ends.
    async fn end_what_is_gone(&self, tx: &mut Tx) -> Result<(), StoreError> {
        let is_gone = |id: &str| self.limits.iter().all(|judged| judged.limit.id != id);
        let gone = (self.standings.iter()).filter(|(key, _)| key::limit(key).is_some_and(is_gone));
        for (key, standing) in gone {
            standings::forget(tx, self.environment, key).await?;
            if standing.level > Level::Ok {
                let words = words::of_gone(self.environment, key, standing.level);
                self.put(tx, key, Kind::Ended, standing.level, &words).await?;
            }
        }
        Ok(())
    }

    async fn put(
        &self,
        tx: &mut Tx,
        key: &str,
        kind: Kind,
        level: Level,
        words: &Words,
    ) -> Result<(), StoreError> {
        let news = outbox::News {
            environment: self.environment,
            key,
            kind,
            level,
            words,
        };
        outbox::put(
            tx,
            &news,
            self.folga.catalog.ntfy.is_some(),
            self.folga.clock.now(),
        )
        .await
    }
}

/// The minutes that count.
fn highs(seen: Option<&Watch>, lines: Lines) -> Vec<High> {
    let minutes = seen.map(Watch::minutes).unwrap_or_default();
    (minutes.iter())
        .filter(|(_, count)| *count >= lines.clear_at())
        .map(|(minute, count)| High {
            minute: *minute,
            count: *count,
        })
        .collect()
}
