//! Checks of the URLs in the catalog. No message here quotes one: it may hold a password.

use url::Url;

use super::Refusal;

/// Checks a `redis://` or `rediss://` URL.
pub(super) fn check_redis(text: &str) -> Result<Url, Refusal> {
    let url = checked(text, &["redis", "rediss"], "redis://127.0.0.1:6379")?;
    with_host(&url, "redis://127.0.0.1:6379")?;
    if url.fragment().is_some() {
        return Err(Refusal::new(
            "the URL holds a #",
            "percent-encode a # of the password as %23; certificate checks can't be turned off, name the authority in ca_file",
        ));
    }
    if url
        .path()
        .trim_start_matches('/')
        .bytes()
        .any(|byte| !byte.is_ascii_digit())
    {
        return Err(Refusal::new(
            "the URL's path is no database number",
            "end it in /0, and percent-encode a / of the password as %2F",
        ));
    }
    Ok(url)
}

/// Checks a `postgres://` URL.
pub(super) fn check_postgres(text: &str) -> Result<Url, Refusal> {
    let url = checked(text, &["postgres", "postgresql"], "postgres://localhost/folga")?;
    if !url.query_pairs().any(|(key, _)| key == "host") {
        with_host(&url, "postgres://localhost/folga")?;
    }
    if url.fragment().is_some() {
        return Err(Refusal::new(
            "the URL holds a #",
            "percent-encode a # of the password as %23",
        ));
    }
    Ok(url)
}

/// Checks a web address without user, query or fragment.
pub(super) fn check_http(text: &str, example: &str) -> Result<Url, Refusal> {
    let url = checked(text, &["http", "https"], example)?;
    with_host(&url, example)?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Refusal::new(
            "the URL holds a user name or password",
            "write it without",
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(Refusal::new(
            "the URL holds a query or fragment",
            format!("write it plainly: {example}"),
        ));
    }
    Ok(url)
}

fn with_host(url: &Url, example: &str) -> Result<(), Refusal> {
    if url.host_str().is_none_or(str::is_empty) {
        return Err(Refusal::new("the URL names no host", format!("write {example}")));
    }
    Ok(())
}

/// Checks scheme and user part by hand before a URL is parsed: parsers take the raw characters of a password for the
/// start of host, path or fragment, and a client would connect to somewhere else and send it there.
fn checked(text: &str, schemes: &[&str], example: &str) -> Result<Url, Refusal> {
    let Some((_, rest)) = text
        .split_once("://")
        .filter(|(scheme, _)| schemes.contains(scheme))
    else {
        let starts: Vec<String> = schemes.iter().map(|scheme| format!("{scheme}://")).collect();
        return Err(Refusal::new(
            format!("the URL does not start with {}", starts.join(" or ")),
            format!("write {example}"),
        ));
    };
    let encode = |what: &str| {
        Err(Refusal::new(
            what,
            "percent-encode the special characters of user name and password: @ as %40, # as %23, / as %2F, ? as %3F, \
             : as %3A, % as %25; Redis takes username and password apart from the URL too",
        ))
    };
    let authority = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    if rest[authority..].contains('@') {
        return encode("the URL's password seems to hold a raw / ? # or \\");
    }
    if let Some((user, _)) = rest[..authority].rsplit_once('@') {
        if user.contains('@') {
            return encode("the URL's user name or password holds a raw @");
        }
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:%".contains(&byte);
        if !user.bytes().all(plain) {
            return encode("the URL's user name or password holds a character that must be encoded");
        }
        let encoded =
            |part: &str| part.len() >= 2 && part.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
        if !user.split('%').skip(1).all(encoded) {
            return encode("the URL's user name or password holds a % that encodes nothing");
        }
    }
    Url::parse(text).map_err(|error| {
        Refusal::new(
            format!("the URL can't be read: {error}"),
            format!("write it like {example}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_passwords_are_refused_with_the_remedy_and_never_shown() {
        for bad in [
            "redis://:p@ss#w/rd@h:6379/0",
            "redis://:p@ss@h:6379/0",
            "redis://:p#ss@h:6379/0",
            "redis://:p/ss@h:6379/0",
            "redis://:p?ss@h:6379/0",
            "redis://:p\\ss@h:6379/0",
            "redis://:p ss@h:6379/0",
            "redis://:pässe@h:6379/0",
            "redis://:p%zzss@h:6379/0",
            "redis://:ss%@h:6379/0",
            "redis://:ss%4@h:6379/0",
        ] {
            let refusal = check_redis(bad).unwrap_err();
            assert!(refusal.remedy.contains("percent-encode"), "{bad}: {refusal}");
            assert!(!refusal.to_string().contains("ss#"), "{refusal}");
        }
    }

    #[test]
    fn encoded_passwords_and_plain_urls_pass() {
        for good in [
            "redis://:p%40ss%23w%2Frd@h:6379/0",
            "rediss://default:abc=@h:6379",
            "rediss://default:a%25b@h:6379/",
            "redis://h",
            "redis://[::1]:6379/3",
        ] {
            assert!(check_redis(good).is_ok(), "{good}");
        }
        assert_eq!(
            check_redis("redis://:p%40ss@h:6379/0").unwrap().host_str(),
            Some("h")
        );
        for good in [
            "postgres://localhost/folga",
            "postgresql://u:p%40@h:6543/db?sslmode=require",
            "postgres:///db?host=/run/pg",
        ] {
            assert!(check_postgres(good).is_ok(), "{good}");
        }
        assert!(check_http("https://ntfy.sh", "https://ntfy.sh").is_ok());
    }

    #[test]
    fn other_urls_are_refused() {
        for bad in [
            "",
            "h:6379",
            "http://h",
            "redis:/h",
            "redis://",
            "redis://:6379",
            "redis://h/x",
            "redis://h:99999",
        ] {
            assert!(check_redis(bad).is_err(), "{bad}");
        }
        // This library's URLs turn certificate checks off with a fragment.
        assert!(check_redis("rediss://h:6379/0#insecure").is_err());
        for bad in [
            "mysql://h/db",
            "postgres:///db",
            "postgres://u:p@ss@h/db",
            "host=h dbname=d",
        ] {
            assert!(check_postgres(bad).is_err(), "{bad}");
        }
        for bad in [
            "ntfy.sh",
            "https://",
            "https://u:p@ntfy.sh",
            "https://ntfy.sh/?auth=x",
        ] {
            assert!(check_http(bad, "https://ntfy.sh").is_err(), "{bad}");
        }
    }
}
