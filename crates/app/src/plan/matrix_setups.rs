//! The setups that the combinations of a matrix make.

use std::collections::BTreeSet;

use super::matrix::{Combination, Matrix, MatrixEdit, MatrixRow, values};
use super::parse_batches;
use crate::doors::BenchDoor;
use crate::notices::NoticeLevel;
use crate::shared::Shared;
use powerband_core::base::humanize;
use powerband_core::domain::setup::Setup;
use powerband_planning::engine_options::{self, Takes};
use powerband_planning::form::respell;

/// Most combinations that are looked at.
const MOST: usize = 256;
/// The row of engines.
const ENGINE: &str = "engine";
/// The row of devices.
const DEVICE: &str = "device";

impl BenchDoor {
    /// The setup that the matrix varies.
    pub fn matrix_base(&self, shared: &Shared) -> Option<Setup> {
        let matrix = self.planner.matrix.as_ref()?;
        let setups = &self.planner.draft.setups;
        let chosen = matrix.base.and_then(|place| setups.get(place));
        match chosen.or_else(|| setups.last()) {
            Some(draft) => draft.spec.trim().parse().ok(),
            None => self.next_setup(shared).parse().ok(),
        }
    }

    /// The rows of the matrix: engine, device, the keys that are always shown, and those that were added.
    pub fn matrix_rows(&self, shared: &Shared) -> Vec<MatrixRow> {
        let base = self.matrix_base(shared);
        let Some((matrix, base)) = self.planner.matrix.as_ref().zip(base) else {
            return Vec::new();
        };
        let row = |key: &str, title: &str, help: String, choices| MatrixRow {
            key: key.to_owned(),
            title: title.to_owned(),
            help,
            typed: matrix.typed(key).to_owned(),
            choices,
        };
        let engines = shared.engine_choices(&base.engine);
        let devices = shared.device_choices(&base);
        let mut rows = vec![row(ENGINE, "Engine", String::new(), engines)];
        if devices.len() > 1 {
            rows.push(row(DEVICE, "Device", String::new(), devices));
        }
        let front = shared.controls(&base, true).into_iter().map(|one| one.key);
        let added = matrix.values.iter();
        let added = added.filter_map(|(key, _)| respell::key_of(&base.engine, key));
        let mut seen = BTreeSet::new();
        for key in front.chain(added).filter(|key| seen.insert(key.name)) {
            let choices = shared.value_choices(&base, key).into_iter();
            let choices = choices.filter(|choice| !choice.value.is_empty());
            let help = format!("{}: {}", key.full_help(), key.values());
            rows.push(row(key.name, key.title(), help, choices.collect()));
        }
        rows
    }

