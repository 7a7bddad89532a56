//! How much other programs used the processors while a round was measured: read before and after, never
//! during.
//!
//! From `/proc`, so nothing on systems without it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use powerband_core::domain::case::CpuContention;
use powerband_devices::process;

/// The counters at one moment.
#[derive(Clone, Debug)]
pub struct Counters {
    root: PathBuf,
    /// The processors that are counted; all where this is empty.
    cores: Vec<usize>,
    at: Instant,
    counted: CpuCounts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CpuCounts {
    /// Ticks in which any processor of this machine was busy.
    busy: u64,
    /// Ticks that went to other machines.
    stolen: u64,
    /// Ticks of this process, its threads that are gone included.
    own: u64,
    /// How often a thread of this process had to make way.
    switches: u64,
}

impl Counters {
    /// The counters now; nothing where the system does not report it.
    pub fn now() -> Option<Self> {
        Self::under(Path::new("/proc"))
    }

    /// The same of some processors alone.
    pub fn on(cores: &[usize]) -> Option<Self> {
        Self::on_under(Path::new("/proc"), cores)
    }

    /// The counters of all processors, with /proc at another place.
    pub fn under(root: &Path) -> Option<Self> {
        Self::on_under(root, &[])
    }

    fn on_under(root: &Path, cores: &[usize]) -> Option<Self> {
        Some(Self {
            root: root.to_path_buf(),
            cores: cores.to_vec(),
            at: Instant::now(),
            counted: counted(root, cores)?,
        })
    }

    /// What happened since then.
    pub fn since(&self) -> Option<CpuContention> {
        let now = counted(&self.root, &self.cores)?;
        let counted_ns = self.at.elapsed().as_nanos() as u64;
        let tick_ns = tick_ns();
        let ticks = |after: u64, before: u64| after.saturating_sub(before);
        let own = ticks(now.own, self.counted.own);
        Some(CpuContention {
            counted_ns,
            switches: ticks(now.switches, self.counted.switches),
            own_ns: own * tick_ns,
            others_ns: ticks(now.busy, self.counted.busy).saturating_sub(own) * tick_ns,
            stolen_ns: ticks(now.stolen, self.counted.stolen) * tick_ns,
        })
    }
}

fn counted(root: &Path, cores: &[usize]) -> Option<CpuCounts> {
    let stat = fs::read_to_string(root.join("stat")).ok()?;
    let is_counted = |name: &str| match name.parse::<usize>() {
        Ok(core) => cores.contains(&core),
        Err(_) => name.is_empty() && cores.is_empty(),
    };
    let lines = stat
        .lines()
        .map_while(|line| line.strip_prefix("cpu")?.split_once(' '));
    let (mut busy, mut stolen, mut found) = (0, 0, false);
    for (_, line) in lines.filter(|(name, _)| is_counted(name)) {
        // user nice system idle iowait irq softirq steal; guests are in the user's time already.
        let fields: Vec<u64> = line
            .split_ascii_whitespace()
            .map_while(|field| field.parse().ok())
            .collect();
        let field = |place: usize| fields.get(place).copied().unwrap_or(0);
        busy += [0, 1, 2, 5, 6].into_iter().map(field).sum::<u64>();
        stolen += field(7);
        found = true;
    }
    found.then_some(())?;
    Some(CpuCounts {
        busy,
        stolen,
        own: own_ticks(&root.join("self"))?,
        switches: process::forced_switches(&root.join("self")).unwrap_or(0),
    })
}

/// Of a process and of its children that ended.
fn own_ticks(process: &Path) -> Option<u64> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // `pid (name) state …`, where the name may hold anything: fields 14 to 17 are user and system time.
    let (_, after_name) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = after_name.split_ascii_whitespace().collect();
    let field = |place: usize| fields.get(place)?.parse::<u64>().ok();
    let of_children = field(13).unwrap_or(0) + field(14).unwrap_or(0);
    Some(field(11)? + field(12)? + of_children)
}

fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// Processor time that a process of this machine used so far, in nanoseconds; nothing where the system does not tell.
pub fn used_ns(pid: u32) -> Option<u64> {
    let process = Path::new("/proc").join(pid.to_string());
    Some(own_ticks(&process)? * tick_ns())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_used_is_what_was_busy_without_ourselves() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let task = |number: u32, switches: u64| {
            write(
                &format!("self/task/{number}/status"),
                &format!("Name:\ta\nnonvoluntary_ctxt_switches:\t{switches}\n"),
            );
        };
        write("stat", "cpu  100 0 10 900 5 0 0 3 0 0\ncpu0 1 1\n");
        write("self/stat", "7 (a (b) c) S 1 1 1 0 0 0 0 0 0 0 50 10 0 0\n");
        task(7, 5);
        let before = Counters::under(root.path()).unwrap();
        write("stat", "cpu  180 0 30 950 5 0 0 13 0 0\ncpu0 1 1\n");
        write(
            "self/stat",
            "7 (a (b) c) S 1 1 1 0 0 0 0 0 0 0 80 20 15 5\n",
        );
        task(7, 6);
        task(8, 2);
        let company = before.since().unwrap();
        let tick = 1_000_000_000 / rustix::param::clock_ticks_per_second();
        assert_eq!(company.own_ns, 60 * tick);
        assert_eq!(company.others_ns, 40 * tick);
        assert_eq!((company.stolen_ns, company.switches), (10 * tick, 3));
    }

    #[test]
    fn some_processors_are_counted_alone() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("self")).unwrap();
        let write = |path: &str, text: &str| fs::write(root.path().join(path), text).unwrap();
        write("self/stat", "7 (a) S 1 1 1 0 0 0 0 0 0 0 0 0 0 0\n");
        write(
            "stat",
            "cpu  9 0 0 0 0\ncpu0 1 0 0 0 0\ncpu1 2 0 0 0 0\ncpu12 3 0 0 0 0\nintr 5\n",
        );
        let before = Counters::on_under(root.path(), &[0, 12]).unwrap();
        write(
            "stat",
            "cpu  99 0 0 0 0\ncpu0 6 0 0 0 0\ncpu1 70 0 0 0 0\ncpu12 7 0 0 0 0\nintr 5\n",
        );
        let tick = 1_000_000_000 / rustix::param::clock_ticks_per_second();
        assert_eq!(before.since().unwrap().others_ns, 9 * tick);
        assert!(Counters::on_under(root.path(), &[5]).is_none());
    }

    #[test]
    fn a_system_that_does_not_tell_is_no_trouble() {
        let root = tempfile::tempdir().unwrap();
        assert!(Counters::under(root.path()).is_none());
        assert!(Counters::now().unwrap().since().unwrap().counted_ns > 0);
    }
}
