//! `rocprofv3`'s `agent_info.csv`: the processors and cards of the machine. They become particulars.

use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::reading::table::TextTable;
use crate::{Format, ImportError, Imported};

pub(crate) const FORMAT: Format = Format {
    id: "rocprofv3-agents",
    title: "a list of agents of rocprofv3",
    tool: "rocprofv3",
    name_ends: &["_agent_info.csv"],
    recognises: |head| head.has_columns(',', &["node_id", "agent_type", "name"]),
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let mut table = TextTable::open(source, watch, ',', &["product_name"])?;
    let node = table.place(&["node_id"]);
    let kind = table.place(&["agent_type"]);
    let name = table.place(&["name"]);
    let product = table.place(&["product_name"]);
    let units = table.place(&["cu_count"]);
    let cores = table.place(&["cpu_cores_count"]);
    let mut unread = 0;
    while let Some(row) = table.next_row()? {
        let Some(number) = row.whole_number(node) else {
            unread += 1;
            continue;
        };
        let agent = AgentFacts {
            number,
            is_gpu: row.text(kind) == "GPU",
            name: row.text(name),
            product: &row.name(product),
            units: row.whole_number(units).unwrap_or(0),
            cores: row.whole_number(cores).unwrap_or(0),
        };
        agent.add_fact(into);
    }
    table.finish(unread, into);
    if into.is_empty() {
        into.note(format!(
            "{} lists the machine's devices and nothing that ran on them",
            source.name()
        ));
    }
    Ok(())
}

/// What is known of an agent.
#[derive(Debug)]
pub(crate) struct AgentFacts<'a> {
    /// Its number, by which traces name it.
    pub number: u64,
    /// A card, and no processor.
    pub is_gpu: bool,
    /// The architecture: `gfx942`.
    pub name: &'a str,
    /// What is printed on the box.
    pub product: &'a str,
    pub units: u64,
    /// Cores of a processor.
    pub cores: u64,
}

impl AgentFacts<'_> {
    /// Adds the agent to the facts of the import.
    pub(crate) fn add_fact(&self, into: &mut Imported) {
        let product = if self.product.is_empty() {
            self.name
        } else {
            self.product
        };
        let mut words = product.to_owned();
        if self.name != product && !self.name.is_empty() {
            words.push_str(&format!(" ({})", self.name));
        }
        let (kind, count, unit) = if self.is_gpu {
            ("GPU", self.units, "compute units")
        } else {
            ("CPU", self.cores, "cores")
        };
        if count > 0 {
            words.push_str(&format!(", {count} {unit}"));
        }
        into.fact(&format!("{kind} {}", self.number), words);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::text;

    #[test]
    fn agents_become_particulars() {
        let imported = text(
            "agent_info.csv",
            "\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\",\"Cpu_Cores_Count\",\"Cu_Count\",\"Hive_Id\",\"Name\",\"Vendor_Name\",\"Product_Name\",\"Model_Name\"\n\
             0,0,\"CPU\",64,0,0,\"AMD EPYC\",\"CPU\",\"AMD EPYC\",\"\"\n\
             2,1,\"GPU\",0,304,17332996360099338395,\"gfx942\",\"AMD\",\"AMD Instinct, \"X\"\",\"aqua\"\n\
             x",
        );
        assert_eq!(
            imported.facts,
            [
                ("CPU 0".to_owned(), "AMD EPYC, 64 cores".to_owned()),
                (
                    "GPU 2".to_owned(),
                    "AMD Instinct, \"X\" (gfx942), 304 compute units".to_owned()
                ),
            ]
        );
        assert_eq!(imported.notes.len(), 2);
    }
}
