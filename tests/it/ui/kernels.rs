//! Where the time went, in the window: the questions that the screen has to answer, on real profiles.

use eframe::egui::Vec2;
use powerband_app::action::{Action, Kernels, Sessions, Shell};
use powerband_app::kernels::{BreakdownChart, ProfileRef};
use powerband_app::screen::Screen;
use powerband_app::sessions::SessionId;
use powerband_app::tables::action::TableChange;
use powerband_core::domain::profile::{
    Counter, DeviceTime, Launches, MemoryUse, Profile, Tool, Total,
};
use powerband_core::domain::session::Session;
use powerband_core::domain::trace::SliceKind;
use powerband_findings::analysis::breakdown::BreakdownLevel;
use powerband_findings::analysis::category::Category;

use super::every_screen::{SIZES, faults};
use super::pictures::{Album, PictureState, THEMES, furnish, small_session};
use super::{Desk, SIZE, data, write};
use crate::kernels::totals;
use crate::support::Home;

const V100: &str = include_str!("../../fixtures/kernels/resnet50-v100.tsv");
const MI210: &str = include_str!("../../fixtures/kernels/resnet-mi210.tsv");
const MILLISECOND: u64 = 1_000_000;

/// Training on a V100, with everything that a timeline tells.
fn training() -> Profile {
    let over_time = (0..60).map(|step| {
        let climbs = step % 20;
        (step * 12 * MILLISECOND, (2_000 + climbs * 190) * 1_048_576)
    });
    Profile {
        name: "ResNet-50 training, V100".to_owned(),
        format: "kineto".to_owned(),
        tool: Tool {
            name: "PyTorch profiler".to_owned(),
            version: Some("1.8.0".to_owned()),
            command: None,
        },
        runs: Some(6),
        totals: totals(V100)
            .into_iter()
            .chain([
                host(SliceKind::Call, 41),
                host(SliceKind::Wait, 288),
                host(SliceKind::Operator, 212),
            ])
            .collect(),
        span_ns: Some(737 * MILLISECOND),
        devices: vec![DeviceTime {
            device: "Tesla V100-DGXS-32GB".to_owned(),
            kernels_ns: 0,
            busy_ns: 611 * MILLISECOND,
            span_ns: 737 * MILLISECOND,
            gaps: vec![
                (301 * MILLISECOND, 31 * MILLISECOND),
                (522 * MILLISECOND, 18 * MILLISECOND),
            ],
            not_computing: None,
        }],
        launches: Some(Launches {
            count: 9_456,
            calls_ns: 52 * MILLISECOND,
            delay_ns: 11_400,
        }),
        counters: Vec::new(),
        memory: vec![MemoryUse {
            device: "Tesla V100-DGXS-32GB".to_owned(),
            peak_bytes: (2_000 + 19 * 190) * 1_048_576,
            over_time: over_time.collect(),
            largest: vec![("aten::cudnn_convolution".to_owned(), 822_083_584)],
            by_op: vec![
                ("aten::cudnn_batch_norm".to_owned(), 9_663_676_416),
                ("aten::cudnn_convolution".to_owned(), 8_589_934_592),
            ],
            at_peak: Vec::new(),
        }],
        facts: vec![("CUDA".to_owned(), "11.0".to_owned())],
        ..Profile::default()
    }
}

fn host(kind: SliceKind, ms: u64) -> Total {
    Total {
        work: None,
        kind,
        name: format!("{} of the host", kind.title()),
        op: String::new(),
        place: String::new(),
        calls: 1,
        total_ns: ms * MILLISECOND,
        min_ns: None,
        max_ns: None,
    }
}

/// The same kind of network on another vendor's card.
fn another() -> Profile {
    Profile {
        name: "A network like it, MI210".to_owned(),
        format: "kineto".to_owned(),
        runs: Some(1),
        totals: totals(MI210),
        counters: vec![Counter {
            kernel: "attn_fwd.kd".to_owned(),
            name: "SQ_WAVES".to_owned(),
            unit: String::new(),
            launches: 12,
            sum: 98_304.0,
        }],
        notes: vec!["This file has kernels alone: nobody recorded operators.".to_owned()],
        ..Profile::default()
    }
}

