//! The kernels screen under a hand: which profiles, per run or in total, and the way from a category to its
//! kernels.

use std::path::PathBuf;

use powerband_app::action::{Action, Kernels, Sessions};
use powerband_app::kernels::{BreakdownChart, SelectedRow};
use powerband_app::screen::Screen;
use powerband_core::base::humanize;
use powerband_findings::analysis::breakdown::{BreakdownLevel, FilterGroup};
use powerband_findings::analysis::category::Category;
use powerband_findings::analysis::profile_runs::Times;

use super::kernels::{ask, desk, found, pick, session, shown};
use super::{Desk, write};
use crate::support::Home;

/// The place of the profile that does not state its runs.
const WITHOUT_RUNS: usize = 4;

fn left(desk: &Desk, name: &str) -> f32 {
    desk.get(name).rect().left()
}

fn real(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/import")
        .join(file)
}

#[test]
fn before_stands_left_of_after_as_the_columns_do() {
    let mut desk = desk();
    assert!(desk.find("Before").is_none(), "one profile has no before");
    ask(&mut desk, Kernels::Look(pick(3)));
    desk.click("Compare with");
    desk.click("as it is");
    found(&mut desk);
    assert_eq!(desk.app().profile.kernels.before, Some(pick(2)));
    assert_eq!(desk.app().profile.kernels.looking, Some(pick(3)));
    assert!(left(&desk, "Before") < left(&desk, "After"));
    assert!(left(&desk, "Sort by Before") < left(&desk, "Sort by After"));
    desk.click("After");
    assert!(desk.find("as it is").is_none(), "the same profile twice");
    desk.click("a long one");
    found(&mut desk);
    assert_eq!(desk.app().profile.kernels.looking, Some(pick(WITHOUT_RUNS)));
    assert_eq!(desk.app().profile.kernels.before, Some(pick(2)));
    desk.click("End the comparison");
    found(&mut desk);
    assert_eq!(desk.app().profile.kernels.before, None);
    assert_eq!(desk.app().profile.kernels.looking, Some(pick(WITHOUT_RUNS)));
}

