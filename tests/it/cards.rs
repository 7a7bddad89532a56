//! AMD cards that are not here: the files of the kernel's driver in a folder, which the real ROCm SMI
//! sees in a mount namespace of its own, and the program's reader of files sees by its root.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Length of the wave of [`Cards::vary`], in seconds, and the powers between which it goes, in watts.
pub(crate) const WAVE_S: f64 = 5.0;
pub(crate) const WAVE_W: (f64, f64) = (90.0, 500.0);

/// Simulated MI250s, whose values are those of an accelerator at half load.
pub(crate) struct FakeAmdCards {
    folder: tempfile::TempDir,
    count: usize,
    stop: Arc<AtomicBool>,
    writer: Option<JoinHandle<()>>,
}

/// Files of a card and what is in them; `gpu_busy_percent` gets the card's number added.
const FILES: [(&str, &str); 27] = [
    ("vendor", "0x1002"),
    ("device", "0x740f"),
    ("subsystem_vendor", "0x1002"),
    ("subsystem_device", "0x0c34"),
    ("revision", "0x02"),
    ("vbios_version", "113-D65210-063"),
    ("product_name", "AMD INSTINCT MI250 (simulated)"),
    ("gpu_busy_percent", "57"),
    ("mem_busy_percent", "31"),
    ("mem_info_vram_total", "68702699520"),
    ("mem_info_vram_used", "1234567168"),
    ("pp_dpm_sclk", "0: 500Mhz\n1: 800Mhz\n2: 1700Mhz *"),
    ("pp_dpm_mclk", "0: 400Mhz\n1: 1600Mhz *"),
    ("power_dpm_force_performance_level", "auto"),
    ("hwmon/hwmon0/name", "amdgpu"),
    ("hwmon/hwmon0/temp1_input", "45000"),
    ("hwmon/hwmon0/temp1_label", "edge"),
    ("hwmon/hwmon0/temp2_input", "51000"),
    ("hwmon/hwmon0/temp2_label", "junction"),
    ("hwmon/hwmon0/temp3_input", "48000"),
    ("hwmon/hwmon0/temp3_label", "mem"),
    ("hwmon/hwmon0/in0_label", "vddgfx"),
    ("hwmon/hwmon0/in0_input", "850"),
    ("hwmon/hwmon0/power1_average", "215000000"),
    ("hwmon/hwmon0/power1_cap", "500000000"),
    ("hwmon/hwmon0/freq1_input", "1700000000"),
    ("hwmon/hwmon0/freq1_label", "sclk"),
];

impl FakeAmdCards {
    pub(crate) fn new(count: usize) -> Self {
        let cards = Self {
            folder: tempfile::tempdir().expect("a folder"),
            count,
            stop: Arc::new(AtomicBool::new(false)),
            writer: None,
        };
        for index in 0..count {
            cards.lay(index);
        }
        cards.lay_topology();
        cards
    }

    /// The folder that has `sys`.
    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    fn class(&self) -> PathBuf {
        self.root().join("sys/class")
    }

    /// The address of a card.
    pub(crate) fn address(index: usize) -> String {
        format!("0000:{:02x}:00.0", 0x43 + 16 * index)
    }

    fn devices(&self) -> PathBuf {
        self.class().join("simulated/devices")
    }

    fn card(&self, index: usize) -> PathBuf {
        self.devices().join(bus(index)).join(Self::address(index))
    }

    fn lay(&self, index: usize) {
        let folder = self.card(index);
        for (file, text) in FILES {
            let file = file.replace("hwmon0", &format!("hwmon{index}"));
            let text = match file.as_str() {
                "gpu_busy_percent" => format!("{}", 57 + index),
                _ => text.to_owned(),
            };
            put(&folder.join(file), &text);
        }
        put(
            &folder.join("unique_id"),
            &format!("{:016x}", 0xabc0 + index),
        );
        let slot = Self::address(index);
        let uevent =
            format!("DRIVER=amdgpu\nPCI_CLASS=38000\nPCI_ID=1002:740F\nPCI_SLOT_NAME={slot}");
        put(&folder.join("uevent"), &uevent);
        let (card, render) = (format!("card{index}"), format!("renderD{}", 128 + index));
        let number = format!("MAJOR=226\nMINOR={index}\nDEVNAME=dri/{card}\nDEVTYPE=drm_minor");
        put(&folder.join(format!("drm/{card}/uevent")), &number);
        fs::create_dir_all(folder.join("drm").join(&render)).expect("a folder");
        link(
            &format!("../../../{slot}"),
            &folder.join(format!("drm/{card}/device")),
        );
        let below = format!("../simulated/devices/{}/{slot}", bus(index));
        for name in [&card, &render] {
            link(
                &format!("{below}/drm/{name}"),
                &self.class().join("drm").join(name),
            );
        }
        let sensor = format!("hwmon{index}");
        link("../..", &folder.join(format!("hwmon/{sensor}/device")));
        link(
            &format!("{below}/hwmon/{sensor}"),
            &self.class().join("hwmon").join(&sensor),
        );
    }

