//! Device readings of another machine: this program reads them over there, on that machine's clock, and writes them
//! to the connection; here they are put on this machine's clock.
//!
//! `serve` is the other side, behind the hidden subcommand `remote watch`; `RemoteSampler` is this one.

use std::io::{self, BufRead as _, Write as _};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::RemoteError;
use super::guard::SILENCE;
use crate::process::{ChildProcess, Incoming, named};
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::base::{clock, humanize};
use powerband_core::domain::machine::ClockOffset;
use powerband_core::domain::telemetry::{DeviceReading, MissingSource, WatchedDevice};
use powerband_core::domain::telemetry_paths::TelemetryPaths;
use powerband_devices::sampler::{SampledReadings, Sampler};
use powerband_devices::survey;
use powerband_planning::transport::SetupMachine;

/// How often readings are written to the connection.
const WRITTEN: Duration = Duration::from_millis(500);
/// The line that ends sampling.
const END: &str = "end";
/// Readings in a line.
const READINGS: usize = 64;
/// The longest line that is read, in bytes.
const LONGEST: usize = 4 << 20;
/// How long the drivers over there, and the connection, may take until the devices are known.
const OPEN_LIMIT: Duration = Duration::from_secs(30);
/// How long the last readings may take.
const END_LIMIT: Duration = Duration::from_secs(3);
/// No machine has more devices than these.
const MOST_DEVICES: usize = 1_024;
/// Lines that are taken at a time, warnings that are shown, and characters of one.
const MOST_LINES: usize = 256;
const MOST_WARNINGS: usize = 50;
const LONGEST_WARNING: usize = 500;
/// How far a reading may lie before the beginning, or ahead of now, in nanoseconds: beyond it the clock is wrong.
const CLOCK_SLACK_NS: u64 = 2_000_000_000;

/// The first line: what is read.
#[derive(Debug, Serialize, Deserialize)]
struct SamplingHeader {
    devices: Vec<WatchedDevice>,
    missing: Vec<MissingSource>,
}

