//! Every action is reached without a mouse: by a command, by what the palette offers, by a field that the
//! palette puts the cursor into; or it is said here what else does it.

use std::collections::BTreeSet;

use powerband_app::action::{
    Action, Charts, Compare, Curves, Detached, FigureAction, Fleet, History, Journey, Kernels,
    Library, MachineAction, Network, PageAction, Roofs, RunAction, Sessions, Shell, Timeline, Why,
};
use powerband_app::kernels::instances::InstanceSearch;
use powerband_app::kernels::{ProfileRef, SelectedRow};
use powerband_app::machine::Installing;
use powerband_app::notices::NoticeLevel;
use powerband_app::plan::{ArrivalMode, MatrixEdit, PlanEdit, PlanField};
use powerband_app::reports::ReportTarget;
use powerband_app::roofs::MeasuringRoofs;
use powerband_app::run::ProgramsQuestion;
use powerband_app::screen::Screen;
use powerband_app::shell::layout::{Pane, ROOM_BELOW, ROOM_FOR_TWO};
use powerband_app::tables::action::TableChange;
use powerband_app::{App, command, palette_entries};
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::clock;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::Point;
use powerband_core::domain::profile::Total;
use powerband_core::domain::trace::SliceKind;
use powerband_findings::analysis::breakdown::BreakdownLevel;
use powerband_findings::analysis::category::Category;
use powerband_store::trash::discard;

use super::behaviour::draft;
use super::data;
use super::pictures::{PictureState, desk};
use super::typing::at_keyboard;
use super::{Desk, alone, place};
use crate::support::Home;

/// How an action is given without a mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A command or an offer gives it.
    Palette,
    /// It is typed into the field of this name.
    Field(&'static str),
    /// Something else does it: what.
    Else(&'static str),
}
use Way::{Else, Field, Palette};

/// The ways, with a `match` that the compiler holds to be whole: whoever adds an action has to say its way.
macro_rules! ways {
    ($($pattern:pat => $way:expr,)*) => {
        const WAYS: &[(&str, Way)] = &[$((stringify!($pattern), $way)),*];

        fn arm(action: &Action) -> &'static str {
            match action {
                $($pattern => stringify!($pattern),)*
            }
        }
    };
}

const DIALOG: Way = Else("the answer of a file dialog, which a command asks for");
const BUTTON: Way = Else("a button of what lies over the screen, with Tab and Enter");
const EQUAL: Way = Else("what a mouse does in one go; commands do it step by step");

