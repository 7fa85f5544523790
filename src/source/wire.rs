//! Redis' protocol, as far as reading needs it: commands go out together, each reply is handed on where it lies.
//!
//! A general client makes two allocations and a value of every field of a hash, which takes four times as long as the
//! server and the socket do. Here a reply is a list of places in the receive buffer.

use std::{io, time::Duration};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Room to receive into at a time, in bytes.
const CHUNK: usize = 128 * 1024;

/// A connected stream, encrypted or not.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Sync + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Stream for T {}

/// Commands to send together.
#[derive(Debug, Default)]
pub(super) struct Commands {
    bytes: Vec<u8>,
    count: u64,
}

impl Commands {
    /// A single command.
    pub(super) fn one(words: &[&[u8]]) -> Self {
        let mut commands = Self::default();
        commands.push(words);
        commands
    }

    /// Adds a command: its name and arguments.
    pub(super) fn push(&mut self, words: &[&[u8]]) {
        self.header(b'*', words.len());
        for word in words {
            self.header(b'$', word.len());
            self.bytes.extend_from_slice(word);
            self.bytes.extend_from_slice(b"\r\n");
        }
        self.count += 1;
    }

    /// How many there are.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    fn header(&mut self, kind: u8, number: usize) {
        self.bytes.push(kind);
        self.bytes.extend_from_slice(number.to_string().as_bytes());
        self.bytes.extend_from_slice(b"\r\n");
    }
}

/// One reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply<'b> {
    /// Nothing is there.
    Nil,
    /// A text, a number or a status.
    Text(&'b [u8]),
    /// A list; the items of lists in it are items of it.
    List(List<'b>),
    /// The server's words.
    Error(&'b [u8]),
}

/// The items of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct List<'b> {
    reply: &'b [u8],
    spans: &'b [(usize, usize)],
}

impl<'b> List<'b> {
    /// How many items there are.
    pub(super) const fn len(&self) -> usize {
        self.spans.len()
    }

    /// The items in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'b [u8]> + use<'b> {
        let reply = self.reply;
        self.spans.iter().map(move |(from, to)| &reply[*from..*to])
    }

    /// The first item and the others, as the steps of a scan have them.
    pub(super) fn split_first(&self) -> Option<(&'b [u8], Self)> {
        let ((from, to), spans) = self.spans.split_first()?;
        Some((&self.reply[*from..*to], Self { spans, ..*self }))
    }

    /// The items two by two, as hashes have them.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&'b [u8], &'b [u8])> + use<'b> {
        let (reply, spans) = (self.reply, self.spans);
        spans.chunks_exact(2).map(move |pair| {
            let item = |(from, to): (usize, usize)| &reply[from..to];
            (item(pair[0]), item(pair[1]))
        })
    }
}

/// A connection that has been opened.
pub(super) struct Wire {
    stream: Box<dyn Stream>,
    /// The longest silence while a reply is awaited.
    patience: Duration,
    buffer: Vec<u8>,
    /// Where in the buffer the reply at hand starts.
    start: usize,
    spans: Vec<(usize, usize)>,
    received: u64,
    /// Replies that are still to come: some are, if a read was given up half-way.
    awaited: u64,
}

impl Wire {
    pub(super) fn new(stream: Box<dyn Stream>, patience: Duration) -> Self {
        Self {
            stream,
            patience,
            buffer: Vec::new(),
            start: 0,
            spans: Vec::new(),
            received: 0,
            awaited: 0,
        }
    }

    /// Bytes received so far.
    pub(super) const fn received(&self) -> u64 {
        self.received
    }

    /// Sends commands. Their replies come in order, each by a call of `receive`.
    pub(super) async fn send(&mut self, commands: &Commands) -> io::Result<()> {
        if self.awaited > 0 {
            return Err(io::Error::other("an earlier answer was not read to its end"));
        }
        self.awaited = commands.count;
        let sending = async {
            self.stream.write_all(&commands.bytes).await?;
            self.stream.flush().await
        };
        tokio::time::timeout(self.patience, sending).await?
    }

    /// Receives the next reply.
    pub(super) async fn receive(&mut self) -> io::Result<Reply<'_>> {
        self.spans.clear();
        let mut at = 0;
        let mut kind = None;
        // Values that the reply still lacks: an array adds its items.
        let mut lacking = 1_usize;
        while lacking > 0 {
            let Some(value) = value(&self.buffer[self.start..], at)? else {
                self.fill().await?;
                continue;
            };
            at = value.end;
            lacking -= 1;
            kind = kind.or(Some(value.kind));
            match value.kind {
                Kind::Array => lacking = lacking.saturating_add(value.items),
                Kind::Nil if self.spans.is_empty() && lacking == 0 => {}
                // Within a list, a nil is an empty item: its neighbours keep their places.
                Kind::Nil | Kind::Text | Kind::Error => self.spans.push(value.span),
            }
        }
        self.awaited = self.awaited.saturating_sub(1);
        let reply = &self.buffer[self.start..self.start + at];
        self.start += at;
        let first = self
            .spans
            .first()
            .map_or_else(Default::default, |(from, to)| &reply[*from..*to]);
        Ok(match kind {
            Some(Kind::Array) => Reply::List(List {
                reply,
                spans: &self.spans,
            }),
            Some(Kind::Text) => Reply::Text(first),
            Some(Kind::Error) => Reply::Error(first),
            Some(Kind::Nil) | None => Reply::Nil,
        })
    }

    async fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.reserve(CHUNK);
        let reading = self.stream.read_buf(&mut self.buffer);
        match tokio::time::timeout(self.patience, reading).await?? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            received => {
                self.received += received as u64;
                Ok(())
            }
        }
    }
}

