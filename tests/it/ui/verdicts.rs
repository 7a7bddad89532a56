//! Verdicts in the window: what is open, the rounds that settle it, a case through time, and loads that
//! do not mix.

use std::path::PathBuf;

use powerband_app::action::{Action, RunAction};
use powerband_app::command;
use powerband_app::screen::Screen;
use powerband_findings::analysis::verdict::Call;
use powerband_store::session_file;

use super::Desk;
use super::behaviour::is_saved;
use crate::support::Home;
use crate::verdicts::measure;

/// A session of one batch size on the engine that makes timings up.
fn measured(home: &Home, file: &str, setups: &[&str], rest: &[&str]) -> PathBuf {
    measure(home, file, setups, &[&["--batch", "1"], rest].concat());
    home.path(file)
}

fn go(desk: &mut Desk, screen: Screen) {
    desk.act(Action::Go(screen));
}

#[test]
fn flags_stand_beside_the_verdict() {
    let home = Home::new();
    let setups = ["fake,fixed=1000,item=0", "fake,fixed=500,item=0"];
    let path = measured(&home, "a.ron", &setups, &["--rounds", "3"]);
    let mut session = session_file::read(&path).expect("a session").session;
    // Every third run of the setup after takes nearly as long as before.
    for round in &mut session.cases[1].rounds {
        for (number, sample) in round.samples_ns.iter_mut().enumerate() {
            *sample = if number % 3 == 0 { 900_000 } else { 500_000 };
        }
    }
    session_file::write(&path, &session).expect("the same place");
    let mut desk = Desk::awake(home, vec![path]);
    go(&mut desk, Screen::Compare);
    desk.until("two setups are compared", |app| {
        app.compare.sides.found.result.is_some()
    });
    desk.see("Warnings");
    desk.see("Flags: noisy");
    let raised = &desk.app().compare.sides.drawn.flags;
    let noisy = raised.iter().find(|flag| flag.name == "noisy");
    assert_eq!(noisy.map(|flag| flag.cases), Some(1), "{raised:?}");
    // The same is to be seen where the cases are, once they are in sight.
    go(&mut desk, Screen::Curves);
    desk.harness
        .set_size(eframe::egui::vec2(super::SIZE.0, 1_200.0));
    desk.see("Flags: noisy");
    assert!(!desk.sees("Flags: finished"));
}

#[test]
fn what_is_open_is_settled_by_more_rounds() {
    let home = Home::new();
    let setups = ["fake,fixed=1000,item=0", "fake,fixed=970,item=0"];
    let path = measured(&home, "a.ron", &setups, &["--rounds", "3"]);
    // As if rounds had scattered so much that three do not show a change of 3 %.
    let mut session = session_file::read(&path).expect("a session").session;
    for case in &mut session.cases {
        let times = match case.setup {
            0 => [1_000_000; 3],
            _ => [980_000, 950_000, 980_000],
        };
        for (round, time) in case.rounds.iter_mut().zip(times) {
            round.samples_ns.fill(time);
        }
    }
    session_file::write(&path, &session).expect("the same place");
    let mut desk = Desk::awake(home, vec![path.clone()]);
    go(&mut desk, Screen::Compare);
    desk.until("two setups are compared", |app| {
        app.compare.sides.found.result.is_some()
    });
    let call = |desk: &Desk| {
        let result = desk
            .app()
            .compare
            .sides
            .found
            .result
            .clone()
            .expect("a comparison");
        result.2.pairs[0].verdict.clone()
    };
    let verdict = call(&desk);
    assert_eq!(verdict.call, Call::Inconclusive, "{verdict:?}");
    let more = verdict.more_rounds.expect("rounds that may settle it");
    desk.see("settle it with about");
    let more = more.rounds;
    let command = command::ALL.iter().find(|c| c.id == "more-rounds");
    let command = command.expect("the command");
    let session = desk
        .app()
        .shared
        .sessions
        .iter()
        .next()
        .expect("a session")
        .id;
    assert_eq!(
        (command.act)(desk.app()),
        Ok(Action::Run(RunAction::More(session, more)))
    );
    desk.click(&format!("Measure {more} more rounds"));
    assert_eq!(desk.app().shared.screen, Screen::Run);
    desk.step_until("the rounds are added", super::PATIENCE, is_saved);
    let session = session_file::read(&path).expect("the same file").session;
    for case in &session.cases {
        assert_eq!(case.rounds.len() as u32, 3 + more);
    }
    assert_eq!(session.sittings.len(), 1);
    let all = format!("{0} /{0}", 3 + more);
    assert_eq!(desk.column("run", "rounds"), [all.as_str(); 2]);
    assert_eq!(
        desk.app().shared.sessions.len(),
        1,
        "it is the session that it was"
    );
    go(&mut desk, Screen::Compare);
    desk.until("they are compared again", |app| {
        app.compare.sides.found.result.is_some()
    });
    let rounds = desk
        .app()
        .compare
        .sides
        .found
        .result
        .clone()
        .expect("a comparison")
        .2
        .pairs[0]
        .ratio;
    assert_eq!(rounds.map(|ratio| ratio.rounds), Some(3 + more));
}