#[test]
fn the_only_profile_is_compared_with_nothing() {
    let home = Home::new();
    let path = home.path("one.ron");
    let mut one = session();
    one.profiles.truncate(1);
    write(&path, &one);
    let mut desk = Desk::awake(home, vec![path]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.act(Action::Go(Screen::Kernels));
    found(&mut desk);
    for name in ["Before", "Compare with", "End the comparison"] {
        assert!(desk.find(name).is_none(), "{name}");
    }
}

#[test]
fn times_are_those_of_a_run_until_the_total_is_chosen() {
    let mut desk = desk();
    ask(&mut desk, Kernels::Look(pick(2)));
    ask(&mut desk, Kernels::Level(BreakdownLevel::Kernel));
    desk.see("10 runs, as the profile states");
    let first = |desk: &Desk| desk.app().profile.kernels.drawn.bars[0].ns;
    assert_eq!(first(&desk), 6e6);
    assert!(desk.find("Sort by Per run").is_some());
    assert!(desk.find("Sort by Total").is_none());
    desk.see("per run, 10 runs");
    desk.click("Times: Total");
    found(&mut desk);
    assert_eq!(first(&desk), 60e6);
    assert!(desk.find("Sort by Per run").is_none());
    assert!(desk.find("Sort by Total").is_some());
    ask(&mut desk, Kernels::Before(Some(pick(3))));
    let before = |desk: &Desk| {
        let found = desk
            .app()
            .profile
            .kernels
            .found
            .result
            .as_ref()
            .expect("a result");
        let comparison = found.comparison.as_ref().expect("a comparison");
        (comparison.before_ns, comparison.per())
    };
    assert_eq!(before(&desk), (Some(68e6), None));
    ask(&mut desk, Kernels::Times(Times::PerRun));
    assert_eq!(before(&desk), (Some(6.8e6), Some("per run")));
}

#[test]
fn typed_runs_divide_both_ways_of_looking_and_are_remembered() {
    let mut desk = desk();
    ask(&mut desk, Kernels::Look(pick(WITHOUT_RUNS)));
    ask(&mut desk, Kernels::Level(BreakdownLevel::Kernel));
    assert!(desk.find("Times: Total").is_none(), "there is no choice");
    let first = |desk: &Desk| desk.app().profile.kernels.drawn.bars[0].ns;
    assert_eq!(first(&desk), 300e6);
    desk.fill("Runs in this profile", "x50");
    assert_eq!(desk.value("Runs in this profile"), "", "that is no number");
    desk.fill("Runs in this profile", "50");
    found(&mut desk);
    assert_eq!(first(&desk), 6e6);
    ask(&mut desk, Kernels::Before(Some(pick(2))));
    let comparison = |desk: &Desk| {
        let found = desk
            .app()
            .profile
            .kernels
            .found
            .result
            .as_ref()
            .expect("a result");
        found.comparison.clone().expect("a comparison")
    };
    let alike = comparison(&desk);
    assert_eq!(alike.difference_ns(), Some(0.0), "the same network");
    assert_eq!(alike.notes, Vec::<String>::new());
    ask(&mut desk, Kernels::Swap);
    assert_eq!(desk.value("Runs in the profile before"), "50");
    desk.fill("Runs in the profile before", "");
    found(&mut desk);
    assert!(!comparison(&desk).is_per_run());
    desk.fill("Runs in the profile before", "25");
    found(&mut desk);
    assert_eq!(comparison(&desk).before_ns, Some(2.0 * 9.8e6));
    let kept = desk.app().to_remember().profile_runs;
    let path = desk.path("profiles.ron");
    assert_eq!(kept.get(&format!("{}#5", path.display())), Some(&25));
    // The same file, opened again, has them.
    let session = desk.app().shared.sessions.iter().next().expect("open").id;
    desk.act(Action::Sessions(Sessions::Close(session)));
    desk.act(Action::Sessions(Sessions::Open(vec![path])));
    desk.until("it is open again", |app| app.shared.sessions.len() == 1);
    let session = desk.app().shared.sessions.iter().next().expect("open").id;
    let again = powerband_app::kernels::ProfileRef {
        session,
        profile: WITHOUT_RUNS,
    };
    desk.act(Action::Go(Screen::Kernels));
    ask(&mut desk, Kernels::Look(again));
    assert_eq!(desk.value("Runs in this profile"), "25");
}

#[test]
fn steps_of_a_real_training_are_counted() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.act(Action::OpenTrace(real(
        "kineto/resnet50-v100-train.pt.trace.json.gz",
    )));
    desk.until("a timeline", |app| !app.profile.timeline.traces.is_empty());
    desk.act(Action::Go(Screen::Kernels));
    found(&mut desk);
    desk.see("6 steps, marked by PyTorch's profiler");
    assert!(desk.find("Sort by Per step").is_some());
    assert!(desk.find("Times: Per step").is_some());
    desk.see("per step, 6 steps");
}

#[test]
fn a_category_lists_its_kernels_and_a_chip_leads_back() {
    let mut desk = desk();
    assert!(desk.find("Sort by Category").is_some());
    desk.click("Open convolution");
    found(&mut desk);
    assert_eq!(desk.app().profile.kernels.level, BreakdownLevel::Kernel);
    let kernels = shown(&desk);
    assert!(kernels.len() > 3, "{kernels:?}");
    let categories = desk.column("kernels", "category");
    assert!(categories.iter().all(|one| one == "convolution"));
    assert!(desk.find("Sort by Kernel").is_some());
    // Bars, treemap and counters are of the same rows.
    let bars = desk.app().profile.kernels.drawn.bars.iter();
    assert!(bars.filter_map(|bar| bar.row).all(|row| {
        let found = desk
            .app()
            .profile
            .kernels
            .found
            .result
            .as_ref()
            .expect("a result");
        found.breakdown(BreakdownLevel::Kernel).rows[row].category == Category::Convolution
    }));
    desk.click("Category: convolution ×");
    found(&mut desk);
    assert_eq!(desk.app().profile.kernels.level, BreakdownLevel::Category);
    assert!(shown(&desk).len() > 5);
    let selected = desk.app().profile.kernels.selected();
    assert_eq!(
        selected,
        Some(&SelectedRow::Category(Category::Convolution))
    );
    assert_eq!(desk.app().profile.kernels.drawn.selected, Some(0));

    // The same by keyboard, and back by Escape.
    desk.get("Open batch normalisation").focus();
    desk.step();
    desk.press("Enter");
    found(&mut desk);
    let within = Some(FilterGroup::Category(Category::BatchNorm));
    assert_eq!(desk.app().profile.kernels.filter().within, within);
    desk.press("Escape");
    assert_eq!(desk.app().profile.kernels.filter().within, None);
    assert_eq!(desk.app().shared.screen, Screen::Kernels);
}

