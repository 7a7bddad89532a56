//! Speed beside accuracy, and what an engine made of the network: both cards of the curves screen.

use eframe::egui::Vec2;
use powerband_app::action::{Action, Curves, Network, Shell};
use powerband_app::screen::Screen;
use powerband_app::sessions::{self, SessionId};
use powerband_core::domain::accuracy::{Accuracy, HitCount, OutputDistance};
use powerband_core::domain::examination::{Examination, Fusions, NamedNode, NodeRun, PreparedNode};
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::trade_off::{ParetoRank, Quality, SpeedPoint};

use super::data::{DataRng, SessionSpec, speed};
use super::pictures::{Album, THEMES};
use super::{Desk, SIZE, write};
use crate::support::Home;

/// Has the first two setups of a session compared, and what the engine made of the first looked at.
pub(super) fn judge(session: &mut Session) {
    let found = judged();
    session.accuracies = found.accuracies;
    session.accuracies.retain(|setup, _| *setup < 2);
    session.examinations = found.examinations;
    session.examinations.retain(|setup, _| *setup < 2);
}

/// A network in several numbers on several engines, compared on labelled pictures.
pub(super) fn judged() -> Session {
    let mut session = SessionSpec {
        name: "resnet50, numbers",
        created: "2026-10-05T16:20:00Z",
        model: "resnet50",
        speeds: &[
            speed("ort:cpu", "ONNX Runtime", 2_900.0, 24_150.0),
            speed(
                "ort:cpu,precision=fp16",
                "ONNX Runtime, fp16",
                3_100.0,
                31_000.0,
            ),
            speed(
                "ort:cpu,precision=int8",
                "ONNX Runtime, int8",
                2_100.0,
                8_300.0,
            ),
            speed("tract:cpu", "tract", 900.0, 43_800.0),
            speed("ort:cuda:0", "ONNX Runtime on CUDA", 1_400.0, 11_900.0),
            speed("torch:cpu", "PyTorch, compiled", 2_000.0, 21_000.0),
        ],
        batches: &[1, 2, 4, 8, 16],
        rounds: 5,
        samples: 40,
    }
    .session();
    let found = [
        // Worst cosine, largest error, same choice, right, right among five.
        (1.0 - 4e-13, 1.9e-5, 512, 389, 476),
        (0.999_993, 0.014, 511, 389, 476),
        (0.981, 1.87, 488, 381, 470),
        (1.0 - 9e-13, 2.4e-5, 512, 389, 476),
        (0.999_87, 0.061, 509, 390, 475),
    ];
    for (setup, found) in found.into_iter().enumerate() {
        session.accuracies.insert(setup, accuracy(found));
    }
    let trouble = "the worker ended with status 139 while it computed batch 1";
    let lost = Accuracy {
        trouble: Some(trouble.to_owned()),
        ..example_accuracy()
    };
    session.accuracies.insert(5, lost);
    session.examinations.insert(0, on_the_processor());
    session.examinations.insert(4, on_a_card());
    session
}

fn example_accuracy() -> Accuracy {
    Accuracy {
        reference: "ONNX Runtime 1.31.0, float, not optimised".to_owned(),
        inputs: "512 samples of /home/you/pictures/imagenet-val".to_owned(),
        ..Accuracy::default()
    }
}

fn accuracy((worst_cosine, max_error, same, top1, top5): (f64, f64, u64, u64, u64)) -> Accuracy {
    let of = |hits| Some(HitCount { hits, of: 512 });
    Accuracy {
        items: 512,
        distance: Some(OutputDistance {
            max_error,
            mean_error: max_error / 9.0,
            relative_error: Some(max_error / 17.0),
            worst_cosine,
            mean_cosine: 1.0 - (1.0 - worst_cosine) / 4.0,
        }),
        same_choice: of(same),
        top1: of(top1),
        top5: of(top5),
        ..example_accuracy()
    }
}

fn node(name: String, op: &str, provider: &str, time_ns: u64) -> NodeRun {
    NodeRun {
        name,
        op: op.to_owned(),
        provider: provider.to_owned(),
        time_ns,
    }
}

fn origin(op: &str, number: usize) -> NamedNode {
    NamedNode {
        name: format!("{}_{number}", op.to_lowercase()),
        op: op.to_owned(),
    }
}

fn became(op: &str, from: &[&str], number: usize) -> PreparedNode {
    PreparedNode {
        node: format!("{}_{number}_nchwc", from[0].to_lowercase()),
        op: op.to_owned(),
        from: from.iter().map(|op| origin(op, number)).collect(),
    }
}