/// Nodes of a graph before and after it was fused.
fn fused(is_after: bool) -> Profile {
    let node = |name: &str, op: &str, ms: u64| Total {
        work: None,
        name: name.to_owned(),
        op: op.to_owned(),
        ..host(SliceKind::Kernel, ms)
    };
    let totals = if is_after {
        vec![node("conv1_relu", "FusedConv", 61), node("fc", "Gemm", 7)]
    } else {
        vec![
            node("conv1", "Conv", 60),
            node("bn1", "BatchNormalization", 22),
            node("relu1", "Relu", 9),
            node("fc", "Gemm", 7),
        ]
    };
    Profile {
        name: if is_after { "fused" } else { "as it is" }.to_owned(),
        runs: Some(10),
        totals,
        ..Profile::default()
    }
}

/// The same network as it is, in a file that does not say how many runs it covers: five times as many.
fn without_runs() -> Profile {
    let mut profile = fused(false);
    profile
        .totals
        .iter_mut()
        .for_each(|total| total.total_ns *= 5);
    "a long one".clone_into(&mut profile.name);
    profile.runs = None;
    profile
}

pub(super) fn session() -> Session {
    let mut session = data::journey();
    "Profiles".clone_into(&mut session.name);
    session.profiles = vec![
        training(),
        another(),
        fused(false),
        fused(true),
        without_runs(),
    ];
    session
}

pub(super) const fn pick(profile: usize) -> ProfileRef {
    ProfileRef {
        session: SessionId(1),
        profile,
    }
}

pub(super) fn desk() -> Desk {
    let home = Home::new();
    let path = home.path("profiles.ron");
    write(&path, &session());
    let mut desk = Desk::with(home, vec![path]);
    desk.until("everything is looked up", |app| {
        app.shared.machine.engines.is_some()
            && app.library.is_scanned
            && app.shared.sessions.len() == 1
    });
    desk.act(Action::Go(Screen::Kernels));
    found(&mut desk);
    desk
}

/// Frames until what is wanted was found.
pub(super) fn found(desk: &mut Desk) {
    desk.until("it is added up", |app| {
        let state = &app.profile.kernels;
        state.found.result.is_some()
            && state.found.busy().is_none()
            && state
                .wanted(&app.shared.sessions, app.shared.category_rules)
                .is_none()
    });
    desk.steps(2);
}

pub(super) fn ask(desk: &mut Desk, change: Kernels) {
    desk.act(Action::Kernels(change));
    found(desk);
}

pub(super) fn shown(desk: &Desk) -> Vec<String> {
    let state = &desk.app().profile.kernels;
    let found = state.found.result.as_ref().expect("a result");
    let breakdown = found.breakdown(state.level);
    let rows = state
        .drawn
        .rows
        .iter()
        .map(|row| breakdown.rows[*row].short.clone());
    rows.collect()
}

#[test]
fn counters_are_sorted_and_keep_to_the_filter() {
    let mut desk = desk();
    let launches = |launches: u64, sum: f64| Counter {
        kernel: format!("kernel_{launches}"),
        name: "SQ_WAVES".to_owned(),
        unit: String::new(),
        launches,
        sum,
    };
    let mut session = session();
    session.profiles[0].counters = vec![launches(3, 9.0), launches(1, 5.0), launches(20, 40.0)];
    let path = desk.home.path("counters.ron");
    write(&path, &session);
    desk.act(Action::Sessions(Sessions::Open(vec![path])));
    desk.until("both are open", |app| app.shared.sessions.len() == 2);
    let id = desk.app().shared.sessions.iter().last().map(|open| open.id);
    let session = id.expect("the second one");
    let profile = 0;
    ask(&mut desk, Kernels::Look(ProfileRef { session, profile }));
    let counters = |desk: &Desk| desk.column("counters", "launches");
    assert_eq!(counters(&desk), ["3", "1", "20"]);
    let by_launch = || Action::Table("counters", TableChange::Sort("per_launch".to_owned()));
    desk.act(by_launch());
    assert_eq!(counters(&desk), ["1", "3", "20"], "by what a launch adds");
    desk.act(by_launch());
    assert_eq!(counters(&desk), ["20", "3", "1"]);
    ask(&mut desk, Kernels::Filter("kernel_3".to_owned()));
    assert_eq!(counters(&desk), ["3"]);
    desk.see("2 more do not match the filter above");
}

