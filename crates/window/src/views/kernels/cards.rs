//! Cards: times, memory, counters, tool and file, and the user's rules.

use std::borrow::Cow;

use eframe::egui::{self, ComboBox, Id, Ui};

use crate::icon;
use crate::theme::{self, space, text};
use crate::widgets::chart::{self, ChartOptions};
use crate::widgets::{button, field, label, long_tip, tip};
use powerband_app::App;
use powerband_app::action::{Action, Kernels};
use powerband_app::kernels::KernelsResult;
use powerband_app::kernels::commands::timeline_of_profile;
use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::profile::{MemoryUse, Profile};
use powerband_core::domain::trace::SliceKind;
use powerband_findings::analysis::breakdown::{Breakdown, BreakdownLevel, Scope};
use powerband_findings::analysis::category::Category;
use powerband_findings::analysis::kernel_comparison::{KernelComparison, KernelEntry, WallChange};
use powerband_findings::analysis::profile_runs::Times;
use powerband_findings::chart::spec::ChartSpec;

/// What stands in place of times of a device.
const NO_TIMES: &str = "No times of a device";
/// Least width of a card in a row of them.
const NARROWEST: f32 = 160.0;
/// Lines of a list on a card.
const LINES: usize = 6;
/// Room for the button that adds a rule.
const ADD_BUTTON: f32 = 130.0;

/// A number with its title and help.
struct FigureCard {
    title: Cow<'static, str>,
    value: String,
    below: String,
    help: String,
    /// The gap it shows: start and length, in nanoseconds.
    gap: Option<(u64, u64)>,
}

/// The time in a few numbers.
pub(super) fn summary(ui: &mut Ui, app: &App, found: &KernelsResult, changes: &mut Vec<Kernels>) {
    let figures = match &found.comparison {
        Some(comparison) => comparison_figures(comparison),
        None => profile_figures(
            found.breakdown(app.profile.kernels.level),
            app.profile.kernels.times,
        ),
    };
    let has_timeline = timeline_of_profile(app).is_ok();
    let gap = space::MEDIUM;
    let room = ui.available_width();
    let across = (((room + gap) / (NARROWEST + gap)) as usize).clamp(1, figures.len().max(1));
    let width = (room - gap * (across - 1) as f32) / across as f32;
    for row in figures.chunks(across) {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = gap;
            for figure in row {
                let pause = figure.gap.filter(|_| has_timeline);
                if card(ui, width, figure, pause.is_some())
                    && let Some((start_ns, length_ns)) = pause
                {
                    changes.push(Kernels::Gap(start_ns, length_ns));
                }
            }
        });
        ui.add_space(gap - ui.spacing().item_spacing.y.min(gap));
    }
}

fn card(ui: &mut Ui, width: f32, figure: &FigureCard, is_link: bool) -> bool {
    let shown = theme::card(ui).show(ui, |ui| {
        ui.set_width(width - 34.0);
        ui.spacing_mut().item_spacing.y = space::HAIR;
        let response = ui.vertical(|ui| {
            label::caption(ui, &figure.title);
            label::number(ui, &figure.value, 22.0);
            if is_link {
                return ui.link(&figure.below).clicked();
            }
            label::quiet_line(ui, &figure.below);
            false
        });
        long_tip::on_hover(response.response, &figure.help);
        response.inner
    });
    shown.inner
}

fn profile_figures(found: &Breakdown, times: Times) -> Vec<FigureCard> {
    let busy = found.busy;
    let unknown = NO_TIMES.to_owned();
    let summed = found.summed_ns.map(|ns| ns as f64);
    let unit = times.unit(found.runs);
    let time = |ns: f64| humanize::duration_ns(found.shown_ns(ns, times));
    let mut figures = vec![
        FigureCard {
            gap: None,
            title: found.scope.sum_title().into(),
            value: summed.map_or_else(|| UNKNOWN.to_owned(), time),
            below: match (summed, found.runs) {
                (Some(_), Some(runs)) => {
                    format!("{unit}, {}", humanize::pluralised(runs.count, runs.word()))
                }
                _ => found.calls.map_or_else(
                    || "This profile has no times".to_owned(),
                    |calls| humanize::pluralised(calls, "call"),
                ),
            },
            help: format!(
                "Sum of the times of {}{}. Streams overlap, so the sum can exceed the busy time.{}",
                found.scope.title(),
                summed.map_or_else(String::new, |ns| format!(": {} in total", humanize::duration_ns(ns))),
                found.runs.map_or_else(String::new, |runs| format!("\n{}", runs.source()))
            ),
        },
        FigureCard {
            gap: None,
            title: found.busy_title().into(),
            value: busy.map_or_else(|| UNKNOWN.to_owned(), |b| time(b.busy_ns as f64)),
            below: busy.map_or_else(|| unknown.clone(), |b| format!("of {} {unit}", time(b.span_ns as f64))),
            help: "Time in which at least one kernel or node, copy or set ran, per device, out of the time from its first to its last".to_owned(),
        },
        idle(found),
    ];
    if let Some(launches) = &found.launches {
        let each = launches.calls_ns as f64 / launches.count.max(1) as f64;
        let each = humanize::duration_ns(each);
        figures.push(FigureCard {
            gap: None,
            title: "Launches".into(),
            value: humanize::count(launches.count),
            below: format!(
                "launch delay {}",
                humanize::duration_ns(launches.delay_ns as f64)
            ),
            help: format!("Launching took the host {}, {each} each. The median time from the start of a launch to the start of its kernel is {}.", humanize::duration_ns(launches.calls_ns as f64), humanize::duration_ns(launches.delay_ns as f64)),
        });
    }
    figures.extend(host(found, times));
    figures
}

