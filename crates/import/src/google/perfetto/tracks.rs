//! Tracks of a trace: their names, and the process or thread that each belongs to.

use rustc_hash::FxHashMap;

use super::state::number_of;
use crate::reading::protobuf::{FieldValue, Fields, field_bytes};
use powerband_core::domain::trace::Track;

/// A track lies below no more others than this; some that are damaged lie below themselves.
const MOST_PARENTS: usize = 16;

/// A track as the file describes it.
#[derive(Debug, Default)]
struct DescribedTrack {
    parent: u64,
    name: String,
    process: Option<u64>,
    thread: Option<u64>,
}

/// The tracks of a file, by their numbers.
#[derive(Debug, Default)]
pub(super) struct DescribedTracks {
    tracks: FxHashMap<u64, DescribedTrack>,
    process_names: FxHashMap<u64, String>,
}

impl DescribedTracks {
    /// Takes a description in. Each is repeated now and then, not always in full.
    pub(super) fn take(&mut self, message: &[u8]) {
        let track = self.tracks.entry(number_of(message, 1)).or_default();
        for (field, value) in Fields::new(message) {
            match field {
                2 | 10 | 13 => value.text().as_ref().clone_into(&mut track.name),
                3 => {
                    let pid = number_of(value.bytes(), 1);
                    track.process = Some(pid);
                    let name = process_name(value.bytes());
                    if !name.is_empty() {
                        self.process_names.insert(pid, name);
                    }
                }
                4 => {
                    track.process = Some(number_of(value.bytes(), 1));
                    track.thread = Some(number_of(value.bytes(), 2));
                    if track.name.is_empty() {
                        let name = FieldValue::Bytes(field_bytes(value.bytes(), 5));
                        name.text().as_ref().clone_into(&mut track.name);
                    }
                }
                5 => track.parent = value.number(),
                _ => {}
            }
        }
    }

    /// What a track is called; empty where the file does not say it.
    pub(super) fn name(&self, number: u64) -> &str {
        self.tracks
            .get(&number)
            .map_or("", |track| track.name.as_str())
    }

    /// The thread that a track belongs to.
    pub(super) fn thread(&self, number: u64) -> Option<u64> {
        self.tracks.get(&number)?.thread
    }

    /// A track with names for people. One of a device has the number of its process, as in Chrome traces.
    pub(super) fn titled(&self, number: u64, is_device: bool) -> Track {
        let process = self.process(number);
        let group = match process.map(|pid| (pid, self.process_names.get(&pid))) {
            Some((pid, Some(name))) => format!("{name} {pid}"),
            Some((pid, None)) => format!("process {pid}"),
            None => "global tracks".to_owned(),
        };
        let track = self.tracks.get(&number);
        let name = match track {
            Some(track) if !track.name.is_empty() => track.name.clone(),
            Some(DescribedTrack {
                thread: Some(thread),
                ..
            }) => format!("thread {thread}"),
            Some(DescribedTrack {
                process: Some(_), ..
            }) => "process".to_owned(),
            _ => format!("track {number}"),
        };
        let device = process.unwrap_or_default() as u32;
        Track {
            device: is_device.then_some(device),
            group,
            name,
        }
    }

    /// The process that a track or one that it lies below belongs to.
    fn process(&self, number: u64) -> Option<u64> {
        let mut number = number;
        for _ in 0..MOST_PARENTS {
            let track = self.tracks.get(&number)?;
            if track.process.is_some() {
                return track.process;
            }
            number = track.parent;
        }
        None
    }
}

/// The name of a process, or the file name of its command.
fn process_name(message: &[u8]) -> String {
    let text = |field| FieldValue::Bytes(field_bytes(message, field)).text();
    let name = text(6);
    if !name.is_empty() {
        return name.into_owned();
    }
    let mut command = Fields::new(message).filter(|(field, _)| *field == 2);
    let program = command
        .next()
        .map(|(_, value)| value.text())
        .unwrap_or_default();
    program.rsplit('/').next().unwrap_or_default().to_owned()
}
