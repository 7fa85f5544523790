//! A PgBouncer in transaction mode before the private Postgres.

use std::{
    fs::{self, File},
    net::TcpStream,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use folga::servers::free_port;
use url::Url;

use super::SERVERS;

/// A running PgBouncer: two connections to the server for up to 200 clients.
pub struct Bouncer {
    process: Child,
    port: u16,
}

impl Bouncer {
    /// Starts one.
    pub fn start() -> Self {
        let port = free_port().expect("a port is free");
        let server = Url::parse(&SERVERS.postgres_url("postgres")).expect("a good URL");
        // Clients are let in under any name and reach the server as its superuser.
        let settings = format!(
            "[databases]\n* = host=127.0.0.1 port={} user={} password={}\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n\
             pool_mode = transaction\ndefault_pool_size = 2\nmax_client_conn = 200\n",
            SERVERS.postgres.port(),
            server.username(),
            server.password().expect("a password"),
        );
        // It works in the folder of Postgres, whose watchdog ends it too.
        let folder = SERVERS.postgres.folder();
        let file = folder.join(format!("pgbouncer-{port}.ini"));
        fs::write(&file, settings).expect("a configuration can be written");
        let log = folder.join(format!("pgbouncer-{port}.log"));
        let mut command = Command::new("pgbouncer");
        command.env("PATH", "/usr/sbin:/usr/bin:/bin:/usr/local/sbin:/usr/local/bin");
        if is_root() {
            command.args(["--user", "nobody"]);
        }
        let process = command
            .arg(&file)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log).expect("a log can be made"))
            .spawn()
            .expect("pgbouncer is installed (Debian: apt-get install pgbouncer)");
        let bouncer = Self { process, port };
        let deadline = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(
                Instant::now() < deadline,
                "PgBouncer does not listen:\n{}",
                fs::read_to_string(&log).unwrap_or_default()
            );
            thread::sleep(Duration::from_millis(10));
        }
        bouncer
    }

    /// The URL through it for a database's own.
    pub fn url(&self, database_url: &str) -> String {
        let mut url = Url::parse(database_url).expect("a good URL");
        url.set_port(Some(self.port)).expect("a URL with a host");
        url.into()
    }
}

impl Drop for Bouncer {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// PgBouncer refuses to run as root, and changes its user itself.
fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().expect("id runs");
    output.stdout == b"0\n"
}