ways! {
    Action::Go(_) => Palette,
    Action::Back => Palette,
    Action::Shell(Shell::Palette(_)) => Palette,
    Action::Shell(Shell::Guide(_)) => Palette,
    Action::Shell(Shell::Log(_)) => Palette,
    Action::Shell(Shell::ToggleLibrary) => Palette,
    Action::Shell(Shell::Earlier) => Palette,
    Action::Shell(Shell::Later) => Palette,
    Action::Shell(Shell::Pane(_, _)) => Palette,
    Action::Shell(Shell::Resize(_, _)) => Palette,
    Action::Shell(Shell::RailIconsOnly(_)) => Palette,
    Action::Shell(Shell::Theme(_)) => Palette,
    Action::Shell(Shell::NextTheme) => Palette,
    Action::Shell(Shell::Zoom(_)) => Palette,
    Action::Shell(Shell::Watching(_)) => Palette,
    Action::Shell(Shell::Shortcut(_, _)) => Palette,
    Action::Shell(Shell::ResetShortcuts) => Palette,
    Action::Shell(Shell::Dismiss(_)) => Palette,
    Action::Shell(Shell::DismissNewest) => Palette,
    Action::Shell(Shell::Copy(_)) => Palette,
    Action::Shell(Shell::Hint(_)) => Palette,
    Action::Shell(Shell::OpenFile(_)) => Palette,
    Action::Shell(Shell::Cursor(_)) => Palette,
    Action::Shell(Shell::AskClose) => Palette,
    Action::Shell(Shell::Close(_)) => BUTTON,
    Action::Machine(MachineAction::Rescan) => Palette,
    Action::Machine(MachineAction::InstallOnnxRuntime) => Palette,
    Action::Machine(MachineAction::StopInstall) => Palette,
    Action::Machine(MachineAction::Choose(_)) => Palette,
    Action::Machine(MachineAction::Point(_, None)) => Palette,
    Action::Machine(MachineAction::Point(_, Some(_))) => DIALOG,
    Action::Detached(Detached::Look) => Palette,
    Action::Detached(Detached::Collect(_)) => Palette,
    Action::Detached(Detached::Cancel(_)) => Palette,
    Action::Roofs(Roofs::Measure) => Palette,
    Action::Roofs(Roofs::Again) => Palette,
    Action::Roofs(Roofs::Stop) => Palette,
    Action::Plan(PlanEdit::Text(PlanField::Name, _)) => Field("Name"),
    Action::Plan(PlanEdit::Text(PlanField::Model, _)) => Palette,
    Action::Plan(PlanEdit::ChooseModel) => Palette,
    Action::Plan(PlanEdit::Add(_)) => Palette,
    Action::Plan(PlanEdit::Duplicate(_)) => Palette,
    Action::Plan(PlanEdit::Remove(_)) => Palette,
    Action::Plan(PlanEdit::Move(_, _)) => Palette,
    Action::Plan(PlanEdit::Text(PlanField::Setup(_), _)) => Field("Setup 1"),
    Action::Plan(PlanEdit::Engine(_, _)) => Palette,
    Action::Plan(PlanEdit::Device(_, _)) => Palette,
    Action::Plan(PlanEdit::Key(_, _, _)) => Palette,
    Action::Plan(PlanEdit::Fix(_)) => Palette,
    Action::Plan(PlanEdit::ChoosePath(_, _)) => Palette,
    Action::Plan(PlanEdit::More(_)) => Palette,
    Action::Plan(PlanEdit::Matrix(MatrixEdit::Open)) => Palette,
    Action::Plan(PlanEdit::Matrix(MatrixEdit::Close)) => Palette,
    Action::Plan(PlanEdit::Matrix(MatrixEdit::Base(_))) => Palette,
    Action::Plan(PlanEdit::Matrix(MatrixEdit::Row(_))) => Palette,
    Action::Plan(PlanEdit::Matrix(MatrixEdit::Values(_, _))) => Field("Values of Threads"),
    Action::Plan(PlanEdit::Matrix(MatrixEdit::Toggle(_, _))) => Palette,
    Action::Plan(PlanEdit::Matrix(MatrixEdit::Add)) => Palette,
    Action::Plan(PlanEdit::Text(PlanField::Label(_), _)) => Field("Name of setup 1"),
    Action::Plan(PlanEdit::Colour(_, _)) => Palette,
    Action::Plan(PlanEdit::Text(PlanField::Batches, _)) => Field("Batch sizes"),
    Action::Plan(PlanEdit::Text(PlanField::Sweeps, _)) => Field("Sweep"),
    Action::Plan(PlanEdit::ToggleSize(_, _)) => Palette,
    Action::Plan(PlanEdit::WholeRequests(_)) => Palette,
    Action::Plan(PlanEdit::Journey(_)) => Palette,
    Action::Plan(PlanEdit::Preset(_)) => Palette,
    Action::Plan(PlanEdit::Text(PlanField::Rounds, _)) => Field("Rounds"),
    Action::Plan(PlanEdit::Requests(_)) => Palette,
    Action::Plan(PlanEdit::Text(PlanField::Rate, _)) => Field("Rate"),
    Action::Plan(PlanEdit::Energy(_) | PlanEdit::MachinesAtOnce(_)) => Palette,
    Action::Plan(PlanEdit::Accuracy(_)) => Palette,
    Action::Plan(PlanEdit::Profile(_) | PlanEdit::ProfileStarts(_)) => Palette,
    Action::Plan(PlanEdit::Text(PlanField::Samples, _)) => Field("Samples"),
    Action::Plan(PlanEdit::Text(PlanField::Shapes, _)) => Field("Shapes"),
    Action::Plan(PlanEdit::Text(PlanField::BatchAxis, _)) => Field("Batch axis"),
    Action::Plan(PlanEdit::Text(PlanField::Fills, _)) => Field("Input values"),
    Action::Plan(PlanEdit::Text(_, _)) => Else("nothing: it comes with a session that is run again, or is chosen"),
    Action::Plan(PlanEdit::First) => Palette,
    Action::Plan(PlanEdit::Clear) => Palette,
    Action::Plan(PlanEdit::Undo) => Palette,
    Action::Plan(PlanEdit::Redo) => Palette,
    Action::Plan(PlanEdit::Keep) => Palette,
    Action::Plan(PlanEdit::Use(_)) => Palette,
    Action::Plan(PlanEdit::Ladder(_)) => Palette,
    Action::Plan(PlanEdit::Forget(_)) => Palette,
    Action::Run(RunAction::Start) => Palette,
    Action::Run(RunAction::StartFirst | RunAction::Detach | RunAction::Queue | RunAction::StartNext) => Palette,
    Action::Run(RunAction::Unqueue(_)) => Else("a cross beside the plan"),
    Action::Run(RunAction::Pause | RunAction::Resume) => Palette,
    Action::Run(RunAction::More(_, _) | RunAction::AgainInHistory(_)) => Else("a command, where a verdict is open"),
    Action::Run(RunAction::Again(_, _)) => Palette,
    Action::Run(RunAction::Why(_, _)) => Palette,
    Action::Run(RunAction::Stop) => Palette,
    Action::Run(RunAction::Skip(_)) => Palette,
    Action::Run(RunAction::Unskip(_)) => Palette,
    Action::Run(RunAction::Follow(_)) => Palette,
    Action::Run(RunAction::List(_)) => Palette,
    Action::Run(RunAction::SkipCurrent) => Palette,
    Action::Run(RunAction::Recover) => Palette,
    Action::Run(RunAction::Anyway(_)) => Palette,
    Action::Run(RunAction::AllowPrograms(_)) => Palette,
    Action::Sessions(Sessions::Choose) => Palette,
    Action::Sessions(Sessions::Open(_)) => Palette,
    Action::Sessions(Sessions::Add(_)) => Palette,
    Action::Sessions(Sessions::OpenExample(_)) => Palette,
    Action::Sessions(Sessions::OpenOnly(_)) => Palette,
    Action::Sessions(Sessions::Toggle(_)) => Palette,
    Action::Sessions(Sessions::Close(_)) => Palette,
    Action::Sessions(Sessions::CloseAll) => Palette,
    Action::Sessions(Sessions::Reload(_)) => Palette,
    Action::Sessions(Sessions::RunAgain(_)) => Palette,
    Action::Sessions(Sessions::RunFileAgain(_)) => Palette,
    Action::Sessions(Sessions::SaveAs(_, None)) => Palette,
    Action::Sessions(Sessions::SaveAs(_, Some(_))) => DIALOG,
    Action::Curves(Curves::Statistic(_)) => Palette,
    Action::Curves(Curves::Efficiency(_)) => Palette,
    Action::Curves(Curves::Energy(_)) => Palette,
    Action::Curves(Curves::Quality(_)) => Palette,
    Action::Curves(Curves::At(_)) => Palette,
    Action::Curves(Curves::Examined(_)) => Palette,
    Action::Curves(Curves::LogLatency(_)) => Palette,
    Action::Curves(Curves::LogThroughput(_)) => Palette,
    Action::Curves(Curves::Limit(_)) => Palette,
    Action::Curves(Curves::DragLimit(_)) => EQUAL,
    Action::Curves(Curves::ToggleSeries(_)) => Palette,
    Action::Curves(Curves::OnlySeries(_)) => Palette,
    Action::Curves(Curves::ShowAll) => Palette,
    Action::Curves(Curves::Enlarge(_)) => Palette,
    Action::Curves(Curves::Stack(_)) => Palette,
    Action::Curves(Curves::Over(_)) => Palette,
    Action::Curves(Curves::Fix(_, _)) => Palette,
    Action::Curves(Curves::Along(_, _, _)) => Palette,
    Action::Curves(Curves::Show(_)) => Palette,
    Action::Curves(Curves::Mapped(_)) => Palette,
    Action::Curves(Curves::Upwards(_)) => Palette,
    Action::Curves(Curves::MapSetup(_)) => Palette,
    Action::Curves(Curves::OnlyModel(_)) => Else("a name of a model in the legend, and the palette where there are several"),
    Action::Curves(Curves::GroupByModel(_)) => Palette,
    Action::Curves(Curves::Highlight(_)) => Else("Tab to the legend"),
    Action::Curves(Curves::Pin(_)) => Palette,
    Action::Curves(Curves::PinStep(_)) => Palette,
    Action::Curves(Curves::PinSecond(_)) => Else("Escape, commands while two are pinned, and the menu of a case"),
    Action::Curves(Curves::PinSecondNext) => Palette,
    Action::Compare(Compare::Before(_)) => Palette,
    Action::Compare(Compare::After(_)) => Palette,
    Action::Compare(Compare::Swap) => Palette,
    Action::Fleet(Fleet::Show(_)) => Palette,
    Action::Fleet(Fleet::Only(_)) => Palette,
    Action::Fleet(Fleet::EachSession(_)) => Palette,
    Action::History(History::Follow(_) | History::Only(_) | History::AllCases(_)) => Palette,
    Action::Journey(Journey::Look(_)) => Palette,
    Action::Kernels(Kernels::Look(_) | Kernels::Before(_)) => Palette,
    Action::Kernels(Kernels::Swap | Kernels::Level(_)) => Palette,
    Action::Kernels(Kernels::Shape(_) | Kernels::Times(_)) => Palette,
    Action::Kernels(Kernels::Runs(_, _)) => Field("Runs in this profile"),
    Action::Kernels(Kernels::Select(_)) => Palette,
    Action::Kernels(Kernels::Graph) => Palette,
    Action::Kernels(Kernels::Instance(_)) => Palette,
    Action::Kernels(Kernels::Within(_)) => Palette,
    Action::Kernels(Kernels::Filter(_)) => Field("Filter"),
    Action::Kernels(Kernels::Over(_) | Kernels::AllRows) => Palette,
    Action::Kernels(Kernels::Categorise(_, _)) => Field("Pattern"),
    Action::Kernels(Kernels::Forget(_)) => Palette,
    Action::Kernels(Kernels::Find(_)) => Palette,
    Action::Kernels(Kernels::Timeline) => Palette,
    Action::Kernels(Kernels::Gap(_, _)) => Palette,
    Action::Plan(PlanEdit::LargerBatches(_)) => Palette,
    Action::Why(Why::Look(_) | Why::Select(_)) => Palette,
    Action::Network(Network::Engine(_) | Network::Tables(_) | Network::Colouring(_) | Network::Toggle(_)) => Palette,
    Action::Network(Network::OpenAll | Network::Fold | Network::Zoom | Network::Select(_) | Network::Slowest(_)) => Palette,
    Action::Network(Network::Found(_) | Network::Free(_) | Network::FreeNothing) => Palette,
    Action::Network(Network::Search(_)) => Field("Search nodes"),
    Action::OpenTrace(_) => DIALOG,
    Action::Timeline(Timeline::Choose) => Palette,
    Action::Timeline(Timeline::Show(_)) => Palette,
    Action::Timeline(Timeline::Close(_)) => Palette,
    Action::Timeline(Timeline::StopReading(_)) => Palette,
    Action::Timeline(Timeline::Look(_)) => EQUAL,
    Action::Timeline(Timeline::Zoom(_)) => Palette,
    Action::Timeline(Timeline::Move(_)) => Palette,
    Action::Timeline(Timeline::Fit) => Palette,
    Action::Timeline(Timeline::Whole) => Palette,
    Action::Timeline(Timeline::CompareWith(_)) => Palette,
    Action::Timeline(Timeline::Align(_)) => Palette,
    Action::Timeline(Timeline::Scroll(_)) => Palette,
    Action::Timeline(Timeline::Reveal(_)) => EQUAL,
    Action::Timeline(Timeline::Fold(_)) => Palette,
    Action::Timeline(Timeline::FoldAll(_)) => Palette,
    Action::Timeline(Timeline::Select(_)) => Palette,
    Action::Timeline(Timeline::GoTo(_)) => Else("hits are gone to in turn, and partners"),
    Action::Timeline(Timeline::ZoomTo(_)) => Palette,
    Action::Timeline(Timeline::Measure(_, _)) => Palette,
    Action::Timeline(Timeline::Measuring(_)) => Palette,
    Action::Timeline(Timeline::Partner) => Palette,
    Action::Timeline(Timeline::Alike(_)) => Palette,
    Action::Timeline(Timeline::CopyArguments) => Palette,
    Action::Timeline(Timeline::Pin(_)) => Palette,
    Action::Timeline(Timeline::Hide(_)) => Palette,
    Action::Timeline(Timeline::ShowAllTracks) => Palette,
    Action::Timeline(Timeline::FilterTracks(_)) => Field("Filter the tracks"),
    Action::Timeline(Timeline::AddNote) => Palette,
    Action::Timeline(Timeline::EditNote(_)) => Palette,
    Action::Timeline(Timeline::WriteNote(_, _)) => Field("Text of the note"),
    Action::Timeline(Timeline::RemoveNote(_)) => Palette,
    Action::Timeline(Timeline::GoToNote(_)) => Palette,
    Action::Timeline(Timeline::NextNote(_)) => Palette,
    Action::Timeline(Timeline::Search(_)) => Palette,
    Action::Timeline(Timeline::NextHit(_)) => Palette,
    Action::Timeline(Timeline::FocusSearch) => Palette,
    Action::Timeline(Timeline::Hand(_)) => Else("where a mouse is"),
    Action::Library(Library::Search(_)) => Else("its field, which a command puts the cursor into"),
    Action::Library(Library::FocusSearch) => Palette,
    Action::Library(Library::Select(_)) => Palette,
    Action::Library(Library::Rename(_, _)) => Field("Session name"),
    Action::Library(Library::Tags(_, _)) => Field("Tags"),
    Action::Library(Library::Notes(_, _)) => Field("Notes"),
    Action::Library(Library::Duplicate(_)) => Palette,
    Action::Library(Library::Discard(_)) => Palette,
    Action::Library(Library::TagAll(_, _)) => Field("Tags for the selected sessions"),
    Action::Library(Library::DiscardAll(_)) => Palette,
    Action::Library(Library::RestoreAll(_)) => Palette,
    Action::Library(Library::Compare(_, _)) => Palette,
    Action::Library(Library::History(_)) => Palette,
    Action::Library(Library::Fleet(_)) => Palette,
    Action::Library(Library::Restore) => Palette,
    Action::Library(Library::RestoreThis(_)) => Palette,
    Action::Library(Library::Reveal(_)) => Palette,
    Action::Report(_, ReportTarget::Ask | ReportTarget::Preview) => Palette,
    Action::Report(_, ReportTarget::File(_)) | Action::Page(PageAction::Write(..)) => DIALOG,
    Action::Page(PageAction::Offer(_)) => Palette,
    Action::Page(PageAction::Anonymous(_) | PageAction::Choose | PageAction::Dismiss) => BUTTON,
    Action::Table(_, TableChange::Sort(_)) => Palette,
    Action::Table(_, TableChange::Column(_, _)) => Palette,
    Action::Table(_, TableChange::Move(_, _)) => Palette,
    Action::Table(_, TableChange::Width(_, _)) => Palette,
    Action::Table(_, TableChange::Reset) => Palette,
    Action::Table(_, TableChange::Filter(_)) => Field("Filter Cases"),
    Action::Table(_, TableChange::Select(_, _, _)) => Else("Space with Ctrl or Shift on a row"),
    Action::Table(_, TableChange::Extend(_)) => Palette,
    Action::Table(_, TableChange::SelectAll) => Palette,
    Action::Table(_, TableChange::SelectNone) => Palette,
    Action::Table(_, TableChange::Copy) => Palette,
    Action::Table(_, TableChange::Export(None)) => Palette,
    Action::Table(_, TableChange::Export(Some(_))) => DIALOG,
    Action::Charts(Charts::Look(_, _)) => Else("+, -, 0 and the arrows while a chart has the focus, and the steps"),
    Action::Charts(Charts::LookAtAll) => Palette,
    Action::Charts(Charts::Step(_)) => Palette,
    Action::Figures(FigureAction::CopyNear | FigureAction::SaveNear) => Palette,
    Action::Figures(FigureAction::Copy(_) | FigureAction::Save(_, _)) => Else("the chart that the hand was on last, or the first"),
}

