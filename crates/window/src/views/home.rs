//! Home: this machine, one large button, recent sessions, and an area to drop files on.

use eframe::egui::{self, Align, CornerRadius, Label, Layout, RichText, Stroke, Ui, vec2};

use crate::icon;
use crate::shell::library as shelf;
use crate::shell::strip;
use crate::theme::{self, space, text};
use crate::widgets::{button, label, long_tip};
use powerband_app::App;
use powerband_app::action::{Action, Library, MachineAction, RunAction, Sessions, Shell};
use powerband_app::library::examples;
use powerband_app::machine::{EngineState, PathSetting};
use powerband_app::plan::PlanEdit;
use powerband_app::screen::Screen;
use powerband_app::shell::hints::{self, Hint};
use powerband_core::base::humanize;
use powerband_core::domain::environment::Environment;
use powerband_core::domain::telemetry::WatchedDevice;

/// Most sessions shown here; the library has all.
const RECENT: usize = 5;
/// Width of the area to drop files on, beside the large button.
const DROP: f32 = 340.0;
/// Up to this width it stands below the button.
const NARROW: f32 = 760.0;
/// Height of a hint: two lines.
const HINT: f32 = 36.0;
/// Share of a session's row that the words behind its name may take.
const WORDS_SHARE: f32 = 0.62;

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    super::scrolled(ui, |ui| {
        ui.add_space(space::SMALL);
        let roles = theme::roles(ui);
        let title = RichText::new("Benchmark this machine")
            .size(text::BIG)
            .family(theme::semibold());
        ui.label(title.color(roles.text));
        label::quiet(
            ui,
            "Find the fastest batch size, precision and engine for your network.",
        );
        ui.add_space(space::LARGE);
        hint(ui, app, actions);
        begin(ui, app, actions);
        ui.add_space(space::LARGE);
        // Without sessions, the examples are the first thing to open.
        let is_empty = app.library.is_scanned && app.library.found.is_empty();
        if is_empty {
            examples(ui, actions);
            ui.add_space(space::LARGE);
        }
        machine(ui, app, actions);
        ui.add_space(space::LARGE);
        engines(ui, app, actions);
        ui.add_space(space::LARGE);
        section(ui, "Roofs", |_| ());
        super::home_roofs::show(ui, app, actions);
        ui.add_space(space::LARGE);
        recent(ui, app, actions);
        if !is_empty {
            ui.add_space(space::LARGE);
            examples(ui, actions);
        }
    });
}

/// A hint for newcomers.
fn hint(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let Some((place, hint)) = app.shared.hint() else {
        return;
    };
    theme::card(ui)
        .inner_margin(egui::Margin::symmetric(14, 8))
        .show(ui, |ui| {
            let whole = ui.available_width();
            ui.set_width(whole);
            if whole <= NARROW {
                ui.add(Label::new(hint.text).wrap());
                ui.horizontal(|ui| hint_buttons(ui, place, &hint, actions));
                return;
            }
            let size = vec2(whole, HINT);
            ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
                ui.set_min_height(HINT);
                ui.spacing_mut().item_spacing.x = space::SMALL;
                hint_buttons(ui, place, &hint, actions);
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.add(Label::new(hint.text).wrap());
                });
            });
        });
    ui.add_space(space::MEDIUM);
}

fn hint_buttons(ui: &mut Ui, place: usize, hint: &Hint, actions: &mut Vec<Action>) {
    let count = hints::ALL.len();
    let mut go = |place| actions.push(Action::Shell(Shell::Hint(place)));
    if button::small_icon(ui, icon::CLOSE, "Close the hints for good").clicked() {
        go(count);
    }
    let next = if place + 1 < count {
        "Next hint"
    } else {
        "Done"
    };
    if button::labelled(ui, None, next).clicked() {
        go(place + 1);
    }
    if let Some((title, act)) = hint.trial
        && button::labelled(ui, None, title).clicked()
    {
        actions.push(act());
    }
    label::faint(ui, &format!("{} of {count}", place + 1));
}

