//! Where things ran: devices of all processes together, and words for the streams and threads of one.

use super::process_tables::DatabaseProcess;
use crate::reading::by_id::ById;
use crate::{ImportError, Imported};
use powerband_core::domain::trace::Track;

/// GPUs of all processes: host, index on it, and the number that stands for both.
#[derive(Debug, Default)]
pub(super) struct Devices {
    known: Vec<(String, u32, u32)>,
}

impl Devices {
    /// The number of a GPU. Two hosts have a first GPU each, and these are two devices.
    fn number(&mut self, host: &str, index: u32) -> u32 {
        let known = self.known.iter();
        if let Some(found) = known.clone().find(|gpu| gpu.0 == host && gpu.1 == index) {
            return found.2;
        }
        let is_taken = known.clone().any(|gpu| gpu.2 == index);
        let free = known.map(|gpu| gpu.2.saturating_add(1)).max();
        let number = if is_taken {
            free.unwrap_or(index)
        } else {
            index
        };
        self.known.push((host.to_owned(), index, number));
        number
    }
}

/// An agent as the database has it.
#[derive(Debug)]
struct Agent {
    is_gpu: bool,
    order: i64,
    index: Option<i64>,
    words: String,
}

/// Devices, streams and threads that the rows of one process refer to.
#[derive(Debug, Default)]
pub(super) struct ProcessTracks {
    gpus: ById<u32>,
    cpus: ById<()>,
    queues: ById<String>,
    streams: ById<String>,
    threads: ById<(i64, String)>,
    processes: ById<(i64, String)>,
    /// Process, thread, agent, queue and stream, where rows name a track in place of these.
    tracks: ById<[Option<i64>; 5]>,
}

impl ProcessTracks {
    /// Reads the places of a process.
    pub(super) fn read(
        part: &DatabaseProcess<'_>,
        devices: &mut Devices,
        into: &mut Imported,
    ) -> Result<Self, ImportError> {
        let host = host(part, into)?;
        let (gpus, cpus) = agents(part, &host, devices, into)?;
        Ok(Self {
            gpus,
            cpus,
            queues: part.texts("info_queue", "name")?,
            streams: part.texts("info_stream", "name")?,
            threads: numbered(part, "info_thread", "tid", "name")?,
            processes: processes(part, into)?,
            tracks: tracks(part)?,
        })
    }

    /// The number of a GPU's agent; nothing for a CPU's.
    pub(super) fn device(&self, agent: i64) -> Option<u32> {
        match self.gpus.get(agent) {
            Some(number) => Some(*number),
            None if self.cpus.get(agent).is_some() => None,
            None => u32::try_from(agent).ok(),
        }
    }

    /// Whether an agent is known to be a CPU.
    pub(super) fn is_cpu(&self, agent: i64) -> bool {
        self.cpus.get(agent).is_some()
    }

    /// A stream of a device, from agent, queue and stream, or from a track where the first is `TRACK`.
    pub(super) fn stream(&self, [agent, queue, stream]: [i64; 3]) -> Track {
        if agent == TRACK {
            let at = self.tracks.get(queue).copied().unwrap_or_default();
            return self.stream([at[2].unwrap_or(0), at[3].unwrap_or(0), at[4].unwrap_or(0)]);
        }
        // Where streams were not followed, all work is in the first one, and queues are more specific.
        let name = if self.streams.len() > 1 {
            queue_title(&self.streams, stream, "Stream")
        } else {
            queue_title(&self.queues, queue, "Queue")
        };
        let device = self.device(agent);
        Track {
            device,
            group: device.map_or_else(|| "CPU".to_owned(), |number| format!("GPU {number}")),
            name,
        }
    }

    /// A thread, from process and thread, or from a track where the first is `TRACK`.
    pub(super) fn thread(&self, [process, thread, _]: [i64; 3]) -> Track {
        if process == TRACK {
            let at = self.tracks.get(thread).copied().unwrap_or_default();
            return self.thread([at[0].unwrap_or(0), at[1].unwrap_or(0), 0]);
        }
        let (pid, program) = match self.processes.get(process) {
            Some((pid, program)) => (*pid, program.as_str()),
            None => (process, ""),
        };
        let (tid, name) = match self.threads.get(thread) {
            Some((tid, name)) => (*tid, name.as_str()),
            None => (thread, ""),
        };
        Track {
            device: None,
            group: titled("process", pid, program),
            name: titled("thread", tid, name),
        }
    }
}

/// Stands in place of an agent or a process where a track follows.
pub(super) const TRACK: i64 = i64::MIN;

/// `python3 (process 908)`.
fn titled(kind: &str, number: i64, name: &str) -> String {
    if name.is_empty() {
        format!("{kind} {number}")
    } else {
        format!("{name} ({kind} {number})")
    }
}