/// What commands and offers would give now: the arm of each, and the fields that the cursor is put into.
fn collect(app: &App, arms: &mut BTreeSet<&'static str>, fields: &mut BTreeSet<String>) {
    let commands = command::ALL.iter().filter_map(|one| (one.act)(app).ok());
    let offered = palette_entries::all_entries(app)
        .into_iter()
        .flat_map(|offer| offer.actions);
    for action in commands.chain(offered) {
        arms.insert(arm(&action));
        if let Action::Shell(Shell::Cursor(field)) = action {
            fields.insert(field);
        }
    }
}

/// Notices that ask for something, and settings that can be taken back.
fn ask(desk: &mut Desk) {
    let now = clock::monotonic_ns();
    let gone = desk.path("home/sessions/gone.ron");
    let desk_file = desk.path("report.html");
    let app = desk.app_mut();
    let undo = Action::Library(Library::RestoreThis(gone.clone()));
    let undo_all = Action::Library(Library::RestoreAll(vec![gone]));
    let written = Action::Shell(Shell::OpenFile(desk_file));
    let anyway = Action::Run(RunAction::Anyway(Box::new(RunAction::Start)));
    for (words, name, action) in [
        ("The report is written", "Open", written),
        ("It is in the trash", "Undo", undo),
        ("All are in the trash", "Undo", undo_all),
        ("Another program is measuring", "Begin anyway", anyway),
    ] {
        let offer = Some((name.to_owned(), action));
        let notices = &mut app.shared.notices;
        notices.add(NoticeLevel::Question, words, offer, now);
    }
    app.shared.place.python = Some("python3".into());
    let keys = "Ctrl+J".parse().ok();
    let remembered = &mut app.shared.remembered;
    remembered.shortcuts.insert("go-home".to_owned(), keys);
}