fn idle(found: &Breakdown) -> FigureCard {
    let share = found
        .busy
        .and_then(powerband_findings::analysis::breakdown::Busy::idle_share);
    let longest = found.gaps.first();
    let lines: Vec<String> = found
        .gaps
        .iter()
        .map(|gap| {
            format!(
                "{} at {} on {}",
                humanize::duration_ns(gap.length_ns as f64),
                humanize::duration_ns(gap.start_ns as f64),
                gap.device
            )
        })
        .collect();
    FigureCard {
        title: found.idle_title().into(),
        value: share.map_or_else(|| UNKNOWN.to_owned(), humanize::percent),
        below: longest.map_or_else(
            || {
                if share.is_some() {
                    "no long gap"
                } else {
                    NO_TIMES
                }
                .to_owned()
            },
            |gap| {
                format!(
                    "longest gap {}",
                    humanize::duration_ns(gap.length_ns as f64)
                )
            },
        ),
        help: if lines.is_empty() {
            "Share of the time from first to last in which nothing ran".to_owned()
        } else {
            format!("The longest gaps\n{}", lines.join("\n"))
        },
        gap: longest.map(|gap| (gap.start_ns, gap.length_ns)),
    }
}

fn host(found: &Breakdown, times: Times) -> Option<FigureCard> {
    let time = |ns: u64| humanize::duration_ns(found.shown_ns(ns as f64, times));
    let unit = times.unit(found.runs);
    if let Some(ns) = found.between_nodes_ns {
        let runs = ns + found.summed_ns.unwrap_or(0);
        let share = 100.0 * ns as f64 / runs.max(1) as f64;
        return Some(FigureCard {
            gap: None,
            title: "CPU time between nodes".into(),
            value: time(ns),
            below: format!("{unit}, {share:.1} % of the runs"),
            help: "Time of whole runs in which none of the nodes ran".to_owned(),
        });
    }
    let first = [SliceKind::Operator, SliceKind::Call, SliceKind::Wait]
        .into_iter()
        .find_map(|kind| Some((kind, found.host_ns(kind)?)));
    let (kind, ns) = first?;
    let lines: Vec<String> = found
        .host
        .iter()
        .map(|(kind, ns)| format!("{}: {} {unit}", plural(*kind), time(*ns)))
        .collect();
    let wait = found.host_ns(SliceKind::Wait);
    let wait = wait.filter(|_| kind != SliceKind::Wait);
    Some(FigureCard {
        gap: None,
        title: match kind {
            SliceKind::Operator => "CPU time in operators",
            SliceKind::Call => "CPU time in calls",
            _ => "CPU time waiting",
        }
        .into(),
        value: time(ns),
        below: wait.map_or_else(
            || unit.to_owned(),
            |wait| format!("waits {} {unit}", time(wait)),
        ),
        help: format!(
            "Host activity during the profile. Kinds overlap and are never added.\n{}",
            lines.join("\n")
        ),
    })
}

fn plural(kind: SliceKind) -> &'static str {
    match kind {
        SliceKind::Operator => "operators",
        SliceKind::Call => "calls of the driver",
        SliceKind::Wait => "waits for the device",
        SliceKind::Script => "functions of the script",
        SliceKind::Overhead => "the profiler itself",
        _ => "other things",
    }
}