/// The network of a file: 175 nodes.
fn before() -> [(String, u64); 8] {
    [
        ("Conv", 53),
        ("BatchNormalization", 53),
        ("Relu", 49),
        ("Add", 16),
        ("MaxPool", 1),
        ("GlobalAveragePool", 1),
        ("Flatten", 1),
        ("Gemm", 1),
    ]
    .map(|(op, count)| (op.to_owned(), count))
}

fn on_the_processor() -> Examination {
    let mut dice = DataRng(50);
    let mut convolution = |number| {
        let time_ns = (190_000.0 + 700_000.0 * dice.unit()) as u64;
        let name = format!("/layer{}/conv{number}/Conv_nchwc", number / 14 + 1);
        node(name, "Conv", "CPU", time_ns)
    };
    let mut nodes = vec![node(
        "ReorderInput".to_owned(),
        "ReorderInput",
        "CPU",
        61_000,
    )];
    nodes.extend((0..53).map(&mut convolution));
    nodes.extend([
        node("MaxPool_nchwc".to_owned(), "MaxPool", "CPU", 212_000),
        node(
            "GlobalAveragePool_nchwc".to_owned(),
            "GlobalAveragePool",
            "CPU",
            40_000,
        ),
        node("ReorderOutput".to_owned(), "ReorderOutput", "CPU", 9_000),
        node("Flatten".to_owned(), "Flatten", "CPU", 2_000),
        node("Gemm".to_owned(), "Gemm", "CPU", 270_000),
    ]);
    let mut all = Vec::new();
    for number in 0..53 {
        let from: &[&str] = match number {
            0..16 => &["Conv", "BatchNormalization", "Add", "Relu"],
            16..49 => &["Conv", "BatchNormalization", "Relu"],
            _ => &["Conv", "BatchNormalization"],
        };
        all.push(became("Conv (NCHWc)", from, number));
    }
    for op in ["MaxPool", "GlobalAveragePool"] {
        all.push(became(&format!("{op} (NCHWc)"), &[op], 0));
    }
    all.extend(["Flatten", "Gemm"].map(|op| became(op, &[op], 0)));
    Examination {
        asked: "CPU".to_owned(),
        runs: 20,
        before: before().into(),
        nodes,
        fusions: Fusions {
            became: all,
            gone: Vec::new(),
            added: vec![origin("ReorderInput", 0), origin("ReorderOutput", 0)],
        },
        notes: Vec::new(),
    }
}

fn on_a_card() -> Examination {
    let mut nodes: Vec<NodeRun> = (0..53)
        .map(|number| {
            let name = format!("/layer{}/conv{number}/Conv", number / 14 + 1);
            node(name, "FusedConv", "CUDA", 21_000 + 700 * number as u64)
        })
        .collect();
    nodes.extend([
        node("Memcpy_token_1".to_owned(), "MemcpyToHost", "CUDA", 44_000),
        node("/head/NonZero".to_owned(), "NonZero", "CPU", 390_000),
        node("/head/TopK".to_owned(), "TopK", "CPU", 122_000),
        node(
            "Memcpy_token_2".to_owned(),
            "MemcpyFromHost",
            "CUDA",
            37_000,
        ),
        node("Gemm".to_owned(), "Gemm", "CUDA", 18_000),
    ]);
    Examination {
        asked: "CUDA".to_owned(),
        runs: 20,
        before: before().into(),
        nodes,
        fusions: Fusions {
            became: (0..53)
                .map(|number| became("FusedConv", &["Conv", "BatchNormalization", "Relu"], number))
                .collect(),
            gone: vec![
                origin("Dropout", 0),
                origin("Identity", 1),
                origin("Identity", 2),
            ],
            added: vec![origin("MemcpyToHost", 0), origin("MemcpyFromHost", 0)],
        },
        notes: vec!["2 nodes of the prepared graph could not be matched with the file.".to_owned()],
    }
}