/// A plan with a field for everything, and one that is kept.
fn plan(desk: &mut Desk) {
    let kept = desk.path("home/plans/kept.ron");
    let planner = &mut desk.app_mut().bench.planner;
    planner.kept = vec![(kept, planner.draft.clone())];
    for edit in [
        PlanEdit::Requests(ArrivalMode::AtRandom),
        PlanEdit::Accuracy(true),
        PlanEdit::Text(PlanField::Shapes, "input=1x3x224x224".to_owned()),
        PlanEdit::Text(PlanField::Fills, "input=ones".to_owned()),
        PlanEdit::Text(PlanField::Sweeps, "sequence=32,128".to_owned()),
        PlanEdit::Colour(0, Some(3)),
        PlanEdit::Device(1, "cuda".to_owned()),
        PlanEdit::Add("rten,task=generate".to_owned()),
        PlanEdit::Text(PlanField::Name, "not for long".to_owned()),
        PlanEdit::Undo,
        PlanEdit::More(Some(0)),
    ] {
        planner.edit(edit);
    }
    let precision = MatrixEdit::Toggle("precision".to_owned(), "int8".to_owned());
    for edit in [MatrixEdit::Open, MatrixEdit::Base(0), precision] {
        desk.act(Action::Plan(PlanEdit::Matrix(edit)));
    }
}