fn comparison_figures(found: &KernelComparison) -> Vec<FigureCard> {
    let per = found.per().unwrap_or("the whole profile");
    let names = |members: &[KernelEntry]| -> String {
        let lines = members.iter().take(20);
        let lines = lines.map(|m| format!("{}  {}", humanize::duration_ns(m.ns), m.short));
        lines.collect::<Vec<_>>().join("\n")
    };
    let side = |title: &'static str, ns: Option<f64>| FigureCard {
        gap: None,
        title: title.into(),
        value: ns.map_or_else(|| UNKNOWN.to_owned(), humanize::duration_ns),
        below: per.to_owned(),
        help: "Sum of the times of kernels, copies and sets".to_owned(),
    };
    let gone = |title: &'static str, members: &[KernelEntry], words: &str| {
        let ns: f64 = members.iter().map(|member| member.ns).sum();
        FigureCard {
            gap: None,
            title: title.into(),
            value: humanize::pluralised(members.len() as u64, "name"),
            below: format!("{} {words}", humanize::duration_ns(ns)),
            help: names(members),
        }
    };
    let change = change_words(found);
    vec![
        side("Before", found.before_ns),
        side("After", found.after_ns),
        FigureCard {
            gap: None,
            title: "Difference".into(),
            value: found
                .difference_ns()
                .map_or_else(|| UNKNOWN.to_owned(), humanize::time_change),
            below: change,
            help: "Sum of the differences of all rows".to_owned(),
        },
    ]
    .into_iter()
    .chain(wall_change(found))
    .chain([
        gone("Removed", &found.removed, "before"),
        gone("Added", &found.added, "after"),
    ])
    .collect()
}

/// The difference of the wall time, with the part that most of it went to.
fn wall_change(found: &KernelComparison) -> Option<FigureCard> {
    let most = found.wall.iter().max_by(|one, other| {
        one.difference_ns()
            .abs()
            .total_cmp(&other.difference_ns().abs())
    })?;
    let all: f64 = found.wall.iter().map(WallChange::difference_ns).sum();
    let lines = found.wall.iter().map(|change| {
        let time = humanize::time_change(change.difference_ns());
        format!("{time}  {}", change.kind.title())
    });
    Some(FigureCard {
        gap: None,
        title: "Wall time".into(),
        value: humanize::time_change(all),
        below: format!(
            "{} {}",
            humanize::time_change(most.difference_ns()),
            most.kind.title()
        ),
        help: lines.collect::<Vec<_>>().join("\n"),
    })
}

/// The whole difference relative to before.
fn change_words(found: &KernelComparison) -> String {
    let Some((before_ns, after_ns)) = found.before_ns.zip(found.after_ns) else {
        return "not known".to_owned();
    };
    if before_ns <= 0.0 {
        return "nothing before".to_owned();
    }
    let ratio = after_ns / before_ns;
    if !(0.5..2.0).contains(&ratio) {
        return format!("{} × before", humanize::significant(ratio, 3));
    }
    let sign = if ratio < 1.0 { "−" } else { "+" };
    format!("{sign}{} of before", humanize::percent((ratio - 1.0).abs()))
}

/// Memory, counters, what the file says, and the rules.
pub(super) fn particulars(
    ui: &mut Ui,
    app: &App,
    found: &KernelsResult,
    changes: &mut Vec<Kernels>,
    actions: &mut Vec<Action>,
) {
    if let Some(profile) = found.profile() {
        if let Some(job) = &profile.job {
            super::job::show(ui, app, job, actions);
            ui.add_space(space::MEDIUM);
        }
        let charts = &app.profile.kernels.drawn.memory;
        for (memory, chart) in profile.memory.iter().zip(charts) {
            super::super::card(ui, |ui| memory_card(ui, memory, chart));
            ui.add_space(space::MEDIUM);
        }
        if !profile.counters.is_empty() {
            super::counters::show(ui, app, &profile.counters, actions);
            ui.add_space(space::MEDIUM);
        }
        let says_nothing =
            profile.tool.name.is_empty() && profile.format.is_empty() && profile.facts.is_empty();
        if !says_nothing {
            super::super::card(ui, |ui| facts(ui, profile));
            ui.add_space(space::MEDIUM);
        }
    }
    if app.shared.has_machine() {
        super::super::card(ui, |ui| rules(ui, found, changes));
    }
}

fn memory_card(ui: &mut Ui, memory: &MemoryUse, chart: &ChartSpec) {
    label::card_title(ui, &format!("Memory of {}", memory.device));
    label::quiet_line(
        ui,
        &format!("{} at most", humanize::bytes(memory.peak_bytes)),
    );
    if !chart.is_empty() {
        over_time(ui, &memory.device, chart);
    }
    let half = (ui.available_width() - space::LARGE) / 2.0;
    let list = |ui: &mut Ui, title: &str, lines: &[(String, u64)]| {
        if lines.is_empty() {
            return;
        }
        ui.vertical(|ui| {
            ui.set_width(half);
            label::caption(ui, title);
            for (name, bytes) in lines.iter().take(LINES) {
                let name = if name.is_empty() { "unknown" } else { name };
                label::pair(ui, name, &humanize::bytes(*bytes));
            }
        });
    };
    ui.add_space(space::TINY);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::LARGE;
        let (title, lines) = if memory.at_peak.is_empty() {
            ("Allocated by operator", &memory.by_op)
        } else {
            ("In use at the peak, by stack", &memory.at_peak)
        };
        list(ui, title, lines);
        list(ui, "Largest allocations", &memory.largest);
    });
}

