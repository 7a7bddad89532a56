//! In the command palette: setups, measurement settings and plans.

use crate::App;
use crate::action::Action;
use crate::palette_entries::entry::{Offered, seen_on, typed_on};
use crate::plan::{
    self, Alternative, ArrivalMode, Control, MatrixEdit, PROFILE_STARTS, PlanEdit, PlanField,
    Planner, fields, saved,
};
use crate::screen::Screen;
use powerband_core::base::humanize;
use powerband_core::domain::plan::Profiler;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::spelling::Spelling;
use powerband_findings::chart::palette;
use powerband_planning::engine_options::{self, Takes};
use powerband_planning::form::slips;

pub(crate) fn entries(app: &App) -> Vec<Offered> {
    [
        networks(app),
        typed(app),
        setups(app),
        options(app),
        matrix(app),
        care(app),
        plans_at_hand(app),
    ]
    .concat()
}

/// A change of the plan, and the screen that shows it.
fn planned(title: &str, edit: PlanEdit) -> Offered {
    seen_on(Screen::Plan, format!("Plan: {title}"), Action::Plan(edit))
}

/// Other networks than the one that is planned.
fn networks(app: &App) -> Vec<Offered> {
    let others = plan::built_in().filter(|(id, _)| *id != app.bench.planner.draft.model);
    let offer = |(id, title): (&str, &str)| {
        planned(
            &format!("measure {title}"),
            PlanEdit::Text(PlanField::Model, id.to_owned()),
        )
    };
    others.map(offer).collect()
}

/// What is typed, where its field is shown.
fn typed(app: &App) -> Vec<Offered> {
    let shown = PlanField::typed_once().filter(|field| app.bench.planner.has_field(*field));
    let typed = |field: PlanField| {
        let title = format!("Plan: type {}", field.info().content);
        typed_on(Screen::Plan, &title, &field.name())
    };
    shown.map(typed).collect()
}

fn setups(app: &App) -> Vec<Offered> {
    let mut offered: Vec<Offered> = engine_options::offered_ids()
        .map(|id| planned(&format!("add {id}"), PlanEdit::Add(id.to_owned())))
        .collect();
    let setups = &app.bench.planner.draft.setups;
    for (place, setup) in setups.iter().enumerate() {
        let name = match setup.label.trim() {
            "" => &setup.spec,
            label => label,
        };
        let number = place + 1;
        let mut offer = |doing: &str, edit| {
            offered.push(planned(&format!("{doing} setup {number}, {name}"), edit));
        };
        offer("duplicate", PlanEdit::Duplicate(place));
        offer("remove", PlanEdit::Remove(place));
        if place > 0 {
            offer("move up", PlanEdit::Move(place, place - 1));
        }
        if place + 1 < setups.len() {
            offer("move down", PlanEdit::Move(place, place + 1));
        }
        if setup.colour.is_some() {
            offer("automatic colour for", PlanEdit::Colour(place, None));
        }
        let others = (0..palette::COLOURS).filter(|colour| Some(*colour) != setup.colour);
        for colour in others {
            let doing = format!("colour {} for", colour + 1);
            offer(&doing, PlanEdit::Colour(place, Some(colour)));
        }
        for field in [PlanField::Setup(place), PlanField::Label(place)] {
            let what = field.info().content;
            let title = format!("Plan: type {what} of setup {number}, {name}");
            offered.push(typed_on(Screen::Plan, &title, &field.name()));
        }
    }
    offered
}

/// The controls of the setups.
fn options(app: &App) -> Vec<Offered> {
    let mut offered = Vec::new();
    for (place, draft) in app.bench.planner.draft.setups.iter().enumerate() {
        let read = Spelling::parse(&draft.spec).setup;
        let of_setup = format!("of setup {}", place + 1);
        let mut offer = |title: String, edit| offered.push(planned(&title, edit));
        let is_open = app.bench.planner.more == Some(place);
        if is_open {
            offer(format!("fewer options {of_setup}"), PlanEdit::More(None));
        } else {
            offer(
                format!("more options {of_setup}"),
                PlanEdit::More(Some(place)),
            );
        }
        if let Some(fix) = slips::fix(&draft.spec) {
            let title = format!("use {} in place of {} {of_setup}", fix.meant, fix.wrong);
            offer(title, PlanEdit::Fix(place));
        }
        for one in others(app.shared.engine_choices(&read.engine), &read.engine) {
            let title = format!("engine {} {of_setup}", one.title);
            offer(title, PlanEdit::Engine(place, one.value));
        }
        for one in others(app.shared.device_choices(&read), &read.device) {
            let title = format!("device {} {of_setup}", one.title);
            offer(title, PlanEdit::Device(place, one.value));
        }
        let more = if is_open {
            app.shared.controls(&read, false)
        } else {
            Vec::new()
        };
        let controls = app.shared.controls(&read, true).into_iter().chain(more);
        for control in controls.filter(|control| control.why_not.is_none()) {
            of_control(app, place, &read, &control, &mut offered);
        }
    }
    offered
}