fn begin(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let whole = ui.available_width();
    if whole <= NARROW {
        large_button(ui, whole, app, actions);
        ui.add_space(space::SMALL);
        drop_area(ui, whole, actions);
        return;
    }
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::MEDIUM;
        large_button(ui, whole - DROP - space::MEDIUM, app, actions);
        drop_area(ui, DROP, actions);
    });
}

fn large_button(ui: &mut Ui, width: f32, app: &App, actions: &mut Vec<Action>) {
    theme::card(ui).inner_margin(22).show(ui, |ui| {
        ui.set_width(width - 46.0);
        ui.set_min_height(108.0);
        ui.vertical(|ui| first_run(ui, app, actions));
    });
}

fn first_run(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let roles = theme::roles(ui);
    ui.label(
        RichText::new("Benchmark ResNet-50")
            .size(16.0)
            .family(theme::semibold())
            .color(roles.text),
    );
    ui.add_space(space::HAIR);
    let sentence = match (&app.shared.machine.engines, app.shared.machine.best()) {
        (None, _) => "Looking for engines…".to_owned(),
        (Some(_), None) => "No engine is installed. Install ONNX Runtime with your pip.".to_owned(),
        (Some(_), Some(best)) => {
            let request = app.shared.machine.first_request();
            let setups: Vec<String> = request.setups.iter().map(ToString::to_string).collect();
            let who = if setups.is_empty() {
                let titles = app
                    .shared
                    .machine
                    .ready()
                    .map(|engine| engine.title.as_str());
                let others = titles.filter(|title| *title != best.title);
                let all: Vec<&str> = std::iter::once(&*best.title).chain(others).collect();
                format!("{} on the processor", humanize::list(&all))
            } else {
                setups.join(" and ")
            };
            let plan = app.bench.planned_of(request, &app.shared);
            let refused = app.shared.machine.refused(&plan);
            let takes = app.bench.estimate(&plan, &refused);
            format!("{who}, batches 1 to 16, quick preset: {takes}")
        }
    };
    label::quiet(ui, &sentence);
    if let Some(words) = app.bench.elsewhere_words() {
        label::quiet(ui, &words);
    }
    ui.add_space(space::MEDIUM);
    ui.horizontal(|ui| {
        ui.spacing_mut().button_padding = vec2(18.0, 8.0);
        if app.bench.is_running() {
            if button::primary(ui, Some(icon::RUN), "Watch the run").clicked() {
                actions.push(Action::Go(Screen::Run));
            }
        } else if app.shared.machine.has_none() {
            let installing = app.shared.machine.installing.is_some();
            if installing {
                button::plain_if(
                    ui,
                    Err("ONNX Runtime is being installed"),
                    Some(icon::RUN),
                    "Start",
                );
            } else if button::primary(ui, Some(icon::EXPORT), "Install ONNX Runtime").clicked() {
                actions.push(Action::Machine(MachineAction::InstallOnnxRuntime));
            }
        } else if button::primary(ui, Some(icon::RUN), "Start").clicked() {
            actions.push(Action::Run(RunAction::StartFirst));
        }
        if button::labelled(ui, None, "Change the plan…").clicked() {
            actions.push(Action::Plan(PlanEdit::First));
        }
    });
}

