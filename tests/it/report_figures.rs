//! The figures of a report in a browser: values under the pointer, and series that a click on the legend hides.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::reports::{browser, measure, open};
use crate::result_page::document;
use crate::support::Home;

/// A script that no report runs.
const SMUGGLED: &str = "<script>document.title = 'smuggled'</script></body>";

/// A report of two setups.
fn report(home: &Home) -> PathBuf {
    measure(home, "a.ron", &["--setup", "fake,fixed=100"]);
    let run = home.run(&["report", "a.ron", "--to", "r.html"]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    home.path("r.html")
}

/// What a script finds in a report, of which the policy lets it run.
fn answers(home: &Home, browser: &Path, report: &Path, script: &str) -> Value {
    let text = fs::read_to_string(report).expect("a report");
    let (before, rest) = text.split_once("script-src ").expect("a policy");
    let (_, rest) = rest.split_once(';').expect("its end");
    let tail = format!(
        "<script>const answers = {{}}; {script}; document.body.append(`ANSWERS${{JSON.stringify(answers)}}ANSWERS`);</script></body>"
    );
    let open = format!("{before}script-src 'unsafe-inline';{rest}").replace("</body>", &tail);
    let page = home.write("driven.html", open);
    let shown = document(home, browser, &page, &[]);
    let answers = shown.rsplit("ANSWERS").nth(1).expect("an answer");
    serde_json::from_str(answers).expect("JSON")
}

/// Names for what scripts do.
const HANDS: &str = r#"
const figure = [...document.querySelectorAll("figure")].find((one) => one.querySelector(".entry"));
const svg = [...figure.querySelectorAll("svg")].find((one) => one.getClientRects().length > 0);
const entries = [...svg.querySelectorAll(".entry")];
const points = () => [...svg.querySelectorAll(".point")].filter((one) => one.getClientRects().length > 0);
const place = (part) => {
  const area = part.getBoundingClientRect();
  return { bubbles: true, clientX: area.right + 5, clientY: area.top + area.height / 2 };
};
const near = (part) => {
  svg.dispatchEvent(new PointerEvent("pointermove", place(part)));
  return document.getElementById("tip")?.textContent;
};
const state = () => [points().length, ...entries.map((one) => one.getAttribute("aria-pressed"))];
"#;

#[test]
fn the_value_near_the_pointer_is_that_of_the_table() {
    let Some(browser) = browser() else {
        return;
    };
    let home = Home::new();
    let report = report(&home);
    let script = format!(
        "{HANDS} answers.tips = points().map(near);
        figure.dispatchEvent(new PointerEvent('pointerleave'));
        answers.left = document.getElementById('tip');
        answers.rows = [...document.querySelectorAll('tr')].map((one) => one.innerText);"
    );
    let answers = answers(&home, &browser, &report, &script);
    let texts = |name: &str| -> Vec<String> {
        let list = answers[name].as_array().expect("a list").iter();
        let texts = list.map(|text| text.as_str().expect("a text").to_owned());
        texts.collect()
    };
    let (tips, rows) = (texts("tips"), texts("rows"));
    let cases = [(300, 1), (300, 2), (100, 1), (100, 2)];
    assert_eq!(tips.len(), cases.len(), "{tips:?}");
    for (tip, (fixed, batch)) in tips.iter().zip(cases) {
        let setup = format!("fake:cpu,fixed={fixed}");
        let begin = format!("{setup}, batch size {batch}: ");
        let value = tip.strip_prefix(&begin).expect("a setup and a batch size");
        let (time, _) = value.split_once(" per batch").expect("a unit");
        let row = format!("{setup}\t{batch}\t{time}\t");
        let has_row = rows.iter().any(|one| one.starts_with(&row));
        assert!(has_row, "{row}: {rows:#?}");
    }
    assert!(answers["left"].is_null());
}

#[test]
fn a_click_or_enter_on_the_legend_hides_a_series() {
    let Some(browser) = browser() else {
        return;
    };
    let home = Home::new();
    let report = report(&home);
    let script = format!(
        "{HANDS} answers.states = [state()];
        const press = (event) => (entries[0].dispatchEvent(event), answers.states.push(state()));
        const gone = points()[0];
        press(new MouseEvent('click', {{ bubbles: true }}));
        answers.off = figure.querySelectorAll('.entry[aria-pressed=false]').length;
        answers.tip = near(gone) ?? null;
        press(new KeyboardEvent('keydown', {{ bubbles: true, key: 'Tab' }}));
        press(new KeyboardEvent('keydown', {{ bubbles: true, key: 'Enter' }}));
        entries[0].focus();
        answers.focus = document.activeElement === entries[0];"
    );
    let answers = answers(&home, &browser, &report, &script);
    let (all, one) = (r#"[4,"true","true"]"#, r#"[2,"false","true"]"#);
    let states = format!("[{all},{one},{one},{all}]");
    assert_eq!(answers["states"].to_string(), states);
    assert_eq!(answers["off"], 2, "in light and in dark");
    assert!(answers["tip"].is_null(), "{answers}");
    assert_eq!(answers["focus"], true);
}

#[test]
fn without_scripts_a_report_looks_the_same_and_no_other_script_runs() {
    let Some(browser) = browser() else {
        return;
    };
    let home = Home::new();
    let report = report(&home);
    let text = fs::read_to_string(&report).expect("a report");
    home.write("r.html", text.replace("</body>", SMUGGLED));
    let with = document(&home, &browser, &report, &[]);
    assert!(with.contains("aria-pressed=\"true\"") && !with.contains("<title>smuggled"));
    let (before, rest) = text.split_once("<script>").expect("a script");
    let (_, after) = rest.split_once("</script>").expect("its end");
    let bare = home.write("bare.html", format!("{before}{after}"));
    assert!(text.contains("<title>fake:cpu,fixed=300, batch size 2: "));
    assert!(!document(&home, &browser, &bare, &[]).contains("aria-pressed=\"true\""));
    let picture = |page: &Path, name: &str| {
        let picture = home.path(name);
        let asked = open(
            &home,
            &browser,
            page,
            &picture,
            &["--window-size=1000,6000"],
        );
        assert_eq!(asked, Vec::<String>::new());
        image::open(&picture).expect("a picture").into_rgb8()
    };
    assert!(picture(&report, "with.png") == picture(&bare, "without.png"));
}