#[test]
fn shares_idle_time_and_top_operators_are_there_to_be_read() {
    let mut desk = desk();
    desk.see("convolution");
    desk.see("batch normalisation");
    desk.see("copies");
    desk.see("17.1 %");
    desk.see("longest gap 31.0 ms");
    desk.see("9,456");
    assert_eq!(desk.app().profile.kernels.looking, Some(pick(0)));
    ask(&mut desk, Kernels::Level(BreakdownLevel::Operator));
    let first: Vec<String> = shown(&desk).into_iter().take(10).collect();
    assert_eq!(first.len(), 10);
    assert!(first[0].contains("convolution_backward"), "{first:?}");
    desk.see("aten::cudnn_batch_norm_backward");
    ask(&mut desk, Kernels::Level(BreakdownLevel::Kernel));
    ask(&mut desk, Kernels::Filter("dgrad".to_owned()));
    let rows = shown(&desk);
    assert!(
        !rows.is_empty() && rows.iter().all(|row| row.contains("dgrad")),
        "{rows:?}"
    );
    ask(&mut desk, Kernels::Filter(String::new()));
    ask(&mut desk, Kernels::Over(0.05));
    assert!((3..9).contains(&shown(&desk).len()));
    desk.see("of the time");
    ask(&mut desk, Kernels::Over(0.0));
    desk.act(Action::Table(
        "kernels",
        TableChange::Sort("calls".to_owned()),
    ));
    let names = desk.column("kernels", "name");
    assert!(names[0].contains("AddFunctor"), "{:?}", names[0]);
    desk.press("Ctrl+Shift+C");
    desk.hear(&format!("Copied {} rows to the clipboard", names.len()));
    let table = desk
        .app()
        .shared
        .tables
        .view("kernels")
        .expect("a table")
        .to_tsv();
    assert!(
        table.contains("void cudnn::detail::dgrad_engine<float, 512"),
        "whole names"
    );
}

#[test]
fn what_a_fused_graph_no_longer_has() {
    let mut desk = desk();
    ask(&mut desk, Kernels::Look(pick(3)));
    ask(&mut desk, Kernels::Before(Some(pick(2))));
    desk.see("Removed");
    desk.see("3 names");
    desk.see("bn1");
    let result = desk
        .app()
        .profile
        .kernels
        .found
        .result
        .clone()
        .expect("a result");
    let comparison = result.comparison.expect("a comparison");
    let went: Vec<&str> = comparison
        .removed
        .iter()
        .map(|member| member.name.as_str())
        .collect();
    assert_eq!(went, ["conv1", "bn1", "relu1"]);
    assert!(comparison.is_per_run());
    let sum: f64 = comparison.rows.iter().map(|row| row.difference_ns()).sum();
    assert!((sum - comparison.difference_ns().unwrap()).abs() < 1.0);
    desk.press("Ctrl+Shift+X");
    found(&mut desk);
    assert_eq!(desk.app().profile.kernels.looking, Some(pick(2)));
    ask(&mut desk, Kernels::Before(None));
    desk.click("Drawn as: Treemap");
    assert_eq!(desk.app().profile.kernels.shape, BreakdownChart::Treemap);
    desk.see("Treemap, 4 tiles");
}