#[test]
fn an_operator_lists_its_kernels() {
    let mut desk = desk();
    ask(&mut desk, Kernels::Level(BreakdownLevel::Operator));
    assert!(desk.find("Sort by Operator").is_some());
    desk.click("Open aten::cudnn_convolution_backward_input");
    found(&mut desk);
    let operators = desk.cells("kernels", "operators");
    let has = |text: &str| text.contains("aten::cudnn_convolution_backward_input");
    assert!(!operators.is_empty());
    assert!(operators.iter().all(|cell| has(cell.shown_text())));
    desk.see("Operator: aten::cudnn_convolution_backward_input ×");
    // What belongs to the profile stays with it, in a comparison too.
    ask(&mut desk, Kernels::Before(Some(pick(1))));
    let rows = desk.app().profile.kernels.drawn.rows.len();
    let found = desk
        .app()
        .profile
        .kernels
        .found
        .result
        .as_ref()
        .expect("a result");
    let all = found.comparison.as_ref().expect("a comparison").rows.len();
    assert!(0 < rows && rows < all, "{rows} of {all}");
    ask(&mut desk, Kernels::Level(BreakdownLevel::Operator));
    assert_eq!(desk.app().profile.kernels.filter().within, None);
}

#[test]
fn a_category_lists_its_kernels_in_the_treemap_too() {
    let mut desk = desk();
    ask(&mut desk, Kernels::Shape(BreakdownChart::Treemap));
    ask(
        &mut desk,
        Kernels::Within(Some(FilterGroup::Category(Category::Convolution))),
    );
    let regions = &desk.app().profile.kernels.drawn.regions;
    assert_eq!(regions.len(), 1);
    assert_eq!(regions[0].category, Category::Convolution);
    desk.click("Category: convolution ×");
    found(&mut desk);
    assert!(desk.app().profile.kernels.drawn.regions.len() > 5);
}

#[test]
fn a_treemap_has_the_kernels_of_each_category_in_it() {
    let mut desk = desk();
    ask(&mut desk, Kernels::Shape(BreakdownChart::Treemap));
    let regions = desk.app().profile.kernels.drawn.regions.clone();
    let bars = desk.app().profile.kernels.drawn.bars.clone();
    for (region, bar) in regions.iter().zip(&bars) {
        assert_eq!(region.category.title(), bar.name, "as the bars are ordered");
        assert_eq!(region.colour, bar.colour);
        assert!((region.share - bar.share).abs() < 1e-9);
    }
    assert!(regions[0].tiles.len() > 5);
    let tile = regions[0].tiles[0].clone();
    let named = |name: &str, share: f64| format!("{name}, {}", humanize::percent(share));
    // A tile is a kernel, by keyboard too.
    let name = named(&tile.name, tile.share);
    desk.get(&name).focus();
    desk.step();
    desk.press("Enter");
    found(&mut desk);
    assert!(desk.app().profile.kernels.selected_kernel().is_some());
    assert_eq!(desk.app().profile.kernels.level, BreakdownLevel::Category);
    desk.see("Instances");
    ask(&mut desk, Kernels::Select(None));
    // The head of a region is the category.
    let head = named(regions[1].category.title(), regions[1].share);
    desk.click(&head);
    found(&mut desk);
    let within = Some(FilterGroup::Category(regions[1].category));
    assert_eq!(desk.app().profile.kernels.filter().within, within);
    assert_eq!(desk.app().profile.kernels.level, BreakdownLevel::Kernel);
    // The filter leaves the categories that have its words, with all of their kernels.
    ask(&mut desk, Kernels::Within(None));
    desk.fill("Filter", "pooling");
    found(&mut desk);
    let left = &desk.app().profile.kernels.drawn.regions;
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].category, Category::Pooling);
}