/// A window at the curves of a session.
fn desk(session: &Session) -> Desk {
    let home = Home::new();
    let path = home.path("judged.ron");
    write(&path, session);
    let mut desk = Desk::awake(home, vec![path]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.act(Action::Go(Screen::Curves));
    // As tall as it takes to see all of it: tables have no rows that nobody sees.
    desk.harness.set_size(Vec2::new(SIZE.0, 3_100.0));
    desk.steps(2);
    desk
}

/// Who is on the front, the fastest first.
fn front(desk: &Desk) -> Vec<String> {
    let rows = desk.app().curves.drawn.trade_off.rows.iter();
    rows.filter(|row| row.line.rank == ParetoRank::Front)
        .map(|row| row.line.name.clone())
        .collect()
}

#[test]
fn another_accuracy_has_another_front() {
    let mut desk = desk(&judged());
    desk.see("Speed and accuracy");
    assert_eq!(desk.app().curves.drawn.trade_off.quality, Quality::Top1);
    let two = ["ONNX Runtime, int8", "ONNX Runtime on CUDA"];
    assert_eq!(front(&desk), two, "the card is right as often as anybody");
    desk.click("Accuracy: cosine");
    let three = ["ONNX Runtime, int8", "ONNX Runtime on CUDA", "ONNX Runtime"];
    assert_eq!(front(&desk), three);
    desk.act(Action::Curves(Curves::Quality(Quality::SameChoice)));
    assert_eq!(front(&desk), three);
    desk.click("Series ONNX Runtime on CUDA");
    assert_eq!(front(&desk), ["ONNX Runtime, int8", "ONNX Runtime"]);
    let rows = &desk.app().curves.drawn.trade_off.rows;
    let fp16 = rows.iter().find(|row| row.line.name.ends_with("fp16"));
    let by = fp16.map(|row| row.line.dominated_by.clone());
    assert_eq!(by, Some(vec!["ONNX Runtime".to_owned()]));
    desk.see("dominated by ONNX Runtime");
    desk.see("the worker ended with status 139");
    assert_eq!(desk.app().curves.drawn.trade_off.at, SpeedPoint::Best);
    desk.click("Batch size of the speed");
    desk.click("at batch 2");
    let drawn = &desk.app().curves.drawn.trade_off;
    assert_eq!(drawn.at, SpeedPoint::Point(Point::of_batch(2)));
    let batches = desk.column("trade-off", "batch");
    assert!(batches.iter().all(|batch| batch == "2"), "{batches:?}");
    desk.press("Ctrl+K");
    desk.type_text("next accuracy");
    desk.press("Enter");
    assert_eq!(desk.app().curves.drawn.trade_off.quality, Quality::Cosine);
    assert!(desk.harness.unnamed_widgets().is_empty());
}

#[test]
fn nodes_that_fell_back_are_seen_on_the_processor() {
    let mut desk = desk(&judged());
    desk.act(Action::Go(Screen::Network));
    desk.act(Action::Network(Network::Tables(true)));
    desk.see("Engine graph");
    desk.see("175 nodes became 59, all on CPU");
    desk.see("Conv + BatchNormalization + Relu");
    assert!(!desk.sees("ran on the CPU and not on CUDA"));
    desk.click("Setup whose graph is shown");
    desk.click("ONNX Runtime on CUDA");
    let chosen = sessions::series(SessionId(1), 4);
    assert_eq!(desk.app().curves.examined, Some(chosen));
    desk.see("2 of 58 nodes ran on the CPU and not on CUDA");
    desk.see("2 copies between devices");
    let graph = &desk.app().curves.drawn.graph.graph;
    let slowest: Vec<(&str, &str)> = graph
        .slowest
        .iter()
        .take(2)
        .map(|node| (node.op.as_str(), node.provider.as_str()))
        .collect();
    assert_eq!(slowest, [("NonZero", "CPU"), ("TopK", "CPU")]);
    desk.press("Ctrl+Shift+W");
    assert_eq!(desk.app().curves.examined, None);
    assert!(desk.app().curves.drawn.graph.shown.is_none());
}

#[test]
fn a_session_without_them_has_neither_card() {
    let mut session = judged();
    session.accuracies.clear();
    session.examinations.clear();
    let desk = desk(&session);
    assert!(!desk.sees("Speed and accuracy"));
    assert!(!desk.sees("Engine graph"));
}

#[test]
fn both_cards_are_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let mut desk = desk(&judged());
    let shots = [
        (Quality::Top1, 0, "top1"),
        (Quality::SameChoice, 0, "same"),
        (Quality::Cosine, 4, "cosine"),
    ];
    for (quality, setup, what) in shots {
        desk.act(Action::Curves(Curves::Quality(quality)));
        let series = sessions::series(SessionId(1), setup);
        desk.act(Action::Curves(Curves::Examined(series)));
        for (theme, word) in THEMES {
            desk.act(Action::Shell(Shell::Theme(theme)));
            desk.steps(3);
            album.take(&mut desk, &format!("accuracy-{what}-{word}"));
        }
    }
    desk.harness.set_size(Vec2::new(720.0, 2_700.0));
    desk.steps(3);
    let narrow = desk.harness.unnamed_widgets();
    assert!(narrow.is_empty(), "{narrow:?}");
    album.close();
}
