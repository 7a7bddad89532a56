//! Counters of `benchmark_app -pc` of `OpenVINO`: each layer's time in milliseconds, on average or
//! request by request, as a table with semicolons or as JSON.

use serde_json::Value;

use crate::benchmarks::common;
use crate::benchmarks::common::Sums;
use crate::reading::head::FileHead;
use crate::reading::json;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::profile::Total;
use powerband_core::domain::trace::SliceKind;

pub(crate) const FORMAT: Format = Format {
    id: "openvino-counters",
    title: "counters of benchmark_app",
    tool: "benchmark_app",
    name_ends: &[],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    head.has_columns(';', &["layername", "execstatus", "layertype"])
        || !head.is_list()
            && (head.has_key("avg_performance")
                || head.has_key("detailed_performance")
                || head.has_key("nodes") && head.has_key("exec_type"))
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut layers = Layers::default();
    if text.trim_start().starts_with('{') {
        let value = source.json(&text, FORMAT.title, into)?;
        layers.json(&value);
        if layers.count > 0 && layers.count == layers.tables {
            into.note(format!(
                "{} holds one layer alone: the JSON of OpenVINO's counters is incomplete in some versions, such as 2026.4; use the table without -json_stats",
                source.name()
            ));
        }
    } else {
        layers.table(&text, source, watch)?;
    }
    layers.finish(source, into);
    Ok(())
}

/// A layer, as it is written.
#[derive(Debug)]
struct Layer<'a> {
    name: &'a str,
    status: &'a str,
    kind: &'a str,
    exec: &'a str,
    real_ms: f64,
    cpu_ms: f64,
}

/// The layers, as far as they were read.
#[derive(Debug, Default)]
struct Layers {
    sums: Sums,
    count: u64,
    executed: u64,
    /// Tables: one of averages, or one for each request.
    tables: u64,
    told_ms: f64,
    has_told: bool,
    real_ms: f64,
    cpu_ms: f64,
    unread: u64,
    is_negative: bool,
}

impl Layers {
    fn table(
        &mut self,
        text: &str,
        source: &ImportSource,
        watch: &ReadProgress<'_>,
    ) -> Result<(), ImportError> {
        let mut columns: Vec<String> = Vec::new();
        for line in source.progress_reader(text.lines().map(str::trim), watch) {
            let line = line?;
            if line.is_empty() {
                continue;
            }
            if line.to_lowercase().starts_with("layername;") {
                columns = line
                    .split(';')
                    .map(|column| common::unit_of(column).0.to_lowercase())
                    .collect();
                self.tables += 1;
                continue;
            }
            if self.row(line, &columns).is_none() {
                self.unread += 1;
            }
        }
        Ok(())
    }

    /// A row, read from the right: a name may hold anything.
    fn row(&mut self, line: &str, columns: &[String]) -> Option<()> {
        let after = columns.len().checked_sub(1)?;
        let (name, cells) = lines::name_then(line, ';', after)?;
        let of = |column: &str| {
            let place = columns.iter().position(|known| known == column)?;
            cells.get(place.checked_sub(1)?).copied()
        };
        let real_ms = lines::number(of("realtime")?)?;
        let cpu_ms = of("cputime").and_then(lines::number).unwrap_or(0.0);
        let status = of("execstatus")?;
        if name == "Total" && status.is_empty() {
            self.told_ms += real_ms;
            self.has_told = true;
            return Some(());
        }
        self.add(&Layer {
            name: &name,
            status,
            kind: of("layertype").unwrap_or_default(),
            exec: of("exectype").unwrap_or_default(),
            real_ms,
            cpu_ms,
        });
        Some(())
    }

    /// `avg_performance` with nodes, or `detailed_performance` with nodes for each request.
    fn json(&mut self, value: &Value) {
        let performance = value
            .get("avg_performance")
            .or_else(|| value.get("detailed_performance"));
        let tables: Vec<&Value> = match performance {
            Some(Value::Array(list)) => list.iter().collect(),
            Some(one) => vec![one],
            None => vec![value],
        };
        for table in tables {
            let Some(nodes) = table.get("nodes").and_then(Value::as_array) else {
                continue;
            };
            self.tables += 1;
            if let Some(told) = table.get("total_real_time").and_then(json::number) {
                self.told_ms += told;
                self.has_told = true;
            }
            for node in nodes {
                let layer = node.as_object().and_then(|node| {
                    Some(Layer {
                        name: json::text_of(node, "name")?,
                        status: json::text_of(node, "status")?,
                        kind: json::text_of(node, "node_type").unwrap_or_default(),
                        exec: json::text_of(node, "exec_type").unwrap_or_default(),
                        real_ms: json::number_of(node, "real_time")?,
                        cpu_ms: json::number_of(node, "cpu_time").unwrap_or(0.0),
                    })
                });
                match layer {
                    Some(layer) => self.add(&layer),
                    None => self.unread += 1,
                }
            }
        }
    }