    /// What tells ROCm SMI which card is which.
    fn lay_topology(&self) {
        let kfd = self.class().join("kfd/kfd");
        fs::create_dir_all(kfd.join("proc")).expect("a folder");
        let nodes = kfd.join("topology/nodes");
        put(&kfd.join("topology/generation_id"), "1");
        put(&nodes.join("0/gpu_id"), "0");
        put(&nodes.join("0/name"), "");
        put(
            &nodes.join("0/properties"),
            "cpu_cores_count 16\nsimd_count 0",
        );
        fs::create_dir_all(nodes.join("0/io_links")).expect("a folder");
        for index in 0..self.count {
            let node = nodes.join((index + 1).to_string());
            put(&node.join("gpu_id"), &(4321 + index).to_string());
            put(&node.join("name"), "aldebaran");
            let location = (0x43 + 16 * index) << 8;
            let properties = [
                "cpu_cores_count 0",
                "simd_count 416",
                "vendor_id 4098",
                "device_id 29711",
                &format!("location_id {location}"),
                "domain 0",
                &format!("drm_render_minor {}", 128 + index),
                &format!("unique_id {}", 0xabc0 + index),
                "num_xcc 1",
                "hive_id 0",
                "simd_arrays_per_engine 1",
                "cu_per_simd_array 14",
                "array_count 8",
                "simd_per_cu 4",
                "max_engine_clk_fcompute 1700",
            ];
            put(&node.join("properties"), &properties.join("\n"));
            let from = format!("node_from {}", index + 1);
            let link = [
                "type 2",
                "version_major 0",
                "version_minor 0",
                &from,
                "node_to 0",
                "weight 20",
                "min_latency 0",
                "max_latency 0",
                "min_bandwidth 312",
                "max_bandwidth 64000",
                "recommended_transfer_size 0",
                "flags 1",
            ]
            .join("\n");
            put(&node.join("io_links/0/properties"), &link);
        }
    }

    /// From now on the power of every card goes up and down in a triangle wave.
    pub(crate) fn vary(&mut self) {
        let files: Vec<PathBuf> = (0..self.count)
            .map(|index| {
                self.card(index)
                    .join(format!("hwmon/hwmon{index}/power1_average"))
            })
            .collect();
        let stop = Arc::clone(&self.stop);
        let writer = move || {
            let start = Instant::now();
            while !stop.load(Ordering::Relaxed) {
                let phase = (start.elapsed().as_secs_f64() % WAVE_S) / (WAVE_S / 2.0);
                let level = if phase <= 1.0 { phase } else { 2.0 - phase };
                let watts = WAVE_W.0 + (WAVE_W.1 - WAVE_W.0) * level;
                for file in &files {
                    // Written aside and moved, as the kernel never shows half a number.
                    let aside = file.with_extension("new");
                    fs::write(&aside, format!("{}\n", (watts * 1e6) as u64)).expect("a file");
                    fs::rename(&aside, file).expect("its place");
                }
                thread::sleep(Duration::from_millis(20));
            }
        };
        let named = thread::Builder::new().name("wave".to_owned());
        self.writer = Some(named.spawn(writer).expect("a thread"));
    }

    /// The cards fall off the bus.
    pub(crate) fn vanish(&self) {
        fs::remove_dir_all(self.devices()).expect("the devices");
    }

    /// What `unshare` has to be told so that the cards are this machine's for a program.
    pub(crate) fn unshared<'a>(&self, program: &'a str, args: &[&'a str]) -> Vec<String> {
        let class = self.class().display().to_string();
        let script = "mount --bind \"$0\" /sys/class && exec \"$@\"";
        let before = ["--mount", "sh", "-c", script, &class, program];
        let all = before.iter().chain(args);
        all.map(ToString::to_string).collect()
    }
}

impl Drop for FakeAmdCards {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(writer) = self.writer.take() {
            drop(writer.join());
        }
    }
}

/// The bus that a card is on.
fn bus(index: usize) -> String {
    format!("pci0000:{:02x}", 0x40 + 16 * index)
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, format!("{text}\n")).expect("a file");
}

fn link(target: &str, path: &Path) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    symlink(target, path).expect("a link");
}