fn drop_area(ui: &mut Ui, width: f32, actions: &mut Vec<Action>) {
    let roles = theme::roles(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(width, 154.0), egui::Sense::click());
    let response = response.accessible_name("Open files…");
    let is_over = ui.input(|input| !input.raw.hovered_files.is_empty());
    let color = if is_over || response.hovered() {
        roles.accent
    } else {
        roles.line
    };
    let edge = rect.shrink(1.0);
    let corners = [
        edge.left_top(),
        edge.right_top(),
        edge.right_bottom(),
        edge.left_bottom(),
        edge.left_top(),
    ];
    ui.painter().rect_filled(
        edge,
        CornerRadius::same(10),
        roles.panel.gamma_multiply(0.5),
    );
    ui.painter().extend(egui::Shape::dashed_line(
        &corners,
        Stroke::new(1.2, color),
        5.0,
        4.0,
    ));
    let mut inner = ui.new_child(egui::UiBuilder::new().max_rect(rect.shrink(18.0)));
    inner.vertical_centered(|ui| {
        ui.add_space(18.0);
        ui.label(button::glyph(icon::OPEN).size(22.0).color(roles.faint));
        ui.add_space(space::TINY);
        ui.label(RichText::new("Drop a session, an ONNX file or a trace here").color(roles.text));
        ui.label(RichText::new("or click to choose one").color(roles.quiet));
    });
    if response
        .on_hover_cursor(egui::CursorIcon::PointingHand)
        .clicked()
    {
        actions.push(Action::Sessions(Sessions::Choose));
    }
}

/// A caption over a part of the screen, with its buttons.
fn section(ui: &mut Ui, title: &str, beside: impl FnOnce(&mut Ui)) {
    ui.horizontal(|ui| {
        ui.set_height(24.0);
        label::caption(ui, title);
        beside(ui);
    });
}

fn machine(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    section(ui, "This machine", |_| ());
    let environment = app.shared.machine.environment.as_ref();
    let no_card: Vec<String> = app
        .shared
        .machine
        .missing_cards(&*app.shared.backend)
        .iter()
        .map(|m| m.sentence())
        .collect();
    let no_card = no_card.join("\n");
    let width = (ui.available_width() - 2.0 * space::MEDIUM) / 3.0;
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::MEDIUM;
        let looking = || ("Looking…".to_owned(), " ".to_owned());
        for (glyph, title, (first, second), why) in [
            (
                icon::CPU,
                "Processor",
                environment.map_or_else(looking, processor),
                "",
            ),
            (
                icon::MEMORY,
                "Memory",
                environment.map_or_else(looking, memory),
                "",
            ),
            (icon::GPU, "Graphics", graphics(app), &*no_card),
        ] {
            theme::card(ui).show(ui, |ui| {
                ui.set_width(width - 34.0);
                ui.vertical(|ui| {
                    ui.horizontal(|ui| {
                        ui.spacing_mut().item_spacing.x = space::TINY;
                        ui.label(button::glyph(glyph).color(theme::roles(ui).faint));
                        label::card_title(ui, title);
                        copy_why(ui, why, actions);
                    });
                    label::quiet_line(ui, &first);
                    let below = label::faint(ui, &second);
                    if !why.is_empty() {
                        below.on_hover_text(why);
                    }
                });
            });
        }
    });
}

/// A button to copy the reason, where something is missing.
fn copy_why(ui: &mut Ui, why: &str, actions: &mut Vec<Action>) {
    if why.is_empty() {
        return;
    }
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        let button = button::small_icon(ui, icon::COPY, "Copy the reason and the fix");
        if button.clicked() {
            actions.push(Action::Shell(Shell::Copy(why.to_owned())));
        }
    });
}

fn processor(environment: &Environment) -> (String, String) {
    let cpu = &environment.cpu;
    let threads = humanize::pluralised(cpu.threads as u64, "thread");
    let features: Vec<String> = cpu
        .features
        .iter()
        .map(|feature| match feature.as_str() {
            "sse4_2" => "SSE4.2".to_owned(),
            name => name.replace('_', "-").to_uppercase(),
        })
        .collect();
    (format!("{}, {threads}", cpu.model), features.join("  "))
}

fn memory(environment: &Environment) -> (String, String) {
    let memory = &environment.memory;
    (
        humanize::bytes(memory.total_bytes),
        format!(
            "{} available at the start",
            humanize::bytes(memory.available_bytes)
        ),
    )
}

