//! Examples, adversarial texts, and brute force.

use proptest::prelude::*;

use super::*;

const COMPACT: MinuteFormat = MinuteFormat::Compact;

fn pattern(text: &str) -> Pattern {
    Pattern::parse(text).unwrap()
}

/// What the placeholders took, as text, in the order endpoint, scope, identity, outcome, minute.
fn parts(of: &str, prefix: &str, text: &str) -> Option<String> {
    let captures = pattern(of).captures(prefix, text.as_bytes(), COMPACT)?;
    let text = |part: Option<&[u8]>| part.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
    let all = [
        captures.endpoint,
        captures.scope,
        captures.identity,
        captures.outcome,
    ]
    .map(text);
    let minute = captures.minute.map(|(minute, _)| minute.text(COMPACT));
    Some(
        all.into_iter()
            .chain([minute])
            .flatten()
            .collect::<Vec<_>>()
            .join(" | "),
    )
}

fn split(of: &str, text: &str) -> Option<String> {
    parts(of, "olp:", text)
}

#[test]
fn each_placeholder_takes_the_shortest_text_and_the_last_keeps_the_rest() {
    let s = |text: &str| Some(text.to_owned());
    assert_eq!(
        split("{endpoint}:{outcome}", "twilio:error:429"),
        s("twilio | error:429")
    );
    assert_eq!(
        split("{scope}:{identity}", "ip:2001:db8::1"),
        s("ip | 2001:db8::1")
    );
    let gateway = "{env}m:{endpoint}:{minute}";
    assert_eq!(
        split(gateway, "olp:m:send-otp:202503101205"),
        s("send-otp | 202503101205")
    );
    assert_eq!(
        split(gateway, "olp:m:v1:messages:send:202503101205"),
        s("v1:messages:send | 202503101205")
    );
    assert_eq!(
        split(
            "wa:metrics:{identity}:{minute}",
            "wa:metrics:5511999990000:device2:202503101205"
        ),
        s("5511999990000:device2 | 202503101205")
    );
    assert_eq!(
        split(
            "{env}metrics:{endpoint}:{identity}:{minute}",
            "olp:metrics:msg:esc:9:202503101205"
        ),
        s("msg | esc:9 | 202503101205")
    );
    // The number of a window is digits, so that an address stays whole.
    assert_eq!(
        split("{env}rl:{identity}:{window}", "olp:rl:2001:db8::1:29026800"),
        s("2001:db8::1")
    );
    assert_eq!(split("{env}rl:{identity}:{window}", "olp:rl:10.0.0.1:x"), None);
    // A minute inside: the first text that is one and lets the rest match.
    assert_eq!(
        split("{endpoint}:{minute}:{identity}", "a:b:202503101205:202503101206"),
        s("a:b | 202503101206 | 202503101205")
    );
}

#[test]
fn a_text_that_does_not_fit_is_told_from_one_with_an_odd_minute() {
    let gateway = pattern("{env}m:{endpoint}:{minute}");
    for (text, but_for_minute) in [
        ("olp:m:x:20250310120", true),
        ("olp:m:x: 202503101205", true),
        ("olp:m:x:2025031012059", true),
        ("olp:m:x:", false),
        ("olp:m::202503101205", false),
        ("olp:n:x:202503101205", false),
        ("olp-stg:m:x:202503101205", false),
        ("", false),
    ] {
        assert_eq!(
            gateway.captures("olp:", text.as_bytes(), COMPACT),
            None,
            "{text:?}"
        );
        assert_eq!(
            gateway.fits_but_for_minute("olp:", text.as_bytes()),
            but_for_minute,
            "{text:?}"
        );
    }
}

#[test]
fn bytes_that_are_no_utf8_are_captured_as_they_are() {
    let captures =
        pattern("{env}m:{endpoint}:{minute}").captures("olp:", b"olp:m:\xc3\x28:202503101205", COMPACT);
    let captures = captures.unwrap();
    assert_eq!(captures.endpoint, Some(&b"\xc3\x28"[..]));
    assert_eq!(captures.minute.unwrap().1, 9..21);
}

#[test]
fn epoch_minutes_are_found_at_any_length() {
    // 2024-02-29T12:00Z is minute 28486800.
    let captures = pattern("{endpoint}:{minute}")
        .captures("", b"a:28486800", MinuteFormat::EpochMinutes)
        .unwrap();
    assert_eq!(captures.minute, Some((Minute::from_index(28_486_800), 2..10)));
    let captures = pattern("{minute}-{endpoint}").captures("", b"1709208059000-a", MinuteFormat::EpochMillis);
    assert_eq!(
        captures.unwrap().minute.unwrap().0,
        Minute::from_index(28_486_800)
    );
}

#[test]
fn globs_escape_what_redis_would_take_for_a_wildcard() {
    let key = pattern("{env}ratelimit?:{identity}");
    assert_eq!(key.glob("acme[1]:"), r"acme\[1\]:ratelimit\?:*");
    assert_eq!(pattern(r"a^b\c*{minute}").glob(""), r"a\^b\\c\**");
}