/// One value of a reply, an array's items apart.
struct Value {
    kind: Kind,
    /// Where its text lies.
    span: (usize, usize),
    /// The items of an array.
    items: usize,
    /// Where the next value starts.
    end: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nil,
    Text,
    Array,
    Error,
}

/// Reads the value that starts at a place; none while it is not all there.
fn value(bytes: &[u8], at: usize) -> io::Result<Option<Value>> {
    let Some(line) = bytes[at.min(bytes.len())..]
        .windows(2)
        .position(|two| two == b"\r\n")
    else {
        return Ok(None);
    };
    let (text, after) = (at + 1, at + line + 2);
    let plain = |kind| Value {
        kind,
        span: (text, after - 2),
        items: 0,
        end: after,
    };
    let value = match bytes[at] {
        b'+' | b':' => plain(Kind::Text),
        b'-' => plain(Kind::Error),
        b'$' => match length(&bytes[text..after - 2])? {
            Some(length) => Value {
                span: (after, after.saturating_add(length)),
                end: after.saturating_add(length).saturating_add(2),
                ..plain(Kind::Text)
            },
            None => Value {
                span: (after, after),
                ..plain(Kind::Nil)
            },
        },
        b'*' => match length(&bytes[text..after - 2])? {
            Some(items) => Value {
                items,
                ..plain(Kind::Array)
            },
            None => Value {
                span: (after, after),
                ..plain(Kind::Nil)
            },
        },
        _ => return Err(foreign()),
    };
    Ok((value.end <= bytes.len()).then_some(value))
}

/// A length in digits; none for -1, which stands for nothing.
fn length(digits: &[u8]) -> io::Result<Option<usize>> {
    if digits == b"-1" {
        return Ok(None);
    }
    let text = str::from_utf8(digits).map_err(|_| foreign())?;
    text.parse().map(Some).map_err(|_| foreign())
}

fn foreign() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "its answer is not Redis' protocol")
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;

    /// What a wire makes of these bytes, received a few at a time.
    async fn replies(bytes: &'static [u8], step: usize) -> Vec<String> {
        let (ours, mut theirs) = duplex(step);
        let mut wire = Wire::new(Box::new(ours), Duration::from_secs(5));
        tokio::spawn(async move { theirs.write_all(bytes).await });
        let mut replies = Vec::new();
        loop {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            replies.push(match wire.receive().await {
                Ok(Reply::Nil) => "nil".to_owned(),
                Ok(Reply::Text(bytes)) => text(bytes),
                Ok(Reply::Error(bytes)) => format!("error {}", text(bytes)),
                Ok(Reply::List(list)) => format!("{:?}", list.iter().map(text).collect::<Vec<_>>()),
                Err(error) => {
                    replies.push(format!("{:?}", error.kind()));
                    return replies;
                }
            });
        }
    }

    #[tokio::test]
    async fn replies_are_read_however_they_arrive() {
        let bytes = b"+OK\r\n:12\r\n$5\r\na\r\nbc\r\n$-1\r\n*0\r\n*-1\r\n-ERR no\r\n$0\r\n\r\n\
            *2\r\n$2\r\n17\r\n*2\r\n$1\r\nf\r\n$1\r\n3\r\n*3\r\n$1\r\na\r\n$-1\r\n$1\r\nb\r\n+rest";
        let expected = [
            "OK",
            "12",
            "a\r\nbc",
            "nil",
            "[]",
            "nil",
            "error ERR no",
            "",
            r#"["17", "f", "3"]"#,
            r#"["a", "", "b"]"#,
            "UnexpectedEof",
        ];
        for step in [1, 3, 7, 4096] {
            assert_eq!(replies(bytes, step).await, expected, "{step} bytes at a time");
        }
    }

    #[tokio::test]
    async fn another_protocol_is_told() {
        // A TLS alert, an HTTP answer, a length that is none.
        for bytes in [
            b"\x15\x03\x03\x00\x02\x02\x28\r\n".as_slice(),
            b"HTTP/1.1 400\r\n",
            b"$x\r\n",
        ] {
            assert_eq!(replies(bytes, 64).await, ["InvalidData"]);
        }
    }

    #[tokio::test]
    async fn silence_ends_and_leaves_the_wire_unusable() {
        let (ours, _theirs) = duplex(64);
        let mut wire = Wire::new(Box::new(ours), Duration::from_millis(10));
        let ping = Commands::one(&[b"PING"]);
        assert_eq!(ping.bytes, b"*1\r\n$4\r\nPING\r\n");
        wire.send(&ping).await.unwrap();
        assert_eq!(wire.receive().await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert!(wire.send(&ping).await.is_err());
    }
}