/// Bytes in use, from the first slice on.
fn over_time(ui: &mut Ui, device: &str, spec: &ChartSpec) {
    let look = ChartOptions {
        height: 120.0,
        highlighted: None,
        zooms: true,
        crosshair: true,
    };
    let touched = chart::show(ui, &format!("memory of {device}"), spec, look);
    tip::of_point(&touched, spec);
}

/// Tool, command and format of the profile.
fn facts(ui: &mut Ui, profile: &Profile) {
    label::card_title(ui, "Tool and file");
    let tool = &profile.tool;
    let version = tool.version.as_deref().unwrap_or_default();
    let name = format!("{} {version}", tool.name);
    let said = [
        ("Tool", name.trim().to_owned()),
        ("Command", tool.command.clone().unwrap_or_default()),
        ("Format", profile.format.clone()),
        (
            "Added up",
            match Scope::from_profile(profile) {
                Scope::Work => "kernels, copies and sets".to_owned(),
                Scope::Operators => "operators: it has no kernels".to_owned(),
                Scope::NodeLaunches => "starts of nodes: it has no times of the card".to_owned(),
            },
        ),
    ];
    for (name, value) in said.iter().filter(|(_, value)| !value.is_empty()) {
        label::pair(ui, name, value);
    }
    for (name, value) in &profile.facts {
        label::pair(ui, name, value);
    }
}

/// The user's rules, and a field to add one.
fn rules(ui: &mut Ui, found: &KernelsResult, changes: &mut Vec<Kernels>) {
    label::card_title(ui, "Your rules for categories");
    label::quiet(
        ui,
        "A pattern is one or more words, * for anything: copy_kernel, *my_conv*. Your rules come before the built-in ones, for all profiles.",
    );
    let other = found
        .breakdown(BreakdownLevel::Category)
        .share_of(&[Category::Other]);
    if other > 0.005 {
        label::quiet(
            ui,
            &format!(
                "{} of the time is in no category yet.",
                humanize::percent(other)
            ),
        );
    }
    for (place, (category, pattern)) in found.own.iter().enumerate() {
        ui.horizontal(|ui| {
            let name = format!("Remove {pattern}");
            if button::small_icon(ui, icon::DISCARD, &name).clicked() {
                changes.push(Kernels::Forget(place));
            }
            let roles = theme::roles(ui);
            ui.label(
                egui::RichText::new(pattern)
                    .font(theme::numbers(text::BODY - 0.5))
                    .color(roles.text),
            );
            let known = Category::parse(category);
            let title = known.map_or_else(|| category.clone(), |known| known.title().to_owned());
            label::quiet_line(ui, &format!("is {title}"));
        });
    }
    ui.add_space(space::TINY);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = space::SMALL;
        let (typed_at, chosen_at) = (
            Id::unique("kernels-pattern"),
            Id::unique("kernels-category"),
        );
        let mut typed: String = ui
            .data_mut(|data| data.get_temp(typed_at))
            .unwrap_or_default();
        let mut chosen: usize = ui
            .data_mut(|data| data.get_temp(chosen_at))
            .unwrap_or_default();
        let (_, news) = field::line(ui, "Pattern", &typed, "*my_kernel*", 220.0);
        if let Some(news) = news {
            typed = news;
        }
        label::quiet_line(ui, "is");
        let title = Category::ALL.get(chosen).map_or("", |known| known.title());
        let combo = ComboBox::from_id_salt("kernels-category").width(180.0);
        let response = combo.selected_text(title).show_ui(ui, |ui| {
            for (place, category) in Category::ALL.iter().enumerate() {
                ui.selectable_value(&mut chosen, place, category.title());
            }
        });
        response.response.accessible_name("Category of the pattern");
        let allowed = if typed.trim_matches(['*', ' ']).is_empty() {
            Err("type a pattern first")
        } else {
            Ok(())
        };
        if ui.available_size_before_wrap().x < ADD_BUTTON {
            ui.end_row();
        }
        if button::plain_if(ui, allowed, Some(icon::ADD), "Add the rule").clicked()
            && let Some(category) = Category::ALL.get(chosen)
        {
            changes.push(Kernels::Categorise(*category, typed.trim().to_owned()));
            typed.clear();
        }
        ui.data_mut(|data| {
            data.insert_temp(typed_at, typed);
            data.insert_temp(chosen_at, chosen);
        });
    });
}