/// What can be done with the control of a key.
fn of_control(
    app: &App,
    place: usize,
    read: &Setup,
    control: &Control,
    offered: &mut Vec<Offered>,
) {
    let key = control.key;
    let of_setup = format!("of setup {}", place + 1);
    let field = fields::of_key(place, key);
    let title = key.title();
    match key.takes {
        Takes::Path(_) | Takes::Folder(_) => {
            let edit = PlanEdit::ChoosePath(place, key.name.to_owned());
            offered.push(planned(&format!("choose {title} {of_setup}"), edit));
        }
        Takes::Several(words) => offered.extend(words.iter().map(|word| {
            let doing = if control.has_word(word) {
                "without"
            } else {
                "with"
            };
            let value = control.with_word(word);
            let edit = PlanEdit::Key(place, key.name.to_owned(), value);
            planned(&format!("{title} {doing} {word} {of_setup}"), edit)
        })),
        _ => {
            let choices = others(app.shared.value_choices(read, key), &control.value);
            offered.extend(choices.map(|one| {
                let edit = PlanEdit::Key(place, key.name.to_owned(), one.value);
                planned(&format!("{title} {} {of_setup}", one.title), edit)
            }));
        }
    }
    if key.choices().is_empty() {
        let title = format!("Plan: type {title} {of_setup}");
        offered.push(typed_on(Screen::Plan, &title, &field));
    }
}

/// What can be chosen in place of a value.
fn others(choices: Vec<Alternative>, value: &str) -> impl Iterator<Item = Alternative> {
    let choices = choices.into_iter();
    choices.filter(move |choice| choice.value != value && choice.why_not.is_none())
}

/// The matrix, while it is open.
fn matrix(app: &App) -> Vec<Offered> {
    if app.bench.planner.matrix.is_none() {
        return Vec::new();
    }
    let edit = |title: &str, edit| planned(&format!("matrix: {title}"), PlanEdit::Matrix(edit));
    let mut offered = vec![edit("close", MatrixEdit::Close)];
    let added = app.bench.matrix_adds(&app.shared).len() as u64;
    if added > 0 {
        let title = format!("add {}", humanize::pluralised(added, "setup"));
        offered.push(edit(&title, MatrixEdit::Add));
    }
    for (place, setup) in app.bench.planner.draft.setups.iter().enumerate() {
        let title = format!("vary setup {}, {}", place + 1, setup.spec);
        offered.push(edit(&title, MatrixEdit::Base(place)));
    }
    for row in app.bench.matrix_rows(&app.shared) {
        if row.choices.is_empty() {
            let title = format!("Plan: matrix: type values of {}", row.title);
            let field = fields::of_matrix(&row.title);
            offered.push(typed_on(Screen::Plan, &title, &field));
        }
        for choice in &row.choices {
            let doing = if row.contains(&choice.value) {
                "without"
            } else {
                "with"
            };
            let title = format!("{doing} {} {}", row.title, choice.title);
            let toggle = MatrixEdit::Toggle(row.key.clone(), choice.value.clone());
            offered.push(edit(&title, toggle));
        }
    }
    let keys = app.bench.matrix_keys(&app.shared).into_iter();
    offered.extend(keys.map(|key| {
        let row = MatrixEdit::Row(key.to_owned());
        edit(&format!("also {key}"), row)
    }));
    offered
}