#[test]
fn bad_patterns_are_refused_with_the_part() {
    let refused = |text: &str| Pattern::parse(text).unwrap_err().to_string();
    assert!(refused("{env}m:{tenant}").contains("`{tenant}`"));
    assert!(refused("{Env}").contains("`{Env}`"));
    assert!(refused("{}").contains("`{}`"));
    assert!(refused("{endpoint}:{endpoint}").contains("`{endpoint}` stands twice"));
    assert!(refused("{scope}{identity}").contains("between `{scope}` and `{identity}`"));
    assert!(refused("{_}{_}").contains("between `{_}` and `{_}`"));
    assert!(refused("m:{endpoint").contains("`{endpoint`"));
    assert!(refused("m:{end{point}").contains("`{end{point}`"));
    assert!(refused("m:}x").contains("`}x`"));
    assert!(refused("").contains("empty"));
    assert!(Pattern::parse("{_}:{env}{endpoint}:{_}").is_ok());
}

#[test]
fn long_adversarial_texts_take_linear_time() {
    let many = pattern("{_}:{_}:{_}:{_}:{_}:{_}:{_}:{_}:{_}:{_}:{endpoint}:x{minute}");
    let colons = ":".repeat(100_000);
    assert_eq!(many.captures("", colons.as_bytes(), COMPACT), None);
    let minutes = "a:202503101205:".repeat(10_000);
    assert_eq!(
        pattern("{_}:{minute}:{endpoint}x").captures("", minutes.as_bytes(), COMPACT),
        None
    );
}

/// All ways to split a text, shortest first, by brute force.
fn brute<'t>(parts: &[Part], prefix: &str, text: &'t [u8]) -> Option<Vec<&'t [u8]>> {
    let Some((part, rest)) = parts.split_first() else {
        return text.is_empty().then(Vec::new);
    };
    (0..=text.len()).find_map(|end| {
        let (taken, tail) = text.split_at(end);
        let fits = match part {
            Part::Literal(literal) => literal.as_bytes() == taken,
            Part::Hole(Placeholder::Env) => prefix.as_bytes() == taken,
            Part::Hole(Placeholder::Minute) => Minute::parse(taken, MinuteFormat::EpochMinutes).is_ok(),
            Part::Hole(_) => end > 0,
        };
        let mut all = fits.then(|| brute(rest, prefix, tail)).flatten()?;
        all.insert(0, taken);
        Some(all)
    })
}

proptest! {
    #[test]
    fn filled_in_patterns_give_their_parts_back(
        endpoint in "[a-z0-9./-]{1,12}",
        scope in "[a-z_]{1,8}",
        identity in "[a-z0-9:-]{1,20}",
        minute in 0_i64..4_000_000_000,
    ) {
        let minute = Minute::from_index(minute);
        let key = pattern("{env}m:{endpoint}:{minute}");
        let text = key.render("olp:", &endpoint, &minute.text(COMPACT));
        let captures = key.captures("olp:", text.as_bytes(), COMPACT).unwrap();
        prop_assert_eq!(captures.endpoint, Some(endpoint.as_bytes()));
        prop_assert_eq!(captures.minute.unwrap().0, minute);

        let field = format!("{scope}:{identity}");
        let captures = pattern("{scope}:{identity}").captures("olp:", field.as_bytes(), COMPACT).unwrap();
        prop_assert_eq!(captures.scope, Some(scope.as_bytes()));
        prop_assert_eq!(captures.identity, Some(identity.as_bytes()));
    }

    #[test]
    fn the_first_split_by_brute_force_is_the_one(
        of in "(a|:|\\{env\\})?(\\{_\\}|\\{endpoint\\})(:|a|b:)(\\{minute\\}|\\{identity\\})(:|a)?(\\{outcome\\}b?)?",
        text in "[ab:1]{0,12}",
    ) {
        let Ok(pattern) = Pattern::parse(&of) else { return Ok(()) };
        let found = pattern.captures(":", text.as_bytes(), MinuteFormat::EpochMinutes);
        let expected = brute(&pattern.parts, ":", text.as_bytes());
        prop_assert_eq!(found.is_some(), expected.is_some());
        if let (Some(found), Some(expected)) = (found, expected) {
            let taken = |hole| {
                pattern.parts.iter().position(|part| *part == Part::Hole(hole)).map(|at| expected[at])
            };
            prop_assert_eq!(found.endpoint, taken(Placeholder::Endpoint));
            prop_assert_eq!(found.identity, taken(Placeholder::Identity));
            prop_assert_eq!(found.outcome, taken(Placeholder::Outcome));
            let minute = found.minute.map(|(_, range)| &text.as_bytes()[range]);
            prop_assert_eq!(minute, taken(Placeholder::Minute));
        }
    }
}
