//! A proxy that misbehaves on demand.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
};

/// What a proxy does with what passes through it. A change holds for open connections too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Passes everything on.
    Pass,
    /// Passes each reply on after this time, however many pieces it comes in.
    Delay(Duration),
    /// Lets the next `COMMIT` reach Postgres and be carried out, then cuts the connection instead of passing the reply
    /// on; from then on passes everything on.
    CutAfterCommit,
    /// Keeps connections open and passes nothing on.
    Hang,
    /// Cuts connections, new ones too.
    Cut,
}

/// A proxy before a port of this machine.
pub struct Proxy {
    port: u16,
    behaviour: watch::Sender<Behaviour>,
    connections: Arc<AtomicUsize>,
}

impl Proxy {
    /// Starts one that passes everything on. It lives as long as the test's runtime.
    pub async fn start(upstream: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port is free");
        let port = listener.local_addr().expect("a bound socket").port();
        let (behaviour, _) = watch::channel(Behaviour::Pass);
        let control = behaviour.clone();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(serve(client, upstream, control.clone()));
            }
        });
        Self {
            port,
            behaviour,
            connections,
        }
    }

    /// From now on behaves like this.
    pub fn set(&self, behaviour: Behaviour) {
        self.behaviour.send_replace(behaviour);
    }

    /// How it behaves now.
    pub fn behaviour(&self) -> Behaviour {
        *self.behaviour.borrow()
    }

    /// How many connections it has taken so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// A server's URL with the port of this proxy.
    pub fn url(&self, url: &str) -> String {
        let mut url = url::Url::parse(url).expect("a good URL");
        url.set_port(Some(self.port)).expect("a URL with a host");
        url.into()
    }
}

/// One connection, until either side ends it or the behaviour cuts it.
async fn serve(client: TcpStream, upstream: u16, control: watch::Sender<Behaviour>) {
    let Ok(server) = TcpStream::connect(("127.0.0.1", upstream)).await else {
        return;
    };
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let mut changes = control.subscribe();
    let asked = AtomicBool::new(false);
    tokio::select! {
        _ = forward(from_client, to_server, &control, &asked, false) => {}
        _ = forward(from_server, to_client, &control, &asked, true) => {}
        _ = changes.wait_for(|behaviour| *behaviour == Behaviour::Cut) => {}
    }
}

/// Passes one direction on until it ends. `asked` is whether the client has said anything since the last reply began.
async fn forward(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    control: &watch::Sender<Behaviour>,
    asked: &AtomicBool,
    replies: bool,
) -> io::Result<()> {
    let mut behaviours = control.subscribe();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let length = from.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        let data = &buffer[..length];
        // Both the statement and the tag of its reply end in a zero byte; `ON COMMIT DROP` does not. Neither is ever
        // split over two reads: each is the only and last thing its sender has to say.
        let commit = data.windows(7).any(|part| part == b"COMMIT\0");
        let begins = asked.swap(!replies, Ordering::Relaxed);
        let now = *behaviours.borrow_and_update();
        match now {
            Behaviour::CutAfterCommit if replies && commit => {
                control.send_replace(Behaviour::Pass);
                return Ok(());
            }
            Behaviour::Delay(time) if replies && begins => tokio::time::sleep(time).await,
            Behaviour::Hang => {
                // Errs where the test is over, when it does not matter any more.
                _ = behaviours
                    .wait_for(|behaviour| *behaviour != Behaviour::Hang)
                    .await;
            }
            _ => {}
        }
        to.write_all(data).await?;
    }
}