/// Profilers, and starts that are profiled.
fn profiling(app: &App) -> Vec<Offered> {
    let draft = &app.bench.planner.draft;
    let mut offered = Vec::new();
    let profilers = Profiler::ALL.into_iter().map(Some);
    for choice in std::iter::once(None).chain(profilers) {
        let is_here = choice.is_none_or(|one| app.shared.machine.missing_profiler(one).is_none());
        if choice != draft.profile && is_here {
            let by = choice.map_or_else(
                || "no profile".to_owned(),
                |profiler| format!("profile by {}", profiler.name()),
            );
            offered.push(planned(&by, PlanEdit::Profile(choice)));
        }
    }
    let starts = PROFILE_STARTS.into_iter();
    for choice in starts.filter(|_| draft.profile.is_some()) {
        if choice != draft.profile_starts.unwrap_or(1) {
            let starts = humanize::pluralised(choice.into(), "start");
            let title = format!("profile in {starts}");
            offered.push(planned(&title, PlanEdit::ProfileStarts(choice)));
        }
    }
    offered
}

/// Measurement settings and batch sizes that differ from the current ones.
fn care(app: &App) -> Vec<Offered> {
    let draft = &app.bench.planner.draft;
    let choose = |is_on: bool, on: &str, off: &str, edit: fn(bool) -> PlanEdit| {
        planned(if is_on { off } else { on }, edit(!is_on))
    };
    let mut offered = vec![
        choose(
            draft.journey,
            "setups are optimisation steps",
            "setups are independent",
            PlanEdit::Journey,
        ),
        choose(
            draft.energy,
            "energy for every case",
            "energy when possible",
            PlanEdit::Energy,
        ),
        choose(
            draft.accuracy,
            "compare outputs",
            "do not compare outputs",
            PlanEdit::Accuracy,
        ),
    ];
    if draft.machine_count() > 1 {
        offered.push(choose(
            draft.measures_machines_at_once(),
            "machines at the same time",
            "machines one after the other",
            PlanEdit::MachinesAtOnce,
        ));
    }
    let requests = [
        (ArrivalMode::OneByOne, "closed loop"),
        (ArrivalMode::AtRandom, "open loop, Poisson"),
        (ArrivalMode::Evenly, "open loop, fixed rate"),
    ];
    for (value, title) in requests {
        if value != draft.requests {
            offered.push(planned(title, PlanEdit::Requests(value)));
        }
    }
    offered.extend(profiling(app));
    let planned_now = app.bench.planned(&app.shared);
    let check = planned_now
        .as_ref()
        .and_then(|plan| app.bench.plan_check(plan));
    let planner = &app.bench.planner;
    offered.extend(tasks(planner));
    let dimensions = planner.swept_dimensions().into_iter();
    for dimension in std::iter::once(planner.batch_dimension()).chain(dimensions) {
        let name = &dimension.name;
        let can_be_had = |size: &usize| {
            let refused = check.map(|check| &check.sizes);
            dimension.sizes.contains(size)
                || refused.is_none_or(|sizes| !sizes.contains_key(&(name.clone(), *size)))
        };
        let sizes = dimension.offered.iter().copied().filter(can_be_had);
        offered.extend(sizes.map(|size| {
            let doing = if dimension.sizes.contains(&size) {
                "without"
            } else {
                "with"
            };
            let edit = PlanEdit::ToggleSize(name.clone(), size);
            planned(&format!("{doing} {name} {size}"), edit)
        }));
    }
    offered
}

/// The task that the setups do not have, of a language model.
fn tasks(planner: &Planner) -> impl Iterator<Item = Offered> {
    let chosen = planner.whole_requests();
    let tasks = [("one step of the model", false), ("whole requests", true)].into_iter();
    let others = tasks.filter(move |(_, task)| chosen.is_some_and(|chosen| chosen != Some(*task)));
    others.map(|(title, task)| planned(title, PlanEdit::WholeRequests(task)))
}

/// Saved plans and built-in ones.
fn plans_at_hand(app: &App) -> Vec<Offered> {
    let kept = app.bench.planner.kept.iter().flat_map(|(path, draft)| {
        let title = saved::title(draft);
        [
            planned(&format!("use {title}"), PlanEdit::Use(path.clone())),
            planned(&format!("discard {title}"), PlanEdit::Forget(path.clone())),
        ]
    });
    let first = planned("edit what Benchmark ResNet-50 measures", PlanEdit::First);
    let ready = plan::ladders().map(|ladder| {
        planned(
            &format!("use {}", ladder.title),
            PlanEdit::Ladder(ladder.id),
        )
    });
    kept.chain(ready).chain([first]).collect()
}