#[test]
fn a_filter_applies_to_all_that_is_drawn_of_a_comparison() {
    let mut desk = desk();
    ask(&mut desk, Kernels::Look(pick(3)));
    ask(&mut desk, Kernels::Before(Some(pick(2))));
    let drawn = |desk: &Desk| {
        let state = &desk.app().profile.kernels;
        let bars: Vec<usize> = state.drawn.changes.iter().map(|step| step.row).collect();
        let mut rows = state.drawn.rows.clone();
        rows.sort_unstable();
        (bars, rows)
    };
    let (all, _) = drawn(&desk);
    assert!(all.len() > 1, "{all:?}");
    desk.fill("Filter", "bn1");
    found(&mut desk);
    let (bars, rows) = drawn(&desk);
    assert_eq!(bars.len(), 1);
    assert_eq!(bars, rows);
    let titles: Vec<&str> = desk
        .app()
        .profile
        .kernels
        .drawn
        .changes
        .iter()
        .map(|step| step.name.as_str())
        .collect();
    assert!(titles[0].contains("bn1"), "{titles:?}");
    // The longest of those that are left has the whole length.
    assert_eq!(
        desk.app().profile.kernels.drawn.changes[0].length.abs(),
        1.0
    );
    // Turned round, the same rows of the same two are seen.
    ask(&mut desk, Kernels::Swap);
    assert_eq!(desk.value("Filter"), "bn1");
    assert_eq!(drawn(&desk).0.len(), 1);
}

#[test]
fn a_filter_belongs_to_the_profile_that_it_was_typed_for() {
    let mut desk = desk();
    desk.fill("Filter", "convolution");
    ask(&mut desk, Kernels::Over(0.01));
    let first = shown(&desk);
    ask(&mut desk, Kernels::Look(pick(1)));
    assert_eq!(
        desk.value("Filter"),
        "",
        "another profile begins without one"
    );
    let all = desk.app().profile.kernels.drawn.shown.hidden == 0;
    assert!(all, "every share is shown too");
    desk.fill("Filter", "gemm");
    ask(&mut desk, Kernels::Look(pick(0)));
    assert_eq!(desk.value("Filter"), "convolution");
    assert_eq!(desk.app().profile.kernels.filter().over, 0.01);
    assert_eq!(shown(&desk), first);
    ask(&mut desk, Kernels::Look(pick(1)));
    assert_eq!(desk.value("Filter"), "gemm");
}

#[test]
fn where_a_filter_leaves_nothing_the_screen_says_so_and_clears_it() {
    let mut desk = desk();
    let cases = [
        (None, BreakdownChart::Bars),
        (None, BreakdownChart::Treemap),
        (Some(pick(1)), BreakdownChart::Bars),
    ];
    for (before, shape) in cases {
        ask(&mut desk, Kernels::Before(before));
        ask(&mut desk, Kernels::Shape(shape));
        let all = desk.app().profile.kernels.drawn.rows.len();
        desk.fill("Filter", "no such words");
        desk.see("No row has “no such words” in its names.");
        ask(&mut desk, Kernels::Over(0.05));
        desk.see("No row has “no such words” in its names and a share of at least 5 %.");
        assert!(!desk.sees("Treemap, "), "{shape:?}");
        assert!(desk.find("Sort by Share").is_none(), "no table of nothing");
        desk.click("Clear the filter");
        found(&mut desk);
        assert_eq!(desk.value("Filter"), "");
        assert_eq!(desk.app().profile.kernels.drawn.rows.len(), all);
        assert!(all > 0 && desk.find("Clear the filter").is_none());
    }
    // Escape clears what was typed, from outside of the field too.
    ask(&mut desk, Kernels::Filter("gemm".to_owned()));
    desk.press("Escape");
    assert_eq!(desk.value("Filter"), "");
    assert_eq!(desk.app().shared.screen, Screen::Kernels);
}