/// The GPUs, and the sources that report none.
fn graphics(app: &App) -> (String, String) {
    let Some((devices, _)) = &app.shared.machine.devices else {
        return ("Looking…".to_owned(), " ".to_owned());
    };
    let cards: Vec<&WatchedDevice> = devices.iter().filter(|d| d.kind.is_gpu()).collect();
    match cards[..] {
        [] => {
            let missing = app.shared.machine.missing_cards(&*app.shared.backend);
            let names: Vec<&str> = missing.iter().map(|m| m.source.as_str()).collect();
            let words = format!("{}: no GPU", humanize::list(&names));
            ("None found".to_owned(), words)
        }
        [card] => {
            let memory = card.memory_bytes.map(humanize::bytes).unwrap_or_default();
            let told = format!("{memory}, from {}", card.source);
            (card.name.clone(), told)
        }
        _ => (several(&cards), told_by(&cards)),
    }
}

/// GPUs by name: `2 × one, another`.
fn several(cards: &[&WatchedDevice]) -> String {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for card in cards {
        match kinds.iter_mut().find(|(name, _)| *name == card.name) {
            Some((_, number)) => *number += 1,
            None => kinds.push((&card.name, 1)),
        }
    }
    let words = kinds.into_iter().map(|(name, number)| match number {
        1 => name.to_owned(),
        number => format!("{number} × {name}"),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// The memory of each GPU, and its source.
fn told_by(cards: &[&WatchedDevice]) -> String {
    let memory: Vec<String> = cards
        .iter()
        .filter_map(|card| card.memory_bytes)
        .map(humanize::bytes)
        .collect();
    let mut sources: Vec<&str> = cards.iter().map(|card| card.source.as_str()).collect();
    sources.dedup();
    let told = format!("from {}", humanize::list(&sources));
    if memory.is_empty() {
        return told;
    }
    format!("{}, {told}", memory.join(" + "))
}

fn engines(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    section(ui, "Engines", |ui| {
        if button::small_icon(ui, icon::AGAIN, "Look for engines again").clicked() {
            actions.push(Action::Machine(MachineAction::Rescan));
        }
    });
    theme::card(ui)
        .inner_margin(egui::Margin::symmetric(16, 6))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            match &app.shared.machine.engines {
                None => {
                    label::quiet(ui, "Looking…");
                }
                Some(engines) => {
                    for (place, engine) in engines.iter().enumerate() {
                        engine_row(ui, app, engine, actions);
                        if place + 1 < engines.len() {
                            hairline(ui);
                        }
                    }
                }
            }
        });
}

fn hairline(ui: &mut Ui) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 1.0), egui::Sense::hover());
    let color = theme::roles(ui).line.gamma_multiply(0.55);
    ui.painter()
        .hline(rect.x_range(), rect.center().y, Stroke::new(1.0, color));
}

fn engine_row(ui: &mut Ui, app: &App, engine: &EngineState, actions: &mut Vec<Action>) {
    let roles = theme::roles(ui);
    let height = 34.0;
    ui.allocate_ui_with_layout(
        vec2(ui.available_width(), height),
        Layout::left_to_right(Align::Center),
        |ui| {
            let (name, _) = ui.allocate_exact_size(vec2(190.0, height), egui::Sense::hover());
            let mut title =
                ui.new_child(egui::UiBuilder::new().max_rect(name).layout(*ui.layout()));
            title.add(Label::new(RichText::new(&engine.title).family(theme::medium())).truncate());
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                engine_state(ui, app, engine, actions);
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    let words = RichText::new(engine.line()).color(roles.quiet);
                    let line = ui.add(Label::new(words).truncate());
                    if !engine.offers.is_empty() {
                        long_tip::on_hover(line, &engine.words);
                    }
                });
            });
        },
    );
}