/// The profile that has counters in place of a timeline, and the one that does not state its runs.
const WITH_COUNTERS: usize = 1;
const WITHOUT_RUNS: usize = 4;

/// A kernel of the timeline that belongs to the first profile.
const ON_TIMELINE: &str = "void at::native::batch_norm_transform_input_channels_last_kernel<float, float, float, 4>(float const*)";

/// Looks at one of the open profiles.
fn show_profile(desk: &mut Desk, profile: usize) {
    let path = desk.path("profiles.ron");
    let session = desk.app().shared.sessions.by_path(&path).expect("open").id;
    let pick = ProfileRef { session, profile };
    desk.act(Action::Go(Screen::Kernels));
    desk.act(Action::Kernels(Kernels::Look(pick)));
    super::kernels::found(desk);
}

/// A profile with a rule of the user's, and the timeline that belongs to it.
fn profile(desk: &mut Desk) {
    let path = desk.path("profiles.ron");
    let mut session = super::kernels::session();
    session.profiles[0].totals.push(Total {
        work: None,
        kind: SliceKind::Kernel,
        name: ON_TIMELINE.to_owned(),
        op: String::new(),
        place: String::new(),
        calls: 1,
        total_ns: 1,
        min_ns: None,
        max_ns: None,
    });
    session.profiles[0].case = Some(CaseKey {
        setup: 0,
        point: Point::of_batch(1),
    });
    session.examinations = super::accuracy::judged().examinations;
    super::write(&path, &session);
    desk.act(Action::Sessions(Sessions::Open(vec![path.clone()])));
    desk.until("profiles are open", |app| {
        app.shared.sessions.by_path(&path).is_some()
    });
    let rule = Kernels::Categorise(Category::ALL[0], "*mine*".to_owned());
    desk.act(Action::Kernels(rule));
    show_profile(desk, 0);
    desk.until("the rule is known", |app| {
        let found = app.profile.kernels.found.result.as_ref();
        found.is_some_and(|found| !found.own.is_empty())
    });
    let session = desk.app().shared.sessions.by_path(&path).expect("open").id;
    super::timeline::open(desk, "another", super::timeline::made_up());
    super::timeline::with_one_of_a_profile(desk.app_mut(), session);
    super::timeline::with_all_to_do(desk.app_mut());
}