#[test]
fn a_rule_of_the_users_own_counts_at_once() {
    let mut desk = desk();
    let gemm = |desk: &Desk| {
        let result = desk
            .app()
            .profile
            .kernels
            .found
            .result
            .as_ref()
            .expect("a result");
        result
            .breakdown(BreakdownLevel::Category)
            .share_of(&[Category::Gemm])
    };
    assert!(gemm(&desk) < 0.01);
    desk.act(Action::Kernels(Kernels::Categorise(
        Category::Gemm,
        "*sgemm*".to_owned(),
    )));
    desk.until("the rule counts", |app| {
        let mut found = app.profile.kernels.found.result.iter();
        found.any(|found| found.own.len() == 1)
    });
    assert!(gemm(&desk) > 0.05);
    desk.see("Remove *sgemm*");
    desk.act(Action::Kernels(Kernels::Forget(0)));
    desk.until("it is forgotten", |app| {
        let mut found = app.profile.kernels.found.result.iter();
        found.any(|found| found.own.is_empty())
    });
    assert!(gemm(&desk) < 0.01);
}

#[test]
fn without_a_profile_the_screen_says_how_to_get_one() {
    let home = Home::new();
    let files = vec![small_session(&home, "Without")];
    let mut desk = Desk::awake(home, files);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.press("Ctrl+8");
    desk.see("No profile yet");
    desk.see("powerband import");
    desk.see("bench resnet50 --profile");
}

#[test]
fn every_control_of_the_kernels_has_a_name() {
    let mut desk = desk();
    let mut complaints = Vec::new();
    for before in [None, Some(pick(1))] {
        ask(&mut desk, Kernels::Before(before));
        for size in SIZES {
            desk.harness.set_size(Vec2::from(size));
            desk.steps(2);
            complaints.extend(faults(&desk, &format!("kernels, {size:?}, {before:?}")));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn kernels_are_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let mut desk = desk();
    furnish(&mut desk, PictureState::Empty);
    for (theme, word) in THEMES {
        desk.act(Action::Shell(Shell::Theme(theme)));
        desk.act(Action::Go(Screen::Kernels));
        ask(&mut desk, Kernels::Before(None));
        ask(&mut desk, Kernels::Level(BreakdownLevel::Category));
        ask(&mut desk, Kernels::Shape(BreakdownChart::Bars));
        album.take(&mut desk, &format!("kernels-category-{word}"));
        ask(&mut desk, Kernels::Shape(BreakdownChart::Treemap));
        album.take(&mut desk, &format!("kernels-treemap-{word}"));
        ask(&mut desk, Kernels::Level(BreakdownLevel::Kernel));
        ask(&mut desk, Kernels::Before(Some(pick(1))));
        album.take(&mut desk, &format!("kernels-compared-{word}"));
    }
    ask(&mut desk, Kernels::Before(None));
    ask(&mut desk, Kernels::Shape(BreakdownChart::Bars));
    super::instances::of_a_convolution(&mut desk);
    for (theme, word) in THEMES {
        desk.act(Action::Shell(Shell::Theme(theme)));
        desk.steps(2);
        album.paint(&mut desk, Some(&format!("kernels-instances-{word}")));
    }
    ask(&mut desk, Kernels::Select(None));
    ask(&mut desk, Kernels::Within(None));
    ask(&mut desk, Kernels::Look(pick(0)));
    for (size, word) in [
        ((720.0, 900.0), "narrow"),
        ((1_920.0, 1_000.0), "wide"),
        ((SIZE.0, 2_300.0), "tall"),
    ] {
        desk.harness.set_size(Vec2::from(size));
        desk.steps(3);
        album.paint(&mut desk, Some(&format!("kernels-{word}")));
    }
    ask(&mut desk, Kernels::Look(pick(3)));
    ask(&mut desk, Kernels::Before(Some(pick(2))));
    desk.harness.set_size(Vec2::from((SIZE.0, 1_500.0)));
    desk.steps(3);
    album.paint(&mut desk, Some("kernels-fused"));
    album.close();
}
