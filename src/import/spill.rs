//! Sorted runs of samples in a temporary file.

use std::{
    env,
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write as _},
    ops::Range,
    os::unix::fs::{FileExt as _, OpenOptionsExt as _},
    process,
    sync::Arc,
};

use super::sample::{BYTES, Sample};

/// Samples of a run that are held while runs are merged.
const HELD: usize = 2048;

/// A file without a name: it is gone when it is closed, however that comes.
#[derive(Debug)]
pub(super) struct Spill {
    file: Arc<File>,
    end: u64,
    runs: Vec<Range<u64>>,
}

/// One run, read from its beginning.
#[derive(Debug)]
pub(super) struct Run {
    file: Arc<File>,
    rest: Range<u64>,
    held: Vec<u8>,
    at: usize,
}

impl Spill {
    pub(super) fn create() -> io::Result<Self> {
        let folder = env::temp_dir();
        let mut number = 0;
        let file = loop {
            let path = folder.join(format!("folga-import-{}-{number}", process::id()));
            let options = OpenOptions::new()
                .read(true)
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path);
            match options {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
                Err(error) => {
                    let words = format!(
                        "making a temporary file in {} ({error}): set TMPDIR to a folder with room",
                        folder.display()
                    );
                    return Err(io::Error::new(error.kind(), words));
                }
                Ok(file) => {
                    fs::remove_file(&path)?;
                    break file;
                }
            }
        };
        Ok(Self {
            file: Arc::new(file),
            end: 0,
            runs: Vec::new(),
        })
    }

    /// Writes samples that are sorted.
    pub(super) fn write(&mut self, samples: &[Sample]) -> io::Result<()> {
        let mut writer = BufWriter::new(&*self.file);
        for sample in samples {
            writer.write_all(&sample.to_bytes())?;
        }
        writer.flush()?;
        let start = self.end;
        self.end += (samples.len() * BYTES) as u64;
        self.runs.push(start..self.end);
        Ok(())
    }

    pub(super) fn runs(self) -> impl Iterator<Item = Run> {
        let file = self.file;
        self.runs.into_iter().map(move |rest| Run {
            file: Arc::clone(&file),
            rest,
            held: Vec::new(),
            at: 0,
        })
    }
}

impl Run {
    pub(super) fn next(&mut self) -> io::Result<Option<Sample>> {
        if self.at == self.held.len() {
            let left = usize::try_from(self.rest.end - self.rest.start).unwrap_or(usize::MAX);
            self.held.resize(left.min(HELD * BYTES), 0);
            self.at = 0;
            self.file.read_exact_at(&mut self.held, self.rest.start)?;
            self.rest.start += self.held.len() as u64;
        }
        let next = self.held[self.at..].first_chunk().copied();
        self.at += next.map_or(0, |bytes: [u8; BYTES]| bytes.len());
        Ok(next.map(Sample::from_bytes))
    }
}