/// A session in the trash.
fn throw_away(desk: &mut Desk) {
    let doomed = desk.path("home/sessions/other-0.ron");
    let discarded = discard(&place(&desk.home).paths, &doomed).expect("the trash takes it");
    let entry = (discarded, "a session".to_owned());
    desk.app_mut().library.discarded.push(entry);
}

/// A desk on which everything can be done that can be done at once.
fn everything() -> Desk {
    let mut desk = desk(PictureState::Full, 1.0);
    let swept = super::shapes::session("shapes", "2026-10-01T08:00:00Z", false);
    for (file, session) in [
        ("judged.ron", super::accuracy::judged()),
        ("racks.ron", super::fleet::session()),
        ("shapes.ron", swept),
    ] {
        let path = desk.path(file);
        super::write(&path, &session);
        desk.act(Action::Sessions(Sessions::Open(vec![path.clone()])));
        desk.until(file, |app| app.shared.sessions.by_path(&path).is_some());
    }
    ask(&mut desk);
    plan(&mut desk);
    profile(&mut desk);
    super::timeline::read(&mut desk);
    desk.act(Action::Curves(Curves::ShowAll));
    desk.app_mut().compare.history.only = Some(BTreeSet::new());
    desk.steps(2);
    desk
}

/// Two sessions of the library are selected.
fn select_two(desk: &mut Desk) {
    for by in [1, 1] {
        desk.act(Action::Table("sessions", TableChange::Extend(by)));
    }
}

