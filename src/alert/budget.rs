//! How many messages the notification server takes, and several alerts in one message where that is too few.

use chrono::TimeDelta;

use super::Level;

/// The server takes so many at once, and then one for every [`REFILL`].
const BURST: u32 = 60;
const REFILL: TimeDelta = TimeDelta::seconds(5);
/// Kept back for what is critical.
const RESERVE: u32 = 10;
/// A round of alerts may use this part of what is left of a day's budget, so that there is always something left.
const SHARE: u32 = 8;

/// What a digest may hold, in bytes; the server takes a little more.
const LONGEST: usize = 3800;

/// After this long without a message the server takes a whole burst again.
pub const RECOVERY: TimeDelta = TimeDelta::seconds(REFILL.num_seconds() * BURST as i64);

/// Messages that were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Since the last midnight of UTC.
    pub today: u32,
    /// In the last [`RECOVERY`].
    pub lately: u32,
}

/// How many messages may be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// What is critical.
    pub critical: u32,
    /// Everything else.
    pub others: u32,
}

impl Room {
    /// The room that a day's budget leaves.
    #[must_use]
    pub fn new(daily_budget: u32, spent: Spent) -> Self {
        let today = daily_budget.saturating_sub(spent.today);
        let burst = BURST.saturating_sub(spent.lately);
        // A tenth of a small budget, so that it is not all reserve.
        let free = today.saturating_sub(RESERVE.min(daily_budget / 10));
        Self {
            critical: today.min(burst),
            others: free.div_ceil(SHARE).min(burst.saturating_sub(RESERVE)),
        }
    }
}

/// One of several alerts that are told together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// How bad it is, or was.
    pub level: Level,
    /// Whether it is over.
    pub ended: bool,
    /// It in a line.
    pub title: String,
}

/// Title and text of several alerts in one, the worst first.
#[must_use]
pub fn digest(items: &[Item]) -> (String, String) {
    let mut items: Vec<&Item> = items.iter().collect();
    items.sort_by(|a, b| (a.ended, b.level, &a.title).cmp(&(b.ended, a.level, &b.title)));
    let mut counts: Vec<(String, usize)> = Vec::new();
    for item in &items {
        let what = if item.ended {
            "ok again".to_owned()
        } else {
            item.level.to_string()
        };
        match counts.last_mut() {
            Some((last, count)) if *last == what => *count += 1,
            _ => counts.push((what, 1)),
        }
    }
    let counts: Vec<_> = counts
        .iter()
        .map(|(what, count)| format!("{count} {what}"))
        .collect();
    let mut lines: Vec<String> = Vec::new();
    let mut length = 0;
    for (shown, item) in items.iter().enumerate() {
        length += item.title.len() + 1;
        if length > LONGEST {
            lines.push(format!("… and {} more", items.len() - shown));
            break;
        }
        lines.push(item.title.clone());
    }
    (
        format!("{} alerts: {}", items.len(), counts.join(", ")),
        lines.join("\n"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_uses_a_part_of_what_is_left() {
        let room = |budget, today, lately| {
            let room = Room::new(budget, Spent { today, lately });
            (room.critical, room.others)
        };
        // 240 of 250 are free, an eighth of them is 30.
        assert_eq!(room(250, 0, 0), (60, 30));
        assert_eq!(room(250, 0, 45), (15, 5));
        assert_eq!(room(250, 0, 55), (5, 0));
        // One is left beside the reserve of ten, then none.
        assert_eq!(room(250, 239, 0), (11, 1));
        assert_eq!(room(250, 240, 0), (10, 0));
        assert_eq!(room(250, 250, 0), (0, 0));
        // A budget of three has no reserve.
        assert_eq!(room(3, 2, 0), (1, 1));
        // Never a whole day's budget in a row of rounds: 288 rounds of every five minutes.
        let mut spent = 0;
        for _ in 0..288 {
            spent += Room::new(
                250,
                Spent {
                    today: spent,
                    lately: 0,
                },
            )
            .others
            .min(5);
        }
        assert_eq!(spent, 240);
    }

    fn item(level: Level, ended: bool, title: &str) -> Item {
        Item {
            level,
            ended,
            title: title.to_owned(),
        }
    }

    #[test]
    fn a_digest_begins_with_the_worst() {
        let items = [
            item(Level::Near, false, "prod: b is near"),
            item(Level::Over, true, "prod: c is ok again"),
            item(Level::Over, false, "prod: d is over"),
            item(Level::Near, false, "prod: a is near"),
        ];
        let (title, text) = digest(&items);
        assert_eq!(title, "4 alerts: 1 over, 2 near, 1 ok again");
        assert_eq!(
            text,
            "prod: d is over\nprod: a is near\nprod: b is near\nprod: c is ok again"
        );
    }

    #[test]
    fn a_digest_of_any_size_fits_and_says_what_is_left_out() {
        let items: Vec<_> = (0..400)
            .map(|n| item(Level::Over, false, &format!("prod: limit {n:03} ⚠")))
            .collect();
        let (title, text) = digest(&items);
        assert_eq!(title, "400 alerts: 400 over");
        // 20 bytes each with the line's end: 190 of them fit.
        assert_eq!(text.lines().count(), 191);
        assert!(text.ends_with("… and 210 more"), "{text}");
        assert!(text.len() < 4096);
    }
}