fn engine_state(ui: &mut Ui, app: &App, engine: &EngineState, actions: &mut Vec<Action>) {
    let roles = theme::roles(ui);
    if engine.is_ready {
        label::pill(ui, "ready", roles.good);
        return;
    }
    if let (Some(offer), Some(pointed)) = (engine.offers.first(), engine.pointed()) {
        let button = button::labelled(ui, Some(icon::RUN), "Use");
        let button = button.on_hover_text(offer.path.display().to_string());
        if button.accessible_name(engine.use_title(offer)).clicked() {
            let path = Some(offer.path.clone());
            actions.push(Action::Machine(MachineAction::Point(pointed, path)));
        }
        if pointed == PathSetting::Python {
            return;
        }
    }
    if engine.id != "ort" {
        match engine.command() {
            Some(command) => copy(ui, "Copy the command", command, actions),
            None => copy(ui, "Copy the reason", &engine.words, actions),
        }
        return;
    }
    match &app.shared.machine.installing {
        None => {
            if button::labelled(ui, Some(icon::EXPORT), "Install").clicked() {
                actions.push(Action::Machine(MachineAction::InstallOnnxRuntime));
            }
        }
        Some(installing) => {
            if button::small_icon(ui, icon::CLOSE, "Stop installing").clicked() {
                actions.push(Action::Machine(MachineAction::StopInstall));
            }
            match installing.share {
                Some(share) => strip::progress_bar(ui, share),
                None => {
                    ui.spinner();
                }
            }
            label::quiet_line(ui, &installing.step);
        }
    }
}

/// Steps to take outside the window go to the clipboard.
fn copy(ui: &mut Ui, name: &str, text: &str, actions: &mut Vec<Action>) {
    let button = button::labelled(ui, Some(icon::COPY), name);
    if button.on_hover_text(text).clicked() {
        actions.push(Action::Shell(Shell::Copy(text.to_owned())));
    }
}

fn recent(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    section(ui, "Recent sessions", |_| ());
    if app.library.found.is_empty() {
        let words = if app.library.is_scanned {
            "None yet. Start a run to make one."
        } else {
            "Looking…"
        };
        label::quiet(ui, words);
        return;
    }
    rows(ui, |ui| {
        for (path, scanned) in app.library.newest().take(RECENT) {
            let [name, below, moment] = shelf::entry_texts(path, scanned);
            if session_row(ui, "Recent session", &name, &format!("{below}   {moment}")) {
                actions.push(Action::Library(Library::Select(Some(path.clone()))));
                actions.push(Action::Sessions(Sessions::Open(vec![path.clone()])));
            }
        }
    });
}

fn examples(ui: &mut Ui, actions: &mut Vec<Action>) {
    section(ui, "Examples", |_| ());
    rows(ui, |ui| {
        for (place, example) in examples::ALL.iter().enumerate() {
            if session_row(ui, "Example", example.title, example.sentence) {
                actions.push(Action::Sessions(Sessions::OpenExample(place)));
            }
        }
    });
}

fn rows(ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
    super::rows_card(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        content(ui);
    });
}

/// A session's name and content; returns whether it was clicked.
fn session_row(ui: &mut Ui, kind: &str, name: &str, words: &str) -> bool {
    let size = vec2(ui.available_width(), 32.0);
    let (rect, response) = ui.allocate_exact_size(size, egui::Sense::click());
    let said = format!("{kind} {name}");
    response.widget_info(|| egui::WidgetInfo::labeled(egui::accesskit::Role::Button, true, &said));
    let roles = theme::roles(ui);
    if response.hovered() {
        ui.painter()
            .rect_filled(rect, CornerRadius::same(6), roles.raised);
    }
    let inner = egui::UiBuilder::new()
        .max_rect(rect.shrink2(vec2(10.0, 0.0)))
        .layout(Layout::right_to_left(Align::Center));
    let mut row = ui.new_child(inner);
    let most = row.available_width() * WORDS_SHARE;
    row.scope(|ui| {
        ui.set_max_width(most);
        label::faint(ui, words);
    });
    row.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.add(Label::new(RichText::new(name).color(roles.text)).truncate());
    });
    response
        .on_hover_cursor(egui::CursorIcon::PointingHand)
        .clicked()
}