/// Reads this machine's devices until the input ends, says so or falls silent; each other line names the run's processes here,
/// the one that measures first, and an empty one is a sign of life.
pub fn serve(rate_hz: f64) -> io::Result<()> {
    let survey = survey::survey(&TelemetryPaths::of_user());
    write_line(&SamplingHeader {
        devices: survey.devices.clone(),
        missing: survey.missing.clone(),
    })?;
    let mut sampler = Sampler::start(survey, rate_hz);
    let (sender, lines) = sync_channel(8);
    named("input", move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    })?;
    let mut due = Instant::now() + WRITTEN;
    let mut heard = Instant::now();
    while heard.elapsed() < SILENCE {
        let line = lines.recv_timeout(due.saturating_duration_since(Instant::now()));
        if line.is_ok() {
            heard = Instant::now();
        }
        match line {
            Ok(line) if line.is_empty() => {}
            Ok(line) if line == END => return write_readings(&mut sampler),
            Ok(line) => sampler.set_workers(workers_of(&line)),
            Err(RecvTimeoutError::Timeout) => {
                write_readings(&mut sampler)?;
                due = Instant::now() + WRITTEN;
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
    Ok(())
}

/// The processes that a line names, with blanks between.
fn workers_of(line: &str) -> Vec<u32> {
    let pids = line.split(' ').map_while(|pid| pid.parse().ok());
    pids.filter(|pid| *pid != 0).collect()
}

fn write_readings(sampler: &mut Sampler) -> io::Result<()> {
    let mut caught = sampler.fetch();
    let readings = std::mem::take(&mut caught.readings);
    for readings in readings.chunks(READINGS) {
        write_line(&SampledReadings {
            readings: readings.to_vec(),
            ..SampledReadings::default()
        })?;
    }
    if caught == SampledReadings::default() {
        return Ok(());
    }
    write_line(&caught)
}

fn write_line(document: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, document)?;
    writeln!(out)?;
    out.flush()
}

/// Reads the devices of another machine until it is dropped.
#[derive(Debug)]
pub struct RemoteSampler {
    /// The machine, as the session calls it.
    pub name: String,
    /// Its devices.
    pub devices: Vec<WatchedDevice>,
    /// Sources that it does not have.
    pub missing: Vec<MissingSource>,
    machine: SetupMachine,
    process: ChildProcess,
    clock: ClockOffset,
    /// When it began, on our clock.
    began_ns: u64,
    /// When each device was read last, on our clock.
    latest_ns: Vec<u64>,
    /// Devices that are not read any more.
    lost: Vec<usize>,
    has_ended: bool,
    /// Warnings that came from over there.
    warnings: usize,
    workers: Vec<u32>,
}

impl RemoteSampler {
    /// Starts the command that reads over there; [`Self::hear_devices`] then waits for it.
    pub fn start(
        (name, machine): (&str, &SetupMachine),
        spec: &ProcessSpec,
        clock: ClockOffset,
    ) -> Result<Self, RemoteError> {
        let not_started =
            |error: io::Error| RemoteError::Lost(format!("it cannot be started: {error}"));
        let mut process = ChildProcess::start(spec, LONGEST).map_err(not_started)?;
        process.keep_alive().map_err(not_started)?;
        Ok(Self {
            name: name.to_owned(),
            devices: Vec::new(),
            missing: Vec::new(),
            machine: machine.clone(),
            process,
            clock,
            began_ns: clock::monotonic_ns(),
            latest_ns: Vec::new(),
            lost: Vec::new(),
            has_ended: false,
            warnings: 0,
            workers: Vec::new(),
        })
    }

    /// Waits until the devices over there are known.
    pub fn hear_devices(&mut self, cancel: &CancelToken) -> Result<(), RemoteError> {
        let deadline = Instant::now() + OPEN_LIMIT;
        let first = loop {
            match self.process.next(Duration::from_millis(100)) {
                Incoming::Line(line) => break line,
                Incoming::Silence if cancel.is_cancelled() => return Err(RemoteError::Cancelled),
                Incoming::Silence if Instant::now() < deadline => {}
                Incoming::Silence => {
                    let seconds = OPEN_LIMIT.as_secs();
                    return Err(RemoteError::Lost(format!("no answer within {seconds} s")));
                }
                _ => return Err(RemoteError::Lost(self.why_ended())),
            }
        };
        let found: SamplingHeader = serde_json::from_str(&first).map_err(|error| {
            RemoteError::Unfit(format!("the program over there wrote no devices: {error}"))
        })?;
        self.devices = found.devices;
        self.devices.truncate(MOST_DEVICES);
        for device in &mut self.devices {
            device.machine = Some(self.name.clone());
        }
        self.missing = found.missing;
        for missing in &mut self.missing {
            missing.source = format!("{} on {}", missing.source, self.name);
        }
        self.latest_ns = vec![self.began_ns.saturating_sub(CLOCK_SLACK_NS); self.devices.len()];
        Ok(())
    }

    /// Whether nothing comes any more.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Says which processes over there are the run's; the first one is measuring now.
    pub fn set_workers(&mut self, pids: Vec<u32>) {
        if self.workers == pids || self.has_ended {
            return;
        }
        // An empty line is a sign of life.
        let line = if pids.is_empty() {
            "0".to_owned()
        } else {
            let words: Vec<String> = pids.iter().map(u32::to_string).collect();
            words.join(" ")
        };
        self.workers = pids;
        // That it cannot be written is noticed at the next reading.
        self.process.send(&line).unwrap_or_default();
    }

    /// What has come since the last time, on our clock.
    pub fn fetch(&mut self) -> SampledReadings {
        let mut caught = SampledReadings::default();
        // Lines that come faster than they are read must not keep the run from going on.
        for _ in 0..MOST_LINES {
            if self.has_ended {
                break;
            }
            match self.process.next(Duration::ZERO) {
                Incoming::Silence => break,
                incoming => self.take(incoming, &mut caught),
            }
        }
        caught
    }

    /// Ends sampling, and takes what was read until then.
    pub fn finish(&mut self, cancel: &CancelToken) -> SampledReadings {
        let mut caught = self.fetch();
        if self.has_ended || self.process.send(END).is_err() {
            return caught;
        }
        let deadline = Instant::now() + END_LIMIT;
        while !cancel.is_cancelled() && Instant::now() < deadline {
            match self.process.next(Duration::from_millis(50)) {
                Incoming::Silence => {}
                Incoming::Line(line) => self.take(Incoming::Line(line), &mut caught),
                // That it ends now is what it was asked for.
                _ => break,
            }
        }
        self.has_ended = true;
        self.process.end();
        caught
    }

    fn take(&mut self, incoming: Incoming, caught: &mut SampledReadings) {
        let why = match incoming {
            Incoming::Line(line) => match serde_json::from_str::<SampledReadings>(&line) {
                Ok(more) => return self.take_readings(more, caught),
                Err(error) => format!("it wrote no readings: {error}"),
            },
            Incoming::Garbled(what) => format!("it wrote {what}"),
            _ => self.why_ended(),
        };
        self.has_ended = true;
        self.process.kill();
        let now_ns = clock::monotonic_ns();
        for device in 0..self.devices.len() {
            if !self.lost.contains(&device) {
                caught.lost.push((device, now_ns, why.clone()));
            }
        }
        caught.warnings.push(format!(
            "{}: its devices are not read any more: {why}. The run goes on without their readings.",
            self.name
        ));
    }

    fn take_readings(&mut self, more: SampledReadings, caught: &mut SampledReadings) {
        let latest_possible_ns = clock::monotonic_ns() + CLOCK_SLACK_NS;
        for reading in more.readings {
            let at_ns = self.clock.to_local(reading.at_ns);
            let Some(latest_ns) = self.latest_ns.get_mut(reading.device) else {
                continue;
            };
            if at_ns <= *latest_ns || at_ns > latest_possible_ns {
                continue;
            }
            *latest_ns = at_ns;
            let mut values = reading.values;
            values.retain(|(quantity, value)| quantity.plausible().contains(value));
            caught.readings.push(DeviceReading {
                at_ns,
                values,
                ..reading
            });
        }
        for (device, at_ns, why) in more.lost {
            if device < self.devices.len() && !self.lost.contains(&device) {
                self.lost.push(device);
                let at_ns = self.clock.to_local(at_ns).min(latest_possible_ns);
                caught.lost.push((device, at_ns, why));
            }
        }
        let warnings = more.warnings.into_iter();
        let left = MOST_WARNINGS.saturating_sub(self.warnings);
        let warnings = warnings.take(left).map(|text| {
            let text = humanize::shorten(&text, LONGEST_WARNING);
            format!("{}: {text}", self.name)
        });
        let before = caught.warnings.len();
        caught.warnings.extend(warnings);
        self.warnings += caught.warnings.len() - before;
    }

    /// Why the command over there is gone.
    fn why_ended(&mut self) -> String {
        let ending = self.process.end();
        let SetupMachine {
            transport, target, ..
        } = &self.machine;
        if ending.stderr.is_empty() && !ending.is_failure {
            return "the sampler over there ended".to_owned();
        }
        transport.trouble(target, &ending.stderr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::telemetry::{DeviceKind, Quantity};

    /// A sampler over there that writes these lines, on a clock that is a second ahead.
    fn sampler(lines: &[String]) -> RemoteSampler {
        let machine = SetupMachine::of_setup(&"fake,via=env".parse().unwrap(), &[]);
        let machine = machine.unwrap().unwrap();
        let script = format!(
            "cat <<'END'\n{}\nEND\nread line; echo \"$line was heard\" >&2; exit 1",
            lines.join("\n")
        );
        let spec = ProcessSpec::new("/bin/sh").args(["-c", &script]);
        let clock = ClockOffset {
            ahead_ns: 1_000_000_000,
            round_trip_ns: 10,
        };
        RemoteSampler::start(("rack", &machine), &spec, clock).unwrap()
    }

    fn found() -> String {
        let device = WatchedDevice::new("test", DeviceKind::Amd, 0, "0000:43:00.0", "Card");
        serde_json::to_string(&SamplingHeader {
            devices: vec![device],
            missing: Vec::new(),
        })
        .unwrap()
    }

    fn reading(device: usize, at_ns: u64, watts: f64) -> String {
        let reading = DeviceReading {
            device,
            at_ns,
            values: vec![(Quantity::Power, watts)],
        };
        serde_json::to_string(&SampledReadings {
            readings: vec![reading],
            ..SampledReadings::default()
        })
        .unwrap()
    }

    /// Fetches until it has ended.
    fn fetch_all(sampler: &mut RemoteSampler) -> SampledReadings {
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut all = SampledReadings::default();
        while !sampler.has_ended() && Instant::now() < deadline {
            let more = sampler.fetch();
            all.readings.extend(more.readings);
            all.lost.extend(more.lost);
            all.warnings.extend(more.warnings);
        }
        all
    }

    #[test]
    fn readings_come_on_our_clock_and_impossible_ones_are_left_out() {
        let now_ns = clock::monotonic_ns();
        let there_ns = now_ns + 1_000_000_000;
        let lines = [
            found(),
            reading(0, there_ns, 200.0),
            reading(0, there_ns, 201.0),
            reading(7, there_ns + 5, 202.0),
            reading(0, there_ns + 5, 4e9),
            reading(0, u64::MAX, 203.0),
        ];
        let mut sampler = sampler(&lines);
        sampler.hear_devices(&CancelToken::default()).unwrap();
        assert_eq!(sampler.devices[0].machine.as_deref(), Some("rack"));
        sampler.set_workers(vec![42]);
        let all = fetch_all(&mut sampler);
        let read: Vec<(u64, usize)> = all
            .readings
            .iter()
            .map(|reading| (reading.at_ns, reading.values.len()))
            .collect();
        assert_eq!(read, [(now_ns, 1), (now_ns + 5, 0)]);
        assert_eq!(all.lost.len(), 1);
        assert_eq!(all.warnings.len(), 1, "{:?}", all.warnings);
        assert!(all.warnings[0].contains("42 was heard"), "{all:?}");
    }

    #[test]
    fn a_sampler_that_writes_something_else_is_ended() {
        let mut garbled = sampler(&[found(), "{\"readings\": 7}".to_owned()]);
        garbled.hear_devices(&CancelToken::default()).unwrap();
        let all = fetch_all(&mut garbled);
        assert!(all.warnings[0].starts_with("rack: "), "{all:?}");
        assert!(all.warnings[0].contains("goes on"), "{all:?}");
        let mut silent = sampler(&["no devices".to_owned()]);
        let refused = silent.hear_devices(&CancelToken::default());
        assert!(matches!(refused, Err(RemoteError::Unfit(_))), "{refused:?}");
    }
}