/// The name of a queue or a stream, or its kind and number where it has none.
fn queue_title(names: &ById<String>, id: i64, kind: &str) -> String {
    match names.get(id) {
        Some(name) if !name.is_empty() => name.clone(),
        _ => format!("{kind} {id}"),
    }
}

/// The host; its machine identifies it, and its name is shown.
fn host(part: &DatabaseProcess<'_>, into: &mut Imported) -> Result<String, ImportError> {
    let mut host = String::new();
    part.each(
        "info_node",
        &["machine_id", "hostname", "system_name", "release"],
        |row| {
            let text = |column| {
                row.text(column)
                    .map(|text| text.into_owned())
                    .unwrap_or_default()
            };
            host = text(0);
            into.fact("Host", text(1));
            into.fact(
                "System",
                format!("{} {}", text(2), text(3)).trim().to_owned(),
            );
            true
        },
    )?;
    Ok(host)
}

/// GPUs with their numbers, and CPUs.
fn agents(
    part: &DatabaseProcess<'_>,
    host: &str,
    devices: &mut Devices,
    into: &mut Imported,
) -> Result<(ById<u32>, ById<()>), ImportError> {
    let mut agents: Vec<(i64, Agent)> = Vec::new();
    const COLUMNS: [&str; 7] = [
        "id",
        "type",
        "absolute_index",
        "type_index",
        "product_name",
        "name",
        "model_name",
    ];
    part.each("info_agent", &COLUMNS, |row| {
        let Some(id) = row.int(0) else { return false };
        let text = |column| row.text(column).map(|text| text.trim().to_owned());
        let product = text(4).filter(|name| !name.is_empty()).or_else(|| text(6));
        let words = match (product, text(5)) {
            (Some(product), Some(name)) if product != name => format!("{product} ({name})"),
            (product, name) => product.or(name).unwrap_or_default(),
        };
        agents.push((
            id,
            Agent {
                is_gpu: row
                    .text(1)
                    .is_some_and(|kind| kind.eq_ignore_ascii_case("gpu")),
                order: row.int(2).unwrap_or(id),
                index: row.int(3),
                words,
            },
        ));
        true
    })?;
    agents.sort_by_key(|(_, agent)| agent.order);
    let cpus = agents.iter().filter(|(_, agent)| !agent.is_gpu);
    let cpus = ById::new(cpus.map(|(id, _)| (*id, ())).collect());
    agents.retain(|(_, agent)| agent.is_gpu);
    let mut indices: Vec<Option<i64>> = agents.iter().map(|(_, agent)| agent.index).collect();
    indices.sort_unstable();
    indices.dedup();
    let are_told = indices.len() == agents.len() && indices.iter().all(Option::is_some);
    let mut gpus = Vec::with_capacity(agents.len());
    for (place, (id, agent)) in agents.iter().enumerate() {
        let told = agent.index.and_then(|index| u32::try_from(index).ok());
        let index = told.filter(|_| are_told).unwrap_or(place as u32);
        let number = devices.number(host, index);
        into.fact(&format!("GPU {number}"), agent.words.clone());
        gpus.push((*id, number));
    }
    Ok((ById::new(gpus), cpus))
}

/// Rows with a number of the system's and a name.
fn numbered(
    part: &DatabaseProcess<'_>,
    thing: &str,
    number: &str,
    name: &str,
) -> Result<ById<(i64, String)>, ImportError> {
    let mut found = Vec::new();
    part.each(thing, &["id", number, name], |row| {
        let Some(id) = row.int(0) else { return false };
        let name = row.text(2).map(|text| text.into_owned());
        found.push((id, (row.int(1).unwrap_or(id), name.unwrap_or_default())));
        true
    })?;
    Ok(ById::new(found))
}

/// Processes with their programs.
fn processes(
    part: &DatabaseProcess<'_>,
    into: &mut Imported,
) -> Result<ById<(i64, String)>, ImportError> {
    let mut found = numbered(part, "info_process", "pid", "command")?
        .iter()
        .cloned()
        .collect::<Vec<_>>();
    for (_, (_, command)) in &mut found {
        into.keep_command(command);
        let program = command.split_whitespace().next().unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or(program).to_owned();
        *command = program;
    }
    Ok(ById::new(found))
}

/// Tracks, which rows name since version 4.
fn tracks(part: &DatabaseProcess<'_>) -> Result<ById<[Option<i64>; 5]>, ImportError> {
    let mut found = Vec::new();
    const COLUMNS: [&str; 6] = ["id", "pid", "tid", "agent_id", "queue_id", "stream_id"];
    part.each("track", &COLUMNS, |row| {
        let Some(id) = row.int(0) else { return false };
        found.push((id, [1, 2, 3, 4, 5].map(|column| row.int(column))));
        true
    })?;
    Ok(ById::new(found))
}