/// What a run in progress gives, with questions and background jobs beside it.
fn collect_of_run(app: &mut App, arms: &mut BTreeSet<&'static str>, fields: &mut BTreeSet<String>) {
    app.bench.planner.matrix = None;
    app.bench.run = Some(super::commands::live());
    collect(app, arms, fields);
    // One of its cases is left out, and can be taken back.
    let run = app.bench.run.as_mut().expect("a run");
    let last = run
        .session
        .as_ref()
        .and_then(|session| session.cases.last());
    run.skipped.extend(last.map(|case| case.key()));
    collect(app, arms, fields);
    app.shared.screen = Screen::Library;
    app.bench.programs = Some(ProgramsQuestion {
        lines: vec!["command: run=true".to_owned()],
        folder: "/".to_owned(),
        run: RunAction::Start,
    });
    app.bench.run.as_ref().expect("a run").control.pause();
    app.settings.detached.runs = data::detached_runs();
    app.settings.detached.is_busy = false;
    app.bench.planner.draft = draft("fake,where=slurm", "1", 2);
    app.settings.roofs.measuring = Some(MeasuringRoofs {
        what: "memory copy".to_owned(),
        share: 0.5,
        cancel: CancelToken::default(),
    });
    app.shared.machine.installing = Some(Installing {
        step: "Fetching".to_owned(),
        share: None,
        cancel: CancelToken::default(),
    });
    collect(app, arms, fields);
}