#[test]
fn two_sessions_are_measured_again_in_turns() {
    let home = Home::new();
    let five = ["--rounds", "5"];
    let paths = [("a.ron", "fake"), ("b.ron", "fake,item=900")]
        .map(|(file, setup)| measured(&home, file, &[setup], &five));
    let mut desk = Desk::awake(home, paths.to_vec());
    desk.until("both are open", |app| app.shared.sessions.len() == 2);
    go(&mut desk, Screen::Compare);
    desk.until("they are compared", |app| {
        app.compare.sides.found.result.is_some()
    });
    let sides = desk
        .app()
        .compare
        .sides
        .before
        .zip(desk.app().compare.sides.after);
    let (before, after) = sides.expect("two sides");
    let command = command::ALL.iter().find(|c| c.id == "measure-again");
    assert_eq!(
        (command.expect("the command").act)(desk.app()),
        Ok(Action::Run(RunAction::Again(before, after)))
    );
    desk.click("Measure both again, in turns");
    assert_eq!(desk.app().shared.screen, Screen::Run);
    desk.step_until("they are measured", super::PATIENCE, is_saved);
    assert_eq!(desk.app().shared.sessions.len(), 3, "a session of its own");
    go(&mut desk, Screen::Compare);
    desk.until("the two setups of it are compared", |app| {
        let result = app.compare.sides.found.result.as_ref();
        result.is_some_and(|(one, other, _)| one.session == other.session)
    });
    let found = desk
        .app()
        .compare
        .sides
        .found
        .result
        .clone()
        .expect("a comparison")
        .2;
    assert_eq!(found.pairs[0].verdict.call, Call::Slower);
    let apart = |remark: &String| remark.contains("not interleaved");
    assert!(!found.remarks.iter().any(apart), "{:?}", found.remarks);
    // They took turns.
    assert!(!desk.sees("Measure both again, in turns"));
}

#[test]
fn a_case_is_followed_through_the_library() {
    let home = Home::new();
    let folder = home.path("home/sessions");
    std::fs::create_dir_all(&folder).expect("a library");
    for (file, item, year) in [("a", 200, 2001), ("b", 200, 2002), ("c", 2_200, 2003)] {
        let path = measured(
            &home,
            &format!("{file}.ron"),
            &[&format!("fake,item={item}")],
            &["--rounds", "4"],
        );
        let mut session = session_file::read(&path).expect("a session").session;
        session.created = format!("{year}-01-01T00:00:00Z");
        session.name = format!("in {year}");
        // The same setup: what changed is behind it.
        session.plan.setups[0] = "fake:cpu,item=200".parse().expect("a setup");
        let name = format!("{file}.ron");
        session_file::write(&folder.join(name), &session).expect("a place in the library");
    }
    let mut desk = Desk::awake(home, vec![folder.join("b.ron")]);
    desk.until("a session is open", |app| app.shared.sessions.len() == 1);
    desk.press("Ctrl+6");
    assert_eq!(desk.app().shared.screen, Screen::History);
    desk.until("the case was followed", |app| {
        app.compare.history.found.result.is_some()
    });
    let found = desk
        .app()
        .compare
        .history
        .found
        .result
        .clone()
        .expect("a history");
    let names: Vec<&str> = found
        .history
        .points
        .iter()
        .map(|p| p.name.as_str())
        .collect();
    assert_eq!(names, ["in 2001", "in 2002", "in 2003"]);
    desk.see("Last session vs. mean of 2 earlier");
    desk.see("Each against those before it: 1 slower, 1 inconclusive.");
    desk.see("▼ slower");
    // Of how two sessions differ nothing is known.
    assert_eq!(
        desk.column("history", "verdict"),
        ["–", "inconclusive", "slower"]
    );
    assert_eq!(found.chart.series[0].points.len(), 3);
    desk.press("Ctrl+Shift+C");
    desk.hear("Copied 3 sessions");
    let command = command::ALL
        .iter()
        .find(|c| c.id == "measure-history-again");
    let sides = desk.app().compare.history.sides_to_measure_again();
    let sides = sides.expect("the last two");
    assert_eq!(
        (command.expect("the command").act)(desk.app()),
        Ok(Action::Run(RunAction::AgainInHistory(Box::new(sides))))
    );
    desk.click("Measure the last two again, in turns");
    assert_eq!(desk.app().shared.screen, Screen::Run);
    desk.step_until("they are measured", super::PATIENCE, is_saved);
    let both = desk.app().shared.sessions.iter().last().expect("a session");
    assert_eq!(both.session.name, "in 2002 and in 2003, in turns");
    assert_eq!(both.session.plan.setups.len(), 2);
}

#[test]
fn times_under_load_do_not_share_a_chart_with_service_times() {
    let home = Home::new();
    let closed = measured(&home, "closed.ron", &["fake"], &[]);
    let open = measured(&home, "open.ron", &["fake"], &["--rate", "200"]);
    let mut desk = Desk::awake(home, vec![closed, open]);
    desk.until("both are open", |app| app.shared.sessions.len() == 2);
    go(&mut desk, Screen::Curves);
    assert_eq!(desk.app().curves.drawn.latency.series.len(), 1);
    assert_eq!(desk.app().curves.drawn.apart, 1);
    desk.see("are not drawn in one chart");
    let first = desk
        .app()
        .shared
        .sessions
        .iter()
        .next()
        .map(|open| open.id)
        .expect("a session");
    desk.act(Action::Sessions(powerband_app::action::Sessions::Close(
        first,
    )));
    let drawn = desk.app().curves.drawn.clone();
    assert_eq!((drawn.apart, drawn.latency.series.len()), (0, 1));
    assert!(
        drawn.latency.title.contains("200 requests/s"),
        "{}",
        drawn.latency.title
    );
}