    /// Layers that were fused away or optimised out did not run and have no time.
    fn add(&mut self, layer: &Layer<'_>) {
        self.count += 1;
        let status = layer.status.trim_start_matches("Status.");
        let ran = status == "EXECUTED";
        self.executed += u64::from(ran);
        self.is_negative |= layer.real_ms < 0.0;
        if !ran && layer.real_ms <= 0.0 {
            return;
        }
        self.real_ms += layer.real_ms;
        self.cpu_ms += layer.cpu_ms;
        self.sums.add(Total {
            work: None,
            kind: SliceKind::Kernel,
            name: layer.name.to_owned(),
            op: layer.kind.to_owned(),
            place: layer.exec.to_owned(),
            calls: 1,
            total_ns: lines::ns(layer.real_ms, 1e6),
            min_ns: None,
            max_ns: None,
        });
    }

    fn finish(self, source: &ImportSource, into: &mut Imported) {
        into.note_unread(self.unread, "layer", &source.name());
        into.fact("layers", self.count.to_string());
        into.fact("layers executed", self.executed.to_string());
        if self.executed > 0 {
            into.fact("time on the processor", format!("{:.3} ms", self.cpu_ms));
        }
        if self.is_negative {
            into.note("some times lie below zero and count as zero");
        }
        if !self.has_told {
            into.note(format!(
                "{} has no row with the total; it is cut off",
                source.name()
            ));
        } else if (self.real_ms - self.told_ms).abs() > self.told_ms.abs() * 0.01 + 0.01 {
            into.note(format!(
                "the layers of {} take {:.3} ms and its total is {:.3} ms; some are missing",
                source.name(),
                self.real_ms,
                self.told_ms
            ));
        }
        into.note(
            "layers that OpenVINO fused into others or did not run are counted and have no time",
        );
        let layers = self.sums.into_list();
        if layers.is_empty() {
            into.note(format!("no layer of {} has a time", source.name()));
        } else {
            into.runs = into.runs.or_else(|| Some(self.tables.max(1)));
            into.totals.extend(layers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const TABLE: &str = "openvino/resnet50-benchmark_average_counters_report.csv";
    const JSON: &str = "openvino/resnet50-benchmark_average_counters_report.json";

    fn op_total_ns(imported: &Imported, op: &str) -> u64 {
        let some = imported.totals.iter().filter(|total| total.op == op);
        some.map(|total| total.total_ns).sum()
    }

    #[test]
    fn layers_of_the_table_add_up_to_its_total() {
        let imported = testing::fixture(TABLE);
        let fact = |name: &str, value: &str| imported.facts.contains(&(name.into(), value.into()));
        assert!(fact("layers", "129") && fact("layers executed", "60"));
        assert_eq!(imported.totals.len(), 60);
        let sum: u64 = imported.totals.iter().map(|total| total.total_ns).sum();
        assert_eq!(
            (sum, op_total_ns(&imported, "Convolution")),
            (27_786_000, 27_269_000)
        );
        let share = op_total_ns(&imported, "Convolution") as f64 / sum as f64 * 100.0;
        assert!((share - 98.1394).abs() < 5e-5, "{share}");
        assert_eq!(op_total_ns(&imported, "FullyConnected"), 217_000);
        let top = imported
            .totals
            .iter()
            .max_by_key(|total| total.total_ns)
            .unwrap();
        assert_eq!(
            (top.name.as_str(), top.total_ns),
            ("Multiply_9050", 928_000)
        );
        assert_eq!(top.place, "brgconv_avx512_1x1_bf16");
        assert_eq!((imported.runs, imported.notes.len()), (Some(1), 1));
    }

    #[test]
    fn the_json_of_one_layer_is_said_to_be_incomplete() {
        let imported = testing::fixture(JSON);
        assert!(imported.totals.is_empty());
        assert!(
            imported.notes[0].contains("one layer alone"),
            "{:?}",
            imported.notes
        );
    }

    #[test]
    fn a_table_for_each_request_is_added_up() {
        let text = "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n\
            a;b;EXECUTED;Conv;jit;0.5;0.4\nn;NOT_RUN;Relu;x;0;0\nTotal;;;;0.5;0.4\n\n\
            layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n\
            a;b;EXECUTED;Conv;jit;0.7;0.4\nTotal;;;;0.7;0.4\nx;y\n";
        let imported = testing::imported(text).unwrap();
        assert_eq!(imported.totals.len(), 1);
        let only = &imported.totals[0];
        assert_eq!(
            (only.name.as_str(), only.calls, only.total_ns),
            ("a;b", 2, 1_200_000)
        );
        assert_eq!(imported.runs, Some(2));
        assert!(imported.notes[0].starts_with("1 layer of"));
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(TABLE));
        testing::survives(&FORMAT, &testing::raw(JSON));
        let header = "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n";
        assert!(testing::imported(header).unwrap().totals.is_empty());
    }
}