#[test]
fn every_action_is_reached_without_a_mouse() {
    let test = "ui::reach::every_action_is_reached_without_a_mouse";
    if !alone(&Home::new(), test) {
        return;
    }
    let mut desk = everything();
    throw_away(&mut desk);
    let (mut arms, mut fields) = (BTreeSet::new(), BTreeSet::new());
    collect(desk.app(), &mut arms, &mut fields);
    select_two(&mut desk);
    for profile in [WITH_COUNTERS, WITHOUT_RUNS] {
        show_profile(&mut desk, profile);
        collect(desk.app(), &mut arms, &mut fields);
    }
    desk.act(Action::Go(Screen::Why));
    super::why::explained(&mut desk);
    desk.act(Action::Why(Why::Select(Some(0))));
    collect(desk.app(), &mut arms, &mut fields);
    desk.act(Action::Go(Screen::Fleet));
    desk.until("machines are compared", super::fleet::is_compared);
    desk.app_mut().compare.fleet.only = Some(BTreeSet::new());
    collect(desk.app(), &mut arms, &mut fields);
    desk.app_mut().compare.fleet.only = None;
    desk.act(Action::Go(Screen::Kernels));
    let rows = Kernels::Level(BreakdownLevel::Kernel);
    desk.act(Action::Kernels(rows));
    collect(desk.app(), &mut arms, &mut fields);
    show_profile(&mut desk, 0);
    let kernel = SelectedRow::Kernel(ON_TIMELINE.to_owned());
    desk.act(Action::Kernels(Kernels::Select(Some(kernel))));
    desk.until("instances", |app| {
        let looked = app.profile.kernels.instances.looked.as_ref();
        looked.is_some_and(|looked| matches!(looked.progress, InstanceSearch::Found(_)))
    });
    collect(desk.app(), &mut arms, &mut fields);
    desk.act(Action::Go(Screen::Home));
    desk.act(Action::Go(Screen::Plan));
    desk.act(Action::Shell(Shell::Earlier));
    let right = |screen| Action::Shell(Shell::Pane(Pane::Right, screen));
    desk.act(right(Some(Screen::Curves)));
    desk.app_mut().fit_panes([ROOM_FOR_TWO, ROOM_BELOW]);
    collect(desk.app(), &mut arms, &mut fields);
    desk.act(right(None));
    // Charts are zoomed while they are shown.
    desk.act(Action::Go(Screen::Curves));
    desk.steps(2);
    for screen in std::iter::once(Screen::Curves).chain(Screen::ALL) {
        desk.app_mut().shared.screen = screen;
        collect(desk.app(), &mut arms, &mut fields);
    }
    super::network::fill_in(desk.app_mut());
    collect(desk.app(), &mut arms, &mut fields);
    collect_of_run(desk.app_mut(), &mut arms, &mut fields);
    for (pattern, way) in WAYS {
        match way {
            Palette => assert!(arms.contains(pattern), "nothing gives {pattern}"),
            Field(name) => assert!(fields.contains(*name), "nothing goes to {name}: {pattern}"),
            Else(what) => assert!(!arms.contains(pattern), "{pattern} is given, not {what}"),
        }
    }
}

#[test]
fn the_cursor_goes_into_every_field_that_is_offered() {
    let mut desk = everything();
    let offered = palette_entries::all_entries(desk.app()).into_iter();
    let fields: Vec<_> = offered
        .filter_map(|offer| {
            let field = offer.actions.iter().find_map(|action| match action {
                Action::Shell(Shell::Cursor(field)) => Some(field.clone()),
                _ => None,
            });
            Some((offer, field?))
        })
        .collect();
    assert!(fields.len() > 12, "{fields:?}");
    for (offer, field) in fields {
        for action in offer.actions {
            desk.act(action);
        }
        desk.steps(3);
        assert_eq!(at_keyboard(&desk), Some(field), "{}", offer.title);
    }
}