    /// Keys that the matrix has no row of yet.
    pub fn matrix_keys(&self, shared: &Shared) -> Vec<&'static str> {
        let Some(base) = self.matrix_base(shared) else {
            return Vec::new();
        };
        let rows = self.matrix_rows(shared);
        let more = shared.controls(&base, false).into_iter().map(|one| one.key);
        let more = more.filter(|key| key.family().is_none());
        more.map(|key| key.name)
            .filter(|name| rows.iter().all(|row| row.key != *name))
            .collect()
    }

    /// The setups that the matrix makes, those that are left out with the reason; or what is wrong with it.
    pub fn combinations(&self, shared: &Shared) -> Result<Vec<Combination>, String> {
        let Some(base) = self.matrix_base(shared) else {
            return Err("correct the setup that is varied first".to_owned());
        };
        if let Some(reason) = engine_options::setup_fault(&base) {
            return Err(format!("correct the setup that is varied first: {reason}"));
        }
        let mut setups = vec![base.clone()];
        for row in self.matrix_rows(shared) {
            let values = row_values(&base, &row)?;
            if values.is_empty() {
                continue;
            }
            if setups.len() * values.len() > MOST {
                return Err(format!(
                    "more than {MOST} combinations: choose fewer values"
                ));
            }
            setups = setups
                .iter()
                .flat_map(|setup| values.iter().map(|value| with(setup, &row.key, value)))
                .collect();
        }
        if self.planner.matrix.as_ref().is_none_or(Matrix::is_empty) {
            return Ok(Vec::new());
        }
        let planned = self.planner.draft.setups.iter();
        let planned = planned.filter_map(|draft| draft.spec.trim().parse::<Setup>().ok());
        let mut seen: BTreeSet<String> = planned.map(|setup| setup.to_string()).collect();
        Ok(setups
            .into_iter()
            .map(|setup| {
                let spec = setup.to_string();
                let is_new = seen.insert(spec.clone());
                let twice = (!is_new).then(|| "already in the plan".to_owned());
                let left_out = engine_options::setup_fault(&setup)
                    .or_else(|| shared.machine.refusal(&setup))
                    .or(twice);
                Combination { spec, left_out }
            })
            .collect())
    }

    /// What the matrix adds now.
    pub fn matrix_adds(&self, shared: &Shared) -> Vec<String> {
        let all = self.combinations(shared).unwrap_or_default().into_iter();
        let added = all.filter(|one| one.left_out.is_none());
        added.map(|one| one.spec).collect()
    }

    pub(super) fn matrix(&mut self, edit: MatrixEdit, shared: &mut Shared) {
        match edit {
            MatrixEdit::Open => self.planner.matrix = Some(Matrix::default()),
            MatrixEdit::Close => self.planner.matrix = None,
            MatrixEdit::Add => {
                let added = self.matrix_adds(shared);
                if !added.is_empty() {
                    let setups = humanize::pluralised(added.len() as u64, "setup");
                    self.planner.add_all(added);
                    self.planner.matrix = None;
                    shared.notify(NoticeLevel::Done, format!("Added {setups}"));
                }
            }
            edit => {
                if let Some(matrix) = &mut self.planner.matrix {
                    matrix.edit(edit);
                }
            }
        }
    }
}

/// The values of a row; of whole numbers also `1..8`, the powers of two between.
fn row_values(base: &Setup, row: &MatrixRow) -> Result<Vec<String>, String> {
    let key = respell::key_of(&base.engine, &row.key);
    let is_count = key.is_some_and(|key| matches!(key.takes, Takes::Count(_)));
    if is_count && row.typed.contains("..") {
        let numbers = parse_batches(&row.typed);
        let numbers = numbers.map_err(|error| format!("{}: {}", row.title, error))?;
        return Ok(numbers.iter().map(ToString::to_string).collect());
    }
    let mut seen = BTreeSet::new();
    let mut values = values(&row.typed);
    values.retain(|value| seen.insert(value.clone()));
    Ok(values)
}

