//! Checks of published numbers on documents of a few lines: rankings, the largest latency, numbers of parameters.

use powerband_findings::analysis::lint::published_findings;

use crate::claims::{by, document};

#[test]
fn a_ranking_is_wrong_where_its_numbers_surely_go_another_way() {
    let ranked = |first: &str, second: &str| {
        let found = published_findings(&document(&format!(
            r#"rankings: [(title: "by effect", metric: Throughput, best_first: ["a", "silent", "b"])],
            steps: [(title: "a", changes: [{first}]), (title: "b", changes: [{second}]), (title: "silent")]"#
        )));
        by(&found, "rankings").len()
    };
    let claim =
        |metric: &str, claimed: &str| format!("(metric: {metric}, claimed: Some({claimed}))");
    let measured = |before: &str, after: &str| {
        let figure = |ms: &str| format!("Some((metric: Latency, value: \"{ms}\", unit: \"ms\"))");
        format!(
            "(metric: Latency, before: {}, after: {})",
            figure(before),
            figure(after)
        )
    };
    let times = |times: &str| claim("Throughput", &format!("Times(\"{times}\")"));
    let more = |percent: &str| claim("Throughput", &format!("MoreBy(\"{percent}\")"));
    let less = |percent: &str| claim("Latency", &format!("LessBy(\"{percent}\")"));
    assert_eq!(ranked(&more("10–30"), &times("1.5–2")), 1);
    assert_eq!(ranked(&times("1.5–2"), &more("10–30")), 0);
    assert_eq!(ranked(&more("10–30"), &more("20–40")), 0, "they overlap");
    assert_eq!(
        ranked(&times("1.3"), &less("50")),
        1,
        "half the time is twice the speed"
    );
    assert_eq!(ranked(&times("2.0"), &less("50")), 0);
    assert_eq!(ranked(&measured("40", "20"), &times("3.0")), 1);
    assert_eq!(ranked(&measured("40", "10"), &times("3.0")), 0);
    // One of the two statements about it is enough for its place.
    let both = format!("{}, {}", measured("40", "22"), times("2–5"));
    assert_eq!(ranked(&both, &times("3.0")), 0);
    let memory = claim("Memory", "LessBy(\"50\")");
    assert_eq!(ranked(&more("10–30"), &memory), 0, "of something else");
}

#[test]
fn no_throughput_is_below_what_the_largest_latency_gives() {
    let found = |rate: &str, time: &str, of: &str| {
        let found = published_findings(&document(&format!(
            r#"figures: [
                (metric: Throughput, subject: "{of}", value: "{rate}", unit: "img/s", batch: Some(32)),
                (metric: Latency, subject: "b", value: "{time}", unit: "ms", batch: Some(32), extreme: Some(Worst)),
            ]"#
        )));
        by(&found, "worst").len()
    };
    assert_eq!(found("600", "48", "a"), 1);
    assert_eq!(
        found("600", "48", "b"),
        0,
        "time and rate have a check of their own"
    );
    assert_eq!(found("665", "48", "a"), 0, "48 ms may be 48.1 ms");
    assert_eq!(found("700", "48", "a"), 0);
    assert_eq!(found("700", "0", "a"), 0);
}

#[test]
fn a_number_of_parameters_is_of_its_data_set() {
    let found = |subject: &str, millions: &str, note: &str| {
        let found = published_findings(&document(&format!(
            r#"figures: [(metric: Parameters, subject: "{subject}", value: "{millions}", unit: "M", note: "{note}")]"#
        )));
        by(&found, "networks").len()
    };
    assert_eq!(found("ResNet-18", "11.7", "CIFAR-10"), 1);
    assert_eq!(found("ResNet-18", "11.2", "CIFAR-10"), 0);
    assert_eq!(found("ResNet-18", "11.2", "ImageNet"), 1);
    assert_eq!(found("ResNet-18", "11.7", "ImageNet"), 0);
    assert_eq!(found("ResNet-18", "11.7", ""), 0, "of which is not stated");
    assert_eq!(found("ResNet-18", "15.0", "CIFAR-10"), 0, "a variant");
    assert_eq!(found("LeNet", "11.7", "CIFAR-10"), 0);
}
