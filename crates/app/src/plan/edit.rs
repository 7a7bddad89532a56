//! Applies changes of the plan to the draft.

use super::action::PlanEdit;
use super::{Draft, DraftSetup, PlanField, sweeps};
use powerband_core::domain::plan::WorkerLifetime;
use powerband_core::domain::setup::{GENERATE, Setup, TASK_KEY};
use powerband_planning::form::{respell, slips};

/// A text field, or that of a key of a setup: letters typed in one are undone together.
pub(super) type Typing = (PlanField, String);

/// The field where the change is one letter of many.
pub(super) fn typing(edit: &PlanEdit) -> Option<Typing> {
    match edit {
        PlanEdit::Text(field, _) => Some((*field, String::new())),
        PlanEdit::Key(setup, key, _) if is_typed(key) => {
            Some((PlanField::Setup(*setup), key.clone()))
        }
        _ => None,
    }
}

/// Whether values of a key are typed, and not chosen.
fn is_typed(name: &str) -> bool {
    respell::any_key(name).is_some_and(|key| key.choices().is_empty())
}

/// Carries a change out.
pub(super) fn apply(draft: &mut Draft, edit: PlanEdit) {
    change_machines(draft, |draft| change(draft, edit));
}

fn change(draft: &mut Draft, edit: PlanEdit) {
    match edit {
        PlanEdit::Text(field, text) => type_text(draft, field, text),
        PlanEdit::ToggleSize(dimension, size) => sweeps::toggle(draft, &dimension, size),
        PlanEdit::WholeRequests(are_whole) => {
            let task = if are_whole { GENERATE } else { "" };
            for index in 0..draft.setups.len() {
                // A setup that trains stays one.
                let setup = draft.setups[index].spec.parse::<Setup>().ok();
                let own = setup.and_then(|setup| setup.options.get(TASK_KEY).cloned());
                if own.is_some_and(|own| own != GENERATE) {
                    continue;
                }
                let edit = PlanEdit::Key(index, TASK_KEY.to_owned(), task.to_owned());
                apply_to_setups(&mut draft.setups, edit);
            }
            sweeps::fit_task(draft, are_whole);
        }
        PlanEdit::Preset(preset) => {
            draft.preset = preset;
            draft.rules = None;
        }
        PlanEdit::Requests(requests) => draft.requests = requests,
        PlanEdit::Energy(energy) => draft.energy = energy,
        PlanEdit::MachinesAtOnce(at_once) => {
            draft.keeping = if at_once {
                all_at_once(draft)
            } else {
                WorkerLifetime::Together
            };
        }
        PlanEdit::Accuracy(accuracy) => draft.accuracy = accuracy,
        PlanEdit::Profile(profile) => draft.profile = profile,
        PlanEdit::ProfileStarts(starts) => {
            draft.profile_starts = Some(starts).filter(|starts| *starts > 1);
        }
        PlanEdit::Journey(journey) => draft.journey = journey,
        PlanEdit::Clear => *draft = Draft::default(),
        edit => apply_to_setups(&mut draft.setups, edit),
    }
}

/// Changes the draft, and with its setups the machines that measure at the same time: all of them again where it was
/// all before, and else the same number.
pub(super) fn change_machines(draft: &mut Draft, change: impl FnOnce(&mut Draft)) {
    let before = draft.machine_count();
    change(draft);
    if let WorkerLifetime::MachinesAtOnce(at_once) = draft.keeping
        && at_once as usize >= before
    {
        draft.keeping = all_at_once(draft);
    }
}

/// All machines of a plan at the same time, where it has several.
fn all_at_once(draft: &Draft) -> WorkerLifetime {
    WorkerLifetime::MachinesAtOnce(draft.machine_count().max(2) as u32)
}

fn type_text(draft: &mut Draft, field: PlanField, text: String) {
    match field {
        PlanField::Name => draft.name_goes_with_model = false,
        PlanField::Model if draft.name_goes_with_model && draft.model != text => {
            draft.name.clear();
            draft.name_goes_with_model = false;
        }
        PlanField::Rounds => draft.rules = None,
        _ => {}
    }
    if let Some(own) = draft.text_mut(field) {
        *own = text;
    }
}

fn apply_to_setups(setups: &mut Vec<DraftSetup>, edit: PlanEdit) {
    match edit {
        PlanEdit::Add(spec) => setups.push(DraftSetup {
            spec,
            ..DraftSetup::default()
        }),
        PlanEdit::Duplicate(index) => {
            if let Some(setup) = setups.get(index).cloned() {
                setups.insert(
                    index + 1,
                    DraftSetup {
                        colour: None,
                        ..setup
                    },
                );
            }
        }
        PlanEdit::Remove(index) if index < setups.len() => {
            setups.remove(index);
        }
        PlanEdit::Move(from, to) if from < setups.len() && to < setups.len() => {
            let setup = setups.remove(from);
            setups.insert(to, setup);
        }
        PlanEdit::Engine(index, id) => {
            respell(setups, index, |spec| respell::with_engine(spec, &id));
        }
        PlanEdit::Device(index, device) => {
            respell(setups, index, |spec| respell::with_device(spec, &device));
        }
        PlanEdit::Key(index, key, value) => {
            respell(setups, index, |spec| respell::with_key(spec, &key, &value));
        }
        PlanEdit::Fix(index) => respell(setups, index, |spec| {
            slips::fix(spec).map_or_else(|| spec.to_owned(), |fix| fix.spec)
        }),
        PlanEdit::Colour(index, colour) => {
            if let Some(setup) = setups.get_mut(index) {
                setup.colour = colour;
            }
        }
        _ => {}
    }
}

fn respell(setups: &mut [DraftSetup], index: usize, spec: impl FnOnce(&str) -> String) {
    if let Some(setup) = setups.get_mut(index) {
        setup.spec = spec(&setup.spec);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_machines_than_all_stay_as_many() {
        let mut draft = Draft {
            keeping: WorkerLifetime::MachinesAtOnce(2),
            setups: Vec::new(),
            ..Draft::default()
        };
        let keeping = |draft: &mut Draft, edit| {
            apply(draft, edit);
            draft.keeping
        };
        let add = |host: &str| PlanEdit::Add(format!("fake,where=ssh:{host}"));
        // Both that there are.
        keeping(&mut draft, add("one"));
        keeping(&mut draft, add("two"));
        assert_eq!(
            keeping(&mut draft, add("three")),
            WorkerLifetime::MachinesAtOnce(3)
        );
        // Two of three, as a session says.
        draft.keeping = WorkerLifetime::MachinesAtOnce(2);
        let named = PlanEdit::Text(PlanField::Name, "again".to_owned());
        assert_eq!(
            keeping(&mut draft, named),
            WorkerLifetime::MachinesAtOnce(2)
        );
        assert_eq!(
            keeping(&mut draft, add("four")),
            WorkerLifetime::MachinesAtOnce(2)
        );
        let chosen = PlanEdit::MachinesAtOnce(true);
        assert_eq!(
            keeping(&mut draft, chosen),
            WorkerLifetime::MachinesAtOnce(4)
        );
    }
}
