//! Hides secrets in the lines of a catalog file that an error quotes.

/// The text with every secret overwritten by stars, byte for byte, so that places in it stay the same.
///
/// It works on lines and not on parsed values, since a file that is not valid TOML must not show them either. It hides
/// too much rather than too little: user name and password of a URL, its query, and whatever follows `password =`,
/// `token =` or the like, misspelt ones too.
pub(super) fn masked(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    // The quotes that end a text of several lines which is a secret.
    let mut open: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let mut bytes = line.as_bytes().to_vec();
        if let Some(quotes) = open {
            star(&mut bytes, 0);
            if line.contains(quotes) {
                open = None;
            }
        } else {
            mask_urls(line, &mut bytes);
            if let Some(at) = secret_value(line) {
                star(&mut bytes, at);
                open = ["\"\"\"", "'''"]
                    .into_iter()
                    .find(|quotes| line[at..].matches(quotes).count() == 1);
            }
        }
        out.extend(bytes);
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Where the value of a secret starts in a line: behind the `=` that follows its name.
fn secret_value(line: &str) -> Option<usize> {
    let lower = line.to_ascii_lowercase();
    ["pas", "pwd", "tok", "secret", "_key"]
        .into_iter()
        .flat_map(|word| lower.match_indices(word).map(|(at, word)| at + word.len()))
        .filter_map(|end| {
            let end =
                end + lower[end..].find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-'))?;
            let equals = end + lower[end..].find(|c| !matches!(c, ' ' | '\t' | '"' | '\''))?;
            lower[equals..].starts_with('=').then_some(equals + 1)
        })
        .min()
}

/// Hides what stands before the last `@` of a line, from the start of the URL or else of the value, and the query.
fn mask_urls(line: &str, bytes: &mut [u8]) {
    let scheme = line.find("//").map(|at| at + 2);
    let start = scheme.or_else(|| line.find('=').map(|at| at + 1));
    if let Some((start, at)) = start.zip(line.rfind('@')).filter(|(start, at)| start < at) {
        star_range(bytes, start, at);
    }
    if let Some((start, query)) = scheme.and_then(|start| Some((start, line[start..].find('?')?))) {
        star(bytes, start + query + 1);
    }
}

fn star(bytes: &mut [u8], from: usize) {
    star_range(bytes, from, bytes.len());
}

/// Quotes, blanks and ends of lines stay, so that the line still reads as one.
fn star_range(bytes: &mut [u8], from: usize, to: usize) {
    for byte in &mut bytes[from..to] {
        if !matches!(byte, b'"' | b'\'' | b' ' | b'\r' | b'\n') {
            *byte = b'*';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_and_places_stay() {
        let secrets = [
            "url = \"redis://:S3NTINEL@h:6379/0\"\n",
            "url = \"redis://:p@S3#S3NTINEL/rd@h:6379/0\"\r\n",
            "redis = { url = 'rediss://default:S3NTINEL@h', username = \"u\" }\n",
            "password = \"S3NTINEL\"\n",
            "password = S3NTINEL\n",
            "pasword = \"S3NTINEL\"\n",
            "tokn = \"S3NTINEL\"\n",
            "\"password\"='S3NTINEL'\n",
            "password = \"\"\"\nS3NTINEL\nS3NTINEL\"\"\"\n",
            "token = '''S3NTINEL'''\n",
            "url = \"postgres://h/db?password=S3NTINEL\"\n",
            "url = \"https://ntfy.sh/?auth=S3NTINEL\"\n",
            "url = \"host=h password=S3NTINEL\"\n",
            "url = \"postgres:/u:S3NTINEL@h/d\"\n",
            "identity_key = \"S3NTINEL é\"\n",
        ];
        for secret in secrets {
            let hidden = masked(secret);
            assert!(!hidden.contains("S3NTINEL"), "{hidden}");
            assert_eq!(hidden.len(), secret.len());
        }
        assert_eq!(
            masked("url = \"redis://:pw@h:6379\"\n"),
            "url = \"redis://***@h:6379\"\n"
        );
        let harmless = "key = \"{env}m:{endpoint}\" # é\r\nname = \"prod\"\n";
        assert_eq!(masked(harmless), harmless);
        let after = "token = \"\"\"\na\n\"\"\"\nname = \"prod\"\n";
        assert!(masked(after).ends_with("name = \"prod\"\n"));
    }
}