fn with(setup: &Setup, key: &str, value: &str) -> Setup {
    let mut with = setup.clone();
    match key {
        ENGINE => value.clone_into(&mut with.engine),
        DEVICE => value.clone_into(&mut with.device),
        key => respell::set(&mut with, key, value),
    }
    with
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::plan::{Draft, PlanEdit};
    use powerband_core::base::environment_roots::EnvironmentRoots;
    use powerband_core::base::paths::Paths;
    use powerband_store::installation::Installation;

    /// An empty plan, where nothing is known of the machine yet.
    pub(crate) fn empty_bench() -> (BenchDoor, Shared) {
        let place = Installation {
            machines: Vec::new(),
            paths: Paths::under(Path::new("/none")),
            onnxruntime: None,
            python: None,
            program: "powerband".into(),
            watch: None,
            environment_roots: EnvironmentRoots::default(),
        };
        let backend = crate::empty_backend::for_tests();
        let (shared, _) = Shared::new(place, backend, Arc::new(|_| {}));
        (BenchDoor::new(Draft::default()), shared)
    }

    fn fill(bench: &mut BenchDoor, shared: &mut Shared, rows: &[(&str, &str)]) {
        bench.matrix(MatrixEdit::Open, shared);
        for (key, typed) in rows {
            let values = MatrixEdit::Values((*key).to_owned(), (*typed).to_owned());
            bench.matrix(values, shared);
        }
    }

    fn specs(bench: &BenchDoor) -> Vec<&str> {
        let setups = bench.planner.draft.setups.iter();
        setups.map(|setup| setup.spec.as_str()).collect()
    }

    #[test]
    fn a_matrix_makes_every_combination_in_one_step() {
        let (mut bench, mut shared) = empty_bench();
        bench.planner.edit(PlanEdit::Add("ort:cpu".to_owned()));
        fill(
            &mut bench,
            &mut shared,
            &[("precision", "fp32, fp16, int8"), ("threads", "1..2")],
        );
        assert_eq!(bench.matrix_adds(&shared).len(), 6);
        bench.matrix(MatrixEdit::Add, &mut shared);
        assert_eq!(
            specs(&bench),
            [
                "ort:cpu",
                "ort:cpu,threads=1",
                "ort:cpu,threads=2",
                "ort:cpu,precision=fp16,threads=1",
                "ort:cpu,precision=fp16,threads=2",
                "ort:cpu,precision=int8,threads=1",
                "ort:cpu,precision=int8,threads=2",
            ]
        );
        assert!(bench.planner.matrix.is_none(), "it is closed");
        bench.planner.edit(PlanEdit::Undo);
        assert_eq!(specs(&bench), ["ort:cpu"]);
    }

    #[test]
    fn what_makes_no_sense_or_is_there_is_left_out_with_the_reason() {
        let (mut bench, mut shared) = empty_bench();
        bench
            .planner
            .edit(PlanEdit::Add("ort:cpu,opt=none".to_owned()));
        fill(
            &mut bench,
            &mut shared,
            &[
                ("engine", "ort, rten"),
                ("parallel", "on, off"),
                ("threads", "0"),
            ],
        );
        let none = MatrixEdit::Values("threads".to_owned(), String::new());
        bench.matrix(none, &mut shared);
        let all = bench.combinations(&shared).unwrap();
        let out: Vec<(&str, &str)> = all
            .iter()
            .filter_map(|one| Some((one.spec.as_str(), one.left_out.as_deref()?)))
            .collect();
        assert_eq!(all.len(), 4);
        assert_eq!(out[0], ("ort:cpu,opt=none", "already in the plan"));
        assert!(out[1].1.contains("does not know the key"), "{out:?}");
        assert_eq!(bench.matrix_adds(&shared), ["ort:cpu,opt=none,parallel=on"]);
        fill(&mut bench, &mut shared, &[("threads", "1..x")]);
        assert!(
            bench
                .combinations(&shared)
                .unwrap_err()
                .starts_with("Threads")
        );
        fill(
            &mut bench,
            &mut shared,
            &[
                ("threads", "1, 2, 3, 4, 5, 6"),
                ("copies", "1..64"),
                ("opt", "none, basic, extended, all"),
                ("streams", "1, 2, 3, 4"),
            ],
        );
        assert!(bench.combinations(&shared).unwrap_err().contains("256"));
        fill(&mut bench, &mut shared, &[]);
        assert_eq!(bench.combinations(&shared), Ok(Vec::new()));
    }

    #[test]
    fn without_a_setup_the_matrix_varies_the_one_that_would_be_added() {
        let (mut bench, mut shared) = empty_bench();
        fill(&mut bench, &mut shared, &[("threads", "1, 2")]);
        let toggle = |value: &str| MatrixEdit::Toggle("threads".to_owned(), value.to_owned());
        bench.matrix(toggle("2"), &mut shared);
        assert_eq!(bench.matrix_adds(&shared), ["rten:cpu,threads=1"]);
        bench.matrix(toggle("4"), &mut shared);
        assert_eq!(
            bench.matrix_adds(&shared),
            ["rten:cpu,threads=1", "rten:cpu,threads=4"]
        );
    }
}
